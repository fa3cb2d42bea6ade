"""A search agent's turn policy in hold'em and where its searches leave it at the turn's end, side by side.

At every decision of the turn the agent searches as in play, each search continuing its own chain. The last search
before a river card says what its player would re-solve from: its own range, the opponent's mean range, and what the
opponent's hands are worth. Where an opponent's decision lies between and the state is not in the last search's tree,
the chain searches that decision too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.games.base import NATURE
from sog.games.holdem.game import Holdem, HoldemState
from sog.play.agent import SearchAgent, own_followers
from sog.play.resolver import Resolving, Solved
from sog.searches.holdem.resolving import SpotBounds
from sog.searches.leaves.drive import drive
from sog.searches.tree.public_tree import PublicTree

__all__ = ["TurnChain", "public_state"]

_AT_ONCE: Final = 4  # searches: trees on the turn are large


class TurnChain:
    """Drive `run`; then `policies` has the player's policy at each of its turn decisions, and `bounds` the turn's ends.

    searches: how many were made.
    """

    def __init__(self, agent: SearchAgent, ends: list[HoldemState]) -> None:
        """agent: of a tree in which the turn alone is listed.  ends: the states where the river card comes, in order.

        Rivers that a search lists in the tree follow the turn's public states.
        """
        public = agent.public
        assert isinstance(public.game, Holdem)
        self.agent, self.player = agent, agent.player
        self.policies: dict[HoldemState, Float64] = {}
        self.searches = 0
        hands = public.num_infostates(0)[0]
        numbers = {public_state(public, s): s for s in range(public.size) if public.actor(s) == NATURE}
        self._ends = {numbers[state]: k for k, state in enumerate(ends)}
        self._noted: set[int] = set()
        self.bounds = SpotBounds(*(np.zeros((len(ends), hands)) for _ in range(3)))
        self._acts = self.player, *((1 - self.player,) if agent.settings.every_decision else ())
        self._followers = own_followers(public, *self._acts)
        # The state where one of the chain's players acted last above each turn's end.
        self._last = {end: self._searched_above(end) for end in self._ends}

    def _searched_above(self, end: int) -> int:
        path = self.agent.public.path(end)[:-1]
        return next(s for s in reversed(path) if self.agent.public.actor(s) in self._acts)

    def run(self) -> None:
        """Search everything."""
        agent = self.agent
        waiting: list[tuple[int, Solved | None]] = [(s, None) for s in self._followers[-1]]

        def searches() -> Iterator[Resolving]:
            while waiting:
                node, previous = waiting.pop()
                yield Resolving(agent.public, self.player, node, previous, agent.settings, agent.seed)

        while waiting:
            for resolving in drive(searches(), agent.evaluator, _AT_ONCE):
                solved = resolving.solved()
                self.searches += 1
                if solved.node in self._followers:
                    waiting.extend((s, solved) for s in self._followers[solved.node])
                if agent.public.actor(solved.node) == self.player:
                    self.policies[public_state(agent.public, solved.node)] = solved.played(agent.settings.purify)
                waiting.extend(self._leave(solved))
        assert self._noted == set(self._ends), "a state where the river card comes was in no search's tree"

    def _leave(self, solved: Solved) -> list[tuple[int, Solved | None]]:
        """Note the turn's ends below a search that are in its tree; the decisions to be searched before others are."""
        public, passed = self.agent.public, dict[int, None]()
        for end, k in self._ends.items():
            if solved.node not in (self._last[end], int(public.parent[end])):
                continue
            if end in solved.index:
                self._noted.add(end)
                self._note(k, solved, solved.index[end])
            elif solved.node == self._last[end]:
                passed[int(public.parent[end])] = None
        return [(s, solved) for s in passed]

    def _note(self, k: int, solved: Solved, n: int) -> None:
        bounds = self.bounds
        bounds.own[k] = solved.own_range(n)
        bounds.other[k] = solved.opponent_range(n)
        bounds.values[k] = solved.opponent_values(n)


def public_state(public: PublicTree, node: int) -> HoldemState:
    """A node's state of a hold'em game."""
    state = public.states[node]
    assert isinstance(state, HoldemState)
    return state
