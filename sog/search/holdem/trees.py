"""Betting trees of a hold'em spot as arrays, cut where threads or the next card take over; knows no hand.

A `Shape` is a forest of betting trees that share their board; the solver lays hands, regrets and boards over
it. Rows of reach and value are numbered so that those of showdowns come first, side by side, which lets
`cards.showdown_batch` take LANES of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sog.arrays import Float32, Int32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.betting import RIVER
from sog.games.holdem.game import Holdem, HoldemState
from sog.search.simd.f32x16 import LANES

DECISION, FOLDED, SHOWDOWN, CUT = range(4)

# Columns of Shape.nodes, int32[N, 7]. ROW: the first of the node's action rows. REACH0 + p: the row of player
# p's reach. VALUE: the row of either player's values.
KIND, ACTOR, CHILD0, CHILDREN, ROW, REACH0, REACH1, VALUE = range(8)
COLUMNS = 8


@dataclass(eq=False)
class Node:
    """A public state of the betting, and where it stands in its shape."""

    state: HoldemState
    kind: int
    actor: int
    chips: float
    children: list[Node]
    size: int = 1  # nodes in this subtree

    row: int = -1  # first action row in the shape that holds the node


@dataclass(frozen=True, eq=False)
class Shape:
    """Betting trees in preorder.

    nodes: int32[N, COLUMNS].  child: int32[*].  chips: float32[N], what folding or a showdown is worth.
    amounts: float32[*], the showdowns' chips in the order of their rows, padded to LANES.  roots: nodes where
    trees begin.  action_rows: rows of regrets.  reach_rows, value_rows: rows of a player's reach and values.
    root_reach: int32[roots, 2], rows to fill before a sweep.  root_value: int32[roots], rows to read after it.
    showdowns: how many.
    """

    nodes: Int32
    child: Int32
    chips: Float32
    amounts: Float32
    roots: Int32
    root_reach: Int32
    root_value: Int32
    action_rows: int
    reach_rows: int
    value_rows: int
    showdowns: int

    @property
    def batches(self) -> int:
        """Showdown batches of LANES rows."""
        return -(-self.showdowns // LANES)


def grow(game: Holdem, most_rows: int) -> Node:
    """The betting tree from the root; chance nodes are CUT, with the next round's tree as their only child.

    GameError, before the tree is whole, where the river's decisions have more than `most_rows` actions in all.
    """
    rows = 0

    def below(s: HoldemState) -> Node:
        nonlocal rows
        actor = game.actor(s)
        if actor == TERMINAL:
            kind = FOLDED if s.betting.folded >= 0 else SHOWDOWN
            return Node(s, kind, max(s.betting.folded, 0), game.spot.pot / 2 + s.betting.matched, [])
        if actor == NATURE:
            card = next(c for c in range(52) if c not in s.board)  # betting does not depend on the card
            return Node(s, CUT, 0, 0.0, [below(game.deal(s, (card,)))])
        actions = game.actions(s)
        rows += len(actions) * (s.betting.street == RIVER)
        if rows > most_rows:
            told = f"holdem: more than the {most_rows:,} river actions that memory is free for; give fewer bets"
            raise GameError(told)
        children = [below(game.after(s, int(a))) for a in actions]
        return Node(s, DECISION, actor, 0.0, children, 1 + sum(c.size for c in children))

    return below(game.root())


def lay_out(roots: Sequence[Node], cuts: Sequence[Node] = ()) -> Shape:
    """Arrays of a forest; the nodes in `cuts` become leaves whose values come from elsewhere.

    Writes each decision's first action row into its Node.
    """
    return _Layout(roots, {id(c): k for k, c in enumerate(cuts)}).shape()


class _Layout:
    """Numbers nodes in preorder and rows with those of showdowns first."""

    def __init__(self, roots: Sequence[Node], cuts: dict[int, int]) -> None:
        self.cuts = cuts
        self.order: list[tuple[Node, int, int, int]] = []  # node, parent, place among siblings, depth
        self.root_nodes: list[int] = []
        for root in roots:
            self.root_nodes.append(len(self.order))
            self._visit(root, -1, 0, 0)
        self.kinds = [CUT if id(n) in cuts else n.kind for n, _, _, _ in self.order]
        self.showdowns = [k for k, kind in enumerate(self.kinds) if kind == SHOWDOWN]

    def _visit(self, node: Node, parent: int, place: int, depth: int) -> None:
        number = len(self.order)
        self.order.append((node, parent, place, depth))
        if id(node) not in self.cuts and node.kind == DECISION:
            for k, child in enumerate(node.children):
                self._visit(child, number, k, depth + 1)

    def shape(self) -> Shape:
        nodes = np.zeros((len(self.order), COLUMNS), dtype=np.int32)
        nodes[:, KIND] = self.kinds
        child: list[int] = []
        offsets = {}
        rows = 0
        for k, (node, _, _, _) in enumerate(self.order):
            nodes[k, ACTOR] = node.actor
            if self.kinds[k] == DECISION:
                offsets[k] = nodes[k, CHILD0] = len(child)
                nodes[k, CHILDREN], nodes[k, ROW], node.row = len(node.children), rows, rows
                child += [-1] * len(node.children)
                rows += len(node.children)
        for k, (_, parent, place, _) in enumerate(self.order):
            if parent >= 0:
                child[offsets[parent] + place] = k
        reach_rows = max(self._reach(nodes, p) for p in (0, 1))
        value_rows = self._values(nodes)
        chips = np.array([n.chips for n, _, _, _ in self.order], dtype=np.float32)
        amounts = np.zeros(-(-len(self.showdowns) // LANES) * LANES, dtype=np.float32)
        amounts[: len(self.showdowns)] = chips[self.showdowns]
        roots = np.array(self.root_nodes, dtype=np.int32)
        return Shape(
            nodes, np.array(child, dtype=np.int32), chips, amounts, roots,
            nodes[roots][:, [REACH0, REACH1]].copy(), nodes[roots, VALUE].copy(),
            rows, reach_rows, value_rows, len(self.showdowns),
        )  # fmt: skip

    def _padded(self) -> int:
        return -(-len(self.showdowns) // LANES) * LANES

    def _reach(self, nodes: Int32, p: int) -> int:
        """Rows of player p's reach: a row is shared down to where p acts, and has one showdown at most."""
        group = list(range(len(self.order)))
        for k, (_, parent, _, _) in enumerate(self.order):
            if parent >= 0 and nodes[parent, ACTOR] != p:
                group[k] = group[parent]
        row: dict[int, int] = {}
        for k, n in enumerate(self.showdowns):
            assert group[n] not in row, "two showdowns share a reach row"
            row[group[n]] = k
        for g in group:
            row.setdefault(g, self._padded() + len(row) - len(self.showdowns))
        for k, g in enumerate(group):
            nodes[k, REACH0 + p] = row[g]
        return self._padded() + len(row) - len(self.showdowns)

    def _values(self, nodes: Int32) -> int:
        """Rows of values: showdowns, then cuts and roots, then one row per depth and place among siblings."""
        rows = self._padded()
        nodes[self.showdowns, VALUE] = range(len(self.showdowns))
        widest = max((len(n.children) for n, _, _, _ in self.order), default=1)
        kept = [k for k, kind in enumerate(self.kinds) if kind == CUT or (k in self.root_nodes and kind != SHOWDOWN)]
        nodes[kept, VALUE] = range(rows, rows + len(kept))
        rows += len(kept)
        deepest = 0
        for k, (_, parent, place, depth) in enumerate(self.order):
            if parent >= 0 and self.kinds[k] in (DECISION, FOLDED):
                nodes[k, VALUE] = rows + (depth - 1) * widest + place
                deepest = max(deepest, depth)
        return rows + deepest * widest
