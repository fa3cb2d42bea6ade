"""The deck and the 1,326 private hands of Texas hold'em: numbers, names and suit permutations.

Card = 4 * rank + suit with ranks 2..A as 0..12 and suits c d h s as 0..3, as in OpenSpiel and phevaluator.
Hands are the pairs of cards (low, high) in lexicographic order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from sog.arrays import Array, Bool, Float64, Int32, Int64
from sog.errors import GameError

CARDS: Final = 52
HANDS: Final = 1326
RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"

LOW: Final[Int32] = np.triu_indices(CARDS, k=1)[0].astype(np.int32)
HIGH: Final[Int32] = np.triu_indices(CARDS, k=1)[1].astype(np.int32)


def card_name(card: int) -> str:
    """Such as "Ts"."""
    return RANKS[card // 4] + SUITS[card % 4]


def cards_name(cards: Iterable[int]) -> str:
    """Such as "3s7hTdKs"."""
    return "".join(card_name(c) for c in cards)


def parse_cards(text: str) -> tuple[int, ...]:
    """Cards written like "3s7hTdKs", in that order; GameError for anything else or a card twice."""
    clean = text.replace(" ", "")
    cards = []
    for k in range(0, len(clean), 2):
        rank, suit = clean[k : k + 1].upper(), clean[k + 1 : k + 2].lower()
        if rank not in RANKS or suit not in SUITS or not suit:
            raise GameError(f"not a card: {clean[k : k + 2]!r} in {text[:80]!r}; write cards like 3s7hTdKs")
        card = 4 * RANKS.index(rank) + SUITS.index(suit)
        if card in cards:
            raise GameError(f"card {card_name(card)} occurs twice in {text[:80]!r}")
        cards.append(card)
    return tuple(cards)


def hand_number(a: int, b: int) -> int:
    """The number, 0..1325, of the hand of two different cards."""
    low, high = min(a, b), max(a, b)
    return low * (2 * CARDS - low - 1) // 2 + high - low - 1


def hand_name(hand: int) -> str:
    """Such as "AsKs", the higher card first."""
    return card_name(int(HIGH[hand])) + card_name(int(LOW[hand]))


def in_order(weights: Float64) -> list[int]:
    """The hands with a weight, float64[1326], by the higher card, then the lower; of equals the lower number first."""
    return [int(h) for h in np.argsort(-(100 * (HIGH // 4) + LOW // 4), kind="stable") if weights[h] > 0]


def live_hands(board: Sequence[int]) -> Bool:
    """bool[1326]: the hands that share no card with the board."""
    blocked = np.zeros(CARDS, dtype=np.bool_)
    blocked[list(board)] = True
    live: Bool = ~(blocked[LOW] | blocked[HIGH])
    return live


def disjoint_pairs(board: Sequence[int] = ()) -> Float64:
    """float64[1326, 1326]: 1 where two live hands share no card, else 0."""
    has = np.zeros((HANDS, CARDS))
    has[np.arange(HANDS), LOW] = has[np.arange(HANDS), HIGH] = 1.0
    live = live_hands(board).astype(np.float64)
    apart: Float64 = (has @ has.T == 0) * live[:, None] * live[None, :]
    return apart


def permuted_hands(suits: Sequence[int] | Array) -> Int64:
    """int64[1326]: what each hand becomes when suit s becomes suits[s]."""
    to = np.asarray(suits)
    low, high = 4 * (LOW // 4) + to[LOW % 4], 4 * (HIGH // 4) + to[HIGH % 4]
    low, high = np.minimum(low, high).astype(np.int64), np.maximum(low, high).astype(np.int64)
    numbers: Int64 = low * (2 * CARDS - low - 1) // 2 + high - low - 1
    return numbers


def disjoint_mass(weights: Float64) -> Float64:
    """float64[1326]: for each hand, the sum of the weights of the hands that share no card with it."""
    by_card = np.bincount(LOW, weights, CARDS) + np.bincount(HIGH, weights, CARDS)
    mass: Float64 = weights.sum() - by_card[LOW] - by_card[HIGH] + weights
    return mass
