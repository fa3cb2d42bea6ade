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

from sog.arrays import Array, Float32, Float64
from sog.games.holdem import scores
from sog.games.holdem.betting import BOARD_CARDS, RIVER
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, disjoint_pairs
from sog.games.holdem.equity import BOARDS, preflop_signs
from sog.games.holdem.strength import ladder
from sog.games.kernels import fused_kernel, kernel

__all__ = ["checked_down"]

_FULL: Final = BOARD_CARDS[RIVER]
_MOST_BOARDS: Final = 24  # matrices of 7 MB: a searching process uses few boards at a time
_SIDE: Final = 4  # rows and columns that a product takes at a time


def checked_down(board: tuple[int, ...], ranges: tuple[Float64, Float64]) -> tuple[Float64, Float64]:
    """float64[B, 1326] of both players: shares of half the pot, in [-1, 1], conditional on the hand.

    v[i] = (sum over j of sign[i, j] r[j]) / (sum over j of apart[i, j] r[j]), 0 where the divisor is; sign: how often
    hand i wins less how often it loses over the boards to come, 0 for hands that share a card.
    board: its cards.  ranges: float64[B, 1326] of both players.  A new flop takes 0.15 s; without a board the table of
    all pairs of hands is read, which is counted once (equity.py).
    """
    # Both at once: reading a matrix takes most of the time.
    against = np.concatenate(ranges[::-1])
    if len(board) == _FULL:
        order, shares = ladder(board), np.zeros_like(against)
        _on_full_board(order.hands, order.ends, LOW, HIGH, against, shares)
    else:
        shares = _shares(_signs(tuple(sorted(board))), against)
    return shares[: len(ranges[0])], shares[len(ranges[0]) :]


@kernel
def _on_full_board(hands: Array, ends: Array, low: Array, high: Array, ranges: Array, shares: Array) -> None:
    """shares[b, i] = (weaker - stronger) / met, the range's weights of hands that share no card with i; else 0.

    One pass from the weakest hand on, with sums by card: met = T - C[low] - C[high] + r[i], and likewise of the hands
    so far. As in `_shares`, 0 where next to none of the range is met.
    hands, ends: of a Ladder.  low, high: int32[1326].  ranges, shares: float64[B, 1326].
    """
    count = len(hands)
    whole, upto, below = np.zeros(52), np.zeros(52), np.zeros(52)
    for b in range(len(ranges)):
        whole[:], upto[:], below[:] = 0.0, 0.0, 0.0
        total, most = 0.0, 0.0
        for k in range(count):
            i = hands[k]
            total += ranges[b, i]
            whole[low[i]] += ranges[b, i]
            whole[high[i]] += ranges[b, i]
        for k in range(count):
            i = hands[k]
            most = max(most, total - whole[low[i]] - whole[high[i]] + ranges[b, i])
        so_far, before, k = 0.0, 0.0, 0
        while k < count:
            stop = ends[k]
            # A run of equal hands joins the sums `upto`; `below` has those before it.
            for at in range(k, stop):
                i = hands[at]
                so_far += ranges[b, i]
                upto[low[i]] += ranges[b, i]
                upto[high[i]] += ranges[b, i]
            for at in range(k, stop):
                i = hands[at]
                met = total - whole[low[i]] - whole[high[i]] + ranges[b, i]
                weaker = before - below[low[i]] - below[high[i]]
                # Hand i itself is among the equals, and is taken away twice by its cards.
                weaker_or_equal = so_far - upto[low[i]] - upto[high[i]] + ranges[b, i]
                if met > 1e-6 * most:
                    shares[b, i] = (weaker + weaker_or_equal - met) / met
            for at in range(k, stop):
                i = hands[at]
                below[low[i]], below[high[i]] = upto[low[i]], upto[high[i]]
            before, k = so_far, stop


def _shares(signs: Float32, ranges: Float64) -> Float64:
    won = np.zeros((-len(ranges) % _SIDE + len(ranges), HANDS), dtype=np.float32)
    padded = np.zeros((len(won), len(signs)), dtype=np.float32)
    padded[: len(ranges), :HANDS] = ranges
    shares = np.zeros(ranges.shape)
    _win(signs, padded, won)
    _divide(won, LOW, HIGH, ranges, shares)
    return shares


@fused_kernel
def _win(signs: Array, ranges: Array, won: Array) -> None:
    """won[b, i] = sum over j of sign[i, j] * r[b, j], j from 0 up: -sign[j, i] is sign[i, j].

    No matrix product of NumPy's, whose last bits depend on the processor.
    signs: float32[1328, 1326].  ranges: float32[B, 1328], B a multiple of 4.  won: float32[B, 1326], zeros.
    """
    # Four ranges times four rows of signs: what is loaded once serves sixteen products. 256 columns stay in the cache.
    for begin in range(0, won.shape[1], 256):
        end = min(begin + 256, won.shape[1])
        for b in range(0, len(ranges), 4):
            p, q, r, s = won[b, begin:end], won[b + 1, begin:end], won[b + 2, begin:end], won[b + 3, begin:end]
            for j in range(0, len(signs), 4):
                p0, p1, p2, p3 = ranges[b, j], ranges[b, j + 1], ranges[b, j + 2], ranges[b, j + 3]
                q0, q1, q2, q3 = ranges[b + 1, j], ranges[b + 1, j + 1], ranges[b + 1, j + 2], ranges[b + 1, j + 3]
                r0, r1, r2, r3 = ranges[b + 2, j], ranges[b + 2, j + 1], ranges[b + 2, j + 2], ranges[b + 2, j + 3]
                s0, s1, s2, s3 = ranges[b + 3, j], ranges[b + 3, j + 1], ranges[b + 3, j + 2], ranges[b + 3, j + 3]
                w, x = signs[j, begin:end], signs[j + 1, begin:end]
                y, z = signs[j + 2, begin:end], signs[j + 3, begin:end]
                for i in range(end - begin):
                    p[i] = p[i] - p0 * w[i] - p1 * x[i] - p2 * y[i] - p3 * z[i]
                    q[i] = q[i] - q0 * w[i] - q1 * x[i] - q2 * y[i] - q3 * z[i]
                    r[i] = r[i] - r0 * w[i] - r1 * x[i] - r2 * y[i] - r3 * z[i]
                    s[i] = s[i] - s0 * w[i] - s1 * x[i] - s2 * y[i] - s3 * z[i]


@kernel
def _divide(won: Array, low: Array, high: Array, ranges: Array, shares: Array) -> None:
    """shares[b, i] = won[b, i] / met[b, i], with met = T - C[low] - C[high] + r[i]; 0 where next to none is met.

    T: the range's weight.  C: that of the hands with a card.  shares: zeros.
    """
    met = np.zeros(ranges.shape[1])
    for b in range(len(ranges)):
        r, whole, total, most = ranges[b], np.zeros(52), 0.0, 0.0
        for i in range(len(r)):
            total += r[i]
            whole[low[i]] += r[i]
            whole[high[i]] += r[i]
        for i in range(len(r)):
            met[i] = total - whole[low[i]] - whole[high[i]] + r[i]
            most = max(most, met[i])
        for i in range(len(r)):
            if met[i] > 1e-6 * most:
                shares[b, i] = won[b, i] / met[i]


@lru_cache(maxsize=_MOST_BOARDS)
def _signs(board: tuple[int, ...]) -> Float32:
    """float32[1328, 1326]: at [i, j] how often hand i wins against j less how often it loses; then rows of zeros."""
    signs = np.zeros((-HANDS % _SIDE + HANDS, HANDS), dtype=np.float32)
    if not board:
        signs[:HANDS] = preflop_signs().astype(np.float32) / np.float32(BOARDS)
        return signs
    cards, missing = [card for card in range(CARDS) if card not in board], _FULL - len(board)
    full = np.array([(*board, *more) for more in combinations(cards, missing)], dtype=np.int64)
    table = np.zeros((HANDS, HANDS), dtype=np.int32)
    scores.add_signs(full, np.ones(len(full), dtype=np.int32), table)
    # The kernel fills the part above the diagonal. Beside two hands fewer boards may come: on the turn 44 of 48.
    beside = comb(CARDS - len(board) - 4, missing)
    signs[:HANDS] = (table - table.T).astype(np.float32) * _apart() / np.float32(beside)
    return signs


@lru_cache(maxsize=1)
def _apart() -> Float32:
    """float32[1326, 1326]: 1 where two hands share no card."""
    return disjoint_pairs().astype(np.float32)
