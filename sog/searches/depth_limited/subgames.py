"""Depth-limited subgames of one game side by side in one lookahead, and what a solve finds there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sog.arrays import Float64, Int32
from sog.searches.depth_limited.batching import Layouts, batch
from sog.searches.tree.public_tree import PublicTree


class Subgames:
    """Depth-limited subgames of one game side by side, and how far each one's numbers are solved.

    tree: all of them.  roots: int32[K], their first nodes.  leaves: int32[L], nodes beyond which nothing is opened.
    owner: int32[M], which subgame a node belongs to.  blocks: where each starts (batching.py).
    """

    def __init__(
        self,
        public: PublicTree,
        roots: Sequence[tuple[int, Float64]],
        depth: int = 2,
        to_chance: bool = False,
        layouts: Layouts | None = None,
    ) -> None:
        """roots: public nodes where the game continues, with ranges by slot, float64[S0 + S1], each summing to 1.

        layouts: those of this public tree, depth and to_chance, kept from other subgames.
        """
        self.public, self.ranges = public, [ranges for _, ranges in roots]
        layouts = layouts or Layouts(public, depth, to_chance)
        self.tree, self.blocks, self.leaves = batch(public, [layouts(node) for node, _ in roots], self.ranges)
        self.roots: Int32 = self.blocks.node[:-1].copy()
        self.owner: Int32 = np.repeat(np.arange(len(roots), dtype=np.int32), np.diff(self.blocks.node))

    def __len__(self) -> int:
        return len(self.roots)

    def reaches(self, n: int, mean: bool = False) -> Float64:
        """float64[S0 + S1]: both ranges at node n by slot, each summing to 1.

        mean: their means over iterations, otherwise those of the last sweep down. A player who has no mean yet, before
        its second turn, has the latter in both cases.
        """
        pair = now = self.tree.ranges(n)
        if mean:
            sums = self.tree.range_sums(n)
            pair = (sums[0] if sums[0].any() else now[0], sums[1] if sums[1].any() else now[1])
        return self.public.ranges_by_slot(self.tree.public_node(n), pair)

    def balance(self, k: int) -> None:
        """Make the players' values at the root of subgame k sum to zero in the mean over pairs.

        surplus = (sum over p, i of cfv_p[i] * r_p[i]) / (sum of W r0 r1);  cfv_p[i] -= surplus / 2 * mass_p[i].
        Players who update in turn each receive values of a moment when the opponent has just responded, so that both
        means over iterations lie too low: the surplus is negative, and each player gets half of what is missing.
        """
        root = int(self.roots[k])
        ranges, sums = self.tree.ranges(root), self.tree.cfv_sums(root)
        mass = self.public.masses(self.tree.public_node(root), *ranges)
        total = float(mass[0] @ ranges[0])
        if total > 0:
            surplus = sum(float(sums[p] @ ranges[p]) for p in (0, 1)) / total
            for p in (0, 1):
                sums[p][:] -= 0.5 * surplus * mass[p]

    def root_values(self, k: int) -> tuple[Float64, Float64]:
        """Both players' values at the root of solved subgame k, conditional on the infostate: float64[I0], float64[I1].

        0 for an infostate that can meet none of the opponent's range.
        """
        root = int(self.roots[k])
        return self.public.conditional(self.tree.public_node(root), self.tree.cfv_sums(root), self.tree.ranges(root))
