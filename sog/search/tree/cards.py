"""Hold'em's payoffs without matrices: folds by inclusion-exclusion, showdowns by one pass over ordered hands.

Two forms. `payoffs`, `masses`, `entry` and `draw` apply a CardOperator to rows of all 1,326 hands, for generic
searches.
`fold_values` and `showdown_batch` work on float32 rows of the hands that a board leaves, in the order of
hand numbers (row by row of a triangle over the live cards), for the solver; the batch scans the ordered
hands once for LANES rows side by side.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sog.arrays import Array
from sog.games.holdem.cards import CARDS, HANDS
from sog.games.holdem.operator import APART, SHOWDOWN
from sog.search.simd.f32x16 import LANES, load, load_span, splat, store, store_span, transpose
from sog.search.simd.jit import inlined, njit
from sog.search.simd.registers import sum_of

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
    if kind == SHOWDOWN:
        _showdown_row(table, cards, low, high, scale, reach, at, out, to)
        return
    total = _sums_by_card(table, cards, low, high, reach, at)
    for i in range(U(HANDS)):
        out[to + i] = 0.0
        if table[low + i] >= 0:
            meets = table[cards + U(table[low + i])] + table[cards + U(table[high + i])]
            out[to + i] = scale * (total - meets + reach[at + i])


@njit
def payoffs(
    kind: int, table: Array, start: Any, scale: float, reach: Array, at0: Any, at1: Any, cfv: Array, players: int
) -> None:
    """Both players' values cfv[at0 + i], cfv[at1 + j] against each other's reach; those in the bit mask."""
    if players & 1:
        apply_card(kind, table, start, scale, reach, at1, cfv, at0)
    if players & 2:
        apply_card(kind, table, start, scale if kind == SHOWDOWN else -scale, reach, at0, cfv, at1)


@njit
def masses(table: Array, start: Any, scale: float, r0: Array, at0: Any, r1: Array, at1: Any, mass: Array) -> None:
    """mass[0, i], mass[1, j]: the weight of each hand against the opponent's range under APART."""
    apply_card(APART, table, start, scale, r1, at1, mass[0], U(0))
    apply_card(APART, table, start, scale, r0, at0, mass[1], U(0))


@njit
def entry(kind: int, table: Array, start: Any, i: Any, j: Any) -> float:
    """The operator at the pair of hands (i, j)."""
    low, i, j = U(start) + U(CARDS), U(i), U(j)
    high = low + U(HANDS)
    a, b, c, d = table[low + i], table[high + i], table[low + j], table[high + j]
    if a < 0.0 or c < 0.0 or a == c or a == d or b == c or b == d:  # noqa: SIM109
        return 0.0
    if kind != SHOWDOWN:
        return 1.0
    places = high + U(HANDS) + U(1) + U(2) * U(table[high + U(HANDS)])
    return float(np.sign(table[places + i] - table[places + j]))


@njit
def mass_of(table: Array, start: Any, reach: Array, at: Any, i: Any) -> float:
    """The sum of reach[at + j] over the live hands j that share no card with hand i."""
    low, at = U(start) + U(CARDS), U(at)
    high = low + U(HANDS)
    a, b, total = table[low + U(i)], table[high + U(i)], 0.0
    if a < 0.0:
        return 0.0
    for j in range(U(HANDS)):
        c, d = table[low + j], table[high + j]
        total += reach[at + j] if c >= 0.0 and a != c and a != d and b != c and b != d else 0.0
    return total


@njit
def draw(table: Array, start: Any, reach: Array, at0: Any, at1: Any, first: float, second: float, pair: Array) -> bool:
    """Put live hands that share no card in `pair`, in proportion to reach[at0 + i] * reach[at1 + j].

    first, second: uniform in [0, 1); player 0's hand is drawn by its mass and player 1's given it. table's scratch is
    overwritten. Returns False where there is no such pair.
    """
    cards, low, at0, at1 = U(start), U(start) + U(CARDS), U(at0), U(at1)
    high = low + U(HANDS)
    all_hands = _sums_by_card(table, cards, low, high, reach, at1)
    total, target, chosen = 0.0, np.inf, np.int64(-1)
    for drawing in range(2):  # the first pass sums, the second stops at the chosen hand
        if drawing == 1:
            target, total = first * total, 0.0
        for i in range(U(HANDS)):
            if table[low + i] < 0.0 or reach[at0 + i] <= 0.0:
                continue
            meets = table[cards + U(table[low + i])] + table[cards + U(table[high + i])]
            w = reach[at0 + i] * (all_hands - meets + reach[at1 + i])
            if w > 0.0:
                total += w
                chosen = np.int64(i)
                if total > target:
                    break
    if chosen < 0:
        return False
    target, total = second * mass_of(table, start, reach, at1, chosen), 0.0
    pair[0], pair[1] = chosen, -1
    for j in range(U(HANDS)):
        w = reach[at1 + j] * entry(APART, table, start, chosen, j)
        if w > 0.0:
            total += w
            pair[1] = np.int64(j)
            if total > target:
                break
    return bool(pair[1] >= 0)


@inlined
def _sums_by_card(table: Array, cards: Any, low: Any, high: Any, reach: Array, at: Any) -> Any:
    """The reach of all live hands; of those that hold each card into the table's scratch."""
    for c in range(U(CARDS)):
        table[cards + c] = 0.0
    total = 0.0
    for j in range(U(HANDS)):
        if table[low + j] >= 0:
            x = reach[at + j]
            total += x
            table[cards + U(table[low + j])] += x
            table[cards + U(table[high + j])] += x
    return total


@inlined
def _showdown_row(
    table: Array, cards: Any, low: Any, high: Any, scale: float, reach: Array, at: Any, out: Array, to: Any
) -> None:
    """Weaker hands' reach minus stronger hands', those that share a card left out, from the weakest hand on."""
    for c in range(U(CARDS)):
        table[cards + c] = 0.0
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
