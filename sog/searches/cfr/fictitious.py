"""Fictitious play on a tree without leaves: FP, linear FP and fictitious linear optimistic play (ReBeL, appendix D).

Each player's best responses are averaged as mixed strategies, that is by the reaches they give, so only the
terminal nodes need the average reach of either player.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sog.arrays import Array
from sog.searches.cfr import sweeps
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.matching import REACH_FLOOR
from sog.searches.kernels.jit import njit
from sog.searches.tree import columns as f
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.growth import ENDS, NODES

U = np.uint64


@dataclass(frozen=True)
class FictitiousPlay:
    """One variant. The first iteration's policies are uniform, all later ones best responses to averages.

    linear: iteration t's policy enters the average with weight t, not 1.
    optimistic: respond to the opponent's average of T iterations with its last policy mixed in, weights
    (T + 1) / (T + 3) and 2 / (T + 3); with `linear` this is FLOP.
    alternating: players respond in turn, player 1 to what player 0 has just added.
    """

    name: str
    linear: bool = False
    optimistic: bool = False
    alternating: bool = True

    def iterate(self, tree: Lookahead, count: int) -> None:
        """`count` more iterations on a tree without leaves; policies and reaches are summed in it."""
        _play(tree.public.arrays, tree.arrays, self._plan(tree.iterations + 1), count)
        tree.iterations += count

    def _plan(self, first: int) -> Plan:
        return Plan(first, self.linear, self.optimistic, self.alternating)


FP = FictitiousPlay("fp")
LINEAR_FP = FictitiousPlay("linear-fp", linear=True)
FLOP = FictitiousPlay("flop", linear=True, optimistic=True)

VARIANTS = (FP, LINEAR_FP, FLOP)


class Plan(NamedTuple):
    """Which iterations are to be played, from `first` on; the rest as in FictitiousPlay."""

    first: int
    linear: bool
    optimistic: bool
    alternating: bool


@njit
def _play(public: Public, tree: Tree, plan: Plan, iterations: int) -> None:
    """So many iterations; the POLICY row holds the last best responses."""
    nodes, ends = tree.counts[NODES], tree.ends[: tree.counts[ENDS]]
    sweeps.forward(public, tree, 0, nodes, f.POLICY, 3)
    for t in range(plan.first, plan.first + iterations):
        weight = float(t) if plan.linear else 1.0
        for turn in range(2 if plan.alternating else 1):
            players = 1 << turn if plan.alternating else 3
            if t > 1:
                for p in range(2):
                    if (players >> (1 - p)) & 1:  # somebody responds to p
                        last = t if plan.alternating and p < turn else t - 1
                        total = 0.5 * last * (last + 1) if plan.linear else float(last)
                        recent = 2.0 / (last + 3.0) if plan.optimistic else 0.0
                        mix_reaches(tree, ends, p, total, recent)
                pairs.payoffs(public, tree, 0, len(ends), players)
                sweeps.evaluate(public, tree, f.POLICY, players)
                respond(tree, players)
                sweeps.forward(public, tree, 0, nodes, f.POLICY, players)
            record(tree, ends, players, weight)


@njit
def mix_reaches(tree: Tree, bottom: Array, p: int, total: float, recent: float) -> None:
    """Player p's reaches at the nodes in `bottom`: those of the average, and of the last policy with weight `recent`.

    total: the sum of the weights in REACH_SUM.
    """
    nodes, reach, reach_sum = tree.nodes, tree.infostates[f.REACH], tree.infostates[f.REACH_SUM]
    old = (1.0 - recent) / total
    for e in range(U(len(bottom))):
        n = U(bottom[e])
        off = U(nodes[n, f.OFF0 + p])
        for i in range(U(nodes[n, f.N_I0 + p])):
            reach[off + i] = recent * reach[off + i] + old * reach_sum[off + i]


@njit
def respond(tree: Tree, players: int) -> None:
    """Put the players' best actions by the values of the last sweep in the POLICY row; the first of equals."""
    nodes, policy, q = tree.nodes, tree.entries[f.POLICY], tree.entries[f.ACTION_CFV]
    for n in range(U(tree.counts[NODES])):
        p = nodes[n, f.N_ACTOR]
        if nodes[n, f.KIND] != f.INTERIOR or p > 1 or not (players >> p) & 1:
            continue
        width, var, actions = U(nodes[n, f.N_I0 + p]), U(nodes[n, f.VAR0]), U(nodes[n, f.N_ACTIONS])
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
def record(tree: Tree, bottom: Array, players: int, weight: float) -> None:
    """Add the players' new policies to the averages and their reaches to the sums at the nodes in `bottom`."""
    nodes, reach, reach_sum = tree.nodes, tree.infostates[f.REACH], tree.infostates[f.REACH_SUM]
    policy, average = tree.entries[f.POLICY], tree.entries[f.POLICY_SUM]
    for n in range(U(tree.counts[NODES])):
        actor = nodes[n, f.N_ACTOR]
        if nodes[n, f.KIND] != f.INTERIOR or actor >= f.NATURE or not (players >> actor) & 1:
            continue
        off, width, k = U(nodes[n, f.OFF0 + actor]), U(nodes[n, f.N_I0 + actor]), U(nodes[n, f.VAR0])
        for _ in range(U(nodes[n, f.N_ACTIONS])):
            for i in range(width):
                average[k + i] += weight * (reach[off + i] + REACH_FLOOR) * policy[k + i]
            k += width
    for e in range(U(len(bottom))):
        end = U(bottom[e])
        for p in range(2):
            if (players >> p) & 1:
                off = U(nodes[end, f.OFF0 + p])
                for i in range(U(nodes[end, f.N_I0 + p])):
                    reach_sum[off + i] += weight * reach[off + i]
