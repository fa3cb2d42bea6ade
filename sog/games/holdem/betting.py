"""The betting rules of heads-up no-limit hold'em: chips and turns, no cards.

Player 0 is the big blind and acts first after the flop; player 1 is the small blind, the dealer, and acts
first before it. All amounts are whole chips that a player has paid since the root of the game.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

PREFLOP: Final = 0
FLOP: Final = 1
TURN: Final = 2
RIVER: Final = 3
BOARD_CARDS: Final = (0, 3, 4, 5)  # on the table in each betting round

FOLD: Final = 0
CALL: Final = 1  # or check
DEALER: Final = 1  # the player who acts first before the flop


@dataclass(frozen=True)
class Betting:
    """The state of the betting.

    street: the betting round, 0..3.  paid: chips paid by each player.  stacks: chips each may pay in all.
    raised: the last raise of this round, or the big blind; the next one is at least as large.
    before: what each had paid when the round began.
    actor: whose turn it is, if anyone's.  acted: how many actions this round has seen.  raises: how many
    of them were bets or raises.  closed: the round is over.  folded: who folded, or -1.
    """

    street: int
    paid: tuple[int, int]
    stacks: tuple[int, int]
    raised: int
    actor: int
    before: int = 0
    acted: int = 0
    raises: int = 0
    closed: bool = False
    folded: int = -1

    @property
    def facing(self) -> bool:
        """Whether the actor must pay to stay in."""
        return self.paid[self.actor] < self.paid[1 - self.actor]

    @property
    def all_in(self) -> bool:
        """Whether somebody has no chips left, so that nobody bets again."""
        return self.paid[0] == self.stacks[0] or self.paid[1] == self.stacks[1]

    @property
    def matched(self) -> int:
        """The chips that each player can lose; what one paid above the other is returned."""
        return min(self.paid)

    @property
    def raise_limits(self) -> tuple[int, int]:
        """The smallest and the largest total to raise to; (0, 0) where there is no raise.

        Nobody raises above the shorter stack; a raise to that stack may be smaller than the last one.
        """
        top, largest = max(self.paid), min(self.stacks)
        if self.closed or self.all_in or largest <= top:
            return 0, 0
        return min(top + self.raised, largest), largest

    def pot_after_call(self, dead: float) -> float:
        """The pot once the actor has called; `dead`: chips that were in it at the root."""
        return dead + 2 * max(self.paid)

    def fold(self) -> Betting:
        return replace(self, folded=self.actor, closed=True)

    def call(self) -> Betting:
        """Check or call, all-in where the stack is smaller."""
        p = self.actor
        amount = min(self.stacks[p], max(self.paid))
        paid = (amount, self.paid[1]) if p == 0 else (self.paid[0], amount)
        after = replace(self, paid=paid, actor=1 - p, acted=self.acted + 1)
        return replace(after, closed=self.acted > 0 or after.all_in)

    def raise_to(self, amount: int) -> Betting:
        """Bet or raise to a total of `amount`, which raise_limits allow."""
        p = self.actor
        by = amount - max(self.paid)
        return replace(
            self,
            paid=(amount, self.paid[1]) if p == 0 else (self.paid[0], amount),
            raised=max(by, self.raised),
            actor=1 - p,
            acted=self.acted + 1,
            raises=self.raises + 1,
        )

    def next_round(self, big_blind: int) -> Betting:
        """The next betting round, closed from the start when somebody is all-in."""
        return Betting(self.street + 1, self.paid, self.stacks, big_blind, 0, self.matched, closed=self.all_in)


def first_round(stacks: tuple[int, int], blinds: tuple[int, int]) -> Betting:
    """Before the flop, blinds (small, big) posted as far as the stacks go."""
    paid = (min(stacks[0], blinds[1]), min(stacks[1], blinds[0]))
    start = Betting(PREFLOP, paid, stacks, blinds[1], DEALER)
    nothing_to_call = start.all_in and not (start.facing and paid[1] < stacks[1])
    return replace(start, closed=nothing_to_call)


def later_round(street: int, stacks: tuple[int, int], big_blind: int) -> Betting:
    """The start of a spot after the flop: nothing paid yet besides the pot."""
    return Betting(street, (0, 0), stacks, big_blind, 0)
