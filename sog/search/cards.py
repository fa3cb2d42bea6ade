"""Hold'em's payoffs without matrices: folds by inclusion-exclusion, showdowns by one pass over ordered hands.

Two forms. `apply_card` multiplies one row of all 1,326 hands by a CardOperator, for generic searches.
`fold_values` and `showdown_batch` work on float32 rows of the hands that a board leaves, in the order of
hand numbers (row by row of a triangle over the live cards), for the solver; the batch scans the ordered
hands once for LANES rows side by side.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sog.arrays import Array
from sog.games.holdem_cards import CARDS, HANDS
from sog.games.holdem_operator import SHOWDOWN
from sog.search.jit import inlined, njit
from sog.search.lanes import LANES, load, load_span, splat, store, store_span, sum_of, transpose

U = np.uint64
ZERO: Final = np.float32(0.0)
HALF: Final = np.float32(0.5)


@njit
def apply_card(kind: int, table: Array, start: Any, scale: float, reach: Array, at: Any, out: Array, to: Any) -> None:
    """out[to + i] = scale * sum over hands j of the operator's entry (i, j) times reach[at + j].

    kind, table[start...]: a CardOperator's kind and what it packs; its scratch is overwritten.  For player 1
    the same call gives player 1's values at a SHOWDOWN (which is antisymmetric) and, with -scale, after a fold.
    """
    cards, low, at, to = U(start), U(start) + U(CARDS), U(at), U(to)
    high = low + U(HANDS)
    for c in range(U(CARDS)):
        table[cards + c] = 0.0
    if kind == SHOWDOWN:
        _showdown_row(table, cards, low, high, scale, reach, at, out, to)
        return
    total = 0.0
    for j in range(U(HANDS)):
        if table[low + j] >= 0:
            x = reach[at + j]
            total += x
            table[cards + U(table[low + j])] += x
            table[cards + U(table[high + j])] += x
    for i in range(U(HANDS)):
        out[to + i] = 0.0
        if table[low + i] >= 0:
            meets = table[cards + U(table[low + i])] + table[cards + U(table[high + i])]
            out[to + i] = scale * (total - meets + reach[at + i])


@inlined
def _showdown_row(
    table: Array, cards: Any, low: Any, high: Any, scale: float, reach: Array, at: Any, out: Array, to: Any
) -> None:
    """Weaker hands' reach minus stronger hands', those that share a card left out, from the weakest hand on."""
    for i in range(U(HANDS)):
        out[to + i] = 0.0
    hands, count = high + U(HANDS) + U(1), U(table[high + U(HANDS)])
    ends = hands + count
    total, run = 0.0, U(0)
    while run < count:
        end = U(table[ends + run])
        for k in range(run, end):
            h = U(table[hands + k])
            out[to + h] = total - table[cards + U(table[low + h])] - table[cards + U(table[high + h])]
        for k in range(run, end):
            h = U(table[hands + k])
            total += reach[at + h]
            table[cards + U(table[low + h])] += reach[at + h]
            table[cards + U(table[high + h])] += reach[at + h]
        for k in range(run, end):
            h = U(table[hands + k])
            out[to + h] += total - table[cards + U(table[low + h])] - table[cards + U(table[high + h])]
        run = end
    for k in range(count):
        h = U(table[hands + k])
        rest = total - table[cards + U(table[low + h])] - table[cards + U(table[high + h])]
        out[to + h] = scale * (out[to + h] - rest)


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
