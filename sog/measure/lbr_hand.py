"""One hand of Local Best Response: it follows the line of play on a public tree and keeps the agent's range.

LBR holds one infostate and the agent any of its own; how likely each is comes from Bayes' rule at every action of the
agent, and from the cards that LBR sees. The public tree grows along the hand. A bet that the game's tree lacks is
offered in it (`Holdem.offer`), so that the agent answers that very bet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sog.arrays import Float64
from sog.games.base import NATURE, TERMINAL, Carry, State, carried_down
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.poker import NONE, Poker, Stakes
from sog.measure.lbr_bets import Menu
from sog.play.agent import Agent
from sog.searches.tree.offered import replace_state
from sog.searches.tree.public_tree import PublicTree

__all__ = ["LbrChoice", "LbrHand", "bet_value", "call_value"]


def call_value(stakes: Stakes, wins: float) -> float:
    """What check or call wins over a fold, in chips, if nobody bets any more (Lisy and Bowling, Algorithm 1).

    U(call) = wp * pot - (1 - wp) * asked.  wins: wp, a tie a half.
    """
    return wins * stakes.pot - (1.0 - wins) * stakes.asked


def bet_value(stakes: Stakes, added: float, folds: float, wins: float) -> float:
    """What a bet wins over a fold, in chips, if the agent then folds or calls and nobody bets any more.

    U(bet) = fp * pot + (1 - fp) * (wp * (pot + added) - (1 - wp) * (asked + added)).

    added: what the bet asks of the agent.  folds: fp, the chance that it folds.  wins: wp, against the hands that do
    not. LBR wins the pot and the agent's call: its own chips, asked and added, do not count as winnings.
    """
    called = wins * (stakes.pot + added) - (1.0 - wins) * (stakes.asked + added)
    return folds * stakes.pot + (1.0 - folds) * called


@dataclass(frozen=True)
class LbrChoice:
    """What LBR may do: its value over a fold, the decision's state that offers it, its column there, the agent after.

    agent: forked where it was asked what it answers, so that it need not search again.
    """

    value: float
    state: State
    column: int
    agent: Agent


class LbrHand:
    """A hand in play.  node: where it is.  pair: both players' infostates.  range: float64[I], the agent's reach.

    chance: draws the cards to come, the same for both seats of a duplicate.  draws: of the agent's actions.
    """

    def __init__(self, agent: Agent, poker: Poker, pair: tuple[int, int], seed: tuple[int, int]) -> None:
        """agent: at the start of a game.  seed: of the deal, by which chance draws too."""
        self.agent, self.poker, self.pair = agent, poker, pair
        self.public: PublicTree = agent.public
        self.game = agent.public.game
        self.seat = 1 - agent.player
        self.node = 0
        self.range = self.game.root_ranges()[agent.player]
        # The deal itself is drawn by `seed`, which is the same as with a 0 at its end.
        self.chance = np.random.default_rng((*seed, 1))
        self.draws = np.random.default_rng((*seed, 2 + agent.player))

    @property
    def state(self) -> State:
        return self.public.states[self.node]

    @property
    def own(self) -> int:
        """The infostate that LBR holds."""
        return self.pair[self.seat]

    def play(self, menu: Menu, call_streets: int, raw: bool) -> float:
        """LBR's utility at the end.

        call_streets: on how many streets from the first it must check or call.  raw: the utility of the pair that was
        dealt, instead of the mean over the agent's range, and over boards where a player is all-in.
        """
        while not (ended := self.public.actor(self.node) == TERMINAL):
            if not raw and self.poker.settled(self.state):
                break
            if self.public.actor(self.node) == NATURE:
                self.deal()
            elif self.public.actor(self.node) == self.agent.player:
                self.answer()
            else:
                self.choose(menu, call_streets)
        lost = self.poker.lost(self.state)
        if ended and (raw or not self.poker.settled(self.state)):
            # Player 0's, -1, 0 or 1: what is left beside it is rounding.
            won = round(self.public.utility(self.node, self.pair) / lost)
            return float(won * lost if self.seat == 0 else -won * lost)
        return lost * (2.0 * self.wins(self.belief()) - 1.0)

    def belief(self) -> Float64:
        """float64[I]: how likely the agent has each infostate, its range against LBR's infostate; sums to 1."""
        held = [np.zeros(width) for width in self.public.num_infostates(self.node)]
        held[self.seat][self.own] = 1.0
        masses = self.public.masses(self.node, held[0], held[1])
        belief = self.range * masses[self.agent.player]
        total: float = belief.sum()
        return belief / total

    def wins(self, belief: Float64) -> float:
        """LBR's chance to win against a belief if both check or call to the end, a tie a half."""
        return float(belief @ self.poker.equities(self.state, self.seat, self.own))

    # --- chance, the agent, and LBR ---

    def deal(self) -> None:
        """Chance's event here; the agent's infostates that it rules out leave its range."""
        child, i0, i1 = self.game.sample_chance(self.state, *self.pair, self.chance)
        node, carry = _node_after(self.public, self.node, child)
        self.range = carried_down(carry[self.agent.player], self.range, self.public.num_infostates(node)[1 - self.seat])
        self.node, self.pair = node, (i0, i1)

    def answer(self) -> None:
        """The agent's action; its range becomes that of the infostates that take it."""
        policy = self.agent.policy(self.node)
        row = policy[:, self.pair[self.agent.player]]
        column = int(self.draws.choice(len(row), p=row / row.sum()))
        self.range = self.range * policy[column]
        self.move(column)

    def choose(self, menu: Menu, call_streets: int) -> None:
        """LBR's action: the one of largest value, a fold where none is worth more than that."""
        s, poker = self.state, self.poker
        fold, call = poker.fold(s), poker.call(s)
        if poker.street(s) < call_streets:
            self.move(call)
            return
        belief = self.belief()
        best = LbrChoice(call_value(poker.stakes(s), self.wins(belief)), s, call, self.agent)
        for choice in () if menu.empty else self.bets(menu, belief):
            best = choice if choice.value > best.value else best
        if fold != NONE and best.value <= 0.0:
            best = LbrChoice(0.0, s, fold, self.agent)
        self.offer(best.state)
        self.agent = best.agent
        self.move(best.column)

    def bets(self, menu: Menu, belief: Float64) -> Iterator[LbrChoice]:
        """Every bet of the menu with its value; the node's state may be left with the last one offered."""
        s, poker = self.state, self.poker
        stakes, wins = poker.stakes(s), poker.equities(s, self.seat, self.own)
        for state, column in _offers(self.game, poker, s, menu):
            self.offer(state)
            self.public.list_fan(self.node)
            child, agent = self.public.child(self.node, column), self.agent.fork()
            folding = agent.policy(child)[poker.fold(self.public.states[child])]
            folds, staying = float(belief @ folding), belief * (1.0 - folding)
            left = float(staying.sum())
            against = float(staying @ wins) / left if left > 0 else 0.0
            yield LbrChoice(bet_value(stakes, poker.added(state, column), folds, against), state, column, agent)

    def offer(self, s: State) -> None:
        """Have the decision here offer what this state of it does."""
        if self.state != s:
            replace_state(self.public, self.node, s)

    def move(self, column: int) -> None:
        """Go down the edge of an action; every infostate takes the same one and keeps its index."""
        self.public.list_fan(self.node)
        self.node = self.public.child(self.node, column)


def _offers(game: object, poker: Poker, s: State, menu: Menu) -> Iterator[tuple[State, int]]:
    """(state, column) of every bet of a menu at a decision: the state offers the bet in that column."""
    if not isinstance(game, Holdem):
        yield from ((s, column) for column in poker.bets(s))
        return
    assert isinstance(s, HoldemState)
    for amount in menu.amounts(game, s):
        offering = game.offer(s, amount)
        amounts = [total for _, total in game.raises(offering)]
        yield offering, poker.call(s) + 1 + amounts.index(amount)


def _node_after(public: PublicTree, node: int, state: State) -> tuple[int, tuple[Carry, Carry]]:
    """The child of a chance node that is a state, added where the fan is not listed, and how infostates go there."""
    game, s = public.game, public.states[node]
    if not public.list_fan(node):
        return public.add(state, node), game.chance_carry(s, state)
    fan = game.fan(s)
    edge = list(fan.children).index(state)
    return public.child(node, edge), (None, None) if fan.carry is None else fan.carry[edge]
