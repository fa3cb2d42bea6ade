"""Numba sweeps of the hold'em solver: one player's reach down, payoffs, the other player's values up.

They know rows of float32 over hands and a `Program`'s tables (holdem_program.py), no rules. A half iteration
updates one player: the opponent's reach goes down through the top of the tree, then part by part (a part is a
shape on one board) its reach goes down, showdowns and folds are paid and values come up, then the parts'
values are gathered at the top's cuts and come up to the root. Threads share the parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.search.holdem.trees import ACTOR, CHILD0, CHILDREN, DECISION, FOLDED, KIND, REACH0, ROW, VALUE
from sog.search.simd.f32x16 import LANES, load, splat, store
from sog.search.simd.jit import inlined
from sog.search.simd.registers import larger, pick
from sog.search.simd.threads import NEXT, fetch_add, released, wait_for_all, write
from sog.search.tree.cards import ZERO, fold_values, showdown_batch

U = np.uint64
ONE = np.float32(1.0)

# Columns of the shapes' table, int64[S, 6]: spans of nodes and roots, first amount, batches of showdowns.
NODE0, NODES, AMOUNT0, BATCHES, ROOT0, ROOTS = range(6)
# Columns of the parts' table, int64[P, 4]: shape, board, first float of its regrets, first row handed up.
SHAPE, BOARD, ENTRY0, HANDED0 = range(4)
# Columns of the roots' table, int64[*, 5]: rows of reach to fill (two players), row of values to read, the
# cut of the top it hangs on.
ROOT_REACH0, ROOT_REACH1, ROOT_VALUE, ROOT_CUT = range(4)

# What a sweep does: regrets and averages, or the best response to the averages.
UPDATE, BEST = 0, 1


@inlined
def _down(
    nodes: Array, child_rows: Array, first: Any, count: Any, q: int, width: Any,
    source: Array, entry0: Any, reach: Array, averages: Array, weight: Any, mode: int,
) -> None:  # fmt: skip
    """Send player q's reach down through the policies that the positive entries of `source` stand for."""
    lanes, zero, one, w = U(LANES), splat(ZERO), splat(ONE), splat(weight)
    for n in range(first, first + count):
        if nodes[n, KIND] != DECISION or nodes[n, ACTOR] != q:
            continue
        own, children = U(nodes[n, REACH0 + q]) * width, U(nodes[n, CHILDREN])
        child0, entries = U(nodes[n, CHILD0]), entry0 + U(nodes[n, ROW]) * width
        even = splat(ONE / np.float32(children))
        for k in range(U(0), width, lanes):
            total = zero
            for a in range(children):
                total = total + larger(load(source, entries + a * width + k), zero)
            scale, rest = pick(total, one / total, zero), pick(total, zero, even)
            held = load(reach, own + k)
            for a in range(children):
                at = entries + a * width + k
                sent = held * (larger(load(source, at), zero) * scale + rest)
                store(reach, U(child_rows[q, child0 + a]) * width + k, sent)
                if mode == UPDATE:
                    store(averages, at, load(averages, at) + w * sent)


@inlined
def _up(
    nodes: Array, child_rows: Array, chips: Array, first: Any, count: Any, p: int, width: Any, cards: Any,
    regrets: Array, entry0: Any, reach: Array, values: Array, by_card: Array, positive: Any, negative: Any,
    mode: int,
) -> None:  # fmt: skip
    """Send player p's values up; update p's regrets, or take p's best action at every hand."""
    lanes, zero, one = U(LANES), splat(ZERO), splat(ONE)
    gain, loss = splat(positive), splat(negative)
    for m in range(U(1), count + U(1)):
        n = first + count - m
        kind = nodes[n, KIND]
        to = U(nodes[n, VALUE]) * width
        if kind == FOLDED:
            amount = -chips[n] if nodes[n, ACTOR] == p else chips[n]
            row = U(nodes[n, REACH0 + 1 - p]) * width
            fold_values(reach, row, cards, amount, by_card, values, to)
        if kind != DECISION:
            continue
        children, child0 = U(nodes[n, CHILDREN]), U(nodes[n, CHILD0])
        if nodes[n, ACTOR] != p:
            for k in range(U(0), width, lanes):
                total = zero
                for a in range(children):
                    total = total + load(values, U(child_rows[2, child0 + a]) * width + k)
                store(values, to + k, total)
            continue
        if mode == BEST:
            for k in range(U(0), width, lanes):
                best = load(values, U(child_rows[2, child0]) * width + k)
                for a in range(U(1), children):
                    best = larger(best, load(values, U(child_rows[2, child0 + a]) * width + k))
                store(values, to + k, best)
            continue
        entries, even = entry0 + U(nodes[n, ROW]) * width, splat(ONE / np.float32(children))
        for k in range(U(0), width, lanes):
            total, weighted, plain = zero, zero, zero
            for a in range(children):
                x = larger(load(regrets, entries + a * width + k), zero)
                v = load(values, U(child_rows[2, child0 + a]) * width + k)
                total = total + x
                weighted = weighted + x * v
                plain = plain + v
            value = pick(total, weighted * (one / total), plain * even)
            store(values, to + k, value)
            for a in range(children):
                at = entries + a * width + k
                x = load(regrets, at) + (load(values, U(child_rows[2, child0 + a]) * width + k) - value)
                store(regrets, at, x * pick(x, gain, loss))


@inlined
def _part(
    part: Any, p: int, mode: int, source: Array, regrets: Array, averages: Array, step: Array,
    nodes: Array, child_rows: Array, chips: Array, amounts: Array, shapes: Array, parts: Array, roots: Array,
    maps: Array, ordered: Array, ends: Array, natural: Array, sizes: Array,
    top_reach: Array, handed: Array, reach: Array, values: Array, scratch: Array,
) -> None:  # fmt: skip
    """One part: fetch the opponent's reach at its roots, sweep down, pay, sweep up, hand the values up."""
    q, shape, board = 1 - p, U(parts[part, SHAPE]), U(parts[part, BOARD])
    top_width, width, count, cards = U(sizes[0]), U(sizes[1]), U(sizes[2]), U(sizes[3])
    entry0, handed0 = U(parts[part, ENTRY0]), U(parts[part, HANDED0])
    node0, size = U(shapes[shape, NODE0]), U(shapes[shape, NODES])
    place0 = board * count
    for r in range(U(shapes[shape, ROOTS])):
        root = U(shapes[shape, ROOT0]) + r
        to = U(roots[root, ROOT_REACH0 + q]) * width
        at = U(nodes[U(roots[root, ROOT_CUT]), REACH0 + q]) * top_width
        if sizes[3] == sizes[5]:  # no card comes: the same hands in the same places
            _copy(top_reach, at, reach, to, width)
            continue
        for i in range(count):
            reach[to + i] = top_reach[at + U(maps[place0 + i])]
    _down(nodes, child_rows, node0, size, q, width, source, entry0, reach, averages, step[2], mode)
    for b in range(U(shapes[shape, BATCHES])):
        first = b * U(LANES)
        showdown_batch(
            ordered, ends, natural, place0, count, reach, first * width, values, first * width, width,
            amounts, U(shapes[shape, AMOUNT0]) + first, scratch,
        )  # fmt: skip
    _up(
        nodes, child_rows, chips, node0, size, p, width, cards, regrets, entry0, reach, values, scratch,
        step[0], step[1], mode,
    )  # fmt: skip
    for r in range(U(shapes[shape, ROOTS])):
        at = U(roots[U(shapes[shape, ROOT0]) + r, ROOT_VALUE]) * width
        _copy(values, at, handed, (handed0 + r) * width, width)


@inlined
def _copy(source: Array, at: Any, target: Array, to: Any, width: Any) -> None:
    """target[to : to + width] = source[at : at + width]."""
    for k in range(U(0), width, U(LANES)):
        store(target, to + k, load(source, at + k))


@inlined
def _gather(
    cut: Any, cuts: Array, members: Array, maps: Array, chance: Any, sizes: Array, nodes: Array,
    handed: Array, top_values: Array,
) -> None:  # fmt: skip
    """A cut's values: those of its parts summed over the boards, isomorphic ones through their own maps."""
    top_width, width, count = U(sizes[0]), U(sizes[1]), U(sizes[2])
    to = U(nodes[U(cuts[cut, 0]), VALUE]) * top_width
    if sizes[3] == sizes[5]:  # no card comes
        _copy(handed, U(cuts[cut, 1]) * width, top_values, to, width)
        return
    for k in range(U(0), top_width, U(LANES)):
        store(top_values, to + k, splat(ZERO))
    for m in range(U(len(members))):
        at = (U(cuts[cut, 1]) + U(members[m, 0]) * U(cuts[cut, 2])) * width
        place0 = U(members[m, 1]) * count
        for i in range(count):
            top_values[to + U(maps[place0 + i])] += chance * handed[at + i]


@released
def run(
    me: int, threads: int, sync: Array, mode: int, source: Array, regrets: Array, averages: Array, steps: Array,
    nodes: Array, child_rows: Array, chips: Array, amounts: Array, shapes: Array, parts: Array, roots: Array,
    maps: Array, ordered: Array, ends: Array, natural: Array, sizes: Array,
    cuts: Array, members: Array, chance: Any,
    top_reach: Array, top_values: Array, handed: Array, reach: Array, values: Array, scratch: Array,
    root_values: Array,
) -> None:  # fmt: skip
    """Iterations, one row of `steps` float32[T, 3] (positive, negative, average) each, as thread `me` of several.

    top_reach: both players' reach in the top, player 1's rows behind player 0's (sizes[4] floats each).
    reach, values, scratch: this thread's own.  root_values: float32[2 * top width], each player's at the root.
    """
    top_width, half = U(sizes[0]), U(sizes[4])
    for t in range(len(steps)):
        step = steps[t]
        for p in range(2):
            q = 1 - p
            mine = top_reach[half:] if q == 1 else top_reach[:half]
            if me == 0:
                _down(
                    nodes, child_rows, U(0), U(shapes[0, NODES]), q, top_width, source, U(0), mine, averages,
                    step[2], mode,
                )  # fmt: skip
                write(sync, U(NEXT), 0)
            wait_for_all(sync, threads)
            part = fetch_add(sync, U(NEXT), 1)
            while part < len(parts):
                _part(
                    U(part), p, mode, source, regrets, averages, step, nodes, child_rows, chips, amounts,
                    shapes, parts, roots, maps, ordered, ends, natural, sizes, mine, handed, reach, values, scratch,
                )  # fmt: skip
                part = fetch_add(sync, U(NEXT), 1)
            wait_for_all(sync, threads)
            for cut in range(U(me), U(len(cuts)), U(threads)):
                _gather(cut, cuts, members, maps, chance, sizes, nodes, handed, top_values)
            wait_for_all(sync, threads)
            if me == 0:
                _up(
                    nodes, child_rows, chips, U(0), U(shapes[0, NODES]), p, top_width, U(sizes[5]), regrets,
                    U(0), mine, top_values, scratch, step[0], step[1], mode,
                )  # fmt: skip
                _copy(top_values, U(nodes[0, VALUE]) * top_width, root_values, U(p) * top_width, top_width)
