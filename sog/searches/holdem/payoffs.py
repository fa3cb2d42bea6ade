"""Payoffs of float32 hand vectors: folds by inclusion-exclusion, showdowns by one pass over ordered hands.

A hand vector has a number for each hand that the board leaves, in the order of hand numbers: the rows of a triangle
over the live cards, one after another. A showdown reads LANES32 of them at once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float32, Int32
from sog.searches.kernels.jit import inlined
from sog.searches.kernels.registers import sum_of
from sog.searches.kernels.vectors import LANES32, aligned, load, load_span, splat, store, store_span, transpose

__all__ = ["ZERO", "Order", "Workspace", "fold_values", "make_workspace", "scratch_floats", "showdown_batch"]

U = np.uint64
ZERO: Final = np.float32(0.0)
HALF: Final = np.float32(0.5)
_CARD_BLOCKS: Final = 64  # blocks of LANES32 sums that `showdown_batch` keeps by card: 52, rounded up


class Workspace(NamedTuple):
    """What a thread sweeps over."""

    reach: Float32  # float32[*]: hand vectors of the reach of the player whose values are not computed
    values: Float32  # float32[*]: hand vectors of values
    scratch: Float32  # float32[scratch_floats(width)]


class Order(NamedTuple):
    """The H hands on a full board: from the weakest on, and as they are in a hand vector.

    Hands are numbered within a hand vector and cards among the live ones; the numbers here are LANES32 times that.
    """

    hand: Int32  # int32[H]: from the weakest on
    low: Int32  # int32[H]: its two cards
    high: Int32  # int32[H]
    ends: Int32  # int32[H]: where its run of equal hands ends
    held_low: Int32  # int32[H]: the two cards of each hand of a hand vector
    held_high: Int32  # int32[H]


def make_workspace(reach_vectors: int, value_vectors: int, width: int, widest: int) -> Workspace:
    """A workspace of zeros: this many vectors of `width` floats, and scratch for vectors of `widest` floats."""
    return Workspace(aligned(reach_vectors * width), aligned(value_vectors * width), aligned(scratch_floats(widest)))


def scratch_floats(width: int) -> int:
    """How long a workspace's scratch is for hand vectors of at most `width` floats."""
    return (2 * width + _CARD_BLOCKS) * LANES32


@inlined
def fold_values(work: Workspace, reach: np.uint64, value: np.uint64, cards: int, amount: np.float32) -> None:
    """Values of hands after a fold: amount * the reach of the hands that share no card with each of them.

    value(a, b) = amount * (T - C[a] - C[b] + reach(a, b)) for a hand of cards a, b: T is the reach of all hands, C[c]
    of those that hold card c; the hand itself is in both C[a] and C[b]. In chips, weighed by reach.

    reach, value: where the two vectors begin in the workspace.  cards: how many are live, at most 48.
    Lane k of register b is card 16 b + k throughout, so that the sums over a card's hands stay in registers.
    """
    lanes, last, by_card = U(LANES32), np.int64(cards), work.scratch
    # Pass 1. Row c of the triangle has the hands (c, d), d > c, in lane d: down the rows lane d sums what card d is the
    # higher card of, and along row c goes what card c is the lower card of.
    sums0, sums1, sums2 = splat(ZERO), splat(ZERO), splat(ZERO)
    # Lane d of row c is hand (c, d): so row 0, which begins with d = 1, has lane 0 one place before the vector.
    at = U(reach) - U(1)  # where card 0 would lie in the row of the triangle
    for c in range(last):
        x0 = load_span(work.reach, at, c + 1, last)
        x1 = load_span(work.reach, at + lanes, c + 1 - LANES32, last - LANES32)
        x2 = load_span(work.reach, at + lanes + lanes, c + 1 - 2 * LANES32, last - 2 * LANES32)
        sums0, sums1, sums2 = sums0 + x0, sums1 + x1, sums2 + x2
        by_card[U(c)] = sum_of(x0 + x1 + x2)
        # The next row has one hand fewer, and begins one lane later.
        at += U(last - c - 2)
    # Lanes behind the live cards count nothing.
    for c in range(last, 3 * LANES32):
        by_card[U(c)] = ZERO
    # C[c] = what c is the higher card of + what it is the lower card of.
    sums0 = sums0 + load(by_card, U(0))
    sums1 = sums1 + load(by_card, lanes)
    sums2 = sums2 + load(by_card, lanes + lanes)
    store(by_card, U(0), sums0)
    store(by_card, lanes, sums1)
    store(by_card, lanes + lanes, sums2)
    # Each hand has two cards: T = (sum over c of C[c]) / 2.
    total = sum_of(sums0 + sums1 + sums2) * HALF
    at, to, scale = U(reach) - U(1), U(value) - U(1), splat(amount)
    # Pass 2, the same rows: T - C[c] in all lanes, less C[d], plus the hand's own reach.
    for c in range(last):
        rest = splat(total - by_card[U(c)])
        x0 = load_span(work.reach, at, c + 1, last)
        x1 = load_span(work.reach, at + lanes, c + 1 - LANES32, last - LANES32)
        x2 = load_span(work.reach, at + lanes + lanes, c + 1 - 2 * LANES32, last - 2 * LANES32)
        store_span(work.values, to, c + 1, last, scale * (rest - sums0 + x0))
        store_span(work.values, to + lanes, c + 1 - LANES32, last - LANES32, scale * (rest - sums1 + x1))
        store_span(
            work.values, to + lanes + lanes, c + 1 - 2 * LANES32, last - 2 * LANES32, scale * (rest - sums2 + x2)
        )
        at += U(last - c - 2)
        to += U(last - c - 2)


@inlined
def showdown_batch(
    work: Workspace, first: np.uint64, width: np.uint64, order: Order, count: np.uint64, amounts: Array, at: np.uint64
) -> None:
    """Values at LANES32 showdowns at once, from the vectors of reach of the same numbers.

    values[h] = amount * (weaker - stronger): the reach of the weaker and of the stronger hands that share no card
    with h. One lane a showdown; below, C[a] and C[b] are the sums of by_card at the two cards of a hand.

    first: where the first of these vectors begins in reach and in values.  count: of hands.
    amounts[at...]: each showdown's chips.
    """
    lanes = U(LANES32)
    # Scratch: reach [width, LANES32], values [width, LANES32], sums by card [_CARD_BLOCKS, LANES32].
    gained = width * lanes
    by_card = gained + gained
    scratch = work.scratch
    for c in range(U(_CARD_BLOCKS)):
        store(scratch, by_card + c * lanes, splat(ZERO))
    # From a vector a showdown to a register a hand.
    for k in range(U(0), width, lanes):
        transpose(work.reach, first + k, width, scratch, k * lanes, lanes)
    # `total` and `by_card` count the hands of the runs so far, from the weakest on.
    total, run = splat(ZERO), U(0)
    while run < count:
        end = U(order.ends[run])
        # weaker = total - C[a] - C[b]: the hand itself is not in the sums yet, so nothing is subtracted twice.
        for j in range(run, end):
            a, b = by_card + U(order.low[j]), by_card + U(order.high[j])
            store(scratch, gained + U(order.hand[j]), total - load(scratch, a) - load(scratch, b))
        # The run of equal hands joins the sums.
        for j in range(run, end):
            a, b = by_card + U(order.low[j]), by_card + U(order.high[j])
            x = load(scratch, U(order.hand[j]))
            total = total + x
            store(scratch, a, load(scratch, a) + x)
            store(scratch, b, load(scratch, b) + x)
        # Both C[a] and C[b] count the hand itself now: this adds weaker + equal - reach, equal without the hand.
        for j in range(run, end):
            a, b = by_card + U(order.low[j]), by_card + U(order.high[j])
            to = gained + U(order.hand[j])
            store(scratch, to, load(scratch, to) + (total - load(scratch, a) - load(scratch, b)))
        run = end
    scale = load(amounts, at)
    for i in range(count):
        a, b, to = by_card + U(order.held_low[i]), by_card + U(order.held_high[i]), gained + i * lanes
        # rest = weaker + equal + stronger - reach; what was gained less rest is weaker - stronger.
        rest = total - load(scratch, a) - load(scratch, b)
        store(scratch, to, scale * (load(scratch, to) - rest))
    # Back to a vector a showdown.
    for k in range(U(0), width, lanes):
        transpose(scratch, gained + k * lanes, lanes, work.values, first + k, width)
