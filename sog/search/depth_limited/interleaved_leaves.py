"""Numba kernels at the leaves and ends of interleaved subgames: those of depth_leaves.py and pairs.py, lane by lane.

A lane is a subgame of the bundle that a node belongs to, and a register holds one number of each (interleaved.py). All
lanes share their operators; each has its own beliefs and answers.
"""

from __future__ import annotations

from typing import Any

from sog.arrays import Array
from sog.search.depth_limited.interleaved import LEAF_LANE, LEAF_NODE, LEAF_PUBLIC
from sog.search.depth_limited.leaves import DIFFERENCES, PAIRS, PLAIN, opponents
from sog.search.leaves.kernels import U
from sog.search.simd.f64x8 import LANES, all_positive, load, splat, store, transpose, transpose_apart
from sog.search.simd.jit import inlined, njit
from sog.search.simd.registers import pick
from sog.search.simd.spans import add_scaled
from sog.search.tree import columns as f


@inlined
def sum_reaches(
    nodes: Array, slots: Array, lanes: Array, leaves: Array, first: int, last: int, players: int, weight: float
) -> None:
    """Add the players' weighted reaches at leaves first .. last - 1 to REACH_SUM."""
    reach, total = slots[f.REACH], slots[f.REACH_SUM]
    k = first
    while k < last:
        n = leaves[LEAF_NODE, k]
        for p in range(2):
            if (players >> p) & 1:
                off = U(nodes[n, f.OFF0 + p])
                add_scaled(reach, off, weight, total, off, U(nodes[n, f.N_I0 + p]))
        k += lanes[n]


@njit
def collect(
    public: Array, nodes: Array, slots: Array, lanes: Array, leaves: Array, first: int, last: int, row: int,
    users: int, changed: int, prune: bool, slots0: int, found: int, asked: Array, ranges: Array, told: Array,
) -> int:  # fmt: skip
    """depth_leaves.collect; asked, int32[2, B], has columns of `leaves` in row 0.

    told: float64[3, *] to work with, eight for each infostate of a node and seven more infostates.
    """
    others, flat = opponents(users), ranges.reshape(-1)
    k = first
    while k < last:
        n = leaves[LEAF_NODE, k]
        count, s = U(lanes[n]), U(nodes[n, f.PUBLIC])
        held = splat(0.0)
        for p in range(2):
            off, width = U(nodes[n, f.OFF0 + p]), U(public[s, f.I0 + p])
            if prune and (others >> p) & 1:
                held += _total(slots[f.REACH], off, width, count)
            if (changed >> p) & 1:
                _tell(slots, row, off, width, count, told[p])
        every = all_positive(held, count) if prune else True
        if every and found + LANES <= len(ranges):  # rows of missing lanes are the next leaf's, written after
            for lane in range(count):
                asked[0, found + lane], asked[1, found + lane] = U(k) + lane, leaves[LEAF_PUBLIC, U(k) + lane]
            for p in range(2):
                if (changed >> p) & 1:
                    _write_all(told[p], U(public[s, f.I0 + p]), flat, ranges.shape[1], U(found), U(p * slots0))
            found += lanes[n]
        else:
            store(told[2], U(0), U(LANES), held)
            for lane in range(count):
                if prune and told[2, lane] <= 0.0:
                    continue
                asked[0, found], asked[1, found] = U(k) + lane, leaves[LEAF_PUBLIC, U(k) + lane]
                for p in range(2):
                    if (changed >> p) & 1:
                        _write(told[p], lane, U(public[s, f.I0 + p]), ranges[found], U(p * slots0))
                found += 1
        k += lanes[n]
    return found


@inlined
def _total(a: Array, off: Any, width: Any, count: Any) -> Any:
    """Each lane's sum over infostates."""
    total = splat(0.0)
    for i in range(width):
        total += load(a, off + i * count, count)
    return total


@inlined
def _tell(slots: Array, row: int, off: Any, width: Any, count: Any, told: Array) -> None:
    """A player's beliefs at a leaf, normalised from a row of reaches; uniform where it holds nothing.

    told: eight places an infostate, one for each lane.
    """
    zero, one = splat(0.0), splat(1.0)
    reach, today = slots[row], slots[f.REACH]
    average = _total(reach, off, width, count)
    total = average if row == f.REACH else pick(average, average, _total(today, off, width, count))
    factor, rest = pick(total, one / total, zero), pick(total, zero, splat(1.0 / width))
    for i in range(width):
        mine = load(reach, off + i * count, count)
        if row != f.REACH:  # no average yet
            mine = pick(average, mine, load(today, off + i * count, count))
        store(told, i * U(LANES), U(LANES), mine * factor + rest)


@inlined
def _write(told: Array, lane: Any, width: Any, ranges: Array, start: Any) -> None:
    """A player's beliefs in a lane into ranges, float64[S0 + S1], where its slots start."""
    for i in range(width):
        ranges[start + i] = told[i * U(LANES) + lane]


@inlined
def _write_all(told: Array, width: Any, flat: Array, step: Any, found: Any, start: Any) -> None:
    """A player's beliefs in all eight lanes into as many rows of ranges from row `found` on."""
    for i in range(U(0), width, U(LANES)):
        transpose_apart(told, i * U(LANES), flat, found * U(step) + start + i, U(step), width - i)


@inlined
def absorb(
    public: Array, nodes: Array, slots: Array, lanes: Array, leaves: Array, asked: Array, b: Any, found: int,
    answers: Array, tables: Array, kind: int, players: int, slots0: int, told: Array,
) -> int:  # fmt: skip
    """Keep answer b, and those after it of the same node where all its lanes were asked; how many were kept.

    As depth_leaves.absorb, but tables are float64[L * S0 * S1], the lanes of a pair side by side.
    told: float64[3, *] to work with, as for `collect`.
    """
    k = U(asked[0, b])
    n, lane = leaves[LEAF_NODE, k], U(leaves[LEAF_LANE, k])
    count, s = U(lanes[n]), U(nodes[n, f.PUBLIC])
    if kind == PAIRS:
        _keep_lane(answers[b], U(0), U(answers.shape[1]), tables, (k - lane) * U(answers.shape[1]) + lane, count)
        return 1
    last = b + lanes[n] - 1
    whole = lane == 0 and last < found and asked[0, last] == asked[0, b] + lanes[n] - 1
    for p in range(2):
        if (players >> p) & 1:
            off, width, start = U(nodes[n, f.OFF0 + p]), U(public[s, f.I0 + p]), U(slots0 if p else 0)
            if whole:
                _keep_lanes(answers, U(b), start, width, slots[f.LEAF_VALUE], off, count, told)
            else:
                _keep_lane(answers[b], start, width, slots[f.LEAF_VALUE], off + lane, count)
    return lanes[n] if whole else 1


@inlined
def _keep_lane(answer: Array, start: Any, width: Any, value: Array, at: Any, count: Any) -> None:
    """A part of one answer into its lane of value."""
    for i in range(width):
        value[at + i * count] = answer[start + i]


@inlined
def _keep_lanes(
    answers: Array, first: Any, start: Any, width: Any, value: Array, off: Any, count: Any, told: Array
) -> None:
    """The same part of as many answers as there are lanes."""
    _side_by_side(answers, first, start, width, count, told[0], told[1])
    for i in range(width):
        store(value, off + i * count, count, load(told[0], i * U(LANES), count))


@inlined
def _side_by_side(
    answers: Array, first: Any, start: Any, width: Any, count: Any, told: Array, by_lane: Array
) -> None:  # fmt: skip
    """A part of as many answers as there are lanes, side by side: eight places an infostate."""
    for i in range(U(0), width, U(LANES)):
        for lane in range(count):
            store(by_lane, lane * U(LANES), U(LANES), load(answers[first + lane], start + i, width - i))
        transpose(by_lane, U(0), told, i * U(LANES))


@njit
def weigh(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, slots: Array, lanes: Array,
    leaves: Array, first: int, last: int, turn: int, kind: int, correct: bool, weight: float, tables: Array,
    slots0: int,
) -> None:  # fmt: skip
    """depth_leaves.weigh, by the factors of the pairs' weights."""
    reach, kept = slots[f.REACH_SUM if kind == DIFFERENCES else f.REACH], slots[f.LEAF_VALUE]
    k = first
    while k < last:
        n = leaves[LEAF_NODE, k]
        s, count = U(nodes[n, f.PUBLIC]), U(lanes[n])
        op, scale = U(public[s, f.WEIGHT_OP]), scales[s, f.WEIGHT_SCALE]
        if kind == PAIRS:
            pairs = U(len(tables) // leaves.shape[1])
            start, slots1 = U(operators[op, f.OP_START]), pairs // U(slots0)
            _expect(public, values, start, scale, nodes, slots, lanes, n, s, turn, tables, U(k) * pairs, slots1)
        else:
            one, off0, off1 = U(operators[op, f.OP_FACTORS]), U(nodes[n, f.OFF0]), U(nodes[n, f.OFF1])
            _weigh_leaf(
                public, values, one, scale, nodes, slots, reach, n, s, turn, kind, correct, weight, count, kept, off0,
                kept, off1, count,
            )  # fmt: skip
        k += lanes[n]


@njit
def weigh_answers(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, slots: Array, lanes: Array,
    leaves: Array, first: int, last: int, turn: int, correct: bool, asked: Array, used: int, found: int,
    answers: Array, slots0: int, told: Array,
) -> int:  # fmt: skip
    """`absorb` and `weigh` where nobody needs an answer twice, with nothing kept; the answer to begin with next.

    PLAIN.  used: the first answer that is not of an earlier leaf.  told: float64[3, *] to work with, as for `collect`.
    """
    k = first
    while k < last:
        n = leaves[LEAF_NODE, k]
        s, count, begin = U(nodes[n, f.PUBLIC]), U(lanes[n]), used
        while used < found and asked[0, used] < k + lanes[n]:
            used += 1
        for p in range(2):
            if correct or (turn >> p) & 1:
                start, width = U(slots0 if p else 0), U(public[s, f.I0 + p])
                _line_up(answers, asked, leaves, begin, used, start, width, count, told[p], told[2])
        one = U(operators[U(public[s, f.WEIGHT_OP]), f.OP_FACTORS])
        _weigh_leaf(
            public, values, one, scales[s, f.WEIGHT_SCALE], nodes, slots, slots[f.REACH], n, s, turn, PLAIN, correct,
            1.0, count, told[0], U(0), told[1], U(0), U(LANES),
        )  # fmt: skip
        k += lanes[n]
    return used


@inlined
def _line_up(
    answers: Array, asked: Array, leaves: Array, begin: int, end: int, start: Any, width: Any, count: Any,
    told: Array, by_lane: Array,
) -> None:  # fmt: skip
    """Answers begin .. end - 1 of one node side by side, eight places an infostate; 0 for lanes that were not asked."""
    if U(end - begin) == count:
        _side_by_side(answers, U(begin), start, width, count, told, by_lane)
        return
    for i in range(width):
        store(told, i * U(LANES), U(LANES), splat(0.0))
    for b in range(begin, end):
        place = U(leaves[LEAF_LANE, U(asked[0, U(b)])])
        for i in range(width):
            told[i * U(LANES) + place] = answers[U(b), start + i]


@inlined
def _weigh_leaf(
    public: Array, values: Array, one: Any, scale: float, nodes: Array, slots: Array, reach: Array, n: Any, s: Any,
    turn: int, kind: int, correct: bool, weight: float, count: Any, value0: Array, at0: Any, value1: Array, at1: Any,
    step: Any,
) -> None:  # fmt: skip
    """Counterfactual values at leaf n; the factors start at `one`.

    value0, value1: what it is worth to each player, from at0 and at1 on, `step` places an infostate.
    """
    off0, w0 = U(nodes[n, f.OFF0]), U(public[s, f.I0])
    off1, w1 = U(nodes[n, f.OFF1]), U(public[s, f.I1])
    two, surplus = one + w0, splat(0.0)
    held0 = _held(values, one, reach, off0, w0, count) if correct or turn & 2 else surplus
    held1 = _held(values, two, reach, off1, w1, count) if correct or turn & 1 else surplus
    if correct:
        both = _worth_held(values, one, reach, off0, w0, count, value0, at0, step) / held0
        both += _worth_held(values, two, reach, off1, w1, count, value1, at1, step) / held1
        surplus = pick(held0 * held1, both * splat(0.5), surplus)
    if turn & 1:
        _worth(slots, off0, w0, count, values, one, held1 * splat(scale), surplus, kind, weight, value0, at0, step)
    if turn & 2:
        _worth(slots, off1, w1, count, values, two, held0 * splat(scale), surplus, kind, weight, value1, at1, step)


@inlined
def _held(values: Array, one: Any, reach: Array, off: Any, width: Any, count: Any) -> Any:
    """What a player's range comes to by its factor."""
    total = splat(0.0)
    for i in range(width):
        total += splat(values[one + i]) * load(reach, off + i * count, count)
    return total


@inlined
def _worth_held(
    values: Array, one: Any, reach: Array, off: Any, width: Any, count: Any, value: Array, at: Any, step: Any
) -> Any:
    """The same, each infostate's times its value."""
    total = splat(0.0)
    for i in range(width):
        mine = load(reach, off + i * count, count) * load(value, at + i * step, count)
        total += splat(values[one + i]) * mine
    return total


@inlined
def _worth(
    slots: Array, off: Any, width: Any, count: Any, values: Array, one: Any, factor: Any, less: Any, kind: int,
    weight: float, value: Array, at: Any, step: Any,
) -> None:  # fmt: skip
    """A player's counterfactual values at a leaf, whose masses are its factor's entries times `factor`."""
    cfv, before, per = slots[f.CFV], slots[f.CFV_SUM], splat(1.0 / weight)
    for i in range(width):
        to = off + i * count
        worth = (load(value, at + i * step, count) - less) * (splat(values[one + i]) * factor)
        if kind == DIFFERENCES:
            store(cfv, to, count, (worth - load(before, to, count)) * per)
            store(before, to, count, worth)
        else:
            store(cfv, to, count, worth)


@inlined
def _expect(
    public: Array, values: Array, start: Any, scale: float, nodes: Array, slots: Array, lanes: Array, n: Any, s: Any,
    turn: int, tables: Array, first: Any, slots1: Any,
) -> None:  # fmt: skip
    """Counterfactual values at leaf n of player 0's utilities by pair of slots, which start at `first` in tables."""
    reach, cfv, count = slots[f.REACH], slots[f.CFV], U(lanes[n])
    off0, w0 = U(nodes[n, f.OFF0]), U(public[s, f.I0])
    off1, w1 = U(nodes[n, f.OFF1]), U(public[s, f.I1])
    if turn & 2:
        _clear(cfv, off1, w1, count)
    for i in range(w0):
        total, mine = splat(0.0), load(reach, off0 + i * count, count) * splat(scale)
        for j in range(w1):
            at = off1 + j * count
            utility = splat(values[start + j]) * load(tables, first + (i * slots1 + j) * count, count)
            total += utility * load(reach, at, count)
            if turn & 2:
                store(cfv, at, count, load(cfv, at, count) - utility * mine)
        if turn & 1:
            store(cfv, off0 + i * count, count, total * splat(scale))
        start += w1


@inlined
def _clear(cfv: Array, off: Any, width: Any, count: Any) -> None:
    for j in range(width):
        store(cfv, off + j * count, count, splat(0.0))


@njit
def payoffs(
    operators: Array, values: Array, public: Array, scales: Array, nodes: Array, lanes: Array, ends: Array,
    slots: Array, players: int,
) -> None:  # fmt: skip
    """pairs.payoffs at all of `ends`."""
    reach, cfv = slots[f.REACH], slots[f.CFV]
    for e in range(U(len(ends))):
        n = U(ends[e])
        s, count = U(nodes[n, f.PUBLIC]), U(lanes[n])
        scale, row = splat(scales[s, f.PAYOFF_SCALE]), U(operators[U(public[s, f.PAYOFF_OP]), f.OP_START])
        off0, w0 = U(nodes[n, f.OFF0]), U(public[s, f.I0])
        off1, w1 = U(nodes[n, f.OFF1]), U(public[s, f.I1])
        if players & 1:
            for i in range(w0):
                total = splat(0.0)
                for j in range(w1):
                    total += splat(values[row + i * w1 + j]) * load(reach, off1 + j * count, count)
                store(cfv, off0 + i * count, count, total * scale)
        if players & 2:
            for j in range(w1):
                total = splat(0.0)
                for i in range(w0):
                    total += splat(values[row + i * w1 + j]) * load(reach, off0 + i * count, count)
                store(cfv, off1 + j * count, count, splat(0.0) - total * scale)
