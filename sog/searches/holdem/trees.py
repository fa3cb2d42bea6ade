"""Betting trees of a hold'em spot as arrays, cut where threads or the next card take over; no hands are known here.

A `Forest` is a set of betting trees that share their board. The solver keeps "hand vectors" for it, float32 numbers
side by side, one for each hand: a player's reach, a player's values, the regrets of an action. Each kind of vector is
numbered from 0. In the numbering of reach and of values the showdowns come first, side by side, which lets
`payoffs.showdown_batch` take LANES32 of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Float32, Int32, UInt64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.betting import RIVER
from sog.games.holdem.cards import CARDS
from sog.games.holdem.game import Holdem, HoldemState
from sog.searches.kernels.vectors import padded

__all__ = ["CUT", "DECISION", "FOLDED", "SHOWDOWN", "Forest", "SpotNode", "SpotNodes", "grow", "lay_out"]

DECISION: Final = 0
FOLDED: Final = 1
SHOWDOWN: Final = 2
CUT: Final = 3  # a leaf whose values come from other forests


@dataclass(eq=False)
class SpotNode:
    """A public state of the betting, and its place in its forest."""

    state: HoldemState
    kind: int
    actor: int  # who decides; after a fold, who folded
    chips: float  # what a fold or a showdown is worth
    children: list[SpotNode]
    size: int = 1  # nodes in this subtree

    action0: int = -1  # at a decision: its first action, numbered within the forest that holds the node


class SpotNodes(NamedTuple):
    """The N nodes and the A actions of forests; an action and its child are the same thing here.

    Actions are numbered within each forest, decision after decision; an action's number is also the number of its
    vectors of regrets and averages. Places and counts are unsigned: Numba tests a signed index for counting from the
    end.
    """

    kind: Int32  # int32[N]: DECISION, FOLDED, SHOWDOWN or CUT
    actor: Int32  # int32[N]: as in Node
    chips: Float32  # float32[N]: as in Node
    actions: UInt64  # uint64[N]: how many; 0 but at decisions
    action0: UInt64  # uint64[N]: the first of them
    reach: UInt64  # uint64[2, N]: the vector of each player's reach
    value: UInt64  # uint64[N]: the vector of the values of the player whose values are computed
    child_reach: UInt64  # uint64[2, A]: `reach` of the node that each action leads to
    child_value: UInt64  # uint64[A]: `value` of that node


@dataclass(frozen=True, eq=False)
class Forest:
    """Betting trees in preorder.

    nodes: theirs.  amounts: float32[*], the showdowns' chips in the order of their vectors, padded to LANES32.
    roots: int32[R], the nodes at which the trees begin.  reach_vectors, value_vectors: how many vectors of a
    player's reach and of values there are.
    """

    nodes: SpotNodes
    amounts: Float32
    roots: Int32
    reach_vectors: int
    value_vectors: int

    @property
    def actions(self) -> int:
        """Actions, and vectors of regrets."""
        return len(self.nodes.child_value)

    @property
    def root_reach(self) -> UInt64:
        """uint64[2, R]: the vectors to fill before a sweep."""
        vectors: UInt64 = self.nodes.reach[:, self.roots]
        return vectors

    @property
    def root_value(self) -> UInt64:
        """uint64[R]: the vectors that hold the values after a sweep."""
        vectors: UInt64 = self.nodes.value[self.roots]
        return vectors


def grow(game: Holdem, state: HoldemState, most_actions: int) -> SpotNode:
    """The betting tree from a public state; chance nodes are CUT, with the next round's tree as their only child.

    GameError, before the tree is complete, where the river's decisions have more than `most_actions` actions.
    """
    actions_seen = 0

    def below(s: HoldemState) -> SpotNode:
        nonlocal actions_seen
        actor = game.actor(s)
        if actor == TERMINAL:
            # At stake: half of the pot at the root and what both players have matched since, chips.
            kind = FOLDED if s.betting.folded >= 0 else SHOWDOWN
            return SpotNode(s, kind, max(s.betting.folded, 0), game.spot.pot / 2 + s.betting.matched, [])
        if actor == NATURE:
            card = next(c for c in range(CARDS) if c not in s.board)  # betting does not depend on the card
            return SpotNode(s, CUT, 0, 0.0, [below(game.deal(s, (card,)))])
        actions = game.actions(s)
        # Counted while the tree grows, so that a tree far too large is never complete in memory.
        actions_seen += len(actions) * (s.betting.street == RIVER)
        if actions_seen > most_actions:
            raise GameError(
                f"holdem: more than the {most_actions:,} river actions that memory is free for; give fewer bets"
            )
        # A decision's size counts itself and all below.
        children = [below(game.after(s, int(a))) for a in actions]
        return SpotNode(s, DECISION, actor, 0.0, children, 1 + sum(c.size for c in children))

    return below(state)


def lay_out(roots: Sequence[SpotNode], cuts: Sequence[SpotNode] = ()) -> Forest:
    """Arrays of the trees below `roots`; the nodes in `cuts` become leaves of kind CUT.

    Writes each decision's first action into its Node.
    """
    return _Layout(roots, {id(c) for c in cuts}).forest()


class _TreePlace(NamedTuple):
    """A node of a layout: its parent's number (-1 for a root), its place among its siblings and its depth."""

    node: SpotNode
    parent: int
    sibling: int
    depth: int


class _Layout:
    """Numbers the nodes in preorder, and the vectors with those of showdowns first."""

    def __init__(self, roots: Sequence[SpotNode], cuts: set[int]) -> None:
        """cuts: id of each Node that becomes a leaf."""
        self.cuts = cuts
        self.order: list[_TreePlace] = []
        self.roots: list[int] = []
        for root in roots:
            self.roots.append(len(self.order))
            self._visit(_TreePlace(root, -1, 0, 0))
        # A cut is a leaf here, whatever it is in the tree that it begins.
        self.kinds = [CUT if id(at.node) in cuts else at.node.kind for at in self.order]
        self.showdowns = [k for k, kind in enumerate(self.kinds) if kind == SHOWDOWN]

    def _visit(self, at: _TreePlace) -> None:
        number = len(self.order)
        self.order.append(at)
        if id(at.node) not in self.cuts and at.node.kind == DECISION:
            for k, child in enumerate(at.node.children):
                self._visit(_TreePlace(child, number, k, at.depth + 1))

    def forest(self) -> Forest:
        """The arrays; also writes `action0` into the decisions' Nodes."""
        decides = [kind == DECISION for kind in self.kinds]
        actions = np.array([len(at.node.children) * d for at, d in zip(self.order, decides, strict=True)])
        # Decision after decision: an action's number is the count of all actions before it.
        action0 = np.cumsum(actions) - actions
        for at, decision, first in zip(self.order, decides, action0.tolist(), strict=True):
            if decision:
                at.node.action0 = first
        # The node that each action leads to.
        child = np.empty(actions.sum(), dtype=np.int32)
        for k, at in enumerate(self.order):
            if at.parent >= 0:
                child[action0[at.parent] + at.sibling] = k
        both = [self._reach(p) for p in (0, 1)]
        reach = np.array([vectors for vectors, _ in both], dtype=np.uint64)
        value, value_vectors = self._values()
        chips = np.array([at.node.chips for at in self.order], dtype=np.float32)
        # Showdowns are paid LANES32 at a time; those that pad the last batch pay 0.
        amounts = np.zeros(padded(len(self.showdowns)), dtype=np.float32)
        amounts[: len(self.showdowns)] = chips[self.showdowns]
        nodes = SpotNodes(
            kind=np.array(self.kinds, dtype=np.int32),
            actor=np.array([at.node.actor for at in self.order], dtype=np.int32),
            chips=chips,
            actions=actions.astype(np.uint64),
            action0=action0.astype(np.uint64),
            reach=reach,
            value=value,
            child_reach=reach[:, child],
            child_value=value[child],
        )
        roots = np.array(self.roots, dtype=np.int32)
        return Forest(nodes, amounts, roots, max(count for _, count in both), value_vectors)

    def _reach(self, p: int) -> tuple[list[int], int]:
        """Each node's vector of player p's reach, and how many there are.

        A vector is shared down to where p acts, and has one showdown at most.
        """
        group = list(range(len(self.order)))
        # In preorder, so that a parent's vector is final: only where p acts does p's reach change.
        for k, at in enumerate(self.order):
            if at.parent >= 0 and self.order[at.parent].node.actor != p:
                group[k] = group[at.parent]
        vector: dict[int, int] = {}
        # Showdown k has vector k: batches lie side by side.
        for k, n in enumerate(self.showdowns):
            assert group[n] not in vector, "two showdowns share a vector of reach"
            vector[group[n]] = k
        unused = padded(len(self.showdowns)) - len(self.showdowns)  # between the showdowns and the rest
        for g in group:
            vector.setdefault(g, len(vector) + unused)
        return [vector[g] for g in group], len(vector) + unused

    def _values(self) -> tuple[UInt64, int]:
        """uint64[N], each node's vector of values, and how many there are.

        First the showdowns, then cuts and roots, then a vector for each depth and place among siblings.
        """
        value = np.zeros(len(self.order), dtype=np.uint64)
        value[self.showdowns] = range(len(self.showdowns))
        widest = max((len(at.node.children) for at in self.order), default=1)
        # Values at cuts come from other forests, values at roots go to others: no other node may share these.
        roots = set(self.roots)
        unshared = [k for k, kind in enumerate(self.kinds) if kind == CUT or (k in roots and kind != SHOWDOWN)]
        first = padded(len(self.showdowns))
        value[unshared] = range(first, first + len(unshared))
        first += len(unshared)
        deepest = 0
        # All others share by depth and place: backwards in preorder, a node has summed up its children before a node of
        # another subtree needs their vectors.
        for k, at in enumerate(self.order):
            if at.parent >= 0 and self.kinds[k] in (DECISION, FOLDED):
                value[k] = first + (at.depth - 1) * widest + at.sibling
                deepest = max(deepest, at.depth)
        return value, first + deepest * widest
