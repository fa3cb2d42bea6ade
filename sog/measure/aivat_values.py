"""Values for AIVAT: of two fixed policies in a listed game, and of both players checking or calling to the end.

Values see a public state and ranges, never what happened afterwards. At a terminal state they are utilities, and at a
chance event the sum of what its outcomes are worth, so that AIVAT need not list them.
"""

from __future__ import annotations

from typing import Final, Protocol, TypeAlias

import numpy as np

from sog.arrays import Float64
from sog.errors import TooLarge
from sog.games.base import NATURE, TERMINAL
from sog.games.edges import coefficients_of
from sog.games.holdem.equity import against_each, against_range
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.poker import poker_of
from sog.searches.cfr.exact import Policy
from sog.searches.tree.public_tree import PublicTree

__all__ = ["HoldemEquity", "ListedValues", "Ranges", "Values", "call_policy"]

Ranges: TypeAlias = tuple[Float64, Float64]

_MOST: Final = 10**9  # bytes of a game's tables


class Values(Protocol):
    """What public states are worth to player 0, fixed before the match.  name: which values these are."""

    name: str

    def sums(self, public: PublicTree, node: int, ranges: Ranges) -> tuple[float, float]:
        """With W, ranges r and values v of a node: sum of W r0 r1 v and sum of W r0 r1, over all pairs."""


class ListedValues:
    """The values of two fixed policies in a listed game: exact.

    tables: by node float64[2, I0, I1], the values of pairs times W, and W.
    """

    def __init__(self, public: PublicTree, policy: Policy, name: str) -> None:
        """policy: of both players, for every decision. TooLarge where tables of all pairs do not fit."""
        pairs = sum(i0 * i1 for i0, i1 in map(public.num_infostates, range(public.size)))
        if 16 * pairs > _MOST:
            raise TooLarge(f"{public.game.name} has too many pairs of infostates for exact values of each")
        self.public, self.policy, self.name = public, policy, name
        self.tables: list[Float64] = [np.zeros((2, 0, 0))] * public.size
        # Children have larger numbers than their parents.
        for node in reversed(range(public.size)):
            self.tables[node] = np.stack((self.worth(node), public.weights(node)))

    def sums(self, public: PublicTree, node: int, ranges: Ranges) -> tuple[float, float]:
        assert public is self.public
        won, mass = (self.tables[node] @ ranges[1] @ ranges[0]).tolist()
        return won, mass

    def worth(self, node: int) -> Float64:
        """float64[I0, I1]: W times the values of a node whose children have theirs."""
        public, actor = self.public, self.public.actor(node)
        if actor == TERMINAL:
            return public.game.payoff(public.states[node]).dense()
        fan, widths = public.game.fan(public.states[node]), public.num_infostates(node)
        out = np.zeros(widths)
        for edge in range(len(fan.children)):
            below = self.tables[public.child(node, edge)][0]
            (s0, t0, c0), (s1, t1, c1) = (
                coefficients_of(fan, edge, p, widths[p], self.policy[node] if p == actor else None) for p in (0, 1)
            )
            # v(s0, s1) += c0 c1 v'(t0, t1): several targets may have one source.
            np.add.at(out, np.ix_(s0, s1), c0[:, None] * c1 * below[np.ix_(t0, t1)])
        return out


def call_policy(public: PublicTree) -> Policy:
    """Checks and calls at every decision of a listed poker game; GameError where the game is not poker."""
    poker, policy = poker_of(public.game), {}
    for node in range(public.size):
        if (actor := public.actor(node)) < NATURE:
            policy[node] = np.zeros((len(public.actions(node)), public.num_infostates(node)[actor]))
            policy[node][poker.call(public.states[node])] = 1.0
    return policy


class HoldemEquity:
    """What hold'em's pairs of hands win if both check or call from here on: the all-in expectation, over all boards."""

    name = "equity"

    def sums(self, public: PublicTree, node: int, ranges: Ranges) -> tuple[float, float]:
        s, masses = public.states[node], public.masses(node, *ranges)
        assert isinstance(s, HoldemState) and isinstance(public.game, Holdem)
        betting, mass = s.betting, float(ranges[0] @ masses[0])
        if mass <= 0.0:  # an action that nobody takes
            return 0.0, 0.0
        if betting.folded >= 0:
            lost = public.game.spot.pot / 2 + betting.matched
            return (-lost if betting.folded == 0 else lost) * mass, mass
        stake = public.game.spot.pot / 2 + min(max(betting.paid), *betting.stacks)
        # Of the two ranges the one with a single hand is quick to play against.
        p = 0 if np.count_nonzero(ranges[1]) == 1 else 1
        wins = _equities(s.board, ranges[1 - p])
        won = stake * float(ranges[p] * masses[p] @ (2.0 * wins - 1.0))
        return (won if p == 0 else -won), mass


def _equities(board: tuple[int, ...], opponent: Float64) -> Float64:
    """float64[1326]: how often each hand wins against a range over all boards, a tie a half."""
    held = np.flatnonzero(opponent)
    if len(held) != 1:
        return against_range(board, opponent)
    return 1.0 - against_each(board, int(held[0]))
