"""What a network that treats hold'em hands alike sees of each: how it does against both ranges over boards to come.

It reads encoded beliefs (sog.nets.encode) of `inputs=strength`, whose features name the board. A hand-made input.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple, TypeGuard

import numpy as np

from sog.arrays import Array, Float32
from sog.games.base import Game
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW
from sog.games.holdem.game import Holdem
from sog.games.holdem.inputs import STRENGTH, equity_against_all, slots
from sog.games.holdem.strength import FULL_BOARD, ladder
from sog.games.kernels import kernel

__all__ = ["WIDTH", "boards_to_come", "hand_inputs", "has_hand_inputs", "live_slots"]

_BINS: Final = 8  # points in [0, 1] over which win chances are spread
_SPREAD: Final = 2 + _BINS  # numbers that say how a hand does against a range

# Numbers a hand: its spread against the opponent's range and against its own, its equity against all hands, the share
# of the opponent's range that it may meet, and log(1 + its own weight), which is 1 in a uniform range.
WIDTH: Final = 2 * _SPREAD + 3

_TABLES: Final = 256  # boards that are kept, of 0.2 MB each
# Full boards that are looked at: on the turn all 48; before it there are too many, and a fixed part of them is taken.
_EVERY: Final = 49  # on the flop 24 of 1,176: each 49th
_BEFORE_FLOP: Final = 24  # of 2,598,960, drawn once


class _BoardTable(NamedTuple):
    """The hands of a board by slot, and their order on each full board that is looked at (R of them).

    dealt: int16[R, K], the cards to come.  order, ends: int16[R, H], the live hands' slots, weakest first, and for
    each of them the end of its run of equal hands.  low, high: int16[L], the cards of the slots that the board leaves.
    pair: int16[52, 52], the slot of two cards, -1 unless a live hand.  equity: float32[L], against all hands, in
    [-1, 1].
    """

    dealt: Array
    order: Array
    ends: Array
    low: Array
    high: Array
    pair: Array
    equity: Float32


def has_hand_inputs(game: Game) -> TypeGuard[Holdem]:
    """Whether it is hold'em with `inputs=strength`."""
    return isinstance(game, Holdem) and game.has_baseline


def live_slots(cards: int) -> int:
    """How many hands a board of this many cards leaves; they have the first slots."""
    return (CARDS - cards) * (CARDS - cards - 1) // 2


def hand_inputs(x: Float32) -> Float32:
    """float32[B, 2, L, WIDTH]: of each player's hands by slot, L = `live_slots` of the smallest board.

    x: float32[B, >= F + 2652], encoded beliefs: features, of which the first 52 name the board, then last both ranges.
    Slots that a larger board leaves out have zeros. Before the turn, spreads are over some of the boards to come.
    """
    boards = [tuple(int(card) for card in np.flatnonzero(row)) for row in x[:, :CARDS] > 0]
    most = live_slots(min(map(len, boards), default=FULL_BOARD))
    out = np.zeros((len(x), 2, most, WIDTH), dtype=np.float32)
    for k, board in enumerate(boards):
        table = _table(board)
        live = len(table.low)
        ranges = x[k, x.shape[1] - 2 * HANDS :].reshape(2, HANDS)[:, :live].T.astype(np.float64)
        spread, met = np.zeros((live, 2, _SPREAD)), np.zeros((live, 2))
        _spread(table, ranges, spread, met)
        for p in (0, 1):
            own = out[k, p, :live]
            own[:, :_SPREAD], own[:, _SPREAD : 2 * _SPREAD] = spread[:, 1 - p], spread[:, p]
            own[:, -3], own[:, -2], own[:, -1] = table.equity, met[:, 1 - p], np.log1p(ranges[:, p])
    return out


@lru_cache(maxsize=_TABLES)
def _table(board: tuple[int, ...]) -> _BoardTable:
    place = slots(STRENGTH, board)
    live = live_slots(len(board))
    low, high = np.zeros(live, dtype=np.int16), np.zeros(live, dtype=np.int16)
    kept = np.flatnonzero(place < live)
    low[place[kept]], high[place[kept]] = LOW[kept], HIGH[kept]
    pair = np.full((CARDS, CARDS), -1, dtype=np.int16)
    pair[LOW[kept], HIGH[kept]] = pair[HIGH[kept], LOW[kept]] = place[kept]
    dealt = boards_to_come(board)
    ladders = [ladder((*board, *more)) for more in dealt]
    equity = np.zeros(live, dtype=np.float32)
    equity[place[kept]] = 2.0 * equity_against_all(board)[kept] - 1.0
    return _BoardTable(
        np.array(dealt, dtype=np.int16).reshape(len(dealt), FULL_BOARD - len(board)),
        np.array([place[rungs.hands] for rungs in ladders], dtype=np.int16),
        np.array([rungs.ends for rungs in ladders], dtype=np.int16),
        low,
        high,
        pair,
        equity,
    )


def boards_to_come(board: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The cards that may come to make a full board, each a tuple: all of them on the turn, some before it."""
    cards = [card for card in range(CARDS) if card not in board]
    if board:
        every = list(combinations(cards, FULL_BOARD - len(board)))
        return every[::_EVERY] if len(every) > CARDS else every
    rng = np.random.default_rng(0)
    drawn = [rng.choice(CARDS, FULL_BOARD, replace=False) for _ in range(_BEFORE_FLOP)]
    return [tuple(sorted(int(card) for card in cards)) for cards in drawn]


@kernel
def _spread(table: _BoardTable, ranges: Array, spread: Array, met: Array) -> None:
    """Of each hand and each player's range: the mean over full boards of 2 p - 1, of p^2, and of p spread over bins.

    On a full board p[i] = (sum of w[j] over weaker j + half of the sum over equal j) / (sum over all j), over hands j
    that share no card with i. Sums over hands with a card are taken away by card, as every hand has two.
    p is spread linearly over the two nearest of the points 0, 1 / (bins - 1), ..., 1.
    ranges: float64[L, 2].  spread: float64[L, 2, 2 + bins].  met: float64[L, 2], the share of the range without i's
    cards. Both are written.
    """
    dealt, order, ends, low, high, pair = table.dealt, table.order, table.ends, table.low, table.high, table.pair
    live, bins = len(low), spread.shape[2] - 2
    whole = np.zeros((52, 2))  # each range's weight with a card
    total = np.zeros(2)
    for i in range(live):
        for q in range(2):
            w = ranges[i, q]
            total[q] += w
            whole[low[i], q] += w
            whole[high[i], q] += w
    boards = np.zeros((live, 2))
    by_card, below, run = np.zeros((52, 2)), np.zeros(2), np.zeros(2)
    on_board, mass = np.zeros((52, 2)), np.zeros(2)
    for r in range(len(dealt)):
        # The ranges without the hands that hold a card to come: less each card's hands, and those of two cards once.
        for q in range(2):
            mass[q] = total[q]
            below[q] = 0.0
            for card in range(52):
                on_board[card, q] = whole[card, q]
                by_card[card, q] = 0.0
        for k in range(dealt.shape[1]):
            for q in range(2):
                mass[q] -= whole[dealt[r, k], q]
            for other in range(k):
                both = pair[dealt[r, k], dealt[r, other]]
                for q in range(2):
                    mass[q] += ranges[both, q]
            for card in range(52):
                at = pair[dealt[r, k], card]
                if at >= 0:
                    for q in range(2):
                        on_board[card, q] -= ranges[at, q]
        k, count = 0, order.shape[1]
        while k < count:
            stop = ends[r, k]
            # One run of equal hands: half of it counts as weaker.
            run[0] = run[1] = 0.0
            for at in range(k, stop):
                i = order[r, at]
                for q in range(2):
                    half = 0.5 * ranges[i, q]
                    run[q] += half
                    by_card[low[i], q] += half
                    by_card[high[i], q] += half
            for at in range(k, stop):
                i = order[r, at]
                for q in range(2):
                    w = ranges[i, q]
                    # i itself has both of its cards, and was taken away twice.
                    apart = mass[q] - on_board[low[i], q] - on_board[high[i], q] + w
                    if apart > 1e-9 * mass[q]:
                        won = below[q] + run[q] - by_card[low[i], q] - by_card[high[i], q] + 0.5 * w
                        p = min(max(won / apart, 0.0), 1.0)
                        place = p * (bins - 1)
                        left = min(int(place), bins - 2)
                        spread[i, q, 0] += 2.0 * p - 1.0
                        spread[i, q, 1] += p * p
                        spread[i, q, 2 + left] += 1.0 - (place - left)
                        spread[i, q, 3 + left] += place - left
                        boards[i, q] += 1.0
            for at in range(k, stop):
                i = order[r, at]
                for q in range(2):
                    half = 0.5 * ranges[i, q]
                    by_card[low[i], q] += half
                    by_card[high[i], q] += half
            for q in range(2):
                below[q] += 2.0 * run[q]
            k = stop
    for i in range(live):
        for q in range(2):
            if total[q] > 0.0:
                met[i, q] = (total[q] - whole[low[i], q] - whole[high[i], q] + ranges[i, q]) / total[q]
            if boards[i, q] > 0.0:
                for column in range(spread.shape[2]):
                    spread[i, q, column] /= boards[i, q]
