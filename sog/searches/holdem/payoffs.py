"""Payoffs of float32 hand vectors: folds by inclusion-exclusion, showdowns by one pass over ordered hands.

A hand vector has a number for each hand that the board leaves, in the order of hand numbers: the rows of a triangle
over the live cards, one after another. A showdown reads LANES32 of them at once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float32, UInt32, UInt64
from sog.searches.kernels.jit import inlined
from sog.searches.kernels.registers import sum_of
from sog.searches.kernels.vectors import LANES32, aligned, load, load_span, splat, store, store_span, transpose

__all__ = [
    "BLOCK",
    "U0",
    "U1",
    "ZERO",
    "Order",
    "Workspace",
    "fold_values",
    "make_workspace",
    "scratch_floats",
    "showdown_batch",
]

ZERO: Final = np.float32(0.0)
HALF: Final = np.float32(0.5)
# What kernels index arrays with is unsigned: Numba tests a signed index for counting from the end. A place that only
# `load`, `store` and the like get is an address and may be signed, as it is where LANES32 is added.
U0: Final = np.uint64(0)
U1: Final = np.uint64(1)
# From one register of a vector to the next, where a sweep's loop counts: unsigned it takes 1 to 2% less time.
BLOCK: Final = np.uint64(LANES32)
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

    hand: UInt32  # uint32[H]: from the weakest on
    low: UInt32  # uint32[H]: its two cards
    high: UInt32  # uint32[H]
    ends: UInt64  # uint64[H]: where its run of equal hands ends
    held_low: UInt32  # uint32[H]: the two cards of each hand of a hand vector
    held_high: UInt32  # uint32[H]


def make_workspace(reach_vectors: int, value_vectors: int, width: int, widest: int) -> Workspace:
    """A workspace of zeros: this many vectors of `width` floats, and scratch for vectors of `widest` floats."""
    return Workspace(aligned(reach_vectors * width), aligned(value_vectors * width), aligned(scratch_floats(widest)))


def scratch_floats(width: int) -> int:
    """How long a workspace's scratch is for hand vectors of at most `width` floats."""
    return (2 * width + _CARD_BLOCKS) * LANES32


@inlined
def fold_values(work: Workspace, reach: np.uint64, value: np.uint64, cards: np.uint64, amount: np.float32) -> None:
    """Values of hands after a fold: amount * the reach of the hands that share no card with each of them.

    value(a, b) = amount * (T - C[a] - C[b] + reach(a, b)) for a hand of cards a, b: T is the reach of all hands, C[c]
    of those that hold card c; the hand itself is in both C[a] and C[b]. In chips, weighed by reach.

    reach, value: where the two vectors begin in the workspace.  cards: how many are live, at most 48.
    Lane k of register b is card 16 b + k throughout, so that the sums over a card's hands stay in registers.
    """
    by_card = work.scratch
    # Pass 1. Row c of the triangle has the hands (c, d), d > c, in lane d: down the rows lane d sums what card d is the
    # higher card of, and along row c goes what card c is the lower card of.
    sums0, sums1, sums2 = splat(ZERO), splat(ZERO), splat(ZERO)
    # Lane d of row c is hand (c, d): so row 0, which begins with d = 1, has lane 0 one place before the vector.
    at = reach - 1  # where card 0 would lie in the row of the triangle
    for c in range(cards):
        x0 = load_span(work.reach, at, c + 1, cards)
        x1 = load_span(work.reach, at + LANES32, c + 1 - LANES32, cards - LANES32)
        x2 = load_span(work.reach, at + 2 * LANES32, c + 1 - 2 * LANES32, cards - 2 * LANES32)
        sums0, sums1, sums2 = sums0 + x0, sums1 + x1, sums2 + x2
        by_card[c] = sum_of(x0 + x1 + x2)
        # The next row has one hand fewer, and begins one lane later.
        at += cards - c - 2
    # Lanes behind the live cards count nothing.
    for c in range(cards, 3 * LANES32):
        by_card[c] = ZERO
    # C[c] = what c is the higher card of + what it is the lower card of.
    sums0 = sums0 + load(by_card, 0)
    sums1 = sums1 + load(by_card, LANES32)
    sums2 = sums2 + load(by_card, 2 * LANES32)
    store(by_card, 0, sums0)
    store(by_card, LANES32, sums1)
    store(by_card, 2 * LANES32, sums2)
    # Each hand has two cards: T = (sum over c of C[c]) / 2.
    total = sum_of(sums0 + sums1 + sums2) * HALF
    at, to, scale = reach - 1, value - 1, splat(amount)
    # Pass 2, the same rows: T - C[c] in all lanes, less C[d], plus the hand's own reach.
    for c in range(cards):
        rest = splat(total - by_card[c])
        x0 = load_span(work.reach, at, c + 1, cards)
        x1 = load_span(work.reach, at + LANES32, c + 1 - LANES32, cards - LANES32)
        x2 = load_span(work.reach, at + 2 * LANES32, c + 1 - 2 * LANES32, cards - 2 * LANES32)
        store_span(work.values, to, c + 1, cards, scale * (rest - sums0 + x0))
        store_span(work.values, to + LANES32, c + 1 - LANES32, cards - LANES32, scale * (rest - sums1 + x1))
        store_span(work.values, to + 2 * LANES32, c + 1 - 2 * LANES32, cards - 2 * LANES32, scale * (rest - sums2 + x2))
        at += cards - c - 2
        to += cards - c - 2


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
    # Scratch: reach [width, LANES32], values [width, LANES32], sums by card [_CARD_BLOCKS, LANES32].
    gained = width * LANES32
    by_card = gained + gained
    scratch = work.scratch
    for c in range(_CARD_BLOCKS):
        store(scratch, by_card + c * LANES32, splat(ZERO))
    # From a vector a showdown to a register a hand.
    for k in range(0, width, LANES32):
        transpose(work.reach, first + k, width, scratch, k * LANES32, LANES32)
    # `total` and `by_card` count the hands of the runs so far, from the weakest on.
    total, run = splat(ZERO), U0
    while run < count:
        end = order.ends[run]
        # weaker = total - C[a] - C[b]: the hand itself is not in the sums yet, so nothing is subtracted twice.
        for j in range(run, end):
            a, b = by_card + order.low[j], by_card + order.high[j]
            store(scratch, gained + order.hand[j], total - load(scratch, a) - load(scratch, b))
        # The run of equal hands joins the sums.
        for j in range(run, end):
            a, b = by_card + order.low[j], by_card + order.high[j]
            x = load(scratch, order.hand[j])
            total = total + x
            store(scratch, a, load(scratch, a) + x)
            store(scratch, b, load(scratch, b) + x)
        # Both C[a] and C[b] count the hand itself now: this adds weaker + equal - reach, equal without the hand.
        for j in range(run, end):
            a, b = by_card + order.low[j], by_card + order.high[j]
            to = gained + order.hand[j]
            store(scratch, to, load(scratch, to) + (total - load(scratch, a) - load(scratch, b)))
        run = end
    scale = load(amounts, at)
    for i in range(count):
        a, b, to = by_card + order.held_low[i], by_card + order.held_high[i], gained + i * LANES32
        # rest = weaker + equal + stronger - reach; what was gained less rest is weaker - stronger.
        rest = total - load(scratch, a) - load(scratch, b)
        store(scratch, to, scale * (load(scratch, to) - rest))
    # Back to a vector a showdown.
    for k in range(0, width, LANES32):
        transpose(scratch, gained + k * LANES32, LANES32, work.values, first + k, width)
