"""Warm starts of depth-limited solving: given policies stand for the first iterations (ReBeL, appendix J).

The priors of an evaluator become the policies of every opened public state; an exact best response to them gives the
regrets. Those of a good policy are so small that the next iteration's outweigh them, and it is lost at once: each
action therefore holds some regret in proportion to its policy, which is ours. It knows no network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.search.cfr.matching import REACH_FLOOR
from sog.search.gtcfr.search import SearchGenerator
from sog.search.leaves.evaluator import Beliefs
from sog.search.leaves.kernels import U
from sog.search.simd.jit import njit
from sog.search.tree import columns as f
from sog.search.tree import pairs
from sog.search.tree.lookahead import Lookahead
from sog.search.tree.public_tree import PublicTree
from sog.search.tree.slots import legal_actions, slots_of

if TYPE_CHECKING:
    from sog.search.depth_limited.solve import Subgames


def decisions(tree: Lookahead) -> list[int]:
    """The opened nodes of a tree where a player acts, parents before children."""
    kind, actor = tree.nodes[: tree.size, f.KIND], tree.nodes[: tree.size, f.N_ACTOR]
    return [int(n) for n in np.flatnonzero((kind == f.INTERIOR) & (actor < 2))]


def play_priors(games: Subgames) -> SearchGenerator:
    """Put the evaluator's priors in the FIXED row, with the ranges that they give in the REACH row.

    One batch for each level of the subgames, since a state's belief depends on the policies above it.
    """
    tree, public = games.tree, games.public
    tree.normalise(f.REGRET, f.FIXED)
    for level in _levels(tree):
        tree.forward(f.FIXED)
        nodes: Int32 = tree.nodes[level, f.PUBLIC].copy()
        answer = yield Beliefs(public, nodes, np.array([games.reaches(n) for n in level]))
        for n, s, logits in zip(level, nodes, answer.logits, strict=True):
            tree.table(n, f.FIXED)[:] = prior_policy(public, int(s), logits)
    tree.forward(f.FIXED)


def prior_policy(public: PublicTree, s: int, logits: Float64) -> Float64:
    """float64[A, I]: the softmax over legal actions of logits by slot and action identity, float64[S, A']."""
    first, count = int(public.nodes[s, f.ROW0]), int(public.nodes[s, f.ROWS])
    at, actions = slots_of(public, s, int(public.nodes[s, f.ACTOR])), public.rows[first : first + count, f.ACTION]
    legal = legal_actions(public, s)
    x = np.where(legal > 0, logits[at[:, None], actions[None, :]].T, -np.inf)
    weight = legal * np.exp(x - np.maximum(x.max(axis=0), -1e300))
    policy: Float64 = weight / np.maximum(weight.sum(axis=0), 1e-300)
    return policy


def _levels(tree: Lookahead) -> list[list[int]]:
    """Decision nodes by their distance from the roots."""
    depth, levels = np.zeros(tree.size, dtype=np.int64), {0: list[int]()}
    for n in range(tree.size):
        parent = int(tree.nodes[n, f.PARENT])
        depth[n] = depth[parent] + 1 if parent >= 0 else 0
    for n in decisions(tree):
        levels.setdefault(int(depth[n]), []).append(n)
    return [level for _, level in sorted(levels.items()) if level]


def played_before(steps: Float64) -> tuple[float, float]:
    """What an instant regret of 1 and one of -1 come to when they are added in each of some iterations.

    steps: float64[W, 4] of regret.Rule.steps.
    """
    gained = lost = 0.0
    for positive, negative, *_ in steps:
        gained, lost = (gained + 1.0) * float(positive), (lost + 1.0) * float(negative)
    return gained, lost


@njit
def begin(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, count: int, slots: Array,
    entries: Array, gained: float, lost: float, weight: float, hold: float,
) -> None:  # fmt: skip
    """Regrets, averages and the first policies after iterations in which the FIXED row was played.

    Values of best responses stand in ACTION_CFV, NaN for closed actions.  gained, lost: of `played_before`.
    weight: of those iterations in the average.  hold: value units that an infostate's policy earned, besides, in each
    of them. An infostate that regrets nothing goes on with its policy; regret matching alone would play uniformly.
    """
    regret, average, policy, fixed = entries[f.REGRET], entries[f.AVERAGE], entries[f.POLICY], entries[f.FIXED]
    q, reach, mass = entries[f.ACTION_CFV], slots[f.REACH], slots[f.LEAF_VALUE]  # which opened nodes do not use
    for n in range(count):
        p = nodes[n, f.N_ACTOR]
        if nodes[n, f.KIND] != f.INTERIOR or p > 1:
            continue
        off, width, var = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p]), U(nodes[n, f.VAR0])
        actions, unit = U(nodes[n, f.N_ROWS]), hold * gained * scales[nodes[n, f.PUBLIC], f.VALUE_UNIT]
        pairs.opponent_masses(public, scales, operators, values, nodes, reach, n, p, mass)
        for i in range(width):
            value, total = 0.0, 0.0
            for k in range(var + i, var + i + actions * width, width):
                if not np.isnan(q[k]):
                    value += fixed[k] * q[k]
            for k in range(var + i, var + i + actions * width, width):
                instant = 0.0 if np.isnan(q[k]) else q[k] - value
                regret[k] = instant * (gained if instant > 0.0 else lost) + unit * mass[off + i] * fixed[k]
                average[k] = weight * (reach[off + i] + REACH_FLOOR) * fixed[k]
                total += max(regret[k], 0.0)
            for k in range(var + i, var + i + actions * width, width):
                policy[k] = max(regret[k], 0.0) / total if total > 0.0 else fixed[k]
