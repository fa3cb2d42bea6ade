"""Kernels that score every hand on a board and count wins over all boards still to come, exactly.

A score is int32: the larger wins, equal scores tie. It is category << 26 | ranks << 13 | kickers with ranks and kickers
as masks of 13 bits, ace the highest; masks of equally many bits compare as their cards do. On a full board a hand
without a flush is scored by its two ranks alone, so a board takes 91 such scores.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Array
from sog.games.kernels import kernel

_CARDS: Final = 52
_HANDS: Final = 1326
_RANKS: Final = 13
_BATCH: Final = 64  # boards whose scores stay in the processor's cache while a row of the table takes them

_PAIR, _TWO_PAIRS, _THREE, _STRAIGHT, _FLUSH, _FULL, _FOUR, _STRAIGHT_FLUSH = 1, 2, 3, 4, 5, 6, 7, 8


@kernel
def _top(mask: int, count: int) -> int:
    """The highest `count` bits of a mask of ranks."""
    top, taken = 0, 0
    for rank in range(12, -1, -1):
        if taken < count and mask >> rank & 1:
            top |= 1 << rank
            taken += 1
    return top


@kernel
def _straight(mask: int) -> int:
    """A bit for the highest straight among the ranks, 0 without a straight; the ace also counts as below the two."""
    low = mask << 1 | mask >> 12
    top: int = _top(low & low >> 1 & low >> 2 & low >> 3 & low >> 4, 1)
    return top


@kernel
def _plain(once: int, twice: int, thrice: int, four: int) -> int:
    """The score of seven cards whose suits do not matter; masks of the ranks that are there at least so often."""
    score: int = _top(once, 5)
    straight, pairs = _straight(once), _top(twice, 2)
    # From the lowest category on: each replaces the one before.
    if pairs:
        score = _PAIR << 26 | pairs << 13 | _top(once & ~pairs, 3)
    if pairs & pairs - 1:
        score = _TWO_PAIRS << 26 | pairs << 13 | _top(once & ~pairs, 1)
    if thrice:
        score = _THREE << 26 | thrice << 13 | _top(once & ~thrice, 2)
    if straight:
        score = _STRAIGHT << 26 | straight
    if thrice:
        three = _top(thrice, 1)
        pair = _top(twice & ~three, 1)
        if pair:
            score = _FULL << 26 | three << 13 | pair
    if four:
        score = _FOUR << 26 | four << 13 | _top(once & ~four, 1)
    return score


@kernel
def _suited(mask: int) -> int:
    """The score of a flush from the ranks of its suit, five or more."""
    straight = _straight(mask)
    score: int = _STRAIGHT_FLUSH << 26 | straight if straight else _FLUSH << 26 | _top(mask, 5)
    return score


@kernel
def score_board(board: Array, scores: Array) -> None:
    """Write into int32[1326] the score of every hand on five cards, -1 for hands that share a card with them."""
    plain = np.empty((_RANKS, _RANKS), dtype=np.int32)
    once = twice = thrice = four = 0
    suits = np.zeros(4, dtype=np.int64)
    dead = np.zeros(_CARDS, dtype=np.bool_)
    for k in range(5):
        card = board[k]
        bit = 1 << (card >> 2)
        four |= thrice & bit
        thrice |= twice & bit
        twice |= once & bit
        once |= bit
        suits[card & 3] |= bit
        dead[card] = True
    for a in range(_RANKS):
        bit = 1 << a
        # Each mask with one card more: thrice and one is four, twice and one is three.
        four_a, thrice_a, twice_a, once_a = four | thrice & bit, thrice | twice & bit, twice | once & bit, once | bit
        for b in range(a, _RANKS):
            bit = 1 << b
            plain[a, b] = _plain(
                once_a | bit, twice_a | once_a & bit, thrice_a | twice_a & bit, four_a | thrice_a & bit
            )
    flush, on_board = -1, 0
    for s in range(4):
        count = 0
        for rank in range(_RANKS):
            count += suits[s] >> rank & 1
        if count >= 3:
            flush, on_board = s, count
    hand = 0
    for low in range(_CARDS):
        for high in range(low + 1, _CARDS):
            score = -1
            if not (dead[low] or dead[high]):
                score = plain[low >> 2, high >> 2]
                if flush >= 0:
                    mask, count = suits[flush], on_board
                    if low & 3 == flush:
                        mask |= 1 << (low >> 2)
                        count += 1
                    if high & 3 == flush:
                        mask |= 1 << (high >> 2)
                        count += 1
                    if count >= 5:
                        score = max(score, _suited(mask))
            scores[hand] = score
            hand += 1


@kernel
def _next_combination(places: Array, count: int, top: int) -> bool:
    """Move `count` ascending places below `top` to the next combination; False after the last one."""
    k = count - 1
    while k >= 0 and places[k] == top - count + k:
        k -= 1
    if k < 0:
        return False
    places[k] += 1
    for after in range(k + 1, count):
        places[after] = places[after - 1] + 1
    return True


@kernel
def hand_equities(board: Array, low: int, high: int, equities: Array) -> None:
    """Write into float64[1326] how often the hand (low, high) beats each other one over all boards, a tie a half.

    board: the three to five cards on the table.  0 for hands that share a card with it or with the hand.
    """
    known = len(board)
    left = np.empty(_CARDS, dtype=np.int64)
    count = 0
    for card in range(_CARDS):
        free = card != low and card != high
        for k in range(known):
            free = free and card != board[k]
        if free:
            left[count] = card
            count += 1
    full = np.empty(5, dtype=np.int64)
    full[:known] = board
    places = np.arange(5)
    scores = np.empty(_HANDS, dtype=np.int32)
    own = low * (2 * _CARDS - low - 1) // 2 + high - low - 1
    halves, boards = np.zeros(_HANDS, dtype=np.int64), np.zeros(_HANDS, dtype=np.int64)
    more = True
    while more:
        for k in range(known, 5):
            full[k] = left[places[k - known]]
        score_board(full, scores)
        for hand in range(_HANDS):
            if scores[hand] >= 0:
                halves[hand] += (scores[own] > scores[hand]) + (scores[own] >= scores[hand])
                boards[hand] += 1
        more = _next_combination(places, 5 - known, count)
    hand = 0
    for first in range(_CARDS):
        for second in range(first + 1, _CARDS):
            apart = first != low and first != high and second != low and second != high
            equities[hand] = halves[hand] / (2.0 * boards[hand]) if apart and boards[hand] else 0.0
            hand += 1


@kernel
def range_equities(board: Array, weights: Array, equities: Array) -> None:
    """Write into float64[1326] how often each hand beats a range over all boards, a tie a half, 0 for dead hands.

    board: the three to five cards on the table.  weights: float64[1326], the range; hands that share a card with a
    hand do not count against it.
    """
    known = len(board)
    left = np.empty(_CARDS, dtype=np.int64)
    count = 0
    for card in range(_CARDS):
        free = True
        for k in range(known):
            free = free and card != board[k]
        if free:
            left[count] = card
            count += 1
    first, second = np.empty(_HANDS, dtype=np.int64), np.empty(_HANDS, dtype=np.int64)
    hand = 0
    for low in range(_CARDS):
        for high in range(low + 1, _CARDS):
            first[hand], second[hand] = low, high
            hand += 1
    full = np.empty(5, dtype=np.int64)
    full[:known] = board
    places = np.arange(5)
    scores = np.empty(_HANDS, dtype=np.int32)
    won, mass = np.zeros(_HANDS), np.zeros(_HANDS)
    # Of the hands below the current run of equals, and of those up to its end: by card, and in all.
    below, upto = np.zeros(_CARDS), np.zeros(_CARDS)
    more = True
    while more:
        for k in range(known, 5):
            full[k] = left[places[k - known]]
        score_board(full, scores)
        order = np.argsort(scores)
        below[:], upto[:] = 0.0, 0.0
        all_below = all_upto = 0.0
        start = 0
        while scores[order[start]] < 0:
            start += 1
        begin = start
        while start < _HANDS:
            stop = start
            while stop < _HANDS and scores[order[stop]] == scores[order[start]]:
                hand = order[stop]
                upto[first[hand]] += weights[hand]
                upto[second[hand]] += weights[hand]
                all_upto += weights[hand]
                stop += 1
            for k in range(start, stop):
                # won + tied / 2, less the hands with a card of this one; it is among the tied twice by its cards.
                hand = order[k]
                beaten = all_below - below[first[hand]] - below[second[hand]]
                not_lost = all_upto - upto[first[hand]] - upto[second[hand]] + weights[hand]
                won[hand] += (beaten + not_lost) / 2.0
            below[:] = upto
            all_below = all_upto
            start = stop
        for k in range(begin, _HANDS):
            hand = order[k]
            mass[hand] += all_upto - upto[first[hand]] - upto[second[hand]] + weights[hand]
        more = _next_combination(places, 5 - known, count)
    for hand in range(_HANDS):
        equities[hand] = won[hand] / mass[hand] if mass[hand] > 0.0 else 0.0


@kernel
def canonical_boards(boards: Array, weights: Array) -> int:
    """Full boards of which no two are alike by an exchange of suits, and how many are like each; returns their number.

    boards: int64[B, 5] and weights: int32[B] are written; a board represents all whose suits' ranks are the same sets.
    """
    places = np.arange(5)
    count = 0
    more = True
    while more:
        suits = np.zeros(4, dtype=np.int64)
        for k in range(5):
            suits[places[k] & 3] |= 1 << (places[k] >> 2)
        if suits[0] >= suits[1] and suits[1] >= suits[2] and suits[2] >= suits[3]:
            # 24 exchanges, over those that leave the board as it is: n! for n suits alike.
            same, alike = 1, 1
            for s in range(1, 4):
                alike = alike + 1 if suits[s] == suits[s - 1] else 1
                same *= alike
            boards[count] = places
            weights[count] = 24 // same
            count += 1
        more = _next_combination(places, 5, _CARDS)
    return count


@kernel
def add_signs(boards: Array, weights: Array, table: Array) -> None:
    """Add to int32[1326, 1326] what each board weighs where a row's hand wins, less where it loses.

    boards: int64[B, 5] and weights: int32[B], as of `canonical_boards`. Only entries above the diagonal are written.
    """
    scores = np.empty((_BATCH, _HANDS), dtype=np.int32)
    for begin in range(0, len(boards), _BATCH):
        count = min(_BATCH, len(boards) - begin)
        for b in range(count):
            score_board(boards[begin + b], scores[b])
        for hand in range(_HANDS):
            row = table[hand]
            for b in range(count):
                own, weight, others = scores[b, hand], weights[begin + b], scores[b]
                if own < 0:
                    continue
                for other in range(hand + 1, _HANDS):
                    score = others[other]
                    sign = np.int32(own > score) - np.int32(own < score)
                    row[other] += weight * sign * np.int32(score >= 0)
