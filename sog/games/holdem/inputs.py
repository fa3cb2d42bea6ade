"""What a network sees of a hold'em state: its features, and which of its slots each hand has.

The default is ours: hands lie in the order of their strength, so that a slot means the same on every board, and the
features are numbers of pots. `paper` is PoG's Table 2: a slot is two cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from sog.arrays import Float32, Float64, Int32
from sog.games.base import NATURE
from sog.games.holdem.bets import BetSizes, Fractions
from sog.games.holdem.betting import Betting
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, permuted_hands
from sog.games.holdem.checked_down import checked_down
from sog.games.holdem.equity import against_range

STRENGTH: Final = "strength"
PAPER: Final = "paper"
INPUTS: Final = (STRENGTH, PAPER)

_ACTORS: Final = 3  # the players and nature
_POTS: Final = 6  # features of the betting, see `betting_features`
_MOST_RAISES: Final = 4.0
ACTORS: Final = slice(CARDS, CARDS + _ACTORS)  # the features that say who acts next
CHANCE: Final = CARDS + NATURE  # the last of these
LEFT: Final = CARDS + _ACTORS  # the feature of what the shorter stack has left, in tenths of a pot
_BOARDS: Final = 1000  # full ones, by which hands are ordered before the flop


def num_features(inputs: str, sizes: BetSizes) -> int:
    """How many features there are; those of the bet sizes depend on how many sizes there are."""
    if inputs == PAPER:
        return CARDS + 2 + _ACTORS
    return CARDS + _ACTORS + _POTS + 2 * _num_sizes(sizes)


def slots(inputs: str, board: tuple[int, ...]) -> Int32:
    """int32[1326]: the network's slot of each hand on a board.

    By strength, slot 0 is of the hand that wins most often against a uniform range over all boards to come; hands that
    share a card with the board come last.
    """
    return _IDENTITY if inputs == PAPER else _by_strength(tuple(sorted(board)))


def paper_features(board: tuple[int, ...], betting: Betting, actor: int, pot: int, stacks: tuple[int, int]) -> Float32:
    """PoG Table 2: board cards (52), commitments over stacks (2), who acts next with nature (3)."""
    x = np.zeros(CARDS + 2 + _ACTORS, dtype=np.float32)
    x[list(board)] = 1.0
    for p in (0, 1):
        x[CARDS + p] = (pot / 2 + betting.paid[p]) / (pot / 2 + stacks[p])
    x[CARDS + 2 + min(actor, NATURE)] = 1.0
    return x


def features(
    board: tuple[int, ...], betting: Betting, actor: int, pot: int, stacks: tuple[int, int], sizes: BetSizes
) -> Float32:
    """The board with its suits in a fixed order (52), who acts next (3), the betting, and the bet sizes in pots.

    Of the betting, in pots as they are once the last bet is called: what the shorter stack has left, and log(1 + that);
    what player 0 and player 1 have still to call; raises in this round, of 4; the smallest raise.
    """
    unit = pot + 2.0 * max(betting.paid)
    left = min(stacks) - max(betting.paid)  # the feature LEFT is this, in units and tenths
    smallest = betting.raise_limits[0] if actor < NATURE else 0
    pots = [left / unit / 10.0, np.log1p(left / unit), *((max(betting.paid) - paid) / unit for paid in betting.paid)]
    pots += [betting.raises / _MOST_RAISES, max(0, smallest - max(betting.paid)) / unit]
    x = np.zeros(CARDS + _ACTORS, dtype=np.float32)
    x[[4 * (card // 4) + _suits(board)[card % 4] for card in board]] = 1.0
    x[CARDS + min(actor, NATURE)] = 1.0
    return np.concatenate([x, np.array(pots + _written(sizes), dtype=np.float32)])


def baseline(boards: Sequence[tuple[int, ...]], ranges: Float64) -> Float64:
    """float64[B, 2652]: what hands are worth checked down (checked_down.py), by slot and in halves of the pot.

    ranges: float64[B, 2652], by slot of the order by strength.
    """
    out = np.zeros_like(ranges)
    for board in dict.fromkeys(boards):
        rows = np.flatnonzero([other == board for other in boards])
        place = slots(STRENGTH, board)
        by_hand = ranges[rows][:, place], ranges[rows][:, HANDS + place]
        out[np.ix_(rows, place)], out[np.ix_(rows, HANDS + place)] = checked_down(board, by_hand)
    return out


def _written(sizes: BetSizes) -> list[float]:
    """The fractions of first bets and of raises, zeros in unused places."""
    if not isinstance(sizes, Fractions):
        return []
    return [f for part in (sizes.first, sizes.later) for f in (*part, *(0.0,) * (sizes.most - len(part)))]


def _num_sizes(sizes: BetSizes) -> int:
    return sizes.most if isinstance(sizes, Fractions) else 0


_IDENTITY: Final = np.arange(HANDS, dtype=np.int32)


@lru_cache(maxsize=2**16)
def _suits(board: tuple[int, ...]) -> tuple[int, int, int, int]:
    """What each suit becomes, so that boards which differ by an exchange of suits look alike.

    The suit with the most and highest cards on the board comes first.
    """
    ranks = [sorted((card // 4 for card in board if card % 4 == suit), reverse=True) for suit in range(4)]
    order = sorted(range(4), key=lambda suit: (-len(ranks[suit]), [-rank for rank in ranks[suit]]))
    place = {suit: k for k, suit in enumerate(order)}
    return place[0], place[1], place[2], place[3]


@lru_cache(maxsize=2**14)
def _by_strength(board: tuple[int, ...]) -> Int32:
    """`slots` by strength. Hands of equal strength are in the order of their cards, suits as in the features."""
    suits = _suits(board)
    names = _names(suits)
    alike = tuple(sorted(4 * (card // 4) + suits[card % 4] for card in board))
    order = np.lexsort((_IDENTITY, -np.round(equity_against_all(alike), 9)))
    out = np.empty(HANDS, dtype=np.int32)
    out[order] = _IDENTITY
    return out[names]


@lru_cache(maxsize=2**12)
def equity_against_all(board: tuple[int, ...]) -> Float64:
    """float64[1326]: how often each hand beats a uniform range over all boards to come; without a board, over some."""
    return against_range(board, np.ones(HANDS)) if board else _before_the_flop()


def _before_the_flop() -> Float64:
    """float64[1326]: win chances over some full boards, alike for hands that differ by an exchange of suits.

    For their order that is enough, and all boards take 20 seconds.
    """
    rng, total = np.random.default_rng(0), np.zeros(HANDS)
    for _ in range(_BOARDS):
        total += against_range(tuple(int(card) for card in rng.choice(CARDS, 5, replace=False)), np.ones(HANDS))
    high, low, suited = HIGH // 4, LOW // 4, HIGH % 4 == LOW % 4
    kind = 13 * np.where(suited, low, high) + np.where(suited, high, low)
    # A hand's cards may be on a board: the mean over its like is over as many boards as there were, less those.
    mean: Float64 = (np.bincount(kind, total, 169) / np.bincount(kind, minlength=169))[kind]
    return mean


@lru_cache(maxsize=24)
def _names(suits: tuple[int, int, int, int]) -> Int32:
    """int32[1326]: what each hand's number becomes when suit s becomes suits[s]."""
    return permuted_hands(suits).astype(np.int32)
