"""Fictitious play on a tree without leaves: FP, linear FP and fictitious linear optimistic play (ReBeL, appendix D).

Each player's best responses are averaged as mixed strategies, that is by the reaches they give, so only the
terminal nodes need the average reach of either player.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.arrays import Array
from sog.search.cfr import matching
from sog.search.cfr import sweeps as kernels
from sog.search.simd.jit import njit
from sog.search.tree import columns as f
from sog.search.tree import pairs
from sog.search.tree.growth import ENDS
from sog.search.tree.lookahead import Lookahead

U = np.uint64


@dataclass(frozen=True)
class FictitiousPlay:
    """One variant. The first iteration's policies are uniform, all later ones best responses to averages.

    linear: iteration t's policy enters the average with weight t, not 1.
    optimistic: respond to the opponent's average with its last policy mixed in, weights t / (t + 2) and
    2 / (t + 2) at iteration t; with `linear` this is FLOP.
    alternating: players respond in turn, player 1 to what player 0 has just added.
    """

    name: str
    linear: bool = False
    optimistic: bool = False
    alternating: bool = True

    def iterate(self, tree: Lookahead, count: int) -> None:
        """`count` more iterations on a tree without leaves; the sums go to the AVERAGE and REACH_SUM rows."""
        public = tree.public
        _play(
            *tree.game, *tree.tree,
            public.operators, public.operator_values, public.nodes, public.scales, tree.ends[: tree.counts[ENDS]],
            tree.iterations + 1, count, self.linear, self.optimistic, self.alternating,
        )  # fmt: skip
        tree.iterations += count


FP = FictitiousPlay("fp")
LINEAR_FP = FictitiousPlay("linear-fp", linear=True)
FLOP = FictitiousPlay("flop", linear=True, optimistic=True)

VARIANTS = (FP, LINEAR_FP, FLOP)


@njit
def _play(
    edges: Array, rows: Array, links: Array, nodes: Array, count: int, child: Array, slots: Array, entries: Array,
    operators: Array, values: Array, public: Array, scales: Array, ends: Array,
    first: int, iterations: int, linear: bool, optimistic: bool, alternating: bool,
) -> None:  # fmt: skip
    """Iterations first, first + 1, ... ; the POLICY row holds the last best responses."""
    kernels.forward(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, 3)
    for t in range(first, first + iterations):
        weight = float(t) if linear else 1.0
        for turn in range(2 if alternating else 1):
            players = 1 << turn if alternating else 3
            if t > 1:
                for p in range(2):
                    if (players >> (1 - p)) & 1:  # somebody responds to p
                        last = t if alternating and p < turn else t - 1
                        total = 0.5 * last * (last + 1) if linear else float(last)
                        recent = 2.0 / (last + 3.0) if optimistic else 0.0
                        mix_reaches(nodes, ends, slots, p, total, recent)
                pairs.payoffs(operators, values, public, scales, nodes, ends, len(ends), slots, players)
                kernels.evaluate(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, players)
                respond(nodes, count, entries, players)
                kernels.forward(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, players)
            record(nodes, count, ends, slots, entries, players, weight)


@njit
def mix_reaches(nodes: Array, ends: Array, slots: Array, p: int, total: float, recent: float) -> None:
    """Player p's reaches at the terminal nodes: those of the average, and of the last policy with weight `recent`.

    total: the sum of the weights in REACH_SUM.
    """
    reach, reach_sum = slots[f.REACH], slots[f.REACH_SUM]
    old = (1.0 - recent) / total
    for e in range(U(len(ends))):
        n = U(ends[e])
        off = U(nodes[n, f.OFF0 + p])
        for i in range(U(nodes[n, f.N_I0 + p])):
            reach[off + i] = recent * reach[off + i] + old * reach_sum[off + i]


@njit
def respond(nodes: Array, count: int, entries: Array, players: int) -> None:
    """Put the players' best actions by the values of the last sweep in the POLICY row; the first of equals."""
    policy, q = entries[f.POLICY], entries[f.ACTION_CFV]
    for n in range(U(count)):
        p = nodes[n, f.N_ACTOR]
        if nodes[n, f.KIND] != f.INTERIOR or p > 1 or not (players >> p) & 1:
            continue
        width, var, actions = U(nodes[n, f.N_I0 + p]), U(nodes[n, f.VAR0]), U(nodes[n, f.N_ROWS])
        for i in range(width):
            top = -np.inf
            best = k = var + i
            for _ in range(actions):
                policy[k] = 0.0
                if q[k] > top:  # false for a closed action's NaN
                    top, best = q[k], k
                k += width
            if top > -np.inf:
                policy[best] = 1.0


@njit
def record(nodes: Array, count: int, ends: Array, slots: Array, entries: Array, players: int, weight: float) -> None:
    """Add the players' new policies to the averages and their reaches to the sums at the terminal nodes."""
    reach, reach_sum = slots[f.REACH], slots[f.REACH_SUM]
    policy, average = entries[f.POLICY], entries[f.AVERAGE]
    for n in range(U(count)):
        actor = nodes[n, f.N_ACTOR]
        if nodes[n, f.KIND] != f.INTERIOR or actor > 1 or not (players >> actor) & 1:
            continue
        off, width, k = U(nodes[n, f.OFF0 + actor]), U(nodes[n, f.N_I0 + actor]), U(nodes[n, f.VAR0])
        for _ in range(U(nodes[n, f.N_ROWS])):
            for i in range(width):
                average[k + i] += weight * (reach[off + i] + matching.REACH_FLOOR) * policy[k + i]
            k += width
    for e in range(U(len(ends))):
        end = U(ends[e])
        for p in range(2):
            if (players >> p) & 1:
                off = U(nodes[end, f.OFF0 + p])
                for i in range(U(nodes[end, f.N_I0 + p])):
                    reach_sum[off + i] += weight * reach[off + i]
