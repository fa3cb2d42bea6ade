"""The order of hold'em hands on a full board, from phevaluator, cached for the boards used last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sog.arrays import Float64, Int32
from sog.errors import GameError
from sog.games.holdem.cards import HANDS, HIGH, LOW, live_hands

FULL_BOARD = 5


@dataclass(frozen=True, eq=False)
class Ladder:
    """The hands that a full board leaves, weakest first (H = 1,081 hands).

    hands: int32[H], hand numbers.  ends: int32[H], for each of them the end of its run of equal hands.
    """

    hands: Int32
    ends: Int32

    def places(self) -> Int32:
        """int32[1326]: the run of equal hands each hand is in, counted from the weakest; -1 off the board."""
        out = np.full(HANDS, -1, dtype=np.int32)
        out[self.hands] = np.unique(self.ends, return_inverse=True)[1]
        return out


def ladder(board: tuple[int, ...]) -> Ladder:
    """The order of hands on five board cards; GameError without phevaluator."""
    return _ladder(tuple(sorted(board)))


def showdown_signs(board: tuple[int, ...]) -> Float64:
    """float64[1326, 1326]: 1 where the first hand beats the second, -1 where it loses, 0 for ties and dead hands."""
    place = ladder(board).places()
    live = (place >= 0).astype(np.float64)
    signs: Float64 = np.sign(place[:, None] - place[None, :]) * live[:, None] * live[None, :]
    return signs


def ranks_of(board: tuple[int, ...], hands: Int32) -> Int32:
    """int32[H]: phevaluator's rank of each hand on five board cards; 1, a royal flush, is the best.

    GameError without phevaluator or on another number of cards.
    """
    try:
        from phevaluator.evaluator import evaluate_7cards
    except ImportError:
        raise GameError("holdem needs the package phevaluator: pip install 'sog[poker]'") from None
    if len(board) != FULL_BOARD:
        raise GameError(f"hands are ordered on {FULL_BOARD} board cards, not {len(board)}")
    return np.array([evaluate_7cards(*board, int(LOW[h]), int(HIGH[h])) for h in hands], dtype=np.int32)


@lru_cache(maxsize=4096)
def _ladder(board: tuple[int, ...]) -> Ladder:
    hands = np.flatnonzero(live_hands(board)).astype(np.int32)
    ranks = ranks_of(board, hands)
    order = np.argsort(-ranks, kind="stable")
    ends = np.searchsorted(-ranks[order], -ranks[order], side="right").astype(np.int32)
    return Ladder(hands[order], ends)
