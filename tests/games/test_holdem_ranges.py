"""Ranges in players' notation: counts of hands, weights, and errors that name the entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import GameError
from sog.games.holdem.cards import HANDS, HIGH, LOW, hand_name, hand_number, parse_cards, permuted_hands
from sog.games.holdem.ranges import hand_class, parse_range


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("AA", 6), ("AKs", 4), ("AKo", 12), ("AK", 16), ("KA", 16), ("22+", 78), ("TT+", 30), ("A2s+", 48),
        ("A2s-A5s", 16), ("A5s-A2s", 16), ("77-99", 18), ("T9s-65s", 20), ("QhJh", 1), ("full", 1326),
        ("KTo+", 36), ("QJ,QJs", 16), ("AA, AKs ,QhJh", 11), ("54s+", 4),
    ],
)  # fmt: skip
def test_counts(text: str, count: int) -> None:
    weights = parse_range(text)
    assert np.count_nonzero(weights) == count == weights.sum()


def test_weights_and_order() -> None:
    weights = parse_range("22+:0.5,AA,QhJh:0.25")
    assert weights[hand_number(*parse_cards("AsAd"))] == 1.0
    assert weights[hand_number(*parse_cards("7s7d"))] == 0.5
    assert weights[hand_number(*parse_cards("JhQh"))] == 0.25


@pytest.mark.parametrize(
    "text",
    ["", "AAs", "A", "AKx", "1Ks", "AhAh", "AA:2", "AA:x", "AA:", "A2s-A5o", "A2s-K5s", "AA-AKs", "22,,33", "T9s-64s"],
)
def test_errors(text: str) -> None:
    with pytest.raises(GameError):
        parse_range(text)


@given(st.integers(0, HANDS - 1))
def test_every_hand_is_read_back(hand: int) -> None:
    assert np.flatnonzero(parse_range(hand_name(hand))).tolist() == [hand]
    assert hand_number(int(HIGH[hand]), int(LOW[hand])) == hand
    assert parse_range(hand_class(int(LOW[hand]), int(HIGH[hand])))[hand] == 1.0


@given(st.permutations([0, 1, 2, 3]), st.sampled_from(["AKs", "T9o", "55", "full"]))
def test_classes_do_not_depend_on_suits(suits: list[int], text: str) -> None:
    weights = parse_range(text)
    assert np.array_equal(weights[permuted_hands(suits)], weights)


@pytest.mark.parametrize("text", [f"22+,{'9' * 10_000}", f"AA:{'9' * 10_000}.1.1", f"{'AA,' * 3_000}x"])
def test_long_ranges_are_refused_briefly(text: str) -> None:
    with pytest.raises(GameError) as refused:
        parse_range(text)
    assert len(str(refused.value)) < 500
