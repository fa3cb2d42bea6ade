"""What hold'em hands are worth if both players check to the end, which a network's values are added to.

Most of a hand's value is its win chance, which needs no learning; a network then learns what the betting changes. It is
a hand-made input, and counts as one wherever a network is compared with others. The game's `inputs=paper` has none.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Final

import numpy as np

from sog.arrays import Float32, Float64
from sog.games.holdem import scores
from sog.games.holdem.betting import BOARD_CARDS, RIVER
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, disjoint_pairs
from sog.games.holdem.equity import BOARDS, preflop_signs

__all__ = ["checked_down"]

_FULL: Final = BOARD_CARDS[RIVER]
_KEPT: Final = 24  # matrices of 7 MB: a searching process uses few boards at a time


def checked_down(board: tuple[int, ...], ranges: tuple[Float64, Float64]) -> tuple[Float64, Float64]:
    """float64[B, 1326] of both players: shares of half the pot, in [-1, 1], conditional on the hand.

    v[i] = (sum over j of sign[i, j] r[j]) / (sum over j of apart[i, j] r[j]), 0 where the divisor is; sign: how often
    hand i wins less how often it loses over the boards to come, 0 for hands that share a card.
    board: its cards.  ranges: float64[B, 1326] of both players.  A new flop takes 0.15 s; without a board the table of
    all pairs of hands is read, which is counted once (equity.py).
    """
    # Both at once: reading the matrix takes most of the time.
    shares = _shares(_signs(tuple(sorted(board))), np.concatenate(ranges[::-1]))
    return shares[: len(ranges[0])], shares[len(ranges[0]) :]


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
    if not board:
        return preflop_signs().astype(np.float32) / np.float32(BOARDS)
    cards, missing = [card for card in range(CARDS) if card not in board], _FULL - len(board)
    full = np.array([(*board, *more) for more in combinations(cards, missing)], dtype=np.int64)
    table = np.zeros((HANDS, HANDS), dtype=np.int32)
    scores.add_signs(full, np.ones(len(full), dtype=np.int32), table)
    # The kernel fills the part above the diagonal. Beside two hands fewer boards may come: on the turn 44 of 48.
    beside = comb(CARDS - len(board) - 4, missing)
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
