"""Numba kernels of regret matching at one node: instant regrets in, the next policy out.

They know arrays only, as kernels.py does, whose sweeps call them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.search.simd.f64x8 import LANES, all_positive, load, splat, store
from sog.search.simd.jit import inlined, njit
from sog.search.simd.registers import pick
from sog.search.tree import columns as f

U = np.uint64

# Reach added to a player's own reach in policy averages: an infostate that is never reached still gets one.
REACH_FLOOR = 1e-9


@inlined
def update(
    nodes: Array, reach: Array, cfv: Array, entries: Array, n: Any, p: int, step: Array
) -> bool:
    """Add the instant regrets at node n, discount them, and put the next policy in the POLICY row.

    Returns whether there are infostates without a positive entry, whose policies are 0.
    """
    regret, average, policy = entries[f.REGRET], entries[f.AVERAGE], entries[f.POLICY]
    q = entries[f.ACTION_CFV]
    weight, floor, zero = splat(step[2]), splat(REACH_FLOOR), splat(0.0)
    own, width = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p])
    var, count, empty = U(nodes[n, f.VAR0]), U(nodes[n, f.N_ROWS]), False
    for i in range(U(0), width, U(LANES)):
        left, k = width - i, var + i
        total, value = zero, load(cfv, own + i, left)
        mine = weight * (load(reach, own + i, left) + floor)
        for _ in range(count):
            store(average, k, left, load(average, k, left) + mine * load(policy, k, left))
            total += _regret_more(regret, policy, k, left, load(q, k, left) - value, step)
            k += width
        empty |= _normalise(policy, var + i, count, width, left, total, zero)
    return empty


@inlined
def update_plain(
    nodes: Array, child: Array, reach: Array, cfv: Array, entries: Array, n: Any, p: int, step: Array, keep: bool
) -> None:
    """The actor's values at plain node n, where an action's are its child's, and `update`.

    An infostate without a positive entry gets the uniform policy.  keep: the actions' values in
    ACTION_CFV, which nothing here needs.
    """
    regret, average, policy = entries[f.REGRET], entries[f.AVERAGE], entries[f.POLICY]
    q = entries[f.ACTION_CFV]
    weight, floor, zero = splat(step[2]), splat(REACH_FLOOR), splat(0.0)
    own, width, at = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p]), f.AT0 + p
    var, count, child0 = U(nodes[n, f.VAR0]), U(nodes[n, f.N_ROWS]), U(nodes[n, f.CHILD0])
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
            total += _regret_more(regret, policy, k, left, instant, step)
            k += width
        _normalise(policy, var + i, count, width, left, total, splat(1.0 / count))


@inlined
def _regret_more(regret: Array, policy: Array, k: Any, left: Any, instant: Any, step: Array) -> Any:
    """Add instant regrets at k, discount the sums, and put what the next policies are in proportion to in `policy`."""
    positive, negative, prediction, zero = splat(step[0]), splat(step[1]), splat(step[3]), splat(0.0)
    x = load(regret, k, left) + instant
    x *= pick(x, positive, negative)
    store(regret, k, left, x)
    x += prediction * instant
    x = pick(x, x, zero)
    store(policy, k, left, x)
    return x


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
def _action_open(rows: Array, links: Array, child: Array, child0: int, r: int, i: int) -> bool:
    """Whether infostate i may take the action of row r and its child is in the tree."""
    if rows[r, f.EDGE] >= 0:
        return bool(child[f.NODE, child0 + rows[r, f.EDGE]] >= 0)
    for k in range(rows[r, f.LINK0], rows[r, f.LINK0] + rows[r, f.LINKS]):
        if links[k, 0] == i:
            return bool(child[f.NODE, child0 + links[k, 1]] >= 0)
    return False


@njit
def match_regrets(
    rows: Array, links: Array, nodes: Array, child: Array, entries: Array, n: Any, source: int, target: int
) -> None:
    """Normalise the positive part of row `source` into policies in row `target` at node n.

    An infostate without a positive entry gets the uniform policy over the actions open to it.
    """
    actor = nodes[n, f.N_ACTOR]
    width, var0, count = nodes[n, f.N_I0 + actor], nodes[n, f.VAR0], nodes[n, f.N_ROWS]
    weight, policy = entries[source], entries[target]
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
            is_open = _action_open(rows, links, child, nodes[n, f.CHILD0], nodes[n, f.N_ROW0] + a, i)
            policy[var0 + a * width + i] = 1.0 if is_open else 0.0
            opened += is_open
        for a in range(count):
            if opened > 0:
                policy[var0 + a * width + i] /= opened


@njit
def match_all(
    rows: Array, links: Array, nodes: Array, count: int, child: Array, entries: Array, source: int, target: int
) -> None:
    """match_regrets at every interior decision node."""
    for n in range(count):
        if nodes[n, f.KIND] == f.INTERIOR and nodes[n, f.N_ACTOR] < 2:
            match_regrets(rows, links, nodes, child, entries, n, source, target)
