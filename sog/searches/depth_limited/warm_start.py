"""Warm starts of depth-limited solving: given policies stand for the first iterations (ReBeL, appendix J).

The priors of an evaluator become the policies of every opened public state; an exact best response to them gives the
regrets. Those of a good policy are so small that the next iteration's outweigh them, and it is lost at once: each
action therefore holds some regret in proportion to its policy, which is ours. It knows no network.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sog.arrays import Float64, Int32
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.matching import REACH_FLOOR
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.kernels.jit import njit
from sog.searches.leaves.evaluator import Beliefs, SearchGenerator
from sog.searches.leaves.kernels import U
from sog.searches.tree import columns as f
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.growth import NODES
from sog.searches.tree.public_tree import PublicTree


def play_priors(games: Subgames) -> SearchGenerator:
    """Make the evaluator's priors the average policies, with the ranges that they give in the REACH row.

    One batch for each level of the subgames, since a state's belief depends on the policies above it.
    """
    tree, public = games.tree, games.public
    tree.normalise(f.REGRET, f.AVERAGE_POLICY)
    for level in _levels(tree):
        tree.forward(f.AVERAGE_POLICY)
        nodes: Int32 = tree.nodes[level, f.PUBLIC].copy()
        answer = yield Beliefs(public, nodes, np.array([games.reaches(n) for n in level]))
        for n, s, logits in zip(level, nodes, answer.logits, strict=True):
            tree.table(n, f.AVERAGE_POLICY)[:] = prior_policy(public, int(s), logits)
    tree.forward(f.AVERAGE_POLICY)


def prior_policy(public: PublicTree, s: int, logits: Float64) -> Float64:
    """float64[A, I]: the softmax over legal actions of logits by slot and action identity, float64[S, A']."""
    at, legal = public.slots_of(s, public.actor(s)), public.legal(s)
    x = np.where(legal > 0, logits[at[:, None], public.actions(s)[None, :]].T, -np.inf)
    weight = legal * np.exp(x - np.maximum(x.max(axis=0), -1e300))
    policy: Float64 = weight / np.maximum(weight.sum(axis=0), 1e-300)
    return policy


def _levels(tree: Lookahead) -> list[list[int]]:
    """Decision nodes by their distance from the roots."""
    depth, levels = np.zeros(tree.size, dtype=np.int64), {0: list[int]()}
    for n in range(tree.size):
        parent = int(tree.nodes[n, f.PARENT])
        depth[n] = depth[parent] + 1 if parent >= 0 else 0
    for n in tree.decisions():
        levels.setdefault(int(depth[n]), []).append(n)
    return [level for _, level in sorted(levels.items()) if level]


def played_before(steps: Float64) -> tuple[float, float]:
    """What an instant regret of 1 and one of -1 come to when they are added in each of some iterations.

    steps: float64[W, 4] of rules.Rule.steps.
    """
    gained = lost = 0.0
    for positive, negative, *_ in steps:
        gained, lost = (gained + 1.0) * float(positive), (lost + 1.0) * float(negative)
    return gained, lost


class Past(NamedTuple):
    """Iterations in which one policy was played.

    gained, lost: of `played_before`.  weight: theirs in the average.
    hold: value units that an infostate's policy earned, besides, in each of them.
    """

    gained: float
    lost: float
    weight: float
    hold: float


@njit
def begin(public: Public, tree: Tree, past: Past) -> None:
    """Regrets, averages and the first policies after iterations in which the average policies' row was played.

    Values of best responses stand in ACTION_CFV, NaN for closed actions.  An infostate that regrets nothing goes on
    with its policy; regret matching alone would play uniformly.
    """
    nodes, entries, infostates = tree.nodes, tree.entries, tree.infostates
    regret, policy = entries[f.REGRET], entries[f.POLICY]
    total_policy, played = entries[f.POLICY_SUM], entries[f.AVERAGE_POLICY]
    q, reach, mass = entries[f.ACTION_CFV], infostates[f.REACH], infostates[f.LEAF_VALUE]  # which opened nodes lack
    for n in range(tree.counts[NODES]):
        p = nodes[n, f.N_ACTOR]
        if nodes[n, f.KIND] != f.INTERIOR or p > 1:
            continue
        off, width, var = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p]), U(nodes[n, f.VAR0])
        actions = U(nodes[n, f.N_ACTIONS])
        unit = past.hold * past.gained * public.scales[nodes[n, f.PUBLIC], f.VALUE_UNIT]
        pairs.opponent_masses(public, tree, n, p, mass)
        for i in range(width):
            value, total = 0.0, 0.0
            for k in range(var + i, var + i + actions * width, width):
                if not np.isnan(q[k]):
                    value += played[k] * q[k]
            for k in range(var + i, var + i + actions * width, width):
                instant = 0.0 if np.isnan(q[k]) else q[k] - value
                regret[k] = instant * (past.gained if instant > 0.0 else past.lost) + unit * mass[off + i] * played[k]
                total_policy[k] = past.weight * (reach[off + i] + REACH_FLOOR) * played[k]
                total += max(regret[k], 0.0)
            for k in range(var + i, var + i + actions * width, width):
                policy[k] = max(regret[k], 0.0) / total if total > 0.0 else played[k]
