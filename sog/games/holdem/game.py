"""Heads-up no-limit Texas hold'em from any street: the whole game, and river and turn spots alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from math import comb
from typing import Final

import numpy as np

from sog.arrays import Float32, Float64, Int32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Carry, Fan, Game, Links, Scaled, State, Unit, plain_moves
from sog.games.holdem.bets import ALL_IN, BetSizes, EveryAmount, Fractions
from sog.games.holdem.betting import BOARD_CARDS, CALL, FOLD, PREFLOP, RIVER, Betting, first_round, later_round
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, cards_name, disjoint_mass, hand_name, live_hands
from sog.games.holdem.inputs import INPUTS, PAPER, STRENGTH, baseline, features, num_features, paper_features, slots
from sog.games.holdem.operator import APART, SHOWDOWN, CardOperator
from sog.games.holdem.ranges import FULL, parse_range
from sog.games.parameters import require_inputs

EXTRAS: Final = 4  # identities kept for actions that a state is given besides the tree's
STACK: Final = 20_000
BLINDS: Final = (50, 100)
_BET_OF_ONE: Final = -1  # in a line of play, where 1 is a call


@dataclass(frozen=True)
class HoldemState:
    """A public state: what was dealt and done since the root.

    board: cards on the table.  line: every action: 0 fold, 1 check or call, -1 a raise to a total of 1, else the total
    raised to.
    extras: totals to raise to that this state offers besides its tree's.  betting: what the line amounts to.
    """

    board: tuple[int, ...]
    line: tuple[int, ...]
    extras: tuple[int, ...]
    betting: Betting = field(compare=False)


@dataclass(frozen=True)
class HoldemSpot:
    """Where a hold'em game begins, in chips.

    stacks: what each player may still pay, blinds included (big blind or out of position first).  blinds:
    small and big; after the flop the big blind is the smallest bet.  pot: on the table at the root.
    ranges: in players' notation.
    """

    stacks: tuple[int, int] = (STACK, STACK)
    blinds: tuple[int, int] = BLINDS
    board: tuple[int, ...] = ()
    pot: int = 0
    ranges: tuple[str, str] = (FULL, FULL)


_OPERATORS: Final = 2**16  # of boards, 16 MB; one that is made anew costs no more than time


class Holdem(Game):
    """No-limit hold'em; infostates are the 1,326 hands of holdem/cards.py at every public state.

    Utilities are chips won since the root plus half of the pot there. Action identities: 0 fold, 1 check or
    call, then the raises of `sizes`, then EXTRAS more for raises that a state is offered besides.
    """

    def __init__(
        self,
        spot: HoldemSpot,
        sizes: BetSizes,
        name: str = "holdem",
        inputs: str = STRENGTH,
        draw: Callable[[np.random.Generator], Holdem] | None = None,
    ) -> None:
        """GameError where the spot cannot be played or inputs is none of `INPUTS`.

        inputs: what networks see.  draw: draws a game of the same family for self-play.
        """
        _refuse_spot(spot)
        require_inputs("holdem", inputs, INPUTS)
        if spot.board and isinstance(sizes, EveryAmount) and min(spot.blinds[1], *spot.stacks) == 1:
            raise GameError("holdem: bets=any has no number for a bet of 1 chip: give all amounts in smaller chips")
        self.name = name
        self.spot = spot
        self.sizes = sizes
        self.street = BOARD_CARDS.index(len(spot.board))
        self.u_max = spot.pot / 2 + min(spot.stacks)
        self.first_extra = sizes.num_actions(spot.stacks)
        self.num_actions = self.first_extra + (0 if isinstance(sizes, EveryAmount) else EXTRAS)
        self.num_slots = (HANDS, HANDS)
        self.inputs, self._draw = inputs, draw
        self.draws, self.has_baseline = draw is not None, inputs != PAPER
        self.num_features = num_features(inputs, sizes)
        self.unit = Unit("mbb/h", 1000.0 / spot.blinds[1])
        self._ranges = _ranges(spot)
        pairs = float(self._ranges[0] @ disjoint_mass(self._ranges[1]))
        if pairs <= 0:
            raise GameError("holdem: no hand of range0 leaves a hand of range1 possible")
        self._root_scale = 1.0 / pairs
        self._operator = lru_cache(maxsize=_OPERATORS)(CardOperator)

    @property
    def family(self) -> str:
        """One network plays all boards, stacks and bet sizes, as far as it has as many inputs and actions."""
        return "holdem"

    def drawn(self, rng: np.random.Generator) -> Holdem:
        return self if self._draw is None else self._draw(rng)

    def root(self) -> HoldemState:
        spot = self.spot
        if self.street == PREFLOP:
            betting = first_round(spot.stacks, spot.blinds)
        else:
            betting = later_round(self.street, spot.stacks, spot.blinds[1])
        return HoldemState(spot.board, (), (), betting)

    def root_ranges(self) -> tuple[Float64, Float64]:
        return self._ranges[0].copy(), self._ranges[1].copy()

    def actor(self, s: State) -> int:
        assert isinstance(s, HoldemState)
        betting = s.betting
        if not betting.closed:
            return betting.actor
        return TERMINAL if betting.folded >= 0 or betting.street == RIVER else NATURE

    def num_infostates(self, s: State) -> tuple[int, int]:
        return HANDS, HANDS

    def raises(self, s: HoldemState) -> list[tuple[int, int]]:
        """The raises at a decision, as (action identity, total to raise to)."""
        offered = self.sizes.options(s.betting, self.spot.pot)
        return offered + [(self.first_extra + k, x) for k, x in enumerate(s.extras)]

    def actions(self, s: State) -> Int32:
        assert isinstance(s, HoldemState)
        if self.actor(s) in (NATURE, TERMINAL):
            return np.empty(0, dtype=np.int32)
        fold = [FOLD] * s.betting.facing
        return np.array([*fold, CALL, *(a for a, _ in self.raises(s))], dtype=np.int32)

    def after(self, s: HoldemState, action: int) -> HoldemState:
        """The public state after an action with this identity."""
        if action == FOLD:
            return HoldemState(s.board, (*s.line, FOLD), (), s.betting.fold())
        if action == CALL:
            return HoldemState(s.board, (*s.line, CALL), (), s.betting.call())
        amount = dict(self.raises(s))[action]
        return HoldemState(s.board, (*s.line, _token(amount)), (), s.betting.raise_to(amount))

    def offer(self, s: HoldemState, amount: int) -> HoldemState:
        """The same decision, with a raise to a total of `amount` among its actions.

        The actions it had keep their identities and their order; the new one comes last. GameError where the
        rules forbid the raise or EXTRAS have been added; the state itself where it has the raise already.
        """
        smallest, largest = s.betting.raise_limits
        if not largest or not smallest <= amount <= largest:
            raise GameError(f"{self.name} at {self.state_name(s)!r}: nobody may raise to {amount}")
        if any(x == amount for _, x in self.raises(s)):
            return s
        if len(s.extras) == EXTRAS:
            raise GameError(f"{self.name} at {self.state_name(s)!r}: {EXTRAS} raises have been added already")
        return replace(s, extras=(*s.extras, amount))

    def fan(self, s: State) -> Fan:
        assert isinstance(s, HoldemState)
        if self.actor(s) == NATURE:
            cards = [c for c in range(CARDS) if c not in s.board]
            carry: list[tuple[Carry, Carry]] = [(_without(c), _without(c)) for c in cards]
            return Fan([self.deal(s, (c,)) for c in cards], carry=carry)
        children = [self.after(s, int(a)) for a in self.actions(s)]
        return Fan(children, plain_moves(HANDS, len(children)))

    def deal(self, s: HoldemState, cards: tuple[int, ...]) -> HoldemState:
        """The public state after board cards."""
        return HoldemState((*s.board, *cards), s.line, (), s.betting.next_round(self.spot.blinds[1]))

    def cards_to_deal(self, s: HoldemState) -> int:
        """How many board cards come next at a NATURE state: 3, 1 or 1."""
        return BOARD_CARDS[s.betting.street + 1] - len(s.board)

    def listable(self, s: State) -> bool:
        assert isinstance(s, HoldemState)
        return self.actor(s) != NATURE or self.cards_to_deal(s) == 1

    def sample_chance(self, s: State, i0: int, i1: int, rng: np.random.Generator) -> tuple[State, int, int]:
        assert isinstance(s, HoldemState)
        gone = {*s.board, *(int(side[i]) for side in (LOW, HIGH) for i in (i0, i1))}
        left = [c for c in range(CARDS) if c not in gone]
        drawn = rng.choice(left, size=self.cards_to_deal(s), replace=False)
        return self.deal(s, tuple(sorted(int(c) for c in drawn))), i0, i1

    def chance_carry(self, s: State, child: State) -> tuple[Carry, Carry]:
        assert isinstance(child, HoldemState)
        live = np.flatnonzero(live_hands(child.board)).astype(np.int32)
        return Links(live, live), Links(live, live)

    def weights(self, s: State) -> Scaled:
        assert isinstance(s, HoldemState)
        return Scaled(self._operator(APART, s.board), self._scale(s))

    def payoff(self, s: State) -> Scaled:
        """Who folds or has the worse hand loses half the root's pot and the matched chips; a tie pays nobody."""
        assert isinstance(s, HoldemState)
        chips = (self.spot.pot / 2 + s.betting.matched) * self._scale(s)
        if s.betting.folded >= 0:
            return Scaled(self._operator(APART, s.board), -chips if s.betting.folded == 0 else chips)
        return Scaled(self._operator(SHOWDOWN, s.board), chips)

    def _scale(self, s: HoldemState) -> float:
        """What chance gives each pair of hands that is possible at s, over the root ranges' weights."""
        scale, dealt = self._root_scale, len(self.spot.board)
        for cards in BOARD_CARDS[self.street + 1 :]:
            if dealt < len(s.board):
                scale /= comb(CARDS - 4 - dealt, cards - dealt)
                dealt = cards
        return scale

    def features(self, s: State) -> Float32:
        assert isinstance(s, HoldemState)
        spot, actor = self.spot, self.actor(s)
        if self.inputs == PAPER:
            return paper_features(s.board, s.betting, actor, spot.pot, spot.stacks)
        return features(s.board, s.betting, actor, spot.pot, spot.stacks, self.sizes)

    def baseline(self, states: Sequence[State], ranges: Float64) -> Float64 | None:
        return baseline([_board(s) for s in states], ranges) if self.has_baseline else None

    def slot(self, s: State, p: int) -> Int32:
        assert isinstance(s, HoldemState)
        return slots(self.inputs, s.board)

    def value_unit(self, s: State) -> float:
        """Half the pot as it is once the last bet is called, chips."""
        assert isinstance(s, HoldemState)
        return self.spot.pot / 2 + max(s.betting.paid)

    def state_name(self, s: State) -> str:
        assert isinstance(s, HoldemState)
        words = [f"board {cards_name(s.board) or 'none'}"]
        betting, dealt = self.root().betting, len(self.spot.board)
        for action in s.line:
            if betting.closed:
                dealt, betting = BOARD_CARDS[betting.street + 1], betting.next_round(self.spot.blinds[1])
                words.append(cards_name(s.board[BOARD_CARDS[betting.street - 1] : dealt]))
            words.append(_action_words(betting, action))
            betting = _apply(betting, action)
        ends = [count for count in BOARD_CARDS if dealt < count <= len(s.board)]  # of streets without an action yet
        words += [cards_name(s.board[first:last]) for first, last in pairwise([dealt, *ends])]
        return ", ".join(words)

    def action_name(self, s: State, action: int) -> str:
        assert isinstance(s, HoldemState)
        if action in (FOLD, CALL):
            return _action_words(s.betting, action)
        amount = dict(self.raises(s))[action]
        words = _action_words(s.betting, _token(amount))
        if isinstance(self.sizes, EveryAmount) or action >= self.first_extra:
            return words
        name = ALL_IN if amount == s.betting.raise_limits[1] else self.sizes.name(action)
        return f"{words} ({name})"

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return hand_name(i)

    def history(self, s: State, i0: int, i1: int) -> list[int] | None:
        """Actions of OpenSpiel's universal_poker with the full betting abstraction; None from a spot."""
        assert isinstance(s, HoldemState)
        if self.street != PREFLOP or self.spot.pot > 0:
            return None
        out = [int(c) for i in (i0, i1) for c in (LOW[i], HIGH[i])]
        betting, dealt = self.root().betting, 0
        for action in s.line:
            if betting.closed:
                betting = betting.next_round(self.spot.blinds[1])
                out += s.board[dealt : BOARD_CARDS[betting.street]]
                dealt = BOARD_CARDS[betting.street]
            out.append(action)
            betting = _apply(betting, action)
        return out + list(s.board[dealt:])


def is_beyond(game: Game, trained: Game) -> bool:
    """Whether `game` asks more of a network than hold'em as it was trained on: an earlier street, or other bets.

    Other bets: all-in as a bet of its own, where training had none, or none where training had it.
    """
    if not (isinstance(game, Holdem) and isinstance(trained, Holdem)):
        return False
    all_in = [g.sizes.all_in if isinstance(g.sizes, Fractions) else None for g in (game, trained)]
    return game.street < trained.street or all_in[0] != all_in[1]


def _board(s: State) -> tuple[int, ...]:
    assert isinstance(s, HoldemState)
    return s.board


def _token(amount: int) -> int:
    """How a line of play writes a raise to a total of `amount`."""
    return _BET_OF_ONE if amount == CALL else amount


def _apply(betting: Betting, action: int) -> Betting:
    if action == FOLD:
        return betting.fold()
    return betting.call() if action == CALL else betting.raise_to(abs(action))


def _action_words(betting: Betting, action: int) -> str:
    """A line's action in words."""
    if action == FOLD:
        return "fold"
    if action == CALL:
        return "call" if betting.facing else "check"
    opens = betting.street > PREFLOP and betting.raises == 0
    return f"{'bet' if opens else 'raise to'} {abs(action) - betting.before}"


@lru_cache(maxsize=CARDS)
def _without(card: int) -> Links:
    """Every hand without this card keeps its number; the others end."""
    live = np.flatnonzero(live_hands((card,))).astype(np.int32)
    return Links(live, live)


def _ranges(spot: HoldemSpot) -> tuple[Float64, Float64]:
    """Both ranges without the hands that the board blocks; GameError where none is left."""
    live = live_hands(spot.board)
    out = []
    for p, text in enumerate(spot.ranges):
        weights = parse_range(text) * live
        if not weights.any():
            raise GameError(f"holdem: the board {cards_name(spot.board)} leaves nothing of range{p} {text!r}")
        out.append(weights)
    return out[0], out[1]


def _refuse_spot(spot: HoldemSpot) -> None:
    """GameError for boards, stacks, blinds and pots that cannot be."""
    if len(spot.board) not in BOARD_CARDS:
        raise GameError(f"holdem: a board has 0, 3, 4 or 5 cards, not {len(spot.board)}")
    if len(set(spot.board)) < len(spot.board):
        raise GameError(f"holdem: a card occurs twice on the board {cards_name(spot.board)}")
    if min(spot.stacks) < 1:
        raise GameError(f"holdem: each stack is at least 1 chip, not {min(spot.stacks)}")
    if not 0 < spot.blinds[0] <= spot.blinds[1]:
        raise GameError(f"holdem: blinds are small;big with 0 < small <= big, not {spot.blinds}")
    if spot.pot < 0:
        raise GameError(f"holdem: the pot is not negative, as {spot.pot} is")
    if spot.board and spot.pot == 0:
        raise GameError(f"holdem: after the flop the pot is at least 1 chip, not {spot.pot}")
