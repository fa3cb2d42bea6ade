"""The order of hold'em hands on a full board, cached for the boards used last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sog.arrays import Float64, Int32
from sog.errors import GameError
from sog.games.holdem.cards import HANDS
from sog.games.holdem.scores import score_board

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
    """The order of hands on five board cards."""
    return _ladder(tuple(sorted(board)))


def showdown_signs(board: tuple[int, ...]) -> Float64:
    """float64[1326, 1326]: 1 where the first hand beats the second, -1 where it loses, 0 for ties and dead hands."""
    place = ladder(board).places()
    live = (place >= 0).astype(np.float64)
    signs: Float64 = np.sign(place[:, None] - place[None, :]) * live[:, None] * live[None, :]
    return signs


def ranks_of(board: tuple[int, ...], hands: Int32) -> Int32:
    """int32[H]: the order of each hand on five board cards, lower is better, equal hands alike.

    GameError on another number of cards.
    """
    ranks: Int32 = -_scores(board)[hands]
    return ranks


def _scores(board: tuple[int, ...]) -> Int32:
    """int32[1326]: the higher wins; -1 for hands that share a card with the board."""
    if len(board) != FULL_BOARD:
        raise GameError(f"hands are ordered on {FULL_BOARD} board cards, not {len(board)}")
    scores = np.empty(HANDS, dtype=np.int32)
    score_board(np.array(board, dtype=np.int64), scores)
    return scores


@lru_cache(maxsize=4096)
def _ladder(board: tuple[int, ...]) -> Ladder:
    scores = _scores(board)
    hands = np.flatnonzero(scores >= 0).astype(np.int32)
    ordered = np.argsort(scores[hands], kind="stable")
    hands = hands[ordered]
    ends = np.searchsorted(scores[hands], scores[hands], side="right").astype(np.int32)
    return Ladder(hands, ends)
