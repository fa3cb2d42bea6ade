"""What a network over hold'em hands sees of each: against sums over all pairs of hands, and by exchanges of suits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sog.arrays import Float32, Float64
from sog.games.holdem.cards import CARDS, HANDS, disjoint_pairs, live_hands, parse_cards, permuted_hands
from sog.games.holdem.hand_inputs import WIDTH, boards_to_come, live_slots
from sog.games.holdem.inputs import STRENGTH, equity_against_all, slots
from sog.games.holdem.strength import showdown_signs
from sog.nets.hand_inputs import hand_inputs

FEATURES = 60
BINS = (WIDTH - 3) // 2 - 2


def ranges_of(seed: int) -> Float64:
    """float64[2, 1326] by hand, many of them 0."""
    rng = np.random.default_rng(seed)
    return rng.random((2, HANDS)) * (rng.random((2, HANDS)) < 0.3)


def encoded(board: tuple[int, ...], ranges: Float64) -> Float32:
    x = np.zeros((1, FEATURES + 2 * HANDS), dtype=np.float32)
    x[0, list(board)] = 1.0
    place = slots(STRENGTH, board)
    for p in (0, 1):
        x[0, FEATURES + p * HANDS + place] = np.where(live_hands(board), ranges[p], 0.0)
    return x


def by_pairs(board: tuple[int, ...], weights: Float64) -> Float64:
    """float64[1326, 2 + bins]: the same by a matrix of all pairs of hands on each full board."""
    apart, points = disjoint_pairs(board), np.arange(BINS) / (BINS - 1)
    full = [(*board, *more) for more in boards_to_come(board)]
    total, count = np.zeros((HANDS, 2 + BINS)), np.zeros(HANDS)
    for cards in full:
        live = live_hands(cards)
        mass = apart @ (weights * live) * live
        won = ((showdown_signs(cards) + 1.0) / 2.0 * apart) @ (weights * live)
        met = mass > 1e-9 * (weights * live).sum()
        p = np.divide(won, mass, out=np.zeros(HANDS), where=met)
        hats = np.maximum(0.0, 1.0 - np.abs(p[:, None] - points) * (BINS - 1))
        total += np.column_stack([2.0 * p - 1.0, p**2, hats]) * met[:, None]
        count += met
    return total / np.maximum(count, 1.0)[:, None]


@pytest.mark.parametrize("board", ["", "3s7hTd", "3s3h3dKs", "3s7hTdKs2c", "AsKsQsJsTs"])
def test_it_is_what_all_pairs_give(board: str) -> None:
    cards = parse_cards(board)
    ranges, live, place = ranges_of(1), live_hands(cards), slots(STRENGTH, cards)
    found = hand_inputs(encoded(cards, ranges))[0]
    assert found.shape == (2, live_slots(len(cards)), WIDTH) and live.sum() == found.shape[1]
    for p in (0, 1):
        other, own = (by_pairs(cards, ranges[q] * live)[live] for q in (1 - p, p))
        np.testing.assert_allclose(
            found[p, place[live]], np.column_stack([other, own, *rest(cards, ranges, p)]), atol=2e-6
        )


def rest(cards: tuple[int, ...], ranges: Float64, p: int) -> list[Float64]:
    """Equity against all hands, the share of the opponent's range that a hand may meet, and its own weight."""
    live = live_hands(cards)
    # Before the turn the sum over all boards takes minutes: test_holdem_equity.py has it for single hands.
    late = len(cards) >= 4
    equity = by_pairs_mean(cards, live.astype(np.float64)) if late else 2 * equity_against_all(cards) - 1
    other = ranges[1 - p] * live
    return [equity[live], (disjoint_pairs(cards) @ other)[live] / other.sum(), np.log1p((ranges[p] * live)[live])]


def by_pairs_mean(cards: tuple[int, ...], weights: Float64) -> Float64:
    """float64[1326]: 2 p - 1 where p counts all full boards and hands alike (`against_range`)."""
    full = [cards] if len(cards) == 5 else [(*cards, c) for c in range(CARDS) if c not in cards]
    won, mass = np.zeros(HANDS), np.zeros(HANDS)
    for board in full:
        apart = disjoint_pairs(board)
        won += (showdown_signs(board) * apart) @ weights
        mass += apart @ weights
    return np.divide(won, mass, out=np.zeros(HANDS), where=mass > 0)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.permutations(range(4)))
def test_an_exchange_of_suits_changes_nothing(seed: int, suits: list[int]) -> None:
    rng = np.random.default_rng(seed)
    board = tuple(int(c) for c in rng.choice(CARDS, 4, replace=False))
    turned = tuple(4 * (c // 4) + suits[c % 4] for c in board)
    ranges, to = ranges_of(seed), permuted_hands(suits)
    other = np.empty_like(ranges)
    other[:, to] = ranges
    first, second = hand_inputs(encoded(board, ranges))[0], hand_inputs(encoded(turned, other))[0]
    live, a, b = live_hands(board), slots(STRENGTH, board), slots(STRENGTH, turned)
    np.testing.assert_allclose(first[:, a[live]], second[:, b[to[live]]], atol=2e-5)


def test_a_range_of_nothing_gives_no_nan() -> None:
    found = hand_inputs(encoded(parse_cards("3s7hTdKs"), np.zeros((2, HANDS))))
    assert np.isfinite(found).all() and not found[..., :-3].any()


@pytest.mark.parametrize("earlier", ["", "3s7hTd", "3s7hTdKs"])
def test_boards_of_several_streets_share_a_batch(earlier: str) -> None:
    first, river = parse_cards(earlier), parse_cards("3s7hTdKs2c")
    both = hand_inputs(np.concatenate([encoded(first, ranges_of(1)), encoded(river, ranges_of(2))]))
    assert not both[1, :, live_slots(5) :].any()
    assert (both[:1] == hand_inputs(encoded(first, ranges_of(1)))).all()
    assert (both[1:, :, : live_slots(5)] == hand_inputs(encoded(river, ranges_of(2)))).all()


def test_boards_to_come_are_some_of_them() -> None:
    counts = {"": 24, "3s7hTd": 24, "3s7hTdKs": 48, "3s7hTdKs2c": 1}
    for text, count in counts.items():
        board = parse_cards(text)
        full = {tuple(sorted((*board, *more))) for more in boards_to_come(board)}
        assert len(full) == count and all(len(set(cards)) == 5 for cards in full)
