"""Forced wins: what the ends in a tree of positions prove, whatever a search's values say."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sog.games.base import NATURE
from sog.play.player import Candidate, Thought
from sog.searches.tree import pairs
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Proofs", "proven_first"]

_FAR: Final = 2**20
_ROUNDING: Final = 1e-9  # of a utility, as a share of u_max: payoffs hold chance's part, which is divided out


@dataclass(frozen=True)
class Proofs:
    """The nodes of a game of perfect information at which one player wins all that can be won, whatever the other does.

    winner: 0 or 1.  plies: moves to the end where the winner hurries and the loser delays, 0 where the game is over.
    """

    public: PublicTree
    winner: dict[int, int]
    plies: dict[int, int]

    @classmethod
    def of(cls, public: PublicTree, root: int = 0) -> Proofs:
        """Upwards from the won ends among the nodes from `root` on; a move that is not listed proves nothing."""
        proofs = cls(public, {}, {})
        utilities = np.zeros(public.size - root)
        pairs.utilities(public.arrays, root, utilities)
        won = public.game.u_max * (1 - _ROUNDING)
        for place in np.flatnonzero(np.abs(utilities) >= won).tolist():
            proofs._set(root + place, int(utilities[place] < 0.0), 0)
        ahead = [-int(public.parent[node]) for node in proofs.winner]
        heapq.heapify(ahead)  # the highest node first: children are above their parents
        seen = {-1}
        while ahead:
            node = -heapq.heappop(ahead)
            if node not in seen and proofs._settle(node):
                heapq.heappush(ahead, -int(public.parent[node]))
            seen.add(node)
        return proofs

    def _set(self, node: int, winner: int, plies: int) -> None:
        self.winner[node], self.plies[node] = winner, plies

    def _settle(self, node: int) -> bool:
        """Whether the result is forced at a node, by what is known of its children."""
        children, actor = self._children(node), self.public.actor(node)
        winners = {self.winner.get(child) for child in children}
        if actor < NATURE and actor in winners:
            self._set(node, actor, 1 + min(self.plies[child] for child in children if self.winner.get(child) == actor))
        elif len(winners) == 1 and (winner := winners.pop()) is not None:
            self._set(node, winner, 1 + max(self.plies[child] for child in children))
        return node in self.winner

    def _children(self, node: int) -> list[int]:
        """The node over each edge, -1 where it is not listed."""
        first = int(self.public.nodes.edge0.item(node))
        nodes: list[int] = self.public.edges.child[first : first + self.public.num_edges(node)].tolist()
        return nodes

    def after(self, node: int, action: int) -> int:
        """The node that one action leads to, -1 where it is not listed."""
        place = self.public.actions(node).tolist().index(action)
        return self._children(node)[self.public.edge_of(node, place)] if self.public.num_edges(node) else -1

    def rank(self, child: int, player: int) -> int:
        """How a player's move to a node ranks, the least best: quick wins, then what is open, then slow losses."""
        if child not in self.winner:
            return 0
        return self.plies[child] - _FAR if self.winner[child] == player else _FAR - self.plies[child]

    def line(self, node: int) -> tuple[int, ...]:
        """The actions from a node on, the quickest win against the longest defence, up to the end or a chance event."""
        line = list[int]()
        while self.plies.get(node, 0) > 0 and (actor := self.public.actor(node)) < NATURE:
            actions: list[int] = self.public.actions(node).tolist()
            line.append(min(actions, key=lambda action: self.rank(self.after(node, action), actor)))
            node = self.after(node, line[-1])
        return tuple(line)


def proven_first(thought: Thought, public: PublicTree, node: int) -> Thought:
    """A decision's thought with moves that win by force first and those that lose by force last, with their lines.

    Each move of the decision is looked at, whether the search tried it or not: one that ends the game with a win is
    never missed.
    """
    for edge in range(public.num_edges(node)):
        public.child(node, edge)
    proofs, player = Proofs.of(public, node), public.actor(node)
    ends = {candidate.action: proofs.after(node, candidate.action) for candidate in thought.candidates}

    def whole(candidate: Candidate) -> Candidate:
        end = ends[candidate.action]
        return replace(candidate, line=(candidate.action, *proofs.line(end))) if end in proofs.winner else candidate

    order = sorted(thought.candidates, key=lambda candidate: proofs.rank(ends[candidate.action], player))
    return replace(thought, candidates=tuple(map(whole, order)))
