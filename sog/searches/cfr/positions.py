"""Numba sweeps for perfect information: one infostate a player everywhere, so a node is its own entry in its parent.

The same updates as in sweeps.py, on nodes instead of actions: a search that opens one child at a time (k = 1) has
about as many nodes as simulations but some thirty times as many legal actions, which these sweeps never visit. They
work on arrays alone (see tree/arrays.py), and need decision nodes whose action a takes edge a.
"""

from __future__ import annotations

from sog.arrays import Array
from sog.games.base import NATURE
from sog.searches.cfr.matching import REACH_FLOOR, regret_step
from sog.searches.kernels.jit import inlined, njit
from sog.searches.tree.arrays import Tree
from sog.searches.tree.players import Players, within
from sog.searches.tree.records import Entry, Infostate, Kind


@njit
def forward(tree: Tree) -> None:
    """Both players' ranges down from node 0: r(n) = r(m) * policy(m, n) for the actor of its parent m, else r(m)."""
    reach, policy = tree.infostates[Infostate.REACH], tree.entries[Entry.POLICY]
    for n in range(1, tree.counts[0].nodes):
        node = tree.nodes[n]
        parent = tree.nodes[node.parent]
        # Chance's probabilities are in W, not in ranges.
        share = 1.0
        if parent.actor < NATURE:
            share = policy[parent.entry0 + node.in_edge]
        for p in range(2):
            above = reach[parent.offset[p]]
            reach[node.offset[p]] = above * share if p == parent.actor else above


@njit
def backward(tree: Tree, sums: Array, updates: Players, step: Array) -> None:
    """Both players' values up; regrets and averages of the players in `updates`; sums over iterations.

    As sweeps.backward and matching.update, but each node adds its own share to its parent m:
    cfv(m) += policy(m, n) * cfv(n),  R(m, n), w(m, n) = regret_step(R(m, n), cfv(n) - cfv(m)),
    policy(m, n) = w(m, n) / sum of w(m, .), or 1 / (children in the tree) where that is 0.
    step: as in sweeps.backward.  sums: float64[2, *] scratch, a column per node: open actions, sum of w.
    """
    # Three passes: a regret needs the parent's whole value, and a policy the sum over all its siblings.
    _values_up(tree, sums, step[2])
    _regrets(tree, sums, updates, step)
    policy = tree.entries[Entry.POLICY]
    for n in range(1, tree.counts[0].nodes):
        node = tree.nodes[n]
        m = node.parent
        parent = tree.nodes[m]
        if parent.actor < NATURE and within(parent.actor, updates):
            k = parent.entry0 + node.in_edge
            policy[k] = policy[k] / sums[1, m] if sums[1, m] > 0.0 else 1.0 / sums[0, m]


@njit
def _values_up(tree: Tree, sums: Array, weight: float) -> None:
    """Both players' values up, and their sums; `sums` is cleared. A node is passed after all that lie below it."""
    nodes, count, cfv = tree.nodes, tree.counts[0].nodes, tree.infostates[Infostate.CFV]
    q, policy = tree.entries[Entry.ACTION_CFV], tree.entries[Entry.POLICY]
    for n in range(count):
        node = nodes[n]
        sums[0, n], sums[1, n] = 0.0, 0.0
        if node.kind == Kind.INTERIOR:
            cfv[node.offset[0]] = 0.0
            cfv[node.offset[1]] = 0.0
    # Children have higher numbers, so cfv[own] is complete here.
    for back in range(1, count):
        node = nodes[count - back]
        parent = nodes[node.parent]
        k = parent.entry0 + node.in_edge
        for p in range(2):
            own, above = node.offset[p], parent.offset[p]
            if p == parent.actor:
                # The other player's values hold this actor's reach already (else): they are summed as they are.
                q[k] = cfv[own]
                cfv[above] += policy[k] * cfv[own]
            else:
                cfv[above] += cfv[own]
            _add_to_sums(tree.infostates, own, weight)
    for p in range(2):
        _add_to_sums(tree.infostates, nodes[0].offset[p], weight)


@inlined
def _add_to_sums(infostates: Array, at: int, weight: float) -> None:
    """CFV_SUM += weight * CFV, REACH_SUM += weight * REACH at one infostate: what means over iterations are made of."""
    infostates[Infostate.CFV_SUM, at] += weight * infostates[Infostate.CFV, at]
    infostates[Infostate.REACH_SUM, at] += weight * infostates[Infostate.REACH, at]


@njit
def _regrets(tree: Tree, sums: Array, updates: Players, step: Array) -> None:
    """Instant regrets, discounted, and the next policies, not yet normalised."""
    infostates, entries, weight = tree.infostates, tree.entries, step[2]
    regret, average = entries[Entry.REGRET], entries[Entry.POLICY_SUM]
    policy, q = entries[Entry.POLICY], entries[Entry.ACTION_CFV]
    for n in range(1, tree.counts[0].nodes):
        node = tree.nodes[n]
        m = node.parent
        parent = tree.nodes[m]
        if parent.actor >= NATURE or not within(parent.actor, updates):
            continue
        k, own = parent.entry0 + node.in_edge, parent.offset[parent.actor]
        # As in matching.update: the average first, by the policy that the values came from.
        average[k] += weight * (infostates[Infostate.REACH, own] + REACH_FLOOR) * policy[k]
        instant = q[k] - infostates[Infostate.CFV, own]
        regret[k], policy[k] = regret_step(regret[k], instant, step[0], step[1], step[3], 0.0)
        sums[0, m] += 1.0
        sums[1, m] += policy[k]
