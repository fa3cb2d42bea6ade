"""Numba kernels of Monte Carlo tree search with PUCT; they know arrays only and never see the rules.

A tree is `nodes`, int32[M, FIELDS], and a column of `stats` for each (node, action), the columns of a node side by
side. Values are player 0's, as shares of the game's largest utility. Below, A is the number of columns of a node.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sog.arrays import Array
from sog.search.simd.jit import inlined, njit
from sog.search.tree import columns as f

# Columns of nodes. ENTRY: the column of the parent's that leads here.
PUBLIC, ACTOR, FIRST, COLUMNS, PARENT, ENTRY = range(6)
FIELDS: Final = 6

# Rows of stats, float64[4, C].  TOTAL: the sum of the values that visits brought.  VIRTUAL: visits under way.
VISITS, VIRTUAL, TOTAL, PRIOR = range(4)
STAT_ROWS: Final = 4

# What child, int32[C], holds besides nodes.
ABSENT: Final = -1
AWAITED: Final = -2  # it has been asked for, and its answer is awaited

# Entries of counts.
NODES, COLUMNS_USED = range(2)
# Entries of done: leaves found, and simulations that ended where the game ends.
LEAVES, ENDED = range(2)
# Rows of found, int32[5, B], a column for each leaf: where it is to be added, the public node there and which of its
# columns was taken, and the leaf's own public node (-1: not listed yet).
UNDER, AT, ABOVE, COLUMN, STATE = range(5)
FOUND_ROWS: Final = 5

_NATURE: Final = 2
_TERMINAL: Final = 3


@inlined
def _best(
    nodes: Array, values: Array, stats: Array, n: Any, c_init: float, c_base: float, first_play_loses: bool
) -> Any:
    """The column of node n to go down: the largest PUCT score (AlphaZero, pseudocode, ucb_score).

    At NATURE's nodes it is the column that is furthest behind its chance. Values are seen from the actor's side and
    lie in [0, 1]; a virtual visit counts as a loss; an action not tried counts as a loss or as the node's mean.
    """
    first, stop = nodes[n, FIRST], nodes[n, FIRST] + nodes[n, COLUMNS]
    visits, total = 1.0, values[n]
    tried = 1.0
    for k in range(first, stop):
        visits += stats[VISITS, k] + stats[VIRTUAL, k]
        tried += stats[VISITS, k]
        total += stats[TOTAL, k]
    sign = 1.0 if nodes[n, ACTOR] == 0 else -1.0
    unknown = 0.0 if first_play_loses else 0.5 + 0.5 * sign * total / tried
    explore = (np.log((visits + c_base + 1.0) / c_base) + c_init) * np.sqrt(visits)
    best, top = first, -np.inf
    for k in range(first, stop):
        own = stats[VISITS, k] + stats[VIRTUAL, k]
        if nodes[n, ACTOR] == _NATURE:
            score = stats[PRIOR, k] * visits - own
        else:
            value = unknown
            if own > 0.0:
                value = 0.5 + 0.5 * (sign * stats[TOTAL, k] - stats[VIRTUAL, k]) / own
            score = value + explore * stats[PRIOR, k] / (1.0 + own)
        if score > top:
            best, top = k, score
    return best


@inlined
def _back_up(nodes: Array, stats: Array, n: Any, k: Any, value: float, visits: float) -> None:
    """One visit of column k of node n, and of every column above it, under way no more.

    visits: 1, or 0 where the simulation is given up.
    """
    while k >= 0:
        stats[VIRTUAL, k] -= 1.0
        stats[VISITS, k] += visits
        stats[TOTAL, k] += visits * value
        k, n = nodes[n, ENTRY], nodes[n, PARENT]


@njit
def step(
    public: Array, scales: Array, operators: Array, operator_values: Array, edges: Array, rows: Array, links: Array,
    nodes: Array, values: Array, child: Array, stats: Array, counts: Array, found: Array, answered: int,
    answers: Array, logits: Array, unit: float, simulations: int, leaves: int, c_init: float, c_base: float,
    first_play_loses: bool, done: Array,
) -> bool:  # fmt: skip
    """Take up the answers to the `answered` leaves found before (see _absorb), then find new ones (see _descend).

    False, and nothing has changed, where the tree lacks room.
    """
    columns = 0
    for b in range(answered):
        columns += max(public[found[STATE, b], f.ROWS], public[found[STATE, b], f.EDGES])
    if counts[NODES] + answered > len(nodes) or counts[COLUMNS_USED] + columns > len(child):
        return False
    _absorb(
        public, scales, edges, rows, operators, operator_values, nodes, values, child, stats, counts, found, answered,
        answers, logits, unit,
    )  # fmt: skip
    _descend(
        public, edges, rows, links, nodes, values, child, stats, found, simulations, leaves, c_init, c_base,
        first_play_loses, done,
    )  # fmt: skip
    return True


@njit
def _descend(
    public: Array, edges: Array, rows: Array, links: Array, nodes: Array, values: Array, child: Array, stats: Array,
    found: Array, simulations: int, leaves: int, c_init: float, c_base: float, first_play_loses: bool, done: Array,
) -> None:  # fmt: skip
    """Simulations from the root until `leaves` of them have found a leaf, or `simulations` are done.

    A simulation that meets an awaited leaf is given up and ends the batch: its answer must come first.
    """
    done[LEAVES] = done[ENDED] = 0
    while done[LEAVES] < leaves and done[LEAVES] + done[ENDED] < simulations:
        n: Any = 0
        k: Any = -1
        while nodes[n, COLUMNS] > 0:
            k = _best(nodes, values, stats, n, c_init, c_base, first_play_loses)
            stats[VIRTUAL, k] += 1.0
            c = child[k]
            if c == AWAITED:
                _back_up(nodes, stats, n, k, 0.0, 0.0)
                return
            if c == ABSENT:
                child[k] = AWAITED
                b = done[LEAVES]
                found[UNDER, b], found[AT, b] = n, k
                found[ABOVE, b], found[COLUMN, b] = nodes[n, PUBLIC], k - nodes[n, FIRST]
                found[STATE, b] = _listed(public, edges, rows, links, nodes[n, PUBLIC], k - nodes[n, FIRST])
                done[LEAVES] += 1
                break
            n = c
        if nodes[n, COLUMNS] == 0:
            _back_up(nodes, stats, nodes[n, PARENT], k, values[n], 1.0)
            done[ENDED] += 1


@inlined
def _listed(public: Array, edges: Array, rows: Array, links: Array, s: Any, column: Any) -> Any:
    """The public node that a column of public node s leads to; -1 where it is not listed yet."""
    if public[s, f.EDGE0] < 0:
        return np.int32(-1)
    edge = np.int32(column)
    if public[s, f.ACTOR] < _NATURE:
        row = public[s, f.ROW0] + column
        edge = rows[row, f.EDGE] if rows[row, f.EDGE] >= 0 else links[rows[row, f.LINK0], 1]
    return edges[public[s, f.EDGE0] + edge, f.CHILD]


@njit
def give_up(nodes: Array, child: Array, stats: Array, found: Array, leaves: int) -> None:
    """Forget that the `leaves` leaves found were asked for."""
    for b in range(leaves):
        child[found[AT, b]] = ABSENT
        _back_up(nodes, stats, found[UNDER, b], found[AT, b], 0.0, 0.0)


@njit
def _absorb(
    public: Array, scales: Array, edges: Array, rows: Array, operators: Array, operator_values: Array,
    nodes: Array, values: Array, child: Array, stats: Array, counts: Array, found: Array, leaves: int,
    answers: Array, logits: Array, unit: float,
) -> None:  # fmt: skip
    """Add the leaves found to the tree, with their values and priors, and carry their values up.

    answers: float64[B, 2] and logits: float64[B, 1, A], those of the leaves where the game goes on, in order.
    unit: the game's largest utility. The root stands under node -1. The fans of NATURE's nodes are listed.
    """
    asked = 0
    for b in range(leaves):
        s, n = found[STATE, b], counts[NODES]
        counts[NODES] += 1
        nodes[n, PUBLIC], nodes[n, ACTOR] = s, public[s, f.ACTOR]
        nodes[n, PARENT], nodes[n, ENTRY] = found[UNDER, b], found[AT, b]
        nodes[n, FIRST], nodes[n, COLUMNS] = counts[COLUMNS_USED], 0
        if public[s, f.ACTOR] == _TERMINAL:
            values[n] = _utility(public, scales, operators, operator_values, s) / unit
        else:
            values[n] = 0.5 * (answers[asked, 0] - answers[asked, 1]) / unit
            nodes[n, COLUMNS] = public[s, f.EDGES] if public[s, f.ACTOR] == _NATURE else public[s, f.ROWS]
            _open(public, scales, edges, rows, operators, operator_values, nodes, child, stats, n, logits, asked)
            counts[COLUMNS_USED] += nodes[n, COLUMNS]
            asked += 1
        if found[UNDER, b] >= 0:
            child[found[AT, b]] = n
            _back_up(nodes, stats, found[UNDER, b], found[AT, b], values[n], 1.0)


@inlined
def _utility(public: Array, scales: Array, operators: Array, operator_values: Array, s: Any) -> Any:
    """Player 0's utility where the game has ended: the payoff holds the chance of the one pair, W, which goes out."""
    payoff = scales[s, f.PAYOFF_SCALE] * operator_values[operators[public[s, f.PAYOFF_OP], f.OP_START]]
    weight = scales[s, f.WEIGHT_SCALE] * operator_values[operators[public[s, f.WEIGHT_OP], f.OP_START]]
    return payoff / weight


@njit
def _open(
    public: Array, scales: Array, edges: Array, rows: Array, operators: Array, operator_values: Array,
    nodes: Array, child: Array, stats: Array, n: int, logits: Array, asked: int,
) -> None:  # fmt: skip
    """Clear the columns of the new node n and write its priors: softmax of logits, or NATURE's chances."""
    s, first, count = nodes[n, PUBLIC], nodes[n, FIRST], nodes[n, COLUMNS]
    nature = nodes[n, ACTOR] == _NATURE
    top, total = -np.inf, 0.0
    for a in range(count):
        child[first + a] = ABSENT
        for row in range(STAT_ROWS):
            stats[row, first + a] = 0.0
        if not nature:
            top = max(top, logits[asked, 0, rows[public[s, f.ROW0] + a, f.ACTION]])
    for a in range(count):
        if nature:
            c = edges[public[s, f.EDGE0] + a, f.CHILD]
            weight = scales[c, f.WEIGHT_SCALE] * operator_values[operators[public[c, f.WEIGHT_OP], f.OP_START]]
        else:
            weight = np.exp(logits[asked, 0, rows[public[s, f.ROW0] + a, f.ACTION]] - top)
        stats[PRIOR, first + a] = weight
        total += weight
    for k in range(first, first + count):
        stats[PRIOR, k] /= total


@njit
def keep(nodes: Array, values: Array, child: Array, stats: Array, counts: Array, root: int, place: Array) -> None:
    """Move the subtree below `root` to the front, root first; the rest is dropped.  place: int32[M] scratch.

    A child stands after its parent, so that one pass up the nodes never overwrites what is still to be moved.
    """
    kept, columns = 0, 0
    for n in range(counts[NODES]):
        parent = nodes[n, PARENT]
        place[n] = -1
        if n != root and (n < root or place[parent] < 0):
            continue
        m, old, count = kept, nodes[n, FIRST], nodes[n, COLUMNS]
        if n != root:  # the parent has moved: its columns begin where its new row says
            entry = nodes[place[parent], FIRST] + nodes[n, ENTRY]
        for field in range(FIELDS):
            nodes[m, field] = nodes[n, field]
        values[m] = values[n]
        nodes[m, FIRST], nodes[m, PARENT], nodes[m, ENTRY] = columns, -1, -1
        if n != root:
            nodes[m, PARENT], nodes[m, ENTRY] = place[parent], entry
            child[entry] = m
        for a in range(count):
            c = child[old + a]
            if c >= 0:
                nodes[c, ENTRY] = a  # where in its parent's block, until it moves itself
            child[columns + a] = c
            for row in range(STAT_ROWS):
                stats[row, columns + a] = stats[row, old + a]
        place[n] = m
        kept += 1
        columns += count
    counts[NODES], counts[COLUMNS_USED] = kept, columns
