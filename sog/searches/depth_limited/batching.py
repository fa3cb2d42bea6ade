"""Depth-limited subgames side by side in one lookahead: each tree is laid out once and copied wherever it is needed.

A subgame's nodes lie together, and so do its leaves, its ended nodes and its numbers. It knows no solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.games.base import NATURE, TERMINAL
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.kernels.jit import njit
from sog.searches.tree import columns as f
from sog.searches.tree import growth
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.public_tree import PublicTree

# Columns of blocks, int32[K + 1, 3]: where subgame k starts; the last row is where all end.
FIRST_NODE, FIRST_LEAF, FIRST_END = range(3)


class Layout(NamedTuple):
    """The tree of a subgame as it is when it lies alone in a lookahead, whose arrays these are.

    nodes: int32[M, NODE_FIELDS].  child: int32[3, *].  ends: int32[*].  leaves: int32[L].
    uniform: float64[V], the first policies.  width: slots that it takes.
    """

    nodes: Int32
    child: Int32
    ends: Int32
    leaves: Int32
    uniform: Float64
    width: int


class Layouts:
    """The trees of one public tree's subgames that go so many actions deep, laid out when first needed."""

    def __init__(self, public: PublicTree, depth: int = 2, to_chance: bool = False) -> None:
        """depth, to_chance: as in SolveSettings."""
        self.public, self.depth, self.to_chance = public, depth, to_chance
        self._known: dict[int, Layout] = {}

    def __call__(self, node: int) -> Layout:
        """The tree of the subgame at a public node."""
        if node not in self._known:
            self._known[node] = self._layout(node)
        return self._known[node]

    def _layout(self, node: int) -> Layout:
        i0, i1 = (int(self.public.nodes[node, f.I0 + p]) for p in (0, 1))
        tree = Lookahead(self.public, node, (np.zeros(i0), np.zeros(i1)))
        left = [self.depth or np.inf]
        n = 0
        while n < tree.size:
            if self._opens(tree, n, left[n]):
                tree.expand(n)
                fewer = left[n] - (tree.nodes[n, f.N_ACTOR] < NATURE)
                left += [fewer] * (tree.size - len(left))
            n += 1
        nodes, counts = tree.nodes[: tree.size], tree.counts
        return Layout(
            nodes,
            tree.child[:, : counts[growth.CHILDREN]].copy(),
            tree.ends[: counts[growth.ENDS]],
            np.flatnonzero(nodes[:, f.KIND] == f.LEAF).astype(np.int32),
            tree.entries[f.POLICY, : counts[growth.ENTRIES]].copy(),
            int(counts[growth.INFOSTATES]),
        )

    def _opens(self, tree: Lookahead, n: int, left: float) -> bool:
        """Whether node n, so many actions above the leaves, is inside its subgame."""
        actor = int(tree.nodes[n, f.N_ACTOR])
        if actor == TERMINAL or left <= 0 or (actor == NATURE and self.to_chance and n > 0):
            return False
        return self.public.list_fan(int(tree.nodes[n, f.PUBLIC]))


def aligned(public: PublicTree, leaves: Int32) -> bool:
    """Whether infostate i has network slot i at all these public nodes, as where nobody's infostates ever change."""
    for p in (0, 1):
        at, widths = public.nodes[leaves, f.SLOT0 + p], public.nodes[leaves, f.I0 + p]
        for first in np.unique(at):
            width = int(widths[at == first].max())
            if (public.slots[first : first + width] != np.arange(width)).any():
                return False
    return True


def batch(public: PublicTree, trees: Sequence[Layout], ranges: Sequence[Float64]) -> tuple[Lookahead, Int32, Int32]:
    """A lookahead with the subgames of these layouts and ranges by slot, its blocks and its leaves, int32[L]."""
    tree = Lookahead(public, int(trees[0].nodes[0, f.PUBLIC]), (np.zeros(1), np.zeros(1)), room=1)
    tree.arrays = Tree(
        nodes=np.zeros((sum(len(t.nodes) for t in trees), f.NODE_FIELDS), dtype=np.int32),
        child=np.zeros((3, sum(t.child.shape[1] for t in trees)), dtype=np.int32),
        infostates=np.zeros((f.INFOSTATE_ROWS, sum(t.width for t in trees))),
        entries=np.zeros((f.ENTRY_ROWS, sum(len(t.uniform) for t in trees))),
        ends=np.zeros(sum(len(t.ends) for t in trees), dtype=np.int32),
        counts=np.zeros(5, dtype=np.int64),
    )
    blocks: Int32 = np.zeros((len(trees) + 1, 3), dtype=np.int32)
    leaves: Int32 = np.zeros(sum(len(t.leaves) for t in trees), dtype=np.int32)
    for k, (t, own) in enumerate(zip(trees, ranges, strict=True)):
        root = Root(own, public.game.num_slots[0], k)
        _copy_layout(public.arrays, tree.arrays, t, root, leaves, blocks)
    return tree, blocks, leaves


class Root(NamedTuple):
    """What a subgame begins with.  ranges: float64[S0 + S1].  slots0: player 0's slots.  number: the subgame's."""

    ranges: Float64
    slots0: int
    number: int


@njit
def _copy_layout(public: Public, tree: Tree, layout: Layout, root: Root, all_leaves: Array, blocks: Array) -> None:
    """Copy a layout behind those copied before, with its ranges at the root."""
    counts, nodes, child, k = tree.counts, layout.nodes, layout.child, root.number
    node, slot, entry = counts[growth.NODES], counts[growth.INFOSTATES], counts[growth.ENTRIES]
    edge, end, leaf = counts[growth.CHILDREN], counts[growth.ENDS], blocks[k, FIRST_LEAF]
    for m in range(len(nodes)):
        row = tree.nodes[node + m]
        for column in range(f.NODE_FIELDS):
            row[column] = nodes[m, column]
        row[f.OFF0] += slot
        row[f.OFF1] += slot
        row[f.VAR0] += entry
        if nodes[m, f.CHILD0] >= 0:
            row[f.CHILD0] += edge
        if nodes[m, f.PARENT] >= 0:
            row[f.PARENT] += node
    for e in range(child.shape[1]):
        tree.child[f.NODE, edge + e] = child[f.NODE, e] + node
        tree.child[f.AT0, edge + e] = child[f.AT0, e] + slot
        tree.child[f.AT1, edge + e] = child[f.AT1, e] + slot
    for e in range(len(layout.ends)):
        tree.ends[end + e] = layout.ends[e] + node
    for b in range(len(layout.leaves)):
        all_leaves[leaf + b] = layout.leaves[b] + node
    for v in range(len(layout.uniform)):
        tree.entries[f.POLICY, entry + v] = layout.uniform[v]
    for p in range(2):
        at = public.nodes[nodes[0, f.PUBLIC], f.SLOT0 + p]
        for i in range(nodes[0, f.N_I0 + p]):
            share = root.ranges[(root.slots0 if p else 0) + public.slots[at + i]]
            tree.infostates[f.REACH, slot + nodes[0, f.OFF0 + p] + i] = share
    counts[growth.NODES] += len(nodes)
    counts[growth.INFOSTATES] += layout.width
    counts[growth.ENTRIES] += len(layout.uniform)
    counts[growth.CHILDREN] += child.shape[1]
    counts[growth.ENDS] += len(layout.ends)
    blocks[k + 1, FIRST_NODE], blocks[k + 1, FIRST_LEAF] = node + len(nodes), leaf + len(layout.leaves)
    blocks[k + 1, FIRST_END] = end + len(layout.ends)
