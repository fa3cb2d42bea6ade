"""The tables by which a network over hold'em's hands sees how each does against both ranges over boards to come.

sog/nets/hand_inputs.py reads them. A hand-made input.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple, TypeGuard

import numpy as np

from sog.arrays import Array, Float32
from sog.games.base import Game
from sog.games.holdem.cards import CARDS, HIGH, LOW
from sog.games.holdem.game import Holdem
from sog.games.holdem.inputs import STRENGTH, equity_against_all, slots
from sog.games.holdem.strength import FULL_BOARD, ladder

__all__ = ["BINS", "SPREAD", "WIDTH", "BoardTable", "board_table", "boards_to_come", "has_hand_inputs", "live_slots"]

BINS: Final = 8  # points in [0, 1] over which win chances are spread
SPREAD: Final = 2 + BINS  # numbers that say how a hand does against a range

# Numbers a hand: its spread against the opponent's range and against its own, its equity against all hands, the share
# of the opponent's range that it may meet, and log(1 + its own weight), which is 1 in a uniform range.
WIDTH: Final = 2 * SPREAD + 3

_TABLES: Final = 256  # boards that are kept, of 0.2 MB each
# Full boards that are looked at: on the turn all 48; before it there are too many, and a fixed part of them is taken.
_EVERY: Final = 49  # on the flop 24 of 1,176: each 49th
_BEFORE_FLOP: Final = 24  # of 2,598,960, drawn once


class BoardTable(NamedTuple):
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


@lru_cache(maxsize=_TABLES)
def board_table(board: tuple[int, ...]) -> BoardTable:
    place = slots(STRENGTH, board)
    live = live_slots(len(board))
    low, high = np.zeros(live, dtype=np.int16), np.zeros(live, dtype=np.int16)
    hands = np.flatnonzero(place < live)
    low[place[hands]], high[place[hands]] = LOW[hands], HIGH[hands]
    pair = np.full((CARDS, CARDS), -1, dtype=np.int16)
    pair[LOW[hands], HIGH[hands]] = pair[HIGH[hands], LOW[hands]] = place[hands]
    dealt = boards_to_come(board)
    ladders = [ladder((*board, *more)) for more in dealt]
    equity = np.zeros(live, dtype=np.float32)
    equity[place[hands]] = 2.0 * equity_against_all(board)[hands] - 1.0
    return BoardTable(
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
