"""Hold'em's operators applied to ranges without matrices: folds by inclusion-exclusion, showdowns by one ordered pass.

A CardOperator is packed into a table of numbers (see `CardOperator.packed`); ranges hold all 1,326 hands.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sog.arrays import Array
from sog.games.holdem.cards import CARDS, HANDS
from sog.games.holdem.operator import APART, SHOWDOWN
from sog.searches.kernels.jit import inlined, njit

__all__ = ["apply_card", "draw", "entry", "mass_of", "masses", "payoffs"]

# What is left of the sum of a range where every hand of it meets a hand: a mass of 0 but for rounding, by which values
# must not be divided.
_ROUNDING = 1e-12

U = np.uint64


class _Blocks(NamedTuple):
    """Where the blocks of a packed operator begin."""

    by_card: np.uint64  # scratch
    low: np.uint64
    high: np.uint64
    ladder: np.uint64  # of a SHOWDOWN: how many hands are live, those hands, the ends of their runs, each hand's run


@inlined
def _blocks(start: Any) -> _Blocks:
    """The blocks of the operator at table[start...]."""
    low = U(start) + U(CARDS)
    high = low + U(HANDS)
    return _Blocks(U(start), low, high, high + U(HANDS))


@njit
def apply_card(kind: int, table: Array, start: Any, scale: float, reach: Array, at: Any, out: Array, to: Any) -> None:
    """out[to + i] = scale * sum over hands j of the operator's entry (i, j) times reach[at + j].

    kind, table[start...]: a CardOperator's kind and what it packs; its scratch is overwritten.  For player 1
    the same call gives player 1's values at a SHOWDOWN (which is antisymmetric) and, with -scale, after a fold.
    """
    begin, at, to = _blocks(start), U(at), U(to)
    by_card, low, high = begin.by_card, begin.low, begin.high
    if kind == SHOWDOWN:
        _showdown(table, begin, scale, reach, at, out, to)
        return
    total = _sums_by_card(table, begin, reach, at)
    for i in range(U(HANDS)):
        out[to + i] = 0.0
        if table[low + i] >= 0:
            meets = table[by_card + U(table[low + i])] + table[by_card + U(table[high + i])]
            weight = total - meets + reach[at + i]
            out[to + i] = scale * weight if weight > _ROUNDING * total else 0.0


@njit
def payoffs(
    kind: int, table: Array, start: Any, scale: float, reach: Array, at: tuple[Any, Any], cfv: Array, players: int
) -> None:
    """Values of the players in the bit mask against the other's reach.

    at: where player 0's and player 1's infostates begin in reach and in cfv.
    """
    at0, at1 = at
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
    begin, i, j = _blocks(start), U(i), U(j)
    a, b, c, d = table[begin.low + i], table[begin.high + i], table[begin.low + j], table[begin.high + j]
    if a < 0.0 or c < 0.0 or a == c or a == d or b == c or b == d:  # noqa: SIM109
        return 0.0
    if kind != SHOWDOWN:
        return 1.0
    places = begin.ladder + U(1) + U(2) * U(table[begin.ladder])
    return float(np.sign(table[places + i] - table[places + j]))


@njit
def mass_of(table: Array, start: Any, reach: Array, at: Any, i: Any) -> float:
    """The sum of reach[at + j] over the live hands j that share no card with hand i."""
    begin, at, total = _blocks(start), U(at), 0.0
    low, high = begin.low, begin.high
    a, b = table[low + U(i)], table[high + U(i)]
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
    begin, at0, at1 = _blocks(start), U(at0), U(at1)
    by_card, low, high = begin.by_card, begin.low, begin.high
    all_hands = _sums_by_card(table, begin, reach, at1)
    total, target, chosen = 0.0, np.inf, np.int64(-1)
    for drawing in range(2):  # the first pass sums, the second stops at the chosen hand
        if drawing == 1:
            target, total = first * total, 0.0
        for i in range(U(HANDS)):
            if table[low + i] < 0.0 or reach[at0 + i] <= 0.0:
                continue
            meets = table[by_card + U(table[low + i])] + table[by_card + U(table[high + i])]
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
def _sums_by_card(table: Array, begin: _Blocks, reach: Array, at: Any) -> Any:
    """The reach of all live hands; of those that hold each card into the table's scratch."""
    for c in range(U(CARDS)):
        table[begin.by_card + c] = 0.0
    total = 0.0
    for j in range(U(HANDS)):
        if table[begin.low + j] >= 0:
            x = reach[at + j]
            total += x
            table[begin.by_card + U(table[begin.low + j])] += x
            table[begin.by_card + U(table[begin.high + j])] += x
    return total


@inlined
def _showdown(table: Array, begin: _Blocks, scale: float, reach: Array, at: Any, out: Array, to: Any) -> None:
    """Weaker hands' reach minus stronger hands', those that share a card left out, from the weakest hand on."""
    by_card, low, high = begin.by_card, begin.low, begin.high
    for c in range(U(CARDS)):
        table[by_card + c] = 0.0
    for i in range(U(HANDS)):
        out[to + i] = 0.0
    hands, count = begin.ladder + U(1), U(table[begin.ladder])
    ends = hands + count
    total, run = 0.0, U(0)
    while run < count:
        end = U(table[ends + run])
        for k in range(run, end):
            h = U(table[hands + k])
            out[to + h] = total - table[by_card + U(table[low + h])] - table[by_card + U(table[high + h])]
        for k in range(run, end):
            h = U(table[hands + k])
            total += reach[at + h]
            table[by_card + U(table[low + h])] += reach[at + h]
            table[by_card + U(table[high + h])] += reach[at + h]
        for k in range(run, end):
            h = U(table[hands + k])
            out[to + h] += total - table[by_card + U(table[low + h])] - table[by_card + U(table[high + h])]
        run = end
    for k in range(count):
        h = U(table[hands + k])
        rest = total - table[by_card + U(table[low + h])] - table[by_card + U(table[high + h])]
        out[to + h] = scale * (out[to + h] - rest)
