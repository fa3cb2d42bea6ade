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
from sog.search.lanes import LANES, load, load_span, splat, store, store_span, sum_of, transpose

U = np.uint64
ZERO: Final = np.float32(0.0)
HALF: Final = np.float32(0.5)


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

    reach[row...], values[out...]: float32 rows over the pairs of at most 48 live `cards`.  by_card:
    float32[48], scratch. Lane k of vector b is card 16 b + k throughout, so that the sums over a card's hands
    stay in registers.
    """
    lanes, last = U(LANES), np.int64(cards)
    sums0, sums1, sums2 = splat(ZERO), splat(ZERO), splat(ZERO)
    at = U(row) - U(1)  # where card 0 would lie in the row of the triangle
    for c in range(last):
        x0 = load_span(reach, at, c + 1, last)
        x1 = load_span(reach, at + lanes, c + 1 - LANES, last - LANES)
        x2 = load_span(reach, at + lanes + lanes, c + 1 - 2 * LANES, last - 2 * LANES)
        sums0, sums1, sums2 = sums0 + x0, sums1 + x1, sums2 + x2
        by_card[U(c)] = sum_of(x0 + x1 + x2)
        at += U(last - c - 2)
    for c in range(last, 3 * LANES):
        by_card[U(c)] = ZERO
    sums0 = sums0 + load(by_card, U(0))
    sums1 = sums1 + load(by_card, lanes)
    sums2 = sums2 + load(by_card, lanes + lanes)
    store(by_card, U(0), sums0)
    store(by_card, lanes, sums1)
    store(by_card, lanes + lanes, sums2)
    total = sum_of(sums0 + sums1 + sums2) * HALF
    at, to, amount = U(row) - U(1), U(out) - U(1), splat(scale)
    for c in range(last):
        rest = splat(total - by_card[U(c)])
        x0 = load_span(reach, at, c + 1, last)
        x1 = load_span(reach, at + lanes, c + 1 - LANES, last - LANES)
        x2 = load_span(reach, at + lanes + lanes, c + 1 - 2 * LANES, last - 2 * LANES)
        store_span(values, to, c + 1, last, amount * (rest - sums0 + x0))
        store_span(values, to + lanes, c + 1 - LANES, last - LANES, amount * (rest - sums1 + x1))
        store_span(values, to + lanes + lanes, c + 1 - 2 * LANES, last - 2 * LANES, amount * (rest - sums2 + x2))
        at += U(last - c - 2)
        to += U(last - c - 2)


@inlined
def showdown_batch(
    ordered: Array, ends: Array, natural: Array, start: Any, count: Any,
    reach: Array, row: Any, values: Array, out: Any, width: Any, amounts: Array, first: Any, scratch: Array,
) -> None:  # fmt: skip
    """Showdown values of LANES rows at once: rows of `width` at reach[row...] and values[out...].

    ordered[3 * start...]: of each of the `count` hands, weakest first, LANES times (its place in a row, its two
    live cards).  ends[start...]: ends of runs of equal hands.  natural[2 * start...]: LANES times the two live
    cards of each place.  amounts[first...]: chips.  scratch: float32[(2 * width + 64) * LANES].
    """
    lanes = U(LANES)
    gained = width * lanes
    by_card = gained + gained
    for c in range(U(64)):
        store(scratch, by_card + c * lanes, splat(ZERO))
    for k in range(U(0), width, lanes):
        transpose(reach, row + k, width, scratch, k * lanes, lanes)
    total, run, base = splat(ZERO), U(0), U(3) * start
    while run < count:
        end = U(ends[start + run])
        for j in range(base + U(3) * run, base + U(3) * end, U(3)):
            a, b = by_card + U(ordered[j + U(1)]), by_card + U(ordered[j + U(2)])
            store(scratch, gained + U(ordered[j]), total - load(scratch, a) - load(scratch, b))
        for j in range(base + U(3) * run, base + U(3) * end, U(3)):
            a, b = by_card + U(ordered[j + U(1)]), by_card + U(ordered[j + U(2)])
            x = load(scratch, U(ordered[j]))
            total = total + x
            store(scratch, a, load(scratch, a) + x)
            store(scratch, b, load(scratch, b) + x)
        for j in range(base + U(3) * run, base + U(3) * end, U(3)):
            a, b = by_card + U(ordered[j + U(1)]), by_card + U(ordered[j + U(2)])
            at = gained + U(ordered[j])
            store(scratch, at, load(scratch, at) + (total - load(scratch, a) - load(scratch, b)))
        run = end
    amount, at = load(amounts, first), gained
    for j in range(U(2) * start, U(2) * (start + count), U(2)):
        rest = total - load(scratch, by_card + U(natural[j])) - load(scratch, by_card + U(natural[j + U(1)]))
        store(scratch, at, amount * (load(scratch, at) - rest))
        at += lanes
    for k in range(U(0), width, lanes):
        transpose(scratch, gained + k * lanes, lanes, values, out + k, width)
