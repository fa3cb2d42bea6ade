"""Hold'em's operators applied to ranges without matrices: folds by inclusion-exclusion, showdowns by one ordered pass.

A CardOperator is packed into a table of numbers (see `CardOperator.packed`); ranges hold all 1,326 hands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sog.arrays import Array
from sog.games.holdem.cards import CARDS, HANDS
from sog.games.holdem.operator import APART, SHOWDOWN
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.registers import pick
from sog.searches.kernels.vectors import LANES64, load_first, splat, store_first
from sog.searches.tree.arrays import Ranges
from sog.searches.tree.players import Players
from sog.searches.tree.records import OperatorRow

__all__ = ["apply_card", "draw", "entry", "mass_of", "masses", "payoffs"]

# What is left of the sum of a range where every hand of it meets a hand: a mass of 0 but for rounding, by which values
# must not be divided.
_ROUNDING = 1e-12


class _Blocks(NamedTuple):
    """Where the blocks of a packed operator begin."""

    by_card: int  # scratch: a sum for each card
    low: int  # each hand's lower card; below 0: the hand is not live
    high: int  # its higher card
    ladder: int  # of a SHOWDOWN: how many hands are live, those hands, the ends of their runs, each hand's run


@inlined
def _whole(number: float) -> int:
    """A card, a hand or a count, which is kept among the floats of the table."""
    # Unsigned: as an index it is never checked for counting from the end.
    return np.uint32(number)  # type: ignore[return-value]


@inlined
def _blocks(start: int) -> _Blocks:
    """The blocks of the operator at table[start...]."""
    low = start + CARDS
    return _Blocks(start, low, low + HANDS, low + 2 * HANDS)


@njit
def apply_card(kind: int, table: Array, start: int, scale: float, reach: Array, at: int, out: Array, to: int) -> None:
    """out[to + i] = scale * sum over hands j of the operator's entry (i, j) times reach[at + j].

    APART: out[i] = scale * (T - C[a] - C[b] + reach[i]) for a live hand i of cards a, b, with T the reach of all live
    hands and C[c] of those that hold card c; 0 for other hands.  SHOWDOWN: see _showdown.
    kind, table[start...]: a CardOperator's kind and what it packs; its scratch is overwritten.  For player 1
    the same call gives player 1's values at a SHOWDOWN (which is antisymmetric) and, with -scale, after a fold.
    """
    begin = _blocks(start)
    by_card, low = begin.by_card, begin.low
    if kind == SHOWDOWN:
        _showdown(table, begin, scale, reach, at, out, to)
        return
    total = _sums_by_card(table, begin, reach, at)
    least, zero, half = splat(_ROUNDING * total), splat(0.0), splat(0.5)
    i = 0
    # Hands lie in the order of their lower cards a, then of their higher cards b: a register of b's at a time.
    for a in range(CARDS - 1):
        count, b = CARDS - 1 - a, by_card + a + 1
        for k in range(0, count, LANES64):
            left = count - k
            meets = splat(table[by_card + a]) + load_first(table, b + k, left)
            # C[a] and C[b] both count hand i itself, so it is added once.
            weight = splat(total) - meets + load_first(reach, at + i + k, left)
            live = load_first(table, low + i + k, left) + half  # positive: a card's number is 0 or more
            store_first(out, to + i + k, left, pick(live, pick(weight - least, splat(scale) * weight, zero), zero))
        i += count


@njit
def payoffs(
    table: Array, operator: OperatorRow, scale: float, reach: Array, offset: Array, cfv: Array, players: Players
) -> None:
    """Values of the players against the other's reach.

    cfv0[i] = scale * sum over j of M[i, j] r1[j], cfv1[j] = -scale * sum over i of M[i, j] r0[i].

    offset: [2], where player 0's and player 1's infostates begin in reach and in cfv.
    """
    kind, start = operator.kind, operator.start
    if players & Players.FIRST:
        apply_card(kind, table, start, scale, reach, offset[1], cfv, offset[0])
    # -M[i, j] = M[j, i] at a SHOWDOWN: the same product serves. After a fold M[i, j] = M[j, i]: the sign turns.
    if players & Players.SECOND:
        apply_card(kind, table, start, scale if kind == SHOWDOWN else -scale, reach, offset[0], cfv, offset[1])


@njit
def masses(table: Array, operator: OperatorRow, scale: float, ranges: Ranges, mass: Array) -> None:
    """mass[0, i], mass[1, j]: the weight of each hand against the opponent's range under APART.

    mass[0, i] = scale * sum over j of A[i, j] r1[j], mass[1, j] = scale * sum over i of A[i, j] r0[i], A of APART.
    """
    # APART is symmetric: one call serves either side.
    apply_card(APART, table, operator.start, scale, ranges.one, ranges.at1, mass[0], 0)
    apply_card(APART, table, operator.start, scale, ranges.zero, ranges.at0, mass[1], 0)


@njit
def entry(kind: int, table: Array, start: int, i: int, j: int) -> float:
    """The operator at the pair of hands (i, j)."""
    begin = _blocks(start)
    a, b, c, d = table[begin.low + i], table[begin.high + i], table[begin.low + j], table[begin.high + j]
    # A dead hand, or a card in both: an impossible pair.
    if a < 0.0 or c < 0.0 or a == c or a == d or b == c or b == d:  # noqa: SIM109
        return 0.0
    if kind != SHOWDOWN:
        return 1.0
    # Behind the hands and the ends of their runs: each hand's run, higher for a stronger hand.
    places = begin.ladder + 1 + 2 * _whole(table[begin.ladder])
    return float(np.sign(table[places + i] - table[places + j]))


@njit
def mass_of(table: Array, start: int, reach: Array, at: int, i: int) -> float:
    """The sum of reach[at + j] over the live hands j that share no card with hand i."""
    begin, total = _blocks(start), 0.0
    low, high = begin.low, begin.high
    a, b = table[low + i], table[high + i]
    if a < 0.0:
        return 0.0
    # APART by its definition: one hand alone needs no sums by card.
    for j in range(HANDS):
        c, d = table[low + j], table[high + j]
        total += reach[at + j] if c >= 0.0 and a != c and a != d and b != c and b != d else 0.0
    return total


@njit
def draw(table: Array, start: int, ranges: Ranges, first: float, second: float, pair: Array) -> bool:
    """Put live hands that share no card in `pair`, in proportion to the product of both players' ranges.

    P(i) = r0[i] m[i] / (sum over k of r0[k] m[k]), m[i] the reach r1 of the hands that share no card with i;
    P(j | i) = r1[j] / m[i] for those.

    first, second: uniform in [0, 1); player 0's hand is drawn by its mass and player 1's given it. table's scratch is
    overwritten. Returns False where there is no such pair.
    """
    r0, at0, r1, at1 = ranges
    begin = _blocks(start)
    by_card, low, high = begin.by_card, begin.low, begin.high
    all_hands = _sums_by_card(table, begin, r1, at1)
    total, target, chosen = 0.0, np.inf, -1
    for drawing in range(2):  # the first pass sums, the second stops at the chosen hand
        if drawing == 1:
            target, total = first * total, 0.0
        for i in range(HANDS):
            if table[low + i] < 0.0 or r0[at0 + i] <= 0.0:
                continue
            meets = table[by_card + _whole(table[low + i])] + table[by_card + _whole(table[high + i])]
            # r0[i] * m[i], with m by inclusion-exclusion as in apply_card.
            w = r0[at0 + i] * (all_hands - meets + r1[at1 + i])
            if w > 0.0:
                total += w
                chosen = i
                if total > target:
                    break
    if chosen < 0:
        return False
    # Should rounding keep the sum at or below the target, the last possible hand is drawn.
    target, total = second * mass_of(table, start, r1, at1, chosen), 0.0
    pair[0], pair[1] = chosen, -1
    for j in range(HANDS):
        w = r1[at1 + j] * entry(APART, table, start, chosen, j)
        if w > 0.0:
            total += w
            pair[1] = j
            if total > target:
                break
    return bool(pair[1] >= 0)


@inlined
def _sums_by_card(table: Array, begin: _Blocks, reach: Array, at: int) -> float:
    """The reach of all live hands; of those that hold each card into the table's scratch.

    T = sum over live hands j of reach[j]; by_card[c] = sum of reach[j] over the live hands j that hold card c.
    """
    for c in range(CARDS):
        table[begin.by_card + c] = 0.0
    total, j = 0.0, 0
    # Hands lie in the order of their lower cards a: C[a] needs no memory while they are summed.
    for a in range(CARDS - 1):
        mine = table[begin.by_card + a]
        for b in range(a + 1, CARDS):
            # Dead hands, marked by a card below 0, count nothing.
            x = reach[at + j] if table[begin.low + j] >= 0 else 0.0
            total += x
            mine += x
            table[begin.by_card + b] += x
            j += 1
        table[begin.by_card + a] = mine
    return total


@inlined
def _showdown(table: Array, begin: _Blocks, scale: float, reach: Array, at: int, out: Array, to: int) -> None:
    """Weaker hands' reach minus stronger hands', those that share a card left out, from the weakest hand on.

    out[i] = scale * (weaker - stronger), the reach of the weaker and of the stronger hands that share no card with i.
    Equal hands make a run; below, C[a] and C[b] are the sums of by_card at the two cards of hand h.
    """
    by_card, low, high = begin.by_card, begin.low, begin.high
    for c in range(CARDS):
        table[by_card + c] = 0.0
    for i in range(HANDS):
        out[to + i] = 0.0
    hands, count = begin.ladder + 1, _whole(table[begin.ladder])
    ends = hands + count
    # `total` and `by_card` count the hands of the runs so far.
    total, run = 0.0, 0
    while run < count:
        end = _whole(table[ends + run])
        # weaker = total - C[a] - C[b]: hand h itself is not in the sums yet, so nothing is subtracted twice.
        for k in range(run, end):
            h = _whole(table[hands + k])
            out[to + h] = total - table[by_card + _whole(table[low + h])] - table[by_card + _whole(table[high + h])]
        # The run joins the sums.
        for k in range(run, end):
            h = _whole(table[hands + k])
            total += reach[at + h]
            table[by_card + _whole(table[low + h])] += reach[at + h]
            table[by_card + _whole(table[high + h])] += reach[at + h]
        # Both C[a] and C[b] count h itself now: this adds weaker + equal - reach[h], equal without h.
        for k in range(run, end):
            h = _whole(table[hands + k])
            out[to + h] += total - table[by_card + _whole(table[low + h])] - table[by_card + _whole(table[high + h])]
        run = end
    # rest = weaker + equal + stronger - reach[h]; out - rest = weaker - stronger.
    for k in range(count):
        h = _whole(table[hands + k])
        rest = total - table[by_card + _whole(table[low + h])] - table[by_card + _whole(table[high + h])]
        out[to + h] = scale * (out[to + h] - rest)
