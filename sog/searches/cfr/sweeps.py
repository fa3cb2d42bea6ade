"""Numba sweeps over a lookahead tree: ranges down, payoffs between, values and regrets up.

They work on arrays alone (tree/arrays.py), without a game or a network. A sweep visits nodes first .. last - 1, a whole
tree or one of several that lie side by side. Inner loops count in unsigned numbers, as the tables' fields do:
Numba then need not test every index for a negative one, which makes the sweeps several times faster.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Array
from sog.searches.cfr.matching import match_regrets, update, update_plain
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.spans import copy_span
from sog.searches.kernels.vectors import LANES64, load_first, splat, store_first
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.players import Players, within
from sog.searches.tree.records import Entry, Infostate, Kind, Node


@njit
def forward(public: Public, tree: Tree, first: int, last: int, row: int, players: Players) -> None:
    """Send the ranges at node `first` down through the policies in `row` of entries.

    r(h a)[i] = r(h)[i] * policy[a, i] for the actor, r(h a)[i] = r(h)[i] for the other player and at chance's nodes:
    a range holds a player's own probabilities only. Chance is in the weights W at the leaves and the ends.
    players: those whose ranges are sent; the others' stay as they are.
    """
    reach, policy = tree.infostates[Infostate.REACH], tree.entries[row]
    # Parents have lower numbers than their children.
    for n in range(first, last):
        node = tree.nodes[n]
        if node.kind != Kind.INTERIOR:
            continue
        for p in range(2):
            if not within(p, players):
                continue
            if p == node.actor:
                _actions_down(public, tree, reach, policy, node, p)
            else:
                _edges_down(public, tree, reach, node, p)


@inlined
def _edges_down(public: Public, tree: Tree, reach: Array, node: Node, p: int) -> None:
    """A non-actor's ranges at the children of a node: each is the node's, moved along the edge's links."""
    links, own, width = public.links, node.offset[p], node.width[p]
    for e in range(node.edges):
        child = tree.child[node.child0 + e]
        to = child.offset[p]
        # Nobody's infostates change: a copy.
        if node.same:
            copy_span(reach, own, reach, to, width)
        elif child.node >= 0:
            edge = public.edges[node.edge0 + e]
            # The same over this edge alone.
            if edge.carry0[p] < 0:
                copy_span(reach, own, reach, to, width)
                continue
            # Links may join several infostates in one, or split one: r'[target] = sum over its sources.
            for i in range(tree.nodes[child.node].width[p]):
                reach[to + i] = 0.0
            for k in range(edge.carries[p]):
                link = links[edge.carry0[p] + k]
                reach[to + link.target] += reach[own + link.source]


@inlined
def _actions_down(public: Public, tree: Tree, reach: Array, policy: Array, node: Node, p: int) -> None:
    """The actor's ranges at the children of a node: r'[j] = sum over (a, i) that lead to j of r[i] * policy[a, i]."""
    own, width, entry, count = node.offset[p], node.width[p], node.entry0, node.actions
    if node.plain:  # each action has a child of its own: a register of infostates at a time
        for i in range(0, width, LANES64):
            left, at = width - i, entry + i
            mine = load_first(reach, own + i, left)
            for a in range(count):
                store_first(reach, tree.child[node.child0 + a].offset[p] + i, left, mine * load_first(policy, at, left))
                at += width
        return
    # Several actions may lead to one child: its range is a sum.
    for e in range(node.edges):
        child = tree.child[node.child0 + e]
        if child.node >= 0:
            for j in range(tree.nodes[child.node].width[p]):
                reach[child.offset[p] + j] = 0.0
    for a in range(count):
        action = public.actions[node.action0 + a]
        # One child for all infostates: nothing else leads there, so its range is written, not added to.
        if action.edge >= 0:
            child = tree.child[node.child0 + action.edge]
            if child.node >= 0:
                for i in range(width):
                    reach[child.offset[p] + i] = reach[own + i] * policy[entry + i]
        else:
            # The child depends on the infostate.
            for k in range(action.links):
                link = public.links[action.link0 + k]
                child = tree.child[node.child0 + link.edge]
                if child.node >= 0:
                    share = reach[own + link.source] * policy[entry + link.source]
                    reach[child.offset[p] + link.target] += share
        entry += width


@njit
def backward(
    public: Public, tree: Tree, first: int, last: int, players: Players, updates: Players, step: Array, track: bool
) -> None:
    """Send the values of `players` up; update regrets and averages of those in `updates`.

    cfv(h)[i] = sum over a of policy[a, i] * cfv(h a)[i] for the actor, the sum over edges of the child's for the other
    player and at chance's nodes: the counterfactual values at leaves and ends hold chance and the opponent's reach.
    step: float64[4], the weights (positive, negative, average, prediction) of rules.Rule.steps.
    track: also add this iteration's values and ranges, times the averaging weight, to CFV_SUM and REACH_SUM, and leave
    the values of all actions in ACTION_CFV.
    """
    infostates, weight = tree.infostates, step[2]
    cfv, reach = infostates[Infostate.CFV], infostates[Infostate.REACH]
    cfv_sum, reach_sum = infostates[Infostate.CFV_SUM], infostates[Infostate.REACH_SUM]
    # Children have higher numbers than their parents.
    for back in range(1, last - first + 1):
        node = tree.nodes[last - back]
        if node.kind == Kind.INTERIOR:
            for p in range(2):
                if not within(p, players):
                    continue
                # Not this player's decision, or chance's.
                if p != node.actor:
                    _edges_up(public, tree, cfv, node, p)
                    continue
                if node.plain and within(p, updates):  # both in one pass over the children
                    update_plain(tree, node, p, step, track)
                    continue
                # Elsewhere actions may be closed or share a child: values first, then regrets; infostates without a
                # positive regret then get the uniform policy over their open actions.
                _actions_up(public, tree, Entry.POLICY, node, p)
                if within(p, updates) and update(tree, node, p, step):
                    match_regrets(public, tree, node, Entry.POLICY, Entry.POLICY)
        # For means over iterations: Lookahead.values divides CFV_SUM by the opponent's mass in REACH_SUM.
        if track:
            for p in range(2):
                own = node.offset[p]
                for i in range(node.width[p]):
                    cfv_sum[own + i] += weight * cfv[own + i]
                    reach_sum[own + i] += weight * reach[own + i]


@inlined
def _edges_up(public: Public, tree: Tree, cfv: Array, node: Node, p: int) -> None:
    """A non-actor's values at a node: v[i] = sum over edges of the child's values at the infostates i goes to."""
    links, own, width, count = public.links, node.offset[p], node.width[p], node.edges
    if node.same:  # infostate i stays infostate i: a register of them at a time
        for i in range(0, width, LANES64):
            total = splat(0.0)
            for e in range(count):
                total += load_first(cfv, tree.child[node.child0 + e].offset[p] + i, width - i)
            store_first(cfv, own + i, width - i, total)
        return
    # Links: an infostate has the values of all infostates that it may become.
    for i in range(width):
        cfv[own + i] = 0.0
    for e in range(count):
        child, edge = tree.child[node.child0 + e], public.edges[node.edge0 + e]
        if child.node < 0:
            continue
        below = child.offset[p]
        if edge.carry0[p] < 0:
            for i in range(width):
                cfv[own + i] += cfv[below + i]
        else:
            for k in range(edge.carries[p]):
                link = links[edge.carry0[p] + k]
                cfv[own + link.source] += cfv[below + link.target]


@inlined
def _actions_up(public: Public, tree: Tree, row: int, node: Node, p: int) -> None:
    """The actor's values at a node under the policy in `row`, and of each action in row ACTION_CFV.

    v[i] = sum over actions of policy[a, i] * q[a, i]. A closed action (illegal, or its child not in the tree) gets the
    node's value: it earns no regret.
    """
    cfv, policy, q = tree.infostates[Infostate.CFV], tree.entries[row], tree.entries[Entry.ACTION_CFV]
    own, width, entry, count = node.offset[p], node.width[p], node.entry0, node.actions
    if node.plain:  # nothing is closed: a register of infostates at a time
        for i in range(0, width, LANES64):
            left, k = width - i, entry + i
            total = splat(0.0)
            for a in range(count):
                value = load_first(cfv, tree.child[node.child0 + a].offset[p] + i, left)
                store_first(q, k, left, value)
                total += load_first(policy, k, left) * value
                k += width
            store_first(cfv, own + i, left, total)
        return
    # NaN marks a closed action until the node's value is known, which it then gets: an instant regret of 0.
    _open_actions_up(public, tree, node, p)
    for i in range(width):
        total = 0.0
        k = entry + i
        for _ in range(count):
            if not np.isnan(q[k]):
                total += policy[k] * q[k]
            k += width
        cfv[own + i] = total
        k = entry + i
        for _ in range(count):
            if np.isnan(q[k]):
                q[k] = total
            k += width


@inlined
def _open_actions_up(public: Public, tree: Tree, node: Node, p: int) -> None:
    """The values of open actions at a node into ACTION_CFV, each from where the action leads; NaN for closed ones."""
    cfv, q = tree.infostates[Infostate.CFV], tree.entries[Entry.ACTION_CFV]
    width, entry = node.width[p], node.entry0
    for a in range(node.actions):
        for i in range(width):
            q[entry + i] = np.nan
        action = public.actions[node.action0 + a]
        # q[a, i] = cfv(child of a)[where a takes i].
        if action.edge >= 0:
            child = tree.child[node.child0 + action.edge]
            if child.node >= 0:
                for i in range(width):
                    q[entry + i] = cfv[child.offset[p] + i]
        else:
            for k in range(action.links):
                link = public.links[action.link0 + k]
                child = tree.child[node.child0 + link.edge]
                if child.node >= 0:
                    q[entry + link.source] = cfv[child.offset[p] + link.target]
        entry += width


@njit
def evaluate(public: Public, tree: Tree, row: int, best: Players) -> None:
    """Values of both players under the policies in `row`, in the whole tree.

    best: the players who take their best action at every infostate instead.
    """
    count, cfv = tree.counts[0].nodes, tree.infostates[Infostate.CFV]
    # As in `backward`, with max over open actions in place of the policy's mean for those in `best`.
    for back in range(1, count + 1):
        node = tree.nodes[count - back]
        if node.kind != Kind.INTERIOR:
            continue
        for p in range(2):
            if p != node.actor:
                _edges_up(public, tree, cfv, node, p)
            elif not within(p, best):
                _actions_up(public, tree, row, node, p)
            else:
                _open_actions_up(public, tree, node, p)
                _best_up(tree, node, p)


@inlined
def _best_up(tree: Tree, node: Node, p: int) -> None:
    """The actor's values at a node by its best open actions: v[i] = max over open a of q[a, i]; 0 where none is."""
    cfv, q = tree.infostates[Infostate.CFV], tree.entries[Entry.ACTION_CFV]
    own, width, entry = node.offset[p], node.width[p], node.entry0
    for i in range(width):
        top = -np.inf
        k = entry + i
        for _ in range(node.actions):
            if not np.isnan(q[k]):
                top = max(top, q[k])
            k += width
        cfv[own + i] = top if top > -np.inf else 0.0
