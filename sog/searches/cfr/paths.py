"""Numba updates for perfect information that pass only the nodes whose values may have changed.

In a deterministic game each node is a game of its own: its value follows from its children's alone, so nothing below a
node that no trajectory passed can have changed. Both players' ranges are 1 everywhere: counterfactual values are plain
values, and regrets are not weighted by the opponent's reach (a departure from CFR, whose sweeps pass every node in
every iteration, see positions.py). Each node then learns from as many iterations as passed it.
"""

from __future__ import annotations

from sog.arrays import Array
from sog.searches.cfr.matching import regret_step
from sog.searches.kernels.jit import inlined, njit
from sog.searches.tree.arrays import Tree
from sog.searches.tree.records import Entry, Infostate, Kind, Node


@njit
def touch(tree: Tree, n: int, start: int, touched: Array, count: int) -> int:
    """Add node n and those between it and node `start`, both included, to `touched`; how many it then holds.

    touched: int32[*], with repetitions. Nodes for which it has no room wait for a later iteration.
    """
    while count < len(touched):
        touched[count] = n
        count += 1
        if n <= start:
            break
        n = tree.nodes[n].parent
    return count


@njit
def enter(tree: Tree, first: int) -> None:
    """Give both players the range 1 at the nodes from number `first` on."""
    reach = tree.infostates[Infostate.REACH]
    for n in range(first, tree.counts[0].nodes):
        node = tree.nodes[n]
        reach[node.offset[0]], reach[node.offset[1]] = 1.0, 1.0


@njit
def update_touched(tree: Tree, touched: Array, step: Array) -> None:
    """`_update_node` of the nodes in `touched`, each once, children before their parents."""
    _sort(touched)
    # Children have higher numbers than their parents.
    for back in range(1, len(touched) + 1):
        n = touched[len(touched) - back]
        if back == 1 or n != touched[len(touched) - back + 1]:
            _update_node(tree, tree.nodes[n], step)


@njit
def _sort(numbers: Array) -> None:
    """Sort in place, by insertion at distances that halve (Shell 1959): Numba's own sort copies."""
    gap = len(numbers) // 2
    while gap > 0:
        for i in range(gap, len(numbers)):
            number, k = numbers[i], i
            while k >= gap and numbers[k - gap] > number:
                numbers[k] = numbers[k - gap]
                k -= gap
            numbers[k] = number
        gap //= 2


@njit
def update_all(tree: Tree, step: Array) -> None:
    """`_update_node` of every node."""
    for back in range(1, tree.counts[0].nodes + 1):
        _update_node(tree, tree.nodes[tree.counts[0].nodes - back], step)


@inlined
def _update_node(tree: Tree, node: Node, step: Array) -> None:
    """One iteration at a node: regrets by its children's values, the next policy, and the node's value under that.

    R(a), w(a) = regret_step(R(a), v(a) - sum over b of policy(b) v(b)),  policy(a) = w(a) / sum over b of w(b), or 1 /
    (children in the tree) where that is 0,  v = sum over a of policy(a) v(a),  S(a) += weight * the policy before.
    step: as in sweeps.backward. Both players' values of this iteration are added to the sums, times its weight.
    """
    if node.kind == Kind.INTERIOR:
        entries, cfv = tree.entries, tree.infostates[Infostate.CFV]
        regret, policy, q = entries[Entry.REGRET], entries[Entry.POLICY], entries[Entry.ACTION_CFV]
        opened, before, total = 0, 0.0, 0.0
        for e in range(node.edges):
            child, k = tree.child[node.child0 + e], node.entry0 + e
            if child.node >= 0:
                q[k] = cfv[child.offset[node.actor]]
                before += policy[k] * q[k]
                opened += 1
        for e in range(node.edges):
            k = node.entry0 + e
            if tree.child[node.child0 + e].node >= 0:
                entries[Entry.POLICY_SUM, k] += step[2] * policy[k]
                regret[k], policy[k] = regret_step(regret[k], q[k] - before, step[0], step[1], step[3], 0.0)
                total += policy[k]
        # The value under the new policy, which is what the parent sees.
        zero, one = 0.0, 0.0
        for e in range(node.edges):
            child, k = tree.child[node.child0 + e], node.entry0 + e
            if child.node >= 0:
                policy[k] = policy[k] / total if total > 0.0 else 1.0 / opened
                zero += policy[k] * cfv[child.offset[0]]
                one += policy[k] * cfv[child.offset[1]]
        cfv[node.offset[0]], cfv[node.offset[1]] = zero, one
    for p in range(2):
        own = node.offset[p]
        tree.infostates[Infostate.CFV_SUM, own] += step[2] * tree.infostates[Infostate.CFV, own]
        tree.infostates[Infostate.REACH_SUM, own] += step[2]
