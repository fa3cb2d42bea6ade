"""Numba kernel of what a network over hands sees of each: how it does against both ranges over boards to come.

A register holds both ranges of four beliefs with the same board: eight sums are made side by side, in one order.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64
from sog.games.holdem.hand_inputs import BINS, BoardTable
from sog.searches.kernels.jit import njit
from sog.searches.kernels.registers import larger, pick
from sog.searches.kernels.vectors import LANES64, load, splat, store

__all__ = ["BELIEFS", "Sums", "spread"]

BELIEFS: Final = LANES64 // 2  # beliefs side by side
BLOCK: Final = 16  # boards whose win chances wait to be summed, so that they stay in the cache
CARDS: Final = 52
# Of a hand, over boards: sums of p^2 and of 1, then of max(7 p - k, 0) for k < BINS - 1; in the end the means.
COLUMNS: Final = BINS + 3
_LAST: Final = float(BINS - 1)
_NOBODY: Final = 1e-9  # of a range: a smaller part of it is not met


class Sums(NamedTuple):
    """Room for eight sums side by side, a register each: lane 2 k + q is range q of belief k.

    ranges: float64[L * 8].  cards: float64[3 * 52 * 8], each range's weight with a card, of all hands, of those that a
    board leaves, and of the hands so far.  chances: float64[L * BLOCK * 8].  columns: float64[L * COLUMNS * 8].
    """

    ranges: Float64
    cards: Float64
    chances: Float64
    columns: Float64


@njit
def spread(table: BoardTable, room: Sums, rows: Array, hands: Array) -> None:
    """Of each hand and range: the mean over full boards of 2 p - 1, of p^2, and of p spread over bins.

    On a full board p[i] = (sum of w[j] over weaker j + half of the sum over equal j) / (sum over all j), over hands j
    that share no card with i. Sums over hands with a card are taken away by card, as every hand has two.
    p is spread linearly over the two nearest of the points 0, 1 / (bins - 1), ..., 1.
    room: its ranges are read.  rows: int64[<= 4], the beliefs' rows in hands.  hands: float32[B, 2, >= L, WIDTH]; its
    columns: what a hand does against the opponent's range, against the player's own, its equity, the share of the
    opponent's range that it meets, and log(1 + its weight).
    """
    live, boards = len(table.low), len(table.dealt)
    zero = splat(0.0)
    for k in range(live * COLUMNS):
        store(room.columns, k * LANES64, zero)
    for k in range(CARDS):
        store(room.cards, k * LANES64, zero)
    # Each range's weight, and that with each card.
    total = zero
    for i in range(live):
        w = load(room.ranges, i * LANES64)
        total += w
        for card in (table.low[i], table.high[i]):
            store(room.cards, card * LANES64, load(room.cards, card * LANES64) + w)
    for first in range(0, boards, BLOCK):
        count = min(BLOCK, boards - first)
        for r in range(count):
            _chances(table, room, first + r, r, total)
        _add(room, live, count)
    _means(table, room, total)
    _take_logarithms(room.ranges[: live * LANES64], room.chances)
    _write(table, room, rows, hands)


@njit
def _chances(table: BoardTable, room: Sums, r: int, place: int, total: Array) -> None:
    """p of every hand on full board r, into chances[i * BLOCK + place]; -1 of a hand that is gone, or meets nobody."""
    dealt, order, ends, pair, cards = table.dealt, table.order, table.ends, table.pair, room.cards
    on_board, by_card, zero = CARDS * LANES64, 2 * CARDS * LANES64, splat(0.0)
    mass = total
    for card in range(CARDS):
        store(cards, on_board + card * LANES64, load(cards, card * LANES64))
        store(cards, by_card + card * LANES64, zero)
    # The ranges without the hands that hold a card to come: less each card's hands, and those of two cards once.
    for k in range(dealt.shape[1]):
        mass -= load(cards, dealt[r, k] * LANES64)
        for other in range(k):
            mass += load(room.ranges, pair[dealt[r, k], dealt[r, other]] * LANES64)
        for card in range(CARDS):
            i = pair[dealt[r, k], card]
            if i >= 0:
                at = on_board + card * LANES64
                store(cards, at, load(cards, at) - load(room.ranges, i * LANES64))
                store(room.chances, (i * BLOCK + place) * LANES64, zero - splat(1.0))
    least, half, one = mass * splat(_NOBODY), splat(0.5), splat(1.0)
    below, k, count = zero, 0, order.shape[1]
    while k < count:
        stop = ends[r, k]
        # One run of equal hands: half of it counts as weaker.
        run = zero
        for at in range(k, stop):
            i = order[r, at]
            share = half * load(room.ranges, i * LANES64)
            run += share
            low, high = by_card + table.low[i] * LANES64, by_card + table.high[i] * LANES64
            store(cards, low, load(cards, low) + share)
            store(cards, high, load(cards, high) + share)
        for at in range(k, stop):
            i = order[r, at]
            low, high = table.low[i] * LANES64, table.high[i] * LANES64
            w = load(room.ranges, i * LANES64)
            # i itself has both of its cards, and was taken away twice.
            apart = mass - load(cards, on_board + low) - load(cards, on_board + high) + w
            won = below + run - load(cards, by_card + low) - load(cards, by_card + high) + half * w
            p = larger(won / apart, zero)
            p = pick(p - one, one, p)
            store(room.chances, (i * BLOCK + place) * LANES64, pick(apart - least, p, zero - one))
        for at in range(k, stop):
            i = order[r, at]
            share = half * load(room.ranges, i * LANES64)
            low, high = by_card + table.low[i] * LANES64, by_card + table.high[i] * LANES64
            store(cards, low, load(cards, low) + share)
            store(cards, high, load(cards, high) + share)
        below += run + run
        k = stop


@njit
def _add(room: Sums, live: int, count: int) -> None:
    """Add the chances on `count` boards to every hand's columns."""
    zero, one, most, columns = splat(0.0), splat(1.0), splat(_LAST), room.columns
    for i in range(live):
        to, at = i * COLUMNS * LANES64, i * BLOCK * LANES64
        squares, boards = load(columns, to), load(columns, to + LANES64)
        for r in range(count):
            p = load(room.chances, at + r * LANES64)
            here = p + one  # 0 where there is no chance
            squares += pick(here, p * p, zero)
            boards += pick(here, one, zero)
        store(columns, to, squares)
        store(columns, to + LANES64, boards)
        for k in range(BINS - 1):
            place, point = to + (2 + k) * LANES64, splat(float(k))
            over = load(columns, place)
            for r in range(count):
                over += larger(load(room.chances, at + r * LANES64) * most - point, zero)
            store(columns, place, over)


@njit
def _means(table: BoardTable, room: Sums, total: Array) -> None:
    """Of every hand the columns' means, as inputs, and what is met in place of a column that is no longer needed.

    columns[i] = (2 p - 1, p^2, p spread over bins), means over boards; zeros where there were none.  met[i] = the share
    of the range without i's cards.
    """
    columns, zero, one = room.columns, splat(0.0), splat(1.0)
    for i in range(len(table.low)):
        at = i * COLUMNS * LANES64
        squares, boards = load(columns, at), load(columns, at + LANES64)
        scale = pick(boards, one / boards, zero)
        # Sums of max(7 p - k, 0) from k = -1 on: their second differences are the bins.
        over = load(columns, at + 2 * LANES64)
        before = over + boards
        store(columns, at, (over * splat(2.0 / _LAST) - boards) * scale)
        store(columns, at + LANES64, squares * scale)
        for k in range(BINS):
            to = at + (2 + k) * LANES64
            after = load(columns, to + LANES64) if k < BINS - 2 else zero
            store(columns, to, (before - over - over + after) * scale)
            before, over = over, after
        met = total + load(room.ranges, i * LANES64)
        for card in (table.low[i], table.high[i]):
            met -= load(room.cards, card * LANES64)
        store(columns, at + (2 + BINS) * LANES64, pick(total, met / total, zero))


@njit
def _take_logarithms(ranges: Array, logarithms: Array) -> None:
    """log(1 + r) to 1e-8, of roots, sums, products and quotients alone: a library's last bits depend on the processor.

    log y = 16 log t with t = y^(1/16), and log t = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = (t - 1) / (t + 1).
    """
    for k in range(len(ranges)):
        t = np.sqrt(np.sqrt(np.sqrt(np.sqrt(1.0 + ranges[k]))))
        s = (t - 1.0) / (t + 1.0)
        q = s * s
        series = 1.0 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q / 11))))
        logarithms[k] = 32.0 * s * series


@njit
def _write(table: BoardTable, room: Sums, rows: Array, hands: Array) -> None:
    """The columns as inputs of both players: a range is the opponent's for one and the other's own."""
    wide = 2 + BINS
    for i in range(len(table.low)):
        at = i * COLUMNS * LANES64
        for b in range(len(rows)):
            for q in range(2):
                other, own, lane = hands[rows[b], 1 - q, i], hands[rows[b], q, i], at + 2 * b + q
                for k in range(wide):
                    mean = room.columns[lane + k * LANES64]
                    other[k] = mean
                    own[wide + k] = mean
                other[2 * wide] = table.equity[i]
                other[2 * wide + 1] = room.columns[lane + wide * LANES64]
                own[2 * wide + 2] = room.chances[i * LANES64 + 2 * b + q]
