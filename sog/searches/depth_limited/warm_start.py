"""Warm starts of depth-limited solving, as if given policies were played in the first iterations (ReBeL, appendix J).

The priors of an evaluator become the policies of every opened public state; an exact best response to them gives the
regrets. Those of a good policy are so small that the next iteration's outweigh them, and the policy is lost at once.
Each action therefore has some regret in proportion to its policy, which is ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sog.arrays import Float64, Int32
from sog.games.base import NATURE
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.matching import REACH_FLOOR
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.kernels.jit import njit
from sog.searches.leaves.evaluator import Beliefs, SearchGenerator, refuse_infinite
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate, Kind


def play_priors(games: Subgames) -> SearchGenerator:
    """Make the evaluator's priors the average policies, with the ranges that they give in the REACH row.

    One batch for each level of the subgames, since a state's belief depends on the policies above it.
    """
    tree, public = games.tree, games.public
    # Uniform until the priors of a level are there.
    tree.normalise(Entry.REGRET, Entry.AVERAGE_POLICY)
    for level in _levels(tree):
        tree.forward(Entry.AVERAGE_POLICY)
        nodes: Int32 = tree.nodes.public[level]
        answer = yield Beliefs(public, nodes, np.array([games.reaches(n) for n in level]))
        refuse_infinite("logits", answer.logits)
        for n, s, logits in zip(level, nodes, answer.logits, strict=True):
            tree.table(n, Entry.AVERAGE_POLICY)[:] = prior_policy(public, int(s), logits)
    tree.forward(Entry.AVERAGE_POLICY)


def prior_policy(public: PublicTree, s: int, logits: Float64) -> Float64:
    """float64[A, I]: the softmax over legal actions of logits by slot and action identity, float64[S, A'] or [1, P]."""
    actor, actions = public.actor(s), public.actions(s)
    at, legal, pairs = public.slots_of(s, actor), public.legal(s), public.game.legal_pairs
    if pairs is not None and len(logits) == 1:
        named = logits[0, pairs.index[actor][at[:, None], actions[None, :]]]  # any number where the pair is not legal
    else:
        named = logits[at[:, None], actions[None, :]]
    x = np.where(legal > 0, named.T, -np.inf)
    # Finite even where an infostate has no legal action, whose largest logit is -inf: its policy is all 0.
    weight = legal * np.exp(x - np.maximum(x.max(axis=0), -1e300))
    policy: Float64 = weight / np.maximum(weight.sum(axis=0), 1e-300)
    return policy


def _levels(tree: Lookahead) -> list[list[int]]:
    """Decision nodes by their distance from the roots."""
    depth, levels = np.zeros(tree.size, dtype=np.int64), {0: list[int]()}
    for n in range(tree.size):
        parent = int(tree.nodes.parent[n])
        depth[n] = depth[parent] + 1 if parent >= 0 else 0
    for n in tree.decisions():
        levels.setdefault(int(depth[n]), []).append(n)
    return [level for _, level in sorted(levels.items()) if level]


def played_before(steps: Float64) -> tuple[float, float]:
    """The sums after some iterations that each add an instant regret of 1, or each of -1: G = (G + 1) * discount(t).

    steps: float64[W, 4] of rules.Rule.steps, with the discounts of positive and of negative sums.
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

    R[a, i] = (q[a, i] - v[i]) * (gained or lost, by its sign) + hold * gained * value unit * mass[i] * policy[a, i],
    S[a, i] = weight * reach[i] * policy[a, i]. The term with `hold` is ours (0 in the paper).
    Values of best responses are in ACTION_CFV, NaN for closed actions.  An infostate that regrets nothing continues
    with its policy; regret matching alone would play uniformly.
    """
    entries, infostates = tree.entries, tree.infostates
    regret, policy = entries[Entry.REGRET], entries[Entry.POLICY]
    total_policy, played, q = entries[Entry.POLICY_SUM], entries[Entry.AVERAGE_POLICY], entries[Entry.ACTION_CFV]
    reach, mass = infostates[Infostate.REACH], infostates[Infostate.LEAF_VALUE]  # opened nodes lack the latter
    for n in range(tree.counts[0].nodes):
        node = tree.nodes[n]
        p = node.actor
        if node.kind != Kind.INTERIOR or p >= NATURE:
            continue
        own, width = node.offset[p], node.width[p]
        unit = past.hold * past.gained * public.nodes[node.public].value_unit
        pairs.opponent_masses(public, tree, n, p, mass)
        for i in range(width):
            first, value, total = node.entry0 + i, 0.0, 0.0
            end = first + node.actions * width
            # What the policy is worth, then each action's regret for it.
            for k in range(first, end, width):
                if not np.isnan(q[k]):
                    value += played[k] * q[k]
            for k in range(first, end, width):
                instant = 0.0 if np.isnan(q[k]) else q[k] - value
                regret[k] = instant * (past.gained if instant > 0.0 else past.lost) + unit * mass[own + i] * played[k]
                total_policy[k] = past.weight * (reach[own + i] + REACH_FLOOR) * played[k]
                total += max(regret[k], 0.0)
            for k in range(first, end, width):
                policy[k] = max(regret[k], 0.0) / total if total > 0.0 else played[k]
