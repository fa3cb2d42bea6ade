"""Numba kernels that join a search's small steps into one call each, since a call from Python costs microseconds.

They know arrays only (see columns.py).
"""

from __future__ import annotations

from sog.arrays import Array
from sog.search.cfr import matching
from sog.search.cfr import positions as single_sweeps
from sog.search.cfr import sweeps as kernels
from sog.search.gtcfr import trajectories as simulate
from sog.search.leaves import kernels as leaves
from sog.search.simd.jit import njit
from sog.search.tree import columns as f
from sog.search.tree import growth, pairs


@njit
def descend(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, rows: Array, links: Array,
    public_slots: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, ends: Array, single: bool, by_node: bool, slots0: int, asked: Array, ranges: Array,
) -> int:  # fmt: skip
    """Ranges down, payoffs at the ends, beliefs out of the leaves (leaves.collect); how many leaves ask.

    by_node: sweep with single.py, here and below.
    """
    count = counts[growth.NODES]
    if by_node:
        single_sweeps.forward(nodes, count, slots, entries)
    else:
        kernels.forward(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, 3)
    pairs.payoffs(operators, values, public, scales, nodes, ends, counts[growth.ENDS], slots, 3)
    found: int = leaves.collect(
        public, public_slots, nodes, count, slots, single, slots0, asked[0], asked[1], ranges
    )
    return found


@njit
def ascend(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, rows: Array, links: Array,
    public_slots: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, single: bool, by_node: bool, slots0: int, asked: Array, found: int, answers: Array, logits: Array,
    temperature: float, correct: bool, mass: Array, sums: Array, updates: int, step: Array,
) -> None:  # fmt: skip
    """Evaluations into the leaves (leaves.absorb), then values up, with regret updates for the players in `updates`."""
    count = counts[growth.NODES]
    if found > 0 or single:
        leaves.absorb(
            public, scales, rows, operators, values, public_slots, nodes, slots, entries, asked[0, :found],
            answers, logits, slots0, temperature, correct, single, mass, count,
        )  # fmt: skip
    if updates > 0 and by_node:
        single_sweeps.backward(nodes, count, slots, entries, sums, updates, step)
    elif updates > 0:
        kernels.backward(edges, rows, links, nodes, count, child, slots, entries, 3, updates, step, True)


@njit
def turn(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, rows: Array, links: Array,
    public_slots: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, ends: Array, by_node: bool, correct: bool, mass: Array, sums: Array, updates: int, step: Array,
) -> None:  # fmt: skip
    """The second player's turn in an alternating iteration: new ranges down, values up.

    The leaves' conditional values are those of the first turn, weighed by the new ranges: no evaluator is asked.
    """
    count = counts[growth.NODES]
    if by_node:
        single_sweeps.forward(nodes, count, slots, entries)
    else:
        kernels.forward(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, 3)
    pairs.payoffs(operators, values, public, scales, nodes, ends, counts[growth.ENDS], slots, 3)
    leaves.rescale(public, scales, operators, values, nodes, slots, count, correct, mass)
    if by_node:
        single_sweeps.backward(nodes, count, slots, entries, sums, updates, step)
    else:
        kernels.backward(edges, rows, links, nodes, count, child, slots, entries, 3, updates, step, True)


@njit
def both_turns(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, rows: Array, links: Array,
    public_slots: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, ends: Array, single: bool, by_node: bool, slots0: int, asked: Array, found: int, answers: Array,
    logits: Array, temperature: float, correct: bool, mass: Array, sums: Array, step: Array,
) -> None:  # fmt: skip
    """`ascend` for the first player, then the second one's `turn`: an alternating iteration without a gadget."""
    ascend(
        public, scales, operators, values, edges, rows, links, public_slots, nodes, child, slots, entries, counts,
        single, by_node, slots0, asked, found, answers, logits, temperature, correct, mass, sums, 1, step,
    )  # fmt: skip
    turn(
        public, scales, operators, values, edges, rows, links, public_slots, nodes, child, slots, entries, counts, ends,
        by_node, correct, mass, sums, 2, step,
    )  # fmt: skip


@njit
def grow(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, rows: Array, links: Array,
    nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, ends: Array, start: int, expansions: int, c_puct: float, which: int, unit: float, single: bool,
    warm: float, fill: bool, rng: Array, pair: Array, path: Array, found: Array,
) -> int:  # fmt: skip
    """`expansions` trajectories from node `start`, each adding to the tree where it ends.

    Returns how many were done: fewer where the tree needs room or the public tree must list a fan. Then found[0],
    found[1] are the node and edge to expand, which the caller does before it calls for the rest.
    """
    for done in range(expansions):
        simulate.trajectory(
            public, scales, operators, values, edges, rows, links, nodes, child, slots, entries,
            start, c_puct, which, unit, rng, pair, path, found,
        )  # fmt: skip
        if found[0] < 0 and fill:
            found[0], found[1] = simulate.oldest_leaf(nodes, counts[growth.NODES], child, start), simulate.ALL
        n, edge = found[0], found[1]
        if n < 0:
            continue
        if single and edge == simulate.ALL and nodes[n, f.N_ACTOR] < 2 and public[nodes[n, f.PUBLIC], f.EDGE0] >= 0:
            edge = simulate.best_prior(rows, links, nodes, entries, n, 0)
        code = growth.expand(
            public, edges, nodes, counts, child, slots.shape[1], entries.shape[1], ends, n, edge
        )
        if code != growth.DONE:
            return done + 1
        if nodes[n, f.N_ACTOR] < 2:
            if single:
                simulate.first_guess(public, nodes, slots, entries, n, edge)
            matching.match_regrets(rows, links, nodes, child, entries, n, f.REGRET, f.POLICY)
            if warm > 0.0 and not single:
                simulate.warm_start(
                    public, scales, operators, values, rows, links, nodes, child, slots, entries, n, warm
                )
        found[0] = -1
    return expansions


@njit
def grow_positions(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, rows: Array, links: Array,
    nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, start: int, expansions: int, c_puct: float, which: int, unit: float, widest_fan: int, fill: bool,
    rng: Array, pair: Array, path: Array, found: Array, awaited: Array,
) -> int:  # fmt: skip
    """`grow` in a deterministic game (k = 1), where a child can be added before its position is known; then `settle`.

    awaited: int32[2, *], the public node and the edge that lead to each node added, found[0] of them; the caller
    lists them and calls growth.name_all.  widest_fan: the most edges that a position has. Returns how many
    trajectories were done: fewer where the tree needs room.
    """
    added = 0
    for done in range(expansions):
        if (
            counts[growth.NODES] + 1 > len(nodes)
            or counts[growth.SLOTS] + 2 > slots.shape[1]
            or counts[growth.CHILDREN] + widest_fan > child.shape[1]
        ):
            found[0] = added
            return done
        simulate.trajectory(
            public, scales, operators, values, edges, rows, links, nodes, child, slots, entries,
            start, c_puct, which, unit, rng, pair, path, found,
        )  # fmt: skip
        if found[1] == simulate.OVER and fill:
            simulate.oldest_gap(nodes, counts[growth.NODES], child, entries, start, found)
        n, edge = found[0], found[1]
        if n < 0:
            continue
        if edge == simulate.ALL:
            edge = simulate.best_prior(rows, links, nodes, entries, n, 0)
        growth.await_child(public, nodes, counts, child, n, edge)
        simulate.first_guess(public, nodes, slots, entries, n, edge)
        matching.match_regrets(rows, links, nodes, child, entries, n, f.REGRET, f.POLICY)
        awaited[0, added], awaited[1, added] = nodes[n, f.PUBLIC], edge
        added += 1
    simulate.settle(entries, path)
    found[0] = added
    return expansions


@njit
def gadget_update(
    regret: Array, follow: Array, leave: Array, inside: Array, positive: float, negative: float, prediction: float
) -> None:
    """Regret matching of (Follow, Terminate) at each of the opponent's infostates; regret: float64[2, I]."""
    for i in range(len(follow)):
        value = follow[i] * inside[i] + (1.0 - follow[i]) * leave[i]
        total, first = 0.0, 0.0
        for k in range(2):
            instant = (inside[i] if k == 0 else leave[i]) - value
            x = regret[k, i] + instant
            x *= positive if x > 0.0 else negative
            regret[k, i] = x
            x = max(x + prediction * instant, 0.0)
            total += x
            if k == 0:
                first = x
        if total > 0.0:  # without regrets, as where both choices pay 0, it stays as it was
            follow[i] = first / total


@njit
def finish(
    public: Array, scales: Array, operators: Array, values: Array, edges: Array, rows: Array, links: Array,
    nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, ends: Array, alternating: bool, steps: Array,
    opponent: int, alpha: float, regret: Array, follow: Array, leave: Array, previous: Array,
) -> None:  # fmt: skip
    """All remaining iterations of a search whose tree has no leaves left, one row of `steps`, float64[T, 4], each.

    opponent: -1 without a gadget; otherwise alpha, regret, follow, leave and previous are the Gadget's.
    """
    count = counts[growth.NODES]
    for t in range(len(steps)):
        for turn_of in range(2 if alternating else 1):
            updates = 1 << turn_of if alternating else 3
            if opponent >= 0:
                first = nodes[0, f.OFF0 + opponent]
                for i in range(len(follow)):
                    slots[f.REACH, first + i] = alpha * follow[i] + (1.0 - alpha) * previous[i]
            kernels.forward(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, 3)
            pairs.payoffs(operators, values, public, scales, nodes, ends, counts[growth.ENDS], slots, 3)
            kernels.backward(edges, rows, links, nodes, count, child, slots, entries, 3, updates, steps[t], True)
            if opponent >= 0 and (updates >> opponent) & 1:
                first = nodes[0, f.OFF0 + opponent]
                inside = slots[f.CFV, first : first + len(follow)]
                gadget_update(regret, follow, leave, inside, steps[t, 0], steps[t, 1], steps[t, 3])
