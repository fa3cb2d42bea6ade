"""Buckets of hold'em hands: before the flop the 169 classes, later percentiles of equity against any two cards.

Boards that differ by an exchange of suits alone share a row of a table, in which the suit with the highest mask of
ranks comes first; the order of a board's cards does not matter. Wins on all rivers, 134,459 rows, add up to those on
turns and flops, so that each river is scored once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import permutations
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Bool, Int32, Int64
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, live_hands, permuted_hands
from sog.games.holdem.equity import against_range
from sog.games.holdem.scores import range_equities
from sog.searches.kernels.jit import cached

__all__ = [
    "CLASSES",
    "FLOPS",
    "RIVERS",
    "BucketTables",
    "CanonicalBoards",
    "canonical_flops",
    "class_of",
    "hand_buckets",
    "later_boards",
    "table_row",
    "tables",
]

CLASSES: Final = 169
FLOPS: Final = 1_755  # boards that differ by more than an exchange of suits
RIVERS: Final = 134_459
_CHUNK: Final = 4096  # rivers between two reports
_HALVES: Final = 2 * 990  # halves of wins, of a hand on the river that beats everyone
_ORDERS: Final = tuple(permutations(range(4)))
_WITH_ARRAYS: Final = {"error_model": "numpy"}  # for kernels that call those of the rules


class BucketTables(NamedTuple):
    """Buckets by street, and where a board's row is.

    classes: int64[1326].  keys: int64[N] for each of flop, turn and river, ascending, as of `_keys`.  flops, turns,
    rivers: uint8[N, 1326], 0 for hands that share a card with the board.
    """

    classes: Int64
    flop_keys: Int64
    turn_keys: Int64
    river_keys: Int64
    flops: Array
    turns: Array
    rivers: Array


class CanonicalBoards(NamedTuple):
    """Boards that differ by more than an exchange of suits, made of others with each further card.

    cards: int64[M, K].  keys: int64[M], as of `_keys`.  row, order: int64[N, 53 - K], where each of the others with a
    card is among them, and the exchange of suits that leads there.
    """

    cards: Int64
    keys: Int64
    row: Int64
    order: Int64


@cache
def class_of() -> Int64:
    """int64[1326]: each hand's class, 0..168: the higher rank times 13 plus the lower if suited, else turned round."""
    low, high = (LOW // 4).astype(np.int64), (HIGH // 4).astype(np.int64)
    classes: Int64 = np.where(LOW % 4 == HIGH % 4, 13 * high + low, 13 * low + high)
    return classes


def canonical_flops() -> CanonicalBoards:
    """A board for each row of `BucketTables.flops`."""
    return later_boards(later_boards(later_boards(np.zeros((1, 0), dtype=np.int64)).cards).cards)


def tables(flops: Int64, buckets: int, report: Callable[[int], None]) -> BucketTables:
    """Count the buckets of these flops, int64[N, 3], rows of `canonical_flops`, and of all turns and rivers after them.

    report: takes the rivers scored so far.
    """
    turns = later_boards(flops)
    rivers = later_boards(turns.cards)
    wins = np.zeros((len(rivers.cards), HANDS), dtype=np.uint16)
    for begin in range(0, len(wins), _CHUNK):
        _river_wins(rivers.cards[begin : begin + _CHUNK], wins[begin : begin + _CHUNK])
        report(min(begin + _CHUNK, len(wins)))
    to = np.array([permuted_hands(suits) for suits in _ORDERS], dtype=np.int32)
    on_turns, on_flops = (np.zeros((len(boards), HANDS), dtype=np.uint32) for boards in (turns.cards, flops))
    _add_wins(wins, rivers.row, rivers.order, to, on_turns)
    _add_wins(on_turns, turns.row, turns.order, to, on_flops)
    by_street = [np.zeros(won.shape, dtype=np.uint8) for won in (on_flops, on_turns, wins)]
    for boards, won, out in ((flops, on_flops, by_street[0]), (turns.cards, on_turns, by_street[1])):
        for b, board in enumerate(boards):
            out[b] = _percentiles(won[b], live_hands(board), buckets)
    _river_percentiles(wins, rivers.cards, buckets, by_street[2])
    return BucketTables(class_of(), _keys(flops)[0], turns.keys, rivers.keys, *by_street)


@lru_cache(maxsize=1024)
def hand_buckets(board: tuple[int, ...], buckets: int) -> Int64:
    """int64[1326]: the bucket of each hand on three to five cards, as in `BucketTables`, of this board alone."""
    live = live_hands(board)
    # Hands that win as much have the very same equity: all meet as many hands.
    return _percentiles(against_range(board, live.astype(np.float64)), live, buckets)


def table_row(board: tuple[int, ...], keys: Int64, table: Array) -> Int64:
    """int64[1326]: each hand's number in a board's row of a table, such as `BucketTables.flops`."""
    key, order = _keys(np.array([board], dtype=np.int64))
    row: Int64 = table[np.searchsorted(keys, key[0])][permuted_hands(_ORDERS[order[0]])].astype(np.int64)
    return row


def _percentiles(wins: Array, live: Bool, buckets: int) -> Int64:
    """int64[1326]: buckets * (hands that win less + half of those that win as much) / hands, of those on the board."""
    values = wins[live]
    ordered, out = np.sort(values), np.zeros(HANDS, dtype=np.int64)
    places = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    out[live] = buckets * places // (2 * len(ordered))
    return out


def _keys(boards: Int64) -> tuple[Int64, Int64]:
    """int64[N] twice: the masks of ranks of each board's suits, the largest first, and the exchange that sorts them."""
    masks = np.zeros((len(boards), 4), dtype=np.int64)
    for column in boards.T:
        masks[np.arange(len(boards)), column % 4] |= np.int64(1) << (column // 4)
    suits = np.argsort(-masks, axis=1, kind="stable")
    ordered, to = np.take_along_axis(masks, suits, axis=1), np.argsort(suits, axis=1)
    key = ordered @ (np.int64(1) << np.array([39, 26, 13, 0]))
    numbers = np.zeros(256, dtype=np.int64)
    for k, order in enumerate(_ORDERS):
        numbers[_number(np.array(order))] = k
    return key, numbers[_number(to)]


def _number(order: Int64) -> Int64:
    number: Int64 = order @ np.array([64, 16, 4, 1])
    return number


def later_boards(boards: Int64) -> CanonicalBoards:
    """These boards, int64[N, K], with each further card."""
    count, known = boards.shape
    cards = np.tile(np.arange(CARDS), (count, 1))
    free = (cards[:, :, None] != boards[:, None, :]).all(axis=2)
    every = np.concatenate([np.repeat(boards, CARDS - known, axis=0), cards[free][:, None]], axis=1)
    key, order = _keys(every)
    keys, first, row = np.unique(key, return_index=True, return_inverse=True)
    suits = np.array(_ORDERS)[order[first]]
    new = every[first]
    new = np.sort(4 * (new // 4) + np.take_along_axis(suits, new % 4, axis=1), axis=1)
    shape = (count, CARDS - known)
    return CanonicalBoards(new, keys, row.reshape(shape), order.reshape(shape))


def _kernel(function: Callable[..., None]) -> Callable[..., None]:
    return cached(function, _WITH_ARRAYS)


@_kernel
def _river_wins(boards: Int64, wins: Array) -> None:
    """Write into uint16[N, 1326] the halves that each hand wins of all others on full boards, a tie being one."""
    everyone, equities = np.ones(HANDS), np.empty(HANDS)
    for b in range(len(boards)):
        range_equities(boards[b], everyone, equities)
        for hand in range(HANDS):
            wins[b, hand] = np.uint16(equities[hand] * _HALVES + 0.5)


@_kernel
def _add_wins(wins: Array, row: Int64, order: Int64, to: Int32, sums: Array) -> None:
    """sums[b, hand] += wins of the hand on board b with each further card; 0 where it holds that card."""
    for b in range(len(row)):
        for c in range(row.shape[1]):
            source, suits = wins[row[b, c]], to[order[b, c]]
            for hand in range(HANDS):
                sums[b, hand] += source[suits[hand]]


@_kernel
def _river_percentiles(wins: Array, boards: Int64, buckets: int, out: Array) -> None:
    """As `_percentiles`, counted: on the river a hand has few different numbers of wins."""
    below = np.empty(_HALVES + 2, dtype=np.int64)
    live = np.empty(HANDS, dtype=np.bool_)
    for b in range(len(boards)):
        below[:] = 0
        for hand in range(HANDS):
            live[hand] = True
            for k in range(5):
                live[hand] = live[hand] and LOW[hand] != boards[b, k] and HIGH[hand] != boards[b, k]
            if live[hand]:
                below[wins[b, hand] + 1] += 1
        for k in range(1, _HALVES + 2):
            below[k] += below[k - 1]
        for hand in range(HANDS):
            if live[hand]:
                k = wins[b, hand]
                out[b, hand] = buckets * (below[k] + below[k + 1]) // (2 * below[_HALVES + 1])
