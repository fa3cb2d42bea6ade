"""Numba sweeps for perfect information: one infostate a player everywhere, so a node is its own entry in its parent.

The same updates as in sweeps.py, on nodes instead of actions: a search that opens one child at a time (k = 1) has
about as many nodes as simulations but some thirty times as many legal actions, which these sweeps never visit. They
know arrays only (see columns.py), and need decision nodes whose action a takes edge a.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.searches.cfr.matching import REACH_FLOOR, regret_step
from sog.searches.kernels.jit import inlined, njit
from sog.searches.tree import columns as f
from sog.searches.tree.arrays import Tree
from sog.searches.tree.growth import NODES

U = np.uint64


@njit
def forward(tree: Tree) -> None:
    """Both players' ranges down from node 0 through the POLICY row."""
    nodes, reach, policy = tree.nodes, tree.infostates[f.REACH], tree.entries[f.POLICY]
    for below in range(1, tree.counts[NODES]):
        n = U(below)
        m = U(nodes[n, f.PARENT])
        share = 1.0
        actor = nodes[m, f.N_ACTOR]
        if actor < f.NATURE:
            share = policy[U(nodes[m, f.VAR0] + nodes[n, f.IN_EDGE])]
        for p in range(2):
            above = reach[U(nodes[m, f.OFF0 + p])]
            reach[U(nodes[n, f.OFF0 + p])] = above * share if p == actor else above


@njit
def backward(tree: Tree, sums: Array, updates: int, step: Array) -> None:
    """Both players' values up; regrets and averages of the players in the bit mask `updates`; sums over iterations.

    step: as in sweeps.backward.  sums: float64[2, *] scratch, a column per node: open actions, positive regret.
    """
    _values_up(tree, sums, step[2])
    _regrets(tree, sums, updates, step)
    nodes, policy = tree.nodes, tree.entries[f.POLICY]
    for below in range(1, tree.counts[NODES]):
        n = U(below)
        m = U(nodes[n, f.PARENT])
        actor = nodes[m, f.N_ACTOR]
        if actor < f.NATURE and (updates >> actor) & 1:
            k = U(nodes[m, f.VAR0] + nodes[n, f.IN_EDGE])
            policy[k] = policy[k] / sums[1, m] if sums[1, m] > 0.0 else 1.0 / sums[0, m]


@njit
def _values_up(tree: Tree, sums: Array, weight: float) -> None:
    """Both players' values up, and their sums; `sums` is cleared. A node is passed after all that lie below it."""
    nodes, count, cfv = tree.nodes, tree.counts[NODES], tree.infostates[f.CFV]
    q, policy = tree.entries[f.ACTION_CFV], tree.entries[f.POLICY]
    for inner in range(count):
        n = U(inner)
        sums[0, n], sums[1, n] = 0.0, 0.0
        if nodes[n, f.KIND] == f.INTERIOR:
            cfv[U(nodes[n, f.OFF0])] = 0.0
            cfv[U(nodes[n, f.OFF1])] = 0.0
    for back in range(1, count):
        n = U(count - back)
        m = U(nodes[n, f.PARENT])
        actor, k = nodes[m, f.N_ACTOR], U(nodes[m, f.VAR0] + nodes[n, f.IN_EDGE])
        for p in range(2):
            off, above = U(nodes[n, f.OFF0 + p]), U(nodes[m, f.OFF0 + p])
            if p == actor:
                q[k] = cfv[off]
                cfv[above] += policy[k] * cfv[off]
            else:
                cfv[above] += cfv[off]
            _add_to_sums(tree.infostates, off, weight)
    for p in range(2):
        _add_to_sums(tree.infostates, U(nodes[0, f.OFF0 + p]), weight)


@inlined
def _add_to_sums(infostates: Array, off: Any, weight: float) -> None:
    infostates[f.CFV_SUM, off] += weight * infostates[f.CFV, off]
    infostates[f.REACH_SUM, off] += weight * infostates[f.REACH, off]


@njit
def _regrets(tree: Tree, sums: Array, updates: int, step: Array) -> None:
    """Instant regrets, discounted, and the next policies, not yet normalised."""
    nodes, infostates, entries = tree.nodes, tree.infostates, tree.entries
    regret, average, policy, q = entries[f.REGRET], entries[f.POLICY_SUM], entries[f.POLICY], entries[f.ACTION_CFV]
    weight = step[2]
    for below in range(1, tree.counts[NODES]):
        n = U(below)
        m = U(nodes[n, f.PARENT])
        actor = nodes[m, f.N_ACTOR]
        if actor >= f.NATURE or not (updates >> actor) & 1:
            continue
        k, off = U(nodes[m, f.VAR0] + nodes[n, f.IN_EDGE]), U(nodes[m, f.OFF0 + actor])
        average[k] += weight * (infostates[f.REACH, off] + REACH_FLOOR) * policy[k]
        instant = q[k] - infostates[f.CFV, off]
        regret[k], policy[k] = regret_step(regret[k], instant, step[0], step[1], step[3], 0.0)
        sums[0, m] += 1.0
        sums[1, m] += policy[k]
