"""Numba kernels of regret matching at one node: instant regrets in, the next policy out.

They work on arrays alone, as do the sweeps, which call them.
"""

from __future__ import annotations

from typing import TypeVar

from sog.arrays import Array
from sog.games.base import NATURE
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.registers import Lanes, pick
from sog.searches.kernels.spans import LEAST
from sog.searches.kernels.vectors import LANES64, all_positive, load_first, splat, store_first
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.records import Entry, Infostate, Kind, Node

L = TypeVar("L", float, Lanes)

# Reach added to a player's own reach in policy averages: an infostate that is never reached still gets one.
REACH_FLOOR = 1e-9


@inlined
def regret_step(regret: L, instant: L, positive: L, negative: L, prediction: L, zero: L) -> tuple[L, L]:
    """(the new sum R', w, which the next policy is in proportion to) of one regret; numbers or registers of them.

    R' = (R + r) * (positive if R + r > 0 else negative),  w = max(R' + prediction * r, 0),  r: the instant regret.
    DCFR: positive = t^alpha / (t^alpha + 1), negative = t^beta / (t^beta + 1) in iteration t. Regret matching+:
    negative = 0. prediction: 1 in PCFR+, which expects the last instant regret once more; otherwise 0.
    """
    x = regret + instant
    x *= pick(x, positive, negative)
    expected = x + prediction * instant
    return x, pick(expected, expected, zero)


@inlined
def update(tree: Tree, node: Node, p: int, step: Array) -> bool:
    """Add the instant regrets at a node, discount them, and put the next policy in the POLICY row.

    S[a, i] += weight * reach[i] * policy[a, i],  R[a, i], w[a, i] = regret_step(R[a, i], q[a, i] - v[i]),
    policy[a, i] = w[a, i] / sum over b of w[b, i].
    Returns whether there are infostates without a positive w, whose policies are 0.
    """
    entries, infostates = tree.entries, tree.infostates
    average, policy, q = entries[Entry.POLICY_SUM], entries[Entry.POLICY], entries[Entry.ACTION_CFV]
    reach, cfv = infostates[Infostate.REACH], infostates[Infostate.CFV]
    weight, floor, zero = splat(step[2]), splat(REACH_FLOOR), splat(0.0)
    own, width, count, empty = node.offset[p], node.width[p], node.actions, False
    for i in range(0, width, LANES64):
        left, k = width - i, node.entry0 + i
        total, value = zero, load_first(cfv, own + i, left)
        # The average takes the policy that this iteration's values came from, before the next one replaces it.
        mine = weight * (load_first(reach, own + i, left) + floor)
        for _ in range(count):
            store_first(average, k, left, load_first(average, k, left) + mine * load_first(policy, k, left))
            total += _add_regret(entries, k, left, load_first(q, k, left) - value, step)
            k += width
        # 0 where no w is positive: which actions are open is not known here. The caller makes these uniform.
        empty |= _normalise(policy, node.entry0 + i, count, width, left, total, zero)
    return empty


@inlined
def update_plain(tree: Tree, node: Node, p: int, step: Array, keep: bool) -> None:
    """The actor's values at a plain node, where an action's are its child's, and `update`.

    v[i] = sum over a of policy[a, i] * cfv(child a)[i], then as in `update` with q[a, i] = cfv(child a)[i].
    An infostate without a positive w gets the uniform policy: at a plain node all actions are open.
    keep: write the actions' values to ACTION_CFV, which nothing here needs.
    """
    child, entries, infostates = tree.child, tree.entries, tree.infostates
    average, policy, q = entries[Entry.POLICY_SUM], entries[Entry.POLICY], entries[Entry.ACTION_CFV]
    reach, cfv = infostates[Infostate.REACH], infostates[Infostate.CFV]
    weight, floor, zero = splat(step[2]), splat(REACH_FLOOR), splat(0.0)
    own, width, count, child0 = node.offset[p], node.width[p], node.actions, node.child0
    for i in range(0, width, LANES64):
        left, k = width - i, node.entry0 + i
        total, value = zero, zero
        mine = weight * (load_first(reach, own + i, left) + floor)
        # First pass over the actions: the average with this iteration's policy, and the node's value v.
        for a in range(count):
            now, worth = load_first(policy, k, left), load_first(cfv, child[child0 + a].offset[p] + i, left)
            store_first(average, k, left, load_first(average, k, left) + mine * now)
            value += now * worth
            if keep:
                store_first(q, k, left, worth)
            k += width
        store_first(cfv, own + i, left, value)
        k = node.entry0 + i
        # Second pass: instant regrets q - v, and the next policy over this iteration's.
        for a in range(count):
            instant = load_first(cfv, child[child0 + a].offset[p] + i, left) - value
            total += _add_regret(entries, k, left, instant, step)
            k += width
        _normalise(policy, node.entry0 + i, count, width, left, total, splat(1.0 / count))


@inlined
def _add_regret(entries: Array, k: int, left: int, instant: Lanes, step: Array) -> Lanes:
    """regret_step at columns k .. of entries; the next policies, not normalised, go to POLICY and are returned."""
    regret, policy = entries[Entry.REGRET], entries[Entry.POLICY]
    x, weight = regret_step(
        load_first(regret, k, left), instant, splat(step[0]), splat(step[1]), splat(step[3]), splat(0.0)
    )
    store_first(regret, k, left, x)
    store_first(policy, k, left, weight)
    return weight  # type: ignore[no-any-return]


@inlined
def _normalise(policy: Array, first: int, count: int, width: int, left: int, total: Lanes, rest: Lanes) -> bool:
    """policy[a] = policy[a] / total in `count` rows, `rest` where the total is at most LEAST; whether one is."""
    # 1 / 0 in lanes without a positive total; `pick` discards them.
    above, scale = total - splat(LEAST), splat(1.0) / total
    some = all_positive(above, left)
    k = first
    for _ in range(count):
        x = load_first(policy, k, left) * scale
        store_first(policy, k, left, x if some else pick(above, x, rest))
        k += width
    return not some


@inlined
def action_open(public: Public, tree: Tree, node: Node, a: int, i: int) -> bool:
    """Whether infostate i of a node may take action a and its child is in the tree."""
    action = public.actions[node.action0 + a]
    if action.edge >= 0:
        return bool(tree.child[node.child0 + action.edge].node >= 0)
    for k in range(action.links):
        link = public.links[action.link0 + k]
        if link.source == i:
            return bool(tree.child[node.child0 + link.edge].node >= 0)
    return False


@njit
def match_regrets(public: Public, tree: Tree, node: Node, source: int, target: int) -> None:
    """Normalise the positive part of row `source` into policies in row `target` at a node.

    policy[a, i] = max(w[a, i], 0) / sum over actions of the same. An infostate without a positive entry gets the
    uniform policy over the actions open to it.
    """
    width, count = node.width[node.actor], node.actions
    weight, policy = tree.entries[source], tree.entries[target]
    for i in range(width):
        first, total = node.entry0 + i, 0.0
        for a in range(count):
            total += max(weight[first + a * width], 0.0)
        # Regret matching: in proportion to the positive parts.
        if total > 0.0:
            for a in range(count):
                policy[first + a * width] = max(weight[first + a * width], 0.0) / total
            continue
        # None positive: uniform over the open actions.
        opened = 0
        for a in range(count):
            is_open = action_open(public, tree, node, a, i)
            policy[first + a * width] = 1.0 if is_open else 0.0
            opened += is_open
        for a in range(count):
            if opened > 0:
                policy[first + a * width] /= opened


@njit
def match_regrets_at(public: Public, tree: Tree, n: int, source: int, target: int) -> None:
    """`match_regrets` at node n."""
    match_regrets(public, tree, tree.nodes[n], source, target)


@njit
def match_all(public: Public, tree: Tree, source: int, target: int) -> None:
    """`match_regrets` at every interior decision node."""
    for n in range(tree.counts[0].nodes):
        node = tree.nodes[n]
        if node.kind == Kind.INTERIOR and node.actor < NATURE:
            match_regrets(public, tree, node, source, target)
