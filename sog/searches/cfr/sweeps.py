"""Numba sweeps over a lookahead tree: ranges down, payoffs between, values and regrets up.

They know arrays only (tree/arrays.py): no game, no network, no owner of a tree. A sweep visits nodes first .. last - 1,
a whole tree or one of several that lie side by side. Offsets are cast to unsigned before inner loops: Numba then need
not test every index for a negative one, which makes the sweeps several times faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.searches.cfr.matching import match_regrets, update, update_plain
from sog.searches.kernels.f64x8 import LANES, load, splat, store
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.spans import copy_span
from sog.searches.tree import columns as f
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.growth import NODES

U = np.uint64


@njit
def forward(public: Public, tree: Tree, first: int, last: int, which: int, players: int) -> None:
    """Send the ranges at node `first` down through the policies in row `which` of entries.

    players: bit mask of the players whose ranges are sent; the others' stay as they are.
    """
    nodes, reach, policy = tree.nodes, tree.infostates[f.REACH], tree.entries[which]
    for n in range(U(first), U(last)):
        if nodes[n, f.KIND] != f.INTERIOR:
            continue
        for p in range(2):
            if not (players >> p) & 1:
                continue
            if p == nodes[n, f.N_ACTOR]:
                _actions_down(public, tree, reach, policy, n, p)
            else:
                _edges_down(public, tree, reach, n, p)


@inlined
def _edges_down(public: Public, tree: Tree, reach: Array, n: Any, p: int) -> None:
    """A non-actor's ranges at the children of node n."""
    nodes, child = tree.nodes, tree.child
    edges, links = public.edges, public.links
    own, width = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p])
    edge0, child0 = U(nodes[n, f.N_EDGE0]), U(nodes[n, f.CHILD0])
    same = nodes[n, f.N_SAME]
    for e in range(U(nodes[n, f.N_EDGES])):
        c, off = child[f.NODE, child0 + e], U(child[f.AT0 + p, child0 + e])
        if same:
            copy_span(reach, own, reach, off, width)
        elif c >= 0:
            start = edges[edge0 + e, f.CARRY0 + 2 * p]
            if start < 0:
                copy_span(reach, own, reach, off, width)
                continue
            for i in range(U(nodes[U(c), f.N_I0 + p])):
                reach[off + i] = 0.0
            for k in range(U(start), U(start + edges[edge0 + e, f.CARRY0_LEN + 2 * p])):
                reach[off + U(links[k, 2])] += reach[own + U(links[k, 0])]


@inlined
def _actions_down(public: Public, tree: Tree, reach: Array, policy: Array, n: Any, p: int) -> None:
    """The actor's ranges at the children of node n."""
    nodes, child = tree.nodes, tree.child
    rows, links = public.actions, public.links
    own, width = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p])
    row0, var, child0 = U(nodes[n, f.N_ACTION0]), U(nodes[n, f.VAR0]), U(nodes[n, f.CHILD0])
    count = U(nodes[n, f.N_ACTIONS])
    if nodes[n, f.N_PLAIN]:
        for i in range(U(0), width, U(LANES)):
            left, at = width - i, var + i
            mine = load(reach, own + i, left)
            for a in range(count):
                store(reach, U(child[f.AT0 + p, child0 + a]) + i, left, mine * load(policy, at, left))
                at += width
        return
    for e in range(U(nodes[n, f.N_EDGES])):
        c, off = child[f.NODE, child0 + e], U(child[f.AT0 + p, child0 + e])
        if c >= 0:
            for j in range(U(nodes[U(c), f.N_I0 + p])):
                reach[off + j] = 0.0
    for a in range(count):
        edge = rows[row0 + a, f.EDGE]
        if edge >= 0:
            if child[f.NODE, child0 + U(edge)] >= 0:
                off = U(child[f.AT0 + p, child0 + U(edge)])
                for i in range(width):
                    reach[off + i] = reach[own + i] * policy[var + i]
        else:
            start = U(rows[row0 + a, f.LINK0])
            for k in range(start, start + U(rows[row0 + a, f.LINKS])):
                source, to = U(links[k, 0]), child0 + U(links[k, 1])
                if child[f.NODE, to] >= 0:
                    share = reach[own + source] * policy[var + source]
                    reach[U(child[f.AT0 + p, to]) + U(links[k, 2])] += share
        var += width


@njit
def backward(
    public: Public, tree: Tree, first: int, last: int, players: int, updates: int, step: Array, track: bool
) -> None:
    """Send the values of the players in the bit mask up; update regrets and averages of those in `updates`.

    step: float64[4], the weights (positive, negative, average, prediction) of rules.Rule.steps.
    track: also add this iteration's values and ranges, times the averaging weight, to CFV_SUM and REACH_SUM, and leave
    the values of all actions in ACTION_CFV.
    """
    nodes, infostates = tree.nodes, tree.infostates
    cfv, reach = infostates[f.CFV], infostates[f.REACH]
    cfv_sum, reach_sum, weight = infostates[f.CFV_SUM], infostates[f.REACH_SUM], step[2]
    for back in range(1, last - first + 1):
        n = U(last - back)
        if nodes[n, f.KIND] == f.INTERIOR:
            for p in range(2):
                if not (players >> p) & 1:
                    continue
                if p != nodes[n, f.N_ACTOR]:
                    _edges_up(public, tree, cfv, n, p)
                    continue
                if nodes[n, f.N_PLAIN] and (updates >> p) & 1:
                    update_plain(tree, n, p, step, track)
                    continue
                _actions_up(public, tree, f.POLICY, n, p)
                if (updates >> p) & 1 and update(tree, n, p, step):
                    match_regrets(public, tree, n, f.POLICY, f.POLICY)
        if track:
            for p in range(2):
                off = U(nodes[n, f.OFF0 + p])
                for i in range(U(nodes[n, f.N_I0 + p])):
                    cfv_sum[off + i] += weight * cfv[off + i]
                    reach_sum[off + i] += weight * reach[off + i]


@inlined
def _edges_up(public: Public, tree: Tree, cfv: Array, n: Any, p: int) -> None:
    """A non-actor's values at node n: the sum over public edges."""
    nodes, child = tree.nodes, tree.child
    edges, links = public.edges, public.links
    own, width = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p])
    edge0, child0 = U(nodes[n, f.N_EDGE0]), U(nodes[n, f.CHILD0])
    count = U(nodes[n, f.N_EDGES])
    if nodes[n, f.N_SAME]:
        for i in range(U(0), width, U(LANES)):
            total = splat(0.0)
            for e in range(count):
                total += load(cfv, U(child[f.AT0 + p, child0 + e]) + i, width - i)
            store(cfv, own + i, width - i, total)
        return
    for i in range(width):
        cfv[own + i] = 0.0
    for e in range(count):
        if child[f.NODE, child0 + e] < 0:
            continue
        off, start = U(child[f.AT0 + p, child0 + e]), edges[edge0 + e, f.CARRY0 + 2 * p]
        if start < 0:
            for i in range(width):
                cfv[own + i] += cfv[off + i]
        else:
            for k in range(U(start), U(start + edges[edge0 + e, f.CARRY0_LEN + 2 * p])):
                cfv[own + U(links[k, 0])] += cfv[off + U(links[k, 2])]


@inlined
def _actions_up(public: Public, tree: Tree, which: int, n: Any, p: int) -> None:
    """The actor's values at node n under the policy in row `which`, and of each action in row ACTION_CFV.

    A closed action (illegal, or its child not in the tree) gets the node's value: it earns no regret.
    """
    nodes, child, cfv = tree.nodes, tree.child, tree.infostates[f.CFV]
    policy, q = tree.entries[which], tree.entries[f.ACTION_CFV]
    own, width = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p])
    var, child0, count = U(nodes[n, f.VAR0]), U(nodes[n, f.CHILD0]), U(nodes[n, f.N_ACTIONS])
    if nodes[n, f.N_PLAIN]:
        for i in range(U(0), width, U(LANES)):
            left, k = width - i, var + i
            total = splat(0.0)
            for a in range(count):
                value = load(cfv, U(child[f.AT0 + p, child0 + a]) + i, left)
                store(q, k, left, value)
                total += load(policy, k, left) * value
                k += width
            store(cfv, own + i, left, total)
        return
    _open_actions_up(public, tree, n, p)
    for i in range(width):
        total = 0.0
        k = var + i
        for _ in range(count):
            if not np.isnan(q[k]):
                total += policy[k] * q[k]
            k += width
        cfv[own + i] = total
        k = var + i
        for _ in range(count):
            if np.isnan(q[k]):
                q[k] = total
            k += width


@inlined
def _open_actions_up(public: Public, tree: Tree, n: Any, p: int) -> None:
    """The values of open actions at node n into ACTION_CFV; NaN for closed ones."""
    nodes, child, cfv, q = tree.nodes, tree.child, tree.infostates[f.CFV], tree.entries[f.ACTION_CFV]
    rows, links = public.actions, public.links
    width, var = U(nodes[n, f.N_I0 + p]), U(nodes[n, f.VAR0])
    row0, child0 = U(nodes[n, f.N_ACTION0]), U(nodes[n, f.CHILD0])
    for a in range(U(nodes[n, f.N_ACTIONS])):
        for i in range(width):
            q[var + i] = np.nan
        edge = rows[row0 + a, f.EDGE]
        if edge >= 0:
            if child[f.NODE, child0 + U(edge)] >= 0:
                off = U(child[f.AT0 + p, child0 + U(edge)])
                for i in range(width):
                    q[var + i] = cfv[off + i]
        else:
            start = U(rows[row0 + a, f.LINK0])
            for k in range(start, start + U(rows[row0 + a, f.LINKS])):
                at = child0 + U(links[k, 1])
                if child[f.NODE, at] >= 0:
                    q[var + U(links[k, 0])] = cfv[U(child[f.AT0 + p, at]) + U(links[k, 2])]
        var += width


@njit
def evaluate(public: Public, tree: Tree, which: int, best: int) -> None:
    """Values of both players under the policies in row `which`, in the whole tree.

    best: bit mask of the players who take their best action at every infostate instead.
    """
    nodes, count, cfv = tree.nodes, tree.counts[NODES], tree.infostates[f.CFV]
    for back in range(1, count + 1):
        n = U(count - back)
        if nodes[n, f.KIND] != f.INTERIOR:
            continue
        for p in range(2):
            if p != nodes[n, f.N_ACTOR]:
                _edges_up(public, tree, cfv, n, p)
            elif not (best >> p) & 1:
                _actions_up(public, tree, which, n, p)
            else:
                _open_actions_up(public, tree, n, p)
                _best_up(tree, n, p)


@inlined
def _best_up(tree: Tree, n: Any, p: int) -> None:
    """The actor's values at node n when every infostate takes its best open action."""
    nodes, cfv, q = tree.nodes, tree.infostates[f.CFV], tree.entries[f.ACTION_CFV]
    own, width, var = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p]), U(nodes[n, f.VAR0])
    for i in range(width):
        top = -np.inf
        k = var + i
        for _ in range(U(nodes[n, f.N_ACTIONS])):
            if not np.isnan(q[k]):
                top = max(top, q[k])
            k += width
        cfv[own + i] = top if top > -np.inf else 0.0
