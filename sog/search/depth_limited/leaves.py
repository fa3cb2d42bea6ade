"""Numba kernels at the leaves of depth-limited subgames: beliefs out, answers in, counterfactual values from both.

They know arrays only (see columns.py). A turn is a bit mask of the players who update in it; 3 is both.
"""

from __future__ import annotations

from typing import Any

from sog.arrays import Array
from sog.games.base import DENSE
from sog.search.leaves.kernels import U
from sog.search.simd.f64x8 import LANES, load, splat, store
from sog.search.simd.jit import inlined, njit
from sog.search.simd.registers import sum_of
from sog.search.simd.spans import add_scaled, dot, dot_of_three, put_scaled, total_of
from sog.search.tree import cards
from sog.search.tree import columns as f

# How leaves are weighed (see `weigh`).
PLAIN, DIFFERENCES, PAIRS = range(3)


@inlined
def opponents(turn: int) -> int:
    """The bit mask of those against whom the players of a turn update."""
    return ((turn & 1) << 1) | (turn >> 1)


@inlined
def sum_reaches(nodes: Array, slots: Array, leaves: Array, first: int, last: int, players: int, weight: float) -> None:
    """Add the players' weighted reaches at leaves first .. last - 1 to REACH_SUM."""
    reach, total = slots[f.REACH], slots[f.REACH_SUM]
    for k in range(first, last):
        n = leaves[k]
        for p in range(2):
            if (players >> p) & 1:
                off = U(nodes[n, f.OFF0 + p])
                add_scaled(reach, off, weight, total, off, U(nodes[n, f.N_I0 + p]))


@inlined
def _held(nodes: Array, slots: Array, n: Any, players: int) -> bool:
    """Whether one of the players holds anything at node n by today's ranges."""
    for p in range(2):
        if (players >> p) & 1:
            off = U(nodes[n, f.OFF0 + p])
            for i in range(U(nodes[n, f.N_I0 + p])):
                if slots[f.REACH, off + i] > 0.0:
                    return True
    return False


@njit
def collect(
    public: Array, public_slots: Array, nodes: Array, slots: Array, leaves: Array, first: int, last: int, row: int,
    users: int, changed: int, prune: bool, straight: bool, slots0: int, found: int, asked: Array, ranges: Array,
) -> int:  # fmt: skip
    """Write the beliefs at leaves first .. last - 1 behind the `found` that are there; how many there are then.

    They are normalised by slot, from a row of reaches.  changed: the players whose ranges are not there yet.
    prune: leaves where nobody whom the users play against holds anything today are left out: whatever the answer,
    its counterfactual value is 0.  straight: infostate i has slot i at all leaves.
    asked: int32[2, B], places in `leaves` and public nodes.
    """
    others = opponents(users)
    for k in range(first, last):
        n = leaves[k]
        if prune and not _held(nodes, slots, n, others):
            continue
        asked[0, found], asked[1, found] = k, nodes[n, f.PUBLIC]
        for p in range(2):
            if (changed >> p) & 1:
                _tell(public, public_slots, nodes, slots, n, p, row, straight, slots0, ranges[found])
        found += 1
    return found


@inlined
def _tell(
    public: Array, public_slots: Array, nodes: Array, slots: Array, n: Any, p: int, row: int, straight: bool,
    slots0: int, ranges: Array,
) -> None:  # fmt: skip
    """Player p's share of the beliefs at leaf n into ranges, float64[S0 + S1]; uniform where it holds nothing."""
    off, width, start = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p]), U(slots0 if p else 0)
    source = slots[row]
    total = total_of(source, off, width)
    if total <= 0.0 and row != f.REACH:  # no average yet
        source = slots[f.REACH]
        total = total_of(source, off, width)
    factor, rest = (1.0 / total, 0.0) if total > 0.0 else (0.0, 1.0 / width)
    room = U(len(ranges) - slots0 if p else slots0)
    if width < room:
        for i in range(room):
            ranges[start + i] = 0.0
    if straight:
        put_scaled(source, off, factor, rest, ranges, start, width)
        return
    at = U(public[nodes[n, f.PUBLIC], f.SLOT0 + p])
    for i in range(width):
        ranges[start + U(public_slots[at + i])] = source[off + i] * factor + rest


@inlined
def absorb(
    public: Array, public_slots: Array, nodes: Array, slots: Array, leaves: Array, asked: Array, b: Any,
    answers: Array, tables: Array, kind: int, players: int, straight: bool, slots0: int,
) -> None:  # fmt: skip
    """Keep answer b: the players' conditional values in LEAF_VALUE; for PAIRS a row of tables, float64[L, S0 * S1]."""
    k, answer, value = asked[0, b], answers[b], slots[f.LEAF_VALUE]
    if kind == PAIRS:
        put_scaled(answer, U(0), 1.0, 0.0, tables[k], U(0), U(tables.shape[1]))
        return
    n, s = leaves[k], asked[1, b]
    for p in range(2):
        if not (players >> p) & 1:
            continue
        off, width, start = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p]), U(slots0 if p else 0)
        if straight:
            put_scaled(answer, start, 1.0, 0.0, value, off, width)
            continue
        at = U(public[s, f.SLOT0 + p])
        for i in range(width):
            value[off + i] = answer[start + U(public_slots[at + i])]


@njit
def weigh(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array, nodes: Array, slots: Array,
    leaves: Array, first: int, last: int, turn: int, kind: int, correct: bool, weight: float, tables: Array,
    straight: bool, slots0: int, mass: Array,
) -> None:  # fmt: skip
    """Counterfactual values of the turn's players at leaves first .. last - 1 from what is kept of their evaluations.

    PLAIN: conditional values times the opponent's mass today.  DIFFERENCES: what the same with the summed reaches
    grew by, over this iteration's weight (ReBeL, "CFR-AVE", modified).  PAIRS: expectations of the pairs' values
    under the opponent's reach today (CFR-AVE).  correct: take half the players' surplus from each.
    """
    row = f.REACH_SUM if kind == DIFFERENCES else f.REACH
    reach, value = slots[row], slots[f.LEAF_VALUE]
    needed = 3 if correct else opponents(turn)
    for k in range(first, last):
        n = leaves[k]
        s = nodes[n, f.PUBLIC]
        if kind == PAIRS:
            _expect(
                public, scales, operators, values, public_slots, nodes, slots, n, s, turn, tables[k], straight, slots0
            )
            continue
        factors = operators[U(public[s, f.WEIGHT_OP]), f.OP_FACTORS]
        if factors >= 0:
            _weigh_apart(
                values, U(factors), scales[s, f.WEIGHT_SCALE], nodes, slots, reach, n, turn, kind, correct, weight
            )
            continue
        _masses(public, scales, operators, values, nodes, reach, n, s, needed, mass)
        surplus = _surplus(nodes, reach, value, n, mass) if correct else 0.0
        for p in range(2):
            if (turn >> p) & 1:
                _worth(slots, nodes, n, p, mass[p], U(0), 1.0, surplus, kind, weight)


@inlined
def _weigh_apart(
    values: Array, one: Any, scale: float, nodes: Array, slots: Array, reach: Array, n: Any, turn: int, kind: int,
    correct: bool, weight: float,
) -> None:  # fmt: skip
    """Counterfactual values at leaf n where W is an outer product, of vectors that start at `one` in values.

    An infostate's mass is then its own entry times what the opponent's range comes to by the opponent's entries.
    """
    off0, w0 = U(nodes[n, f.OFF0]), U(nodes[n, f.N_I0])
    off1, w1 = U(nodes[n, f.OFF1]), U(nodes[n, f.N_I1])
    two, value, surplus = one + w0, slots[f.LEAF_VALUE], 0.0
    held0 = dot(values, one, reach, off0, w0) if correct or turn & 2 else 0.0
    held1 = dot(values, two, reach, off1, w1) if correct or turn & 1 else 0.0
    if correct and held0 * held1 > 0.0:
        surplus = dot_of_three(values, one, reach, off0, value, off0, w0) / held0
        surplus += dot_of_three(values, two, reach, off1, value, off1, w1) / held1
    if turn & 1:
        _worth(slots, nodes, n, 0, values, one, held1 * scale, surplus, kind, weight)
    if turn & 2:
        _worth(slots, nodes, n, 1, values, two, held0 * scale, surplus, kind, weight)


@inlined
def _worth(
    slots: Array, nodes: Array, n: Any, p: int, mass: Array, first: Any, factor: float, surplus: float, kind: int,
    weight: float,
) -> None:  # fmt: skip
    """Player p's counterfactual values at leaf n, whose masses are `factor` times mass[first], mass[first + 1], ..."""
    value, cfv, before = slots[f.LEAF_VALUE], slots[f.CFV], slots[f.CFV_SUM]
    off, width = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p])
    less, times, per = splat(0.5 * surplus), splat(factor), splat(1.0 / weight)
    for i in range(U(0), width, U(LANES)):
        left = width - i
        worth = (load(value, off + i, left) - less) * (load(mass, first + i, left) * times)
        if kind == DIFFERENCES:
            store(cfv, off + i, left, (worth - load(before, off + i, left)) * per)
            store(before, off + i, left, worth)
        else:
            store(cfv, off + i, left, worth)


@inlined
def _masses(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, reach: Array, n: Any, s: Any,
    players: int, mass: Array,
) -> None:  # fmt: skip
    """mass[1 - p, i]: each infostate's weight against player p's reach, for the players p in the bit mask."""
    op, scale = U(public[s, f.WEIGHT_OP]), scales[s, f.WEIGHT_SCALE]
    row = U(operators[op, f.OP_START])
    off0, off1 = U(nodes[n, f.OFF0]), U(nodes[n, f.OFF1])
    w0, w1 = U(nodes[n, f.N_I0]), U(nodes[n, f.N_I1])
    if operators[op, f.OP_KIND] != DENSE:
        cards.masses(values, row, scale, reach, off0, reach, off1, mass)
        return
    if players & 1:
        for j in range(w1):
            mass[1, j] = 0.0
    for i in range(w0):
        if players & 2:
            total = 0.0
            for j in range(w1):
                total += values[row + j] * reach[off1 + j]
            mass[0, i] = total * scale
        if players & 1:
            mine = reach[off0 + i] * scale
            for j in range(w1):
                mass[1, j] += values[row + j] * mine
        row += w1


@inlined
def _surplus(nodes: Array, reach: Array, value: Array, n: Any, mass: Array) -> float:
    """What both players' values at leaf n sum to, in the mean over pairs; 0 between two players."""
    surplus, weight = 0.0, 0.0
    for p in range(2):
        off = U(nodes[n, f.OFF0 + p])
        for i in range(U(nodes[n, f.N_I0 + p])):
            surplus += value[off + i] * mass[p, i] * reach[off + i]
            if p == 0:
                weight += mass[p, i] * reach[off + i]
    return surplus / weight if weight > 0.0 else 0.0


@inlined
def _expect(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array, nodes: Array, slots: Array,
    n: Any, s: Any, turn: int, tables: Array, straight: bool, slots0: int,
) -> None:  # fmt: skip
    """Counterfactual values at leaf n of a matrix of player 0's utilities by pair of slots."""
    reach, cfv, slots1 = slots[f.REACH], slots[f.CFV], len(tables) // slots0
    row, scale = U(operators[U(public[s, f.WEIGHT_OP]), f.OP_START]), scales[s, f.WEIGHT_SCALE]
    off0, off1 = U(nodes[n, f.OFF0]), U(nodes[n, f.OFF1])
    w0, w1 = U(nodes[n, f.N_I0]), U(nodes[n, f.N_I1])
    at0, at1 = U(public[s, f.SLOT0]), U(public[s, f.SLOT1])
    if turn & 2:
        for j in range(w1):
            cfv[off1 + j] = 0.0
    for i in range(w0):
        if straight:
            _expect_row(values, row, tables, U(i * slots1), reach, cfv, off0 + i, off1, w1, turn, scale)
            row += w1
            continue
        total, mine = 0.0, reach[off0 + i] * scale
        first = U(public_slots[at0 + i] * slots1)
        for j in range(w1):
            utility = values[row + j] * tables[first + U(public_slots[at1 + j])]
            total += utility * reach[off1 + j]
            if turn & 2:
                cfv[off1 + j] -= utility * mine
        if turn & 1:
            cfv[off0 + i] = total * scale
        row += w1


@inlined
def _expect_row(
    values: Array, row: Any, tables: Array, first: Any, reach: Array, cfv: Array, at0: Any, off1: Any, w1: Any,
    turn: int, scale: float,
) -> None:  # fmt: skip
    """_expect for one infostate of player 0, whose pairs' weights and utilities start at `row` and `first`."""
    total, mine = splat(0.0), splat(reach[at0] * scale)
    for j in range(U(0), w1, U(LANES)):
        left = w1 - j
        utility = load(values, row + j, left) * load(tables, first + j, left)
        total += utility * load(reach, off1 + j, left)
        if turn & 2:
            store(cfv, off1 + j, left, load(cfv, off1 + j, left) - utility * mine)
    if turn & 1:
        cfv[at0] = sum_of(total) * scale
