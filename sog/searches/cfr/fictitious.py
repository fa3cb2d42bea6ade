"""Fictitious play on a tree without leaves: FP, linear FP and fictitious linear optimistic play (ReBeL, appendix D).

Each player's best responses are averaged as mixed strategies, that is by the reaches that they give. Values need
average reaches at the terminal nodes only, so nothing else sums them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sog.arrays import Array
from sog.games.base import NATURE
from sog.searches.cfr import sweeps
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.matching import REACH_FLOOR
from sog.searches.kernels.jit import njit
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.players import Players, only, within
from sog.searches.tree.records import Entry, Infostate, Kind, Node


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
    """`iterations` more; the POLICY row holds the last best responses.

    Iteration t: pi^t = best response to (1 - recent) * mean^T + recent * pi^T of the opponent, T iterations in its
    average, and mean^t = the mean of pi^1 .. pi^t with weights 1, or 1 .. t if linear.
    recent = 2 / (T + 3) if optimistic (FLOP), otherwise 0. Unlike the paper, pi^1 is the uniform policy.
    """
    nodes, ends = tree.counts[0].nodes, tree.ends[: tree.counts[0].ends]
    sweeps.forward(public, tree, 0, nodes, Entry.POLICY, Players.BOTH)
    for t in range(plan.first, plan.first + iterations):
        weight = float(t) if plan.linear else 1.0
        for turn in range(2 if plan.alternating else 1):
            players = only(turn) if plan.alternating else Players.BOTH
            # Iteration 1 answers nothing: its uniform policies are only recorded.
            if t > 1:
                for p in range(2):
                    if within(1 - p, players):  # somebody responds to p
                        # In turn, player 1 answers an average that has player 0's response of this iteration.
                        last = t if plan.alternating and p < turn else t - 1
                        # The sum of the weights 1 .. last, or of `last` ones.
                        total = 0.5 * last * (last + 1) if plan.linear else float(last)
                        recent = 2.0 / (last + 3.0) if plan.optimistic else 0.0
                        mix_reaches(tree, ends, p, total, recent)
                pairs.payoffs(public, tree, 0, len(ends), players)
                # The players' values assume their best action everywhere below, against the reaches at the ends.
                sweeps.evaluate(public, tree, Entry.POLICY, players)
                respond(tree, players)
                sweeps.forward(public, tree, 0, nodes, Entry.POLICY, players)
            # The new policies with their new reaches, which the next mean is made of.
            record(tree, ends, players, weight)


@njit
def mix_reaches(tree: Tree, bottom: Array, p: int, total: float, recent: float) -> None:
    """Player p's reaches at the nodes in `bottom`: those of the average, and of the last policy with weight `recent`.

    r[i] = recent * r[i] + (1 - recent) * REACH_SUM[i] / total.  total: the sum of the weights in REACH_SUM.
    """
    reach, reach_sum = tree.infostates[Infostate.REACH], tree.infostates[Infostate.REACH_SUM]
    old = (1.0 - recent) / total
    for e in range(len(bottom)):
        node: Node = tree.nodes[bottom[e]]
        own = node.offset[p]
        for i in range(node.width[p]):
            reach[own + i] = recent * reach[own + i] + old * reach_sum[own + i]


@njit
def respond(tree: Tree, players: Players) -> None:
    """Put the players' best actions by the values of the last sweep in the POLICY row; the first of equals.

    policy[a, i] = 1 for a = argmax over open b of q[b, i], otherwise 0.
    """
    policy, q = tree.entries[Entry.POLICY], tree.entries[Entry.ACTION_CFV]
    for n in range(tree.counts[0].nodes):
        node = tree.nodes[n]
        p = node.actor
        if node.kind != Kind.INTERIOR or p >= NATURE or not within(p, players):
            continue
        width, actions = node.width[p], node.actions
        for i in range(width):
            top = -np.inf
            best = k = node.entry0 + i
            for _ in range(actions):
                policy[k] = 0.0
                if q[k] > top:  # false for a closed action's NaN
                    top, best = q[k], k
                k += width
            # Where no action is open, there is no policy.
            if top > -np.inf:
                policy[best] = 1.0


@njit
def record(tree: Tree, bottom: Array, players: Players, weight: float) -> None:
    """Add the players' new policies to the averages and their reaches to the sums at the nodes in `bottom`.

    S[a, i] += weight * reach[i] * policy[a, i],  REACH_SUM[i] += weight * reach[i].
    """
    reach, reach_sum = tree.infostates[Infostate.REACH], tree.infostates[Infostate.REACH_SUM]
    policy, average = tree.entries[Entry.POLICY], tree.entries[Entry.POLICY_SUM]
    for n in range(tree.counts[0].nodes):
        node = tree.nodes[n]
        p = node.actor
        if node.kind != Kind.INTERIOR or p >= NATURE or not within(p, players):
            continue
        own, width, k = node.offset[p], node.width[p], node.entry0
        for _ in range(node.actions):
            for i in range(width):
                average[k + i] += weight * (reach[own + i] + REACH_FLOOR) * policy[k + i]
            k += width
    # Sums of reaches are the mean strategy's reaches times the sum of weights: mixing strategies mixes their reaches.
    for e in range(len(bottom)):
        end: Node = tree.nodes[bottom[e]]
        for p in range(2):
            if within(p, players):
                own = end.offset[p]
                for i in range(end.width[p]):
                    reach_sum[own + i] += weight * reach[own + i]
