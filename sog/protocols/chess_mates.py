"""Forced mates that a search has seen: proven by the positions of its tree, whatever its values say."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sog.games.base import TERMINAL
from sog.play.player import Candidate, Thought
from sog.searches.tree.public_tree import PublicTree

__all__ = ["Mates"]

_FAR: Final = 2**20


@dataclass(frozen=True)
class Mates:
    """Half moves to mate, of the nodes where it is forced.

    won: where whoever moves mates.  lost: where whoever moves is mated, 0 where the mate is on the board.
    """

    public: PublicTree
    won: dict[int, int]
    lost: dict[int, int]

    @classmethod
    def of(cls, public: PublicTree) -> Mates:
        """Upwards from the mates in a tree; an unlisted move proves nothing against its mover."""
        found = cls(public, {}, {})
        over = np.flatnonzero(public.nodes.actor[: public.size] == TERMINAL).tolist()
        found.lost.update({node: 0 for node in over if public.utility(node, (0, 0)) != 0.0})
        ahead = [-int(public.parent[node]) for node in found.lost]
        heapq.heapify(ahead)  # the highest node first: children are above their parents
        seen = {-1}
        while ahead:
            node = -heapq.heappop(ahead)
            if node not in seen and found._settle(node):
                heapq.heappush(ahead, -int(public.parent[node]))
            seen.add(node)
        return found

    def children(self, node: int) -> list[int]:
        """The node that each action leads to, -1 where it is not listed."""
        first = int(self.public.nodes.edge0.item(node))
        nodes: list[int] = self.public.edges.child[first : first + self.public.num_edges(node)].tolist()
        return nodes

    def after(self, node: int, action: int) -> int:
        """The node that one action leads to, -1 where it is not listed."""
        actions: list[int] = self.public.actions(node).tolist()
        return self.children(node)[actions.index(action)]

    def _settle(self, node: int) -> bool:
        """Whether mate is forced at a node, by what is known of its children."""
        children = self.children(node)
        if mating := [self.lost[child] for child in children if child in self.lost]:
            self.won[node] = 1 + min(mating)
        elif children and all(child in self.won for child in children):
            self.lost[node] = 1 + max(self.won[child] for child in children)
        return node in self.won or node in self.lost

    def line(self, node: int) -> tuple[int, ...]:
        """The actions from a node on: the shortest mate against the longest defence."""
        line = list[int]()
        while self.lost.get(node) != 0 and (node in self.won or node in self.lost):
            ranks = [self.rank(child) for child in self.children(node)]
            best = ranks.index(min(ranks))
            line.append(int(self.public.actions(node)[best]))
            node = self.children(node)[best]
        return tuple(line)

    def rank(self, child: int) -> int:
        """How a move that leads here ranks, the least best: quick mates, then what is open, then slow ways to lose."""
        return self.lost[child] - _FAR if child in self.lost else _FAR - self.won.get(child, _FAR)

    def moves(self, child: int) -> int | None:
        """UCI's mate score of a move that leads here: moves until mate, negative where the mover is mated."""
        if child in self.lost:
            return self.lost[child] // 2 + 1
        return -((self.won[child] + 1) // 2) if child in self.won else None

    def first(self, thought: Thought, node: int) -> Thought:
        """A node's thought with mates that are forced first and forced losses last, both with their whole lines."""
        ends = {candidate.action: self.after(node, candidate.action) for candidate in thought.candidates}

        def whole(candidate: Candidate) -> Candidate:
            end = ends[candidate.action]
            if end in self.lost or end in self.won:
                return replace(candidate, line=(candidate.action, *self.line(end)))
            return candidate

        order = sorted(thought.candidates, key=lambda candidate: self.rank(ends[candidate.action]))
        return replace(thought, candidates=tuple(map(whole, order)))
