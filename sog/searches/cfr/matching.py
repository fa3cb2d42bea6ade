"""Numba kernels of regret matching at one node: instant regrets in, the next policy out.

They know arrays only, as the sweeps do that call them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.searches.kernels.f64x8 import LANES, all_positive, load, splat, store
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.registers import pick
from sog.searches.tree import columns as f
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.growth import NODES

U = np.uint64

# Reach added to a player's own reach in policy averages: an infostate that is never reached still gets one.
REACH_FLOOR = 1e-9


@inlined
def regret_step(regret: Any, instant: Any, positive: Any, negative: Any, prediction: Any, zero: Any) -> Any:
    """(the new sum, what the next policy is in proportion to) of one regret; numbers or registers of them.

    positive, negative: what a sum above or below 0 is multiplied by.  prediction: how often the instant regret is
    expected once more (regret matching+ of PCFR+).
    """
    x = regret + instant
    x *= pick(x, positive, negative)
    expected = x + prediction * instant
    return x, pick(expected, expected, zero)


@inlined
def update(tree: Tree, n: Any, p: int, step: Array) -> bool:
    """Add the instant regrets at node n, discount them, and put the next policy in the POLICY row.

    Returns whether there are infostates without a positive entry, whose policies are 0.
    """
    nodes, entries, infostates = tree.nodes, tree.entries, tree.infostates
    average, policy, q = entries[f.POLICY_SUM], entries[f.POLICY], entries[f.ACTION_CFV]
    reach, cfv = infostates[f.REACH], infostates[f.CFV]
    weight, floor, zero = splat(step[2]), splat(REACH_FLOOR), splat(0.0)
    own, width = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p])
    var, count, empty = U(nodes[n, f.VAR0]), U(nodes[n, f.N_ACTIONS]), False
    for i in range(U(0), width, U(LANES)):
        left, k = width - i, var + i
        total, value = zero, load(cfv, own + i, left)
        mine = weight * (load(reach, own + i, left) + floor)
        for _ in range(count):
            store(average, k, left, load(average, k, left) + mine * load(policy, k, left))
            total += _add_regret(entries, k, left, load(q, k, left) - value, step)
            k += width
        empty |= _normalise(policy, var + i, count, width, left, total, zero)
    return empty


@inlined
def update_plain(tree: Tree, n: Any, p: int, step: Array, keep: bool) -> None:
    """The actor's values at plain node n, where an action's are its child's, and `update`.

    An infostate without a positive entry gets the uniform policy.  keep: the actions' values in
    ACTION_CFV, which nothing here needs.
    """
    nodes, child, entries, infostates = tree.nodes, tree.child, tree.entries, tree.infostates
    average, policy, q = entries[f.POLICY_SUM], entries[f.POLICY], entries[f.ACTION_CFV]
    reach, cfv = infostates[f.REACH], infostates[f.CFV]
    weight, floor, zero = splat(step[2]), splat(REACH_FLOOR), splat(0.0)
    own, width, at = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p]), f.AT0 + p
    var, count, child0 = U(nodes[n, f.VAR0]), U(nodes[n, f.N_ACTIONS]), U(nodes[n, f.CHILD0])
    for i in range(U(0), width, U(LANES)):
        left, k = width - i, var + i
        total, value = zero, zero
        mine = weight * (load(reach, own + i, left) + floor)
        for a in range(count):
            now, worth = load(policy, k, left), load(cfv, U(child[at, child0 + a]) + i, left)
            store(average, k, left, load(average, k, left) + mine * now)
            value += now * worth
            if keep:
                store(q, k, left, worth)
            k += width
        store(cfv, own + i, left, value)
        k = var + i
        for a in range(count):
            instant = load(cfv, U(child[at, child0 + a]) + i, left) - value
            total += _add_regret(entries, k, left, instant, step)
            k += width
        _normalise(policy, var + i, count, width, left, total, splat(1.0 / count))


@inlined
def _add_regret(entries: Array, k: Any, left: Any, instant: Any, step: Array) -> Any:
    """regret_step at columns k .. of entries; the next policies, not normalised, go to POLICY and are returned."""
    regret, policy = entries[f.REGRET], entries[f.POLICY]
    x, weight = regret_step(load(regret, k, left), instant, splat(step[0]), splat(step[1]), splat(step[3]), splat(0.0))
    store(regret, k, left, x)
    store(policy, k, left, weight)
    return weight


@inlined
def _normalise(policy: Array, first: Any, count: Any, width: Any, left: Any, total: Any, rest: Any) -> bool:
    """Divide `count` rows of policies by their totals; `rest` where that is 0; whether it is anywhere."""
    some, scale = all_positive(total, left), splat(1.0) / total
    k = first
    for _ in range(count):
        x = load(policy, k, left) * scale
        store(policy, k, left, x if some else pick(total, x, rest))
        k += width
    return not some


@inlined
def action_open(public: Public, tree: Tree, n: Any, a: int, i: int) -> bool:
    """Whether infostate i of node n may take action a and its child is in the tree."""
    row, child0 = tree.nodes[n, f.N_ACTION0] + a, tree.nodes[n, f.CHILD0]
    actions, links = public.actions, public.links
    if actions[row, f.EDGE] >= 0:
        return bool(tree.child[f.NODE, child0 + actions[row, f.EDGE]] >= 0)
    for k in range(actions[row, f.LINK0], actions[row, f.LINK0] + actions[row, f.LINKS]):
        if links[k, 0] == i:
            return bool(tree.child[f.NODE, child0 + links[k, 1]] >= 0)
    return False


@njit
def match_regrets(public: Public, tree: Tree, n: Any, source: int, target: int) -> None:
    """Normalise the positive part of row `source` into policies in row `target` at node n.

    An infostate without a positive entry gets the uniform policy over the actions open to it.
    """
    nodes = tree.nodes
    actor = nodes[n, f.N_ACTOR]
    width, var0, count = nodes[n, f.N_I0 + actor], nodes[n, f.VAR0], nodes[n, f.N_ACTIONS]
    weight, policy = tree.entries[source], tree.entries[target]
    for i in range(width):
        total = 0.0
        for a in range(count):
            total += max(weight[var0 + a * width + i], 0.0)
        if total > 0.0:
            for a in range(count):
                policy[var0 + a * width + i] = max(weight[var0 + a * width + i], 0.0) / total
            continue
        opened = 0
        for a in range(count):
            is_open = action_open(public, tree, n, a, i)
            policy[var0 + a * width + i] = 1.0 if is_open else 0.0
            opened += is_open
        for a in range(count):
            if opened > 0:
                policy[var0 + a * width + i] /= opened


@njit
def match_all(public: Public, tree: Tree, source: int, target: int) -> None:
    """match_regrets at every interior decision node."""
    for n in range(tree.counts[NODES]):
        if tree.nodes[n, f.KIND] == f.INTERIOR and tree.nodes[n, f.N_ACTOR] < f.NATURE:
            match_regrets(public, tree, n, source, target)
