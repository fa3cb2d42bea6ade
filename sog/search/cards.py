"""Hold'em's payoffs without matrices: folds by inclusion-exclusion, showdowns by one pass over ordered hands.

Two forms. `apart_row` and `showdown_row` work on one row of all 1,326 hands, any floats, for generic searches.
`fold_values` and `showdown_batch` work on float32 rows of the hands that a board leaves, in the order of
hand numbers (row by row of a triangle over the live cards), for the solver; the batch scans the ordered
hands once for LANES rows side by side.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sog.arrays import Array
from sog.search.jit import inlined, njit
from sog.search.lanes import LANES, load, load_first, splat, store, store_first, sum_of, transpose

U = np.uint64
ZERO: Final = np.float32(0.0)


@njit
def apart_row(low: Array, high: Array, live: Array, reach: Array, scale: float, by_card: Array, out: Array) -> None:
    """out[i] = scale * sum of reach[j] over live hands j that share no card with the live hand i; else 0.

    low, high: the hands' cards.  live: bool[1326].  by_card: float64[52], scratch.
    """
    total = 0.0
    for c in range(U(len(by_card))):
        by_card[c] = 0.0
    for j in range(U(len(reach))):
        if live[j]:
            total += reach[j]
            by_card[U(low[j])] += reach[j]
            by_card[U(high[j])] += reach[j]
    for i in range(U(len(reach))):
        mass = total - by_card[U(low[i])] - by_card[U(high[i])] + reach[i]
        out[i] = scale * mass if live[i] else 0.0


@njit
def showdown_row(
    hands: Array, ends: Array, low: Array, high: Array, reach: Array, scale: float, by_card: Array, out: Array
) -> None:  # fmt: skip
    """out[i] = scale * (reach of the hands that i beats - reach of those that beat i), none sharing a card with i.

    hands, ends: a board's Ladder.  low, high: the hands' cards.  by_card: float64[52], scratch.
    """
    for i in range(U(len(out))):
        out[i] = 0.0
    for c in range(U(len(by_card))):
        by_card[c] = 0.0
    count = U(len(hands))
    total, k = 0.0, U(0)
    while k < count:
        end = U(ends[k])
        for j in range(k, end):
            h = U(hands[j])
            out[h] = total - by_card[U(low[h])] - by_card[U(high[h])]
        for j in range(k, end):
            h = U(hands[j])
            total += reach[h]
            by_card[U(low[h])] += reach[h]
            by_card[U(high[h])] += reach[h]
        for j in range(k, end):
            h = U(hands[j])
            out[h] += total - by_card[U(low[h])] - by_card[U(high[h])]
        k = end
    for j in range(count):
        h = U(hands[j])
        out[h] = scale * (out[h] - (total - by_card[U(low[h])] - by_card[U(high[h])]))


@inlined
def fold_values(reach: Array, row: Any, cards: Any, scale: Any, by_card: Array, values: Array, out: Any) -> None:
    """values[out + i] = scale * reach of the hands that share no card with i.

    reach[row...], values[out...]: float32 rows over the pairs of `cards` live cards.  by_card: float32[80].
    """
    lanes = U(LANES)
    for k in range(U(5)):
        store(by_card, k * lanes, splat(ZERO))
    total, at = ZERO, U(row)
    for c in range(cards):
        length, held, k = cards - c - U(1), splat(ZERO), U(0)
        while k < length:
            x = load_first(reach, at + k, min(length - k, lanes))
            held = held + x
            store(by_card, c + U(1) + k, load(by_card, c + U(1) + k) + x)
            k += lanes
        mine = sum_of(held)
        by_card[c] += mine
        total += mine
        at += length
    at, to = U(row), U(out)
    amount = splat(scale)
    for c in range(cards):
        length, rest, k = cards - c - U(1), splat(total - by_card[c]), U(0)
        while k < length:
            count = min(length - k, lanes)
            mass = rest - load(by_card, c + U(1) + k) + load_first(reach, at + k, count)
            store_first(values, to + k, count, amount * mass)
            k += lanes
        at += length
        to += length


@inlined
def showdown_batch(
    hands: Array, ends: Array, low: Array, high: Array, start: Any, count: Any,
    reach: Array, row: Any, values: Array, out: Any, width: Any, amounts: Array, first: Any, scratch: Array,
) -> None:  # fmt: skip
    """Showdown values of LANES rows at once: rows of `width` at reach[row...] and values[out...].

    hands[start...]: places of the `count` hands in a row, weakest first.  ends: ends of runs of equal hands.
    low, high: the live cards of each place in a row.  amounts[first...]: chips.
    scratch: float32[(2 * width + 64) * LANES].
    """
    lanes = U(LANES)
    gained = width * lanes
    by_card = gained + gained
    for c in range(U(64)):
        store(scratch, by_card + c * lanes, splat(ZERO))
    for k in range(U(0), width, lanes):
        transpose(reach, row + k, width, scratch, k * lanes, lanes)
    total, k = splat(ZERO), U(0)
    while k < count:
        end = U(ends[start + k])
        for j in range(k, end):
            h = U(hands[start + j])
            a, b = by_card + U(low[start + h]) * lanes, by_card + U(high[start + h]) * lanes
            store(scratch, gained + h * lanes, total - load(scratch, a) - load(scratch, b))
        for j in range(k, end):
            h = U(hands[start + j])
            a, b, x = by_card + U(low[start + h]) * lanes, by_card + U(high[start + h]) * lanes, load(scratch, h * lanes)
            total = total + x
            store(scratch, a, load(scratch, a) + x)
            store(scratch, b, load(scratch, b) + x)
        for j in range(k, end):
            h = U(hands[start + j])
            a, b, at = by_card + U(low[start + h]) * lanes, by_card + U(high[start + h]) * lanes, gained + h * lanes
            store(scratch, at, load(scratch, at) + (total - load(scratch, a) - load(scratch, b)))
        k = end
    amount = load(amounts, first)
    for h in range(count):
        a, b, at = by_card + U(low[start + h]) * lanes, by_card + U(high[start + h]) * lanes, gained + h * lanes
        rest = total - load(scratch, a) - load(scratch, b)
        store(scratch, at, amount * (load(scratch, at) - rest))
    for k in range(U(0), width, lanes):
        transpose(scratch, gained + k * lanes, lanes, values, out + k, width)
