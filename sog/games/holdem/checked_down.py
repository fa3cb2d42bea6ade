"""What hold'em hands are worth if both players check to the end; a network's values are added to it from the turn on.

Most of a hand's value is its win chance, which needs no learning; a network then learns what the betting changes. It is
a hand-made input, and counts as one wherever a network is compared with others. The game's `inputs=paper` has none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from sog.arrays import Float32, Float64
from sog.games.holdem import scores
from sog.games.holdem.betting import BOARD_CARDS, TURN
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, disjoint_pairs

__all__ = ["checked_down"]

_LEAST: Final = BOARD_CARDS[TURN]  # cards of a board; with fewer there are too many boards to come
_KEPT: Final = 24  # matrices of 7 MB: a searching process has few boards in hand


def checked_down(board: tuple[int, ...], ranges: tuple[Float64, Float64]) -> tuple[Float64, Float64] | None:
    """float64[B, 1326] of both players: shares of half the pot, in [-1, 1], conditional on the hand.

    v[i] = (sum over j of sign[i, j] r[j]) / (sum over j of apart[i, j] r[j]), 0 where the divisor is; sign: how often
    hand i wins less how often it loses over the boards to come, 0 for hands that share a card.
    board: its cards.  ranges: float64[B, 1326] of both players.  None before the turn.
    """
    if len(board) < _LEAST:
        return None
    signs = _signs(tuple(sorted(board)))
    return _shares(signs, ranges[1]), _shares(signs, ranges[0])


def _shares(signs: Float32, weights: Float64) -> Float64:
    narrow = weights.astype(np.float32)
    won = narrow @ signs.T
    # The weight of the hands that share no card with each: all, less those with either card, of which it is both.
    by_card = weights @ _holds()
    mass = weights.sum(axis=1, keepdims=True) - by_card[:, LOW] - by_card[:, HIGH] + weights
    least = 1e-6 * mass.max(axis=1, keepdims=True, initial=0.0)
    shares: Float64 = np.divide(won, mass, out=np.zeros_like(won), where=mass > least).astype(np.float64)
    return shares


@lru_cache(maxsize=_KEPT)
def _signs(board: tuple[int, ...]) -> Float32:
    """float32[1326, 1326]: how often the first hand wins less how often it loses, over the boards to come."""
    cards = [card for card in range(CARDS) if card not in board]
    full = [board] if len(board) > _LEAST else [(*board, card) for card in cards]
    table = np.zeros((HANDS, HANDS), dtype=np.int32)
    scores.add_signs(np.array(full, dtype=np.int64), np.ones(len(full), dtype=np.int32), table)
    # The kernel fills the part above the diagonal. Beside two hands, 44 of 48 cards may come.
    beside = 1 if len(full) == 1 else len(full) - 4
    signs: Float32 = (table - table.T).astype(np.float32) * _apart() / np.float32(beside)
    return signs


@lru_cache(maxsize=1)
def _holds() -> Float64:
    """float64[1326, 52]: 1 where a hand has a card."""
    has = np.zeros((HANDS, CARDS))
    has[np.arange(HANDS), LOW] = has[np.arange(HANDS), HIGH] = 1.0
    return has


@lru_cache(maxsize=1)
def _apart() -> Float32:
    """float32[1326, 1326]: 1 where two hands share no card."""
    return disjoint_pairs().astype(np.float32)
