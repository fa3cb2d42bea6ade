"""Depth-limited subgames side by side in one lookahead: each tree is laid out once and copied wherever it is needed.

A subgame's nodes lie together, and so do its leaves, its ended nodes and its numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sog.arrays import Float64, Int32
from sog.games.base import NATURE, TERMINAL
from sog.records import Record, Records, Whole
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.kernels.jit import njit
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Children, Entry, Infostate, Kind, Nodes, Used


class Block(Record):
    """Where a subgame begins; the row behind the last subgame is where all end."""

    node = Whole("i4")  # its first node, the root
    leaf = Whole("i4")  # its first leaf, among those of all subgames
    end = Whole("i4")  # its first terminal node in Tree.ends


class Blocks(Records[Block], Block):
    """A row per subgame, and one more."""


class Layout(NamedTuple):
    """The tree of a subgame, as the arrays of a lookahead that holds it alone.

    nodes, child: tables.  ends: int32[*].  leaves: int32[L].
    uniform: float64[V], the first policies.  width: slots that it takes.
    """

    nodes: Nodes
    child: Children
    ends: Int32
    leaves: Int32
    uniform: Float64
    width: int


class Layouts:
    """The trees of one public tree's subgames that go this many actions deep, laid out when first needed."""

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
        i0, i1 = self.public.num_infostates(node)
        tree = Lookahead(self.public, node, (np.zeros(i0), np.zeros(i1)))
        # Actions still to go below each node; without a limit where depth is 0.
        left = [self.depth or np.inf]
        n = 0
        while n < tree.size:
            if self._opens(tree, n, left[n]):
                tree.expand(n)
                # Chance's moves do not count as depth.
                fewer = left[n] - (tree.actor(n) < NATURE)
                left += [fewer] * (tree.size - len(left))
            n += 1
        nodes, counts = tree.nodes[: tree.size], tree.counts
        return Layout(
            nodes,
            tree.child[: counts.children].copy(),
            tree.ends[: counts.ends],
            np.flatnonzero(nodes.kind == Kind.LEAF).astype(np.int32),
            tree.entries[Entry.POLICY, : counts.entries].copy(),
            int(counts.infostates),
        )

    def _opens(self, tree: Lookahead, n: int, left: float) -> bool:
        """Whether node n, this many actions above the leaves, is inside its subgame."""
        actor = tree.actor(n)
        if actor == TERMINAL or left <= 0 or (actor == NATURE and self.to_chance and n > 0):
            return False
        return self.public.list_fan(tree.public_node(n))


def aligned(public: PublicTree, leaves: Int32) -> bool:
    """Whether infostate i has network slot i at all these public nodes, as where infostates never change."""
    for p in (0, 1):
        at, widths = public.nodes.slot0[leaves, p], public.nodes.width[leaves, p]
        # Leaves share slot tables: each needs one look, as far as the widest leaf reads.
        for first in np.unique(at):
            width = int(widths[at == first].max())
            if (public.slots[first : first + width] != np.arange(width)).any():
                return False
    return True


def batch(public: PublicTree, trees: Sequence[Layout], ranges: Sequence[Float64]) -> tuple[Lookahead, Blocks, Int32]:
    """A lookahead with the subgames of these layouts and ranges by slot, its blocks and its leaves, int32[L]."""
    # Made with the smallest arrays, which are replaced at once by arrays of just this length.
    tree = Lookahead(public, int(trees[0].nodes.public[0]), (np.zeros(1), np.zeros(1)), room=1)
    tree.arrays = Tree(
        nodes=Nodes.zeros(sum(len(t.nodes) for t in trees)),
        child=Children.zeros(sum(len(t.child) for t in trees)),
        infostates=np.zeros((len(Infostate), sum(t.width for t in trees))),
        entries=np.zeros((len(Entry), sum(len(t.uniform) for t in trees))),
        ends=np.zeros(sum(len(t.ends) for t in trees), dtype=np.int32),
        counts=Used.zeros(1),
    )
    blocks = Blocks.zeros(len(trees) + 1)
    leaves: Int32 = np.zeros(sum(len(t.leaves) for t in trees), dtype=np.int32)
    for k, (t, own) in enumerate(zip(trees, ranges, strict=True)):
        root = Root(own, public.game.num_slots[0], k, blocks, leaves)
        _copy_layout(public.arrays, tree.arrays, t, root)
    return tree, blocks, leaves


class Root(NamedTuple):
    """What a subgame begins with, and where it is noted.

    ranges: float64[S0 + S1].  slots0: player 0's slots.  number: the subgame's.  blocks, leaves: of all subgames.
    """

    ranges: Float64
    slots0: int
    number: int
    blocks: Blocks
    leaves: Int32


@njit
def _copy_layout(public: Public, tree: Tree, layout: Layout, root: Root) -> None:
    """Copy a layout behind those copied before, with its ranges at the root."""
    counts, nodes, child, block = tree.counts[0], layout.nodes, layout.child, root.blocks[root.number]
    # Where the copy begins: added to every number that the layout counts from 0.
    node, slot, entry = counts.nodes, counts.infostates, counts.entries
    edge, end, leaf = counts.children, counts.ends, block.leaf
    for m in range(len(nodes)):
        tree.nodes[node + m] = nodes[m]
        row = tree.nodes[node + m]
        row.offset[0] += slot
        row.offset[1] += slot
        row.entry0 += entry
        # A leaf's first child means nothing and stays 0.
        if row.kind == Kind.INTERIOR:
            row.child0 += edge
        if row.parent >= 0:
            row.parent += node
    for e in range(len(child)):
        below = tree.child[edge + e]
        below.node = child[e].node + node
        below.offset[0], below.offset[1] = child[e].offset[0] + slot, child[e].offset[1] + slot
    for e in range(len(layout.ends)):
        tree.ends[end + e] = layout.ends[e] + node
    for b in range(len(layout.leaves)):
        root.leaves[leaf + b] = layout.leaves[b] + node
    # Regrets are 0: the first policies are uniform, as the layout has them.
    for v in range(len(layout.uniform)):
        tree.entries[Entry.POLICY, entry + v] = layout.uniform[v]
    # Ranges by slot to ranges by infostate, at the root.
    for p in range(2):
        slot0 = public.nodes[nodes[0].public].slot0[p]
        for i in range(nodes[0].width[p]):
            share = root.ranges[(root.slots0 if p == 1 else 0) + public.slots[slot0 + i]]
            tree.infostates[Infostate.REACH, slot + nodes[0].offset[p] + i] = share
    counts.nodes += len(nodes)
    counts.infostates += layout.width
    counts.entries += len(layout.uniform)
    counts.children += len(child)
    counts.ends += len(layout.ends)
    # The next block begins where this one ends.
    after = root.blocks[root.number + 1]
    after.node, after.leaf, after.end = counts.nodes, leaf + len(layout.leaves), counts.ends
