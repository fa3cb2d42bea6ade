"""Subgames of one shape interleaved, number by number, so that one instruction does the same for eight of them.

Where every infostate keeps its index, sweeps go infostate by infostate: a node of eight subgames is to them a node of
eight times as many infostates. Numbers are copied from a lookahead and back; it knows no solver and no rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sog.arrays import Float64, Int32
from sog.search.cfr.lookahead import Lookahead
from sog.search.depth_limited.batching import Layout
from sog.search.depth_limited.interleaved.kernels import Bundles
from sog.search.leaves.kernels import PAIRS, Leaves
from sog.search.simd.f64x8 import LANES
from sog.search.tree import columns as f
from sog.search.tree.arrays import Tree

# Where a subgame's slots are in the lookahead and among the interleaved ones, and its entries.
_Place = tuple[tuple[slice, slice], tuple[slice, slice]]


class Interleaved:
    """The subgames of a lookahead in bundles of up to eight of one shape.

    nodes, child, infostates, entries: like the lookahead's, a node for each node of a bundle; infostate i of lane g is
    at OFF0 + i * members + g.  members: int32[M], how many subgames a node belongs to.  ends: int32[E].
    leaves: int32[3, L] and blocks: int32[B + 1, 3], as in kernels.Bundles.
    """

    def __init__(self, tree: Lookahead, layouts: Sequence[Layout]) -> None:
        """layouts: [K] layouts of the tree's subgames in their order, each with a shape."""
        self.tree = tree
        self._bundles = _bundles(layouts)
        self.infostates: Float64 = np.zeros_like(tree.infostates)
        self.entries: Float64 = np.zeros_like(tree.entries)
        self.blocks: Int32 = np.zeros((len(self._bundles) + 1, 3), dtype=np.int32)
        self._lay_out(layouts)
        self._places = self._place(layouts)

    def _lay_out(self, layouts: Sequence[Layout]) -> None:
        """The bundles' nodes one behind the other."""
        nodes, child, members_of, ends, leaves = [], [], [], [], []
        node = edge = slot = entry = 0
        for b, members in enumerate(self._bundles):
            layout, count = layouts[members[0]], len(members)
            own, below = layout.nodes.copy(), layout.child.copy()
            own[:, [f.OFF0, f.OFF1]] = own[:, [f.OFF0, f.OFF1]] * count + slot
            own[:, f.VAR0] = own[:, f.VAR0] * count + entry
            own[:, [f.N_I0, f.N_I1]] *= count
            own[own[:, f.CHILD0] >= 0, f.CHILD0] += edge
            own[own[:, f.PARENT] >= 0, f.PARENT] += node
            below[f.NODE] += node
            below[[f.AT0, f.AT1]] = below[[f.AT0, f.AT1]] * count + slot
            nodes.append(own)
            child.append(below)
            members_of.append(np.full(len(own), count))
            ends.append(layout.ends + node)
            publics = [layouts[k].nodes[layout.leaves, f.PUBLIC] for k in members]
            places = np.arange(len(layout.leaves) * count)
            leaves.append([layout.leaves[places // count] + node, np.transpose(publics).ravel(), places % count])
            node, edge = node + len(own), edge + below.shape[1]
            slot, entry = slot + layout.width * count, entry + len(layout.uniform) * count
            self.blocks[b + 1] = self.blocks[b] + (len(own), len(places), len(layout.ends))
        self.nodes: Int32 = np.concatenate(nodes, dtype=np.int32)
        self.child: Int32 = np.concatenate(child, axis=1, dtype=np.int32)
        self.members: Int32 = np.concatenate(members_of, dtype=np.int32)
        self.ends: Int32 = np.concatenate(ends, dtype=np.int32)
        self.leaves: Int32 = np.concatenate(leaves, axis=1, dtype=np.int32)

    def _place(self, layouts: Sequence[Layout]) -> list[_Place]:
        """Where each subgame's columns are in the tree, and here: in a lane of its bundle, in the same order."""
        slots = np.cumsum([0] + [layout.width for layout in layouts]).tolist()
        entries = np.cumsum([0] + [len(layout.uniform) for layout in layouts]).tolist()
        found: dict[int, _Place] = {}
        slot = entry = 0
        for members in self._bundles:
            count, layout = len(members), layouts[members[0]]
            after, end = slot + count * layout.width, entry + count * len(layout.uniform)
            for lane, k in enumerate(members):
                found[k] = (
                    (slice(slots[k], slots[k + 1]), slice(slot + lane, after, count)),
                    (slice(entries[k], entries[k + 1]), slice(entry + lane, end, count)),
                )
            slot, entry = after, end
        return [found[k] for k in range(len(layouts))]

    @property
    def arrays(self) -> Tree:
        """The bundles' numbers as a tree, as kernels take it."""
        return Tree(self.nodes, self.child, self.infostates, self.entries, self.ends, self.tree.counts)

    def bundles(self, leaves: Leaves, num_slots: tuple[int, int]) -> Bundles:
        """Where they lie, as kernels take it; `leaves`: how those of the lookahead are weighed."""
        pairs = num_slots[0] * num_slots[1] if leaves.kind == PAIRS else 0
        return Bundles(
            blocks=self.blocks,
            members=self.members,
            leaves=self.leaves,
            tables=np.zeros(self.leaves.shape[1] * pairs),
            work=np.zeros((3, LANES * (self.tree.public.widest + LANES))),
            slots0=num_slots[0],
            kind=leaves.kind,
            correct=leaves.correct,
        )

    def take(self, slots: Sequence[int], entries: Sequence[int]) -> None:
        """Copy these rows of the lookahead's slots and entries to here."""
        for (slots_there, slots_here), (entries_there, entries_here) in self._places:
            for row in slots:
                self.infostates[row, slots_here] = self.tree.infostates[row, slots_there]
            for row in entries:
                self.entries[row, entries_here] = self.tree.entries[row, entries_there]

    def give_back(self, subgames: Iterable[int], slots: Sequence[int], entries: Sequence[int]) -> None:
        """Copy these rows of the subgames' slots and entries to the lookahead."""
        for k in subgames:
            (slots_there, slots_here), (entries_there, entries_here) = self._places[k]
            for row in slots:
                self.tree.infostates[row, slots_there] = self.infostates[row, slots_here]
            for row in entries:
                self.tree.entries[row, entries_there] = self.entries[row, entries_here]


def worth_interleaving(layouts: Sequence[Layout]) -> bool:
    """Whether the subgames have shapes, and two of them one on average."""
    shapes = {layout.shape for layout in layouts}
    return b"" not in shapes and len(layouts) >= 2 * len(shapes)


def _bundles(layouts: Sequence[Layout]) -> list[list[int]]:
    """Which subgames go together: up to eight of one shape."""
    alike: dict[bytes, list[int]] = {}
    for k, layout in enumerate(layouts):
        alike.setdefault(layout.shape, []).append(k)
    return [members[k : k + LANES] for members in alike.values() for k in range(0, len(members), LANES)]
