"""Ranges in players' notation: counts of hands, weights, and errors that name the entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import GameError
from sog.games.catalog import make_game
from sog.games.holdem.cards import HANDS, HIGH, LOW, hand_name, hand_number, parse_cards, permuted_hands
from sog.games.holdem.game import Holdem
from sog.games.holdem.ranges import parse_range


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("AA", 6), ("AKs", 4), ("AKo", 12), ("AK", 16), ("KA", 16), ("22+", 78), ("TT+", 30), ("A2s+", 48),
        ("A2s-A5s", 16), ("A5s-A2s", 16), ("77-99", 18), ("T9s-65s", 20), ("QhJh", 1), ("full", 1326),
        ("Random", 1326), ("[100]AA,KK[/100],AK@100", 28),
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
    ("text", "same"),
    [
        ("random:0.5", "full:0.5"),
        ("AK@50,QQ", "AK:0.5,QQ"),
        ("AKs @ 12.5", "AKs:0.125"),
        ("[50]AKs[/50]", "AKs:0.5"),
        ("AA,[75.0]88, A2s-A5s ,QhJh[/75.0],[5]22+[/5],KK@0", "AA,88:0.75,A2s-A5s:0.75,QhJh:0.75,22+:0.05,KK:0"),
        ("[ 50 ] AKs [/ 50 ]", "AKs:0.5"),
    ],
)
def test_weights_as_other_programs_write_them(text: str, same: str) -> None:
    assert np.array_equal(parse_range(text), parse_range(same))


def test_game_strings_take_them() -> None:
    game = make_game('holdem(board=2s2h2d7c9c,pot=1000,range0=random,range1="[50]AKs,QQ[/50],JJ@20")')
    assert isinstance(game, Holdem) and game.spot.ranges == ("full", "[50]AKs,QQ[/50],JJ@20")
    assert make_game(game.name).name == game.name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AA@101", "in percent is 0 or a number from 0.0001 to 100, not '101' in 'AA@101'"),
        ("AA@", "not '' in 'AA@'"),
        ("AA:50", "a hand's weight is 0 or a number from 1e-06 to 1"),
        ("[50]AA,KK", "brackets do not close"),
        ("[50]AA,[20]KK[/20]", "brackets do not close before"),
        ("[50]AA[/20]", "closes other brackets"),
        ("AA[/50]", "closes other brackets"),
        ("[50]AA:0.5[/50]", "a weight of its own"),
        ("[]AA[/]", "not '' in"),
        ("AA[50]", "write AA, AKs, 22+, A2s-A5s, QhJh, random; half of the time AA:0.5, AA@50 or [50]AA,KK[/50]"),
        ("AA:0.5@50", "write AA"),
        ("15%", "write AA"),
        ("[50][/50]", "no hands are called ''"),
    ],
)
def test_weights_that_cannot_be(text: str, said: str) -> None:
    with pytest.raises(GameError) as refused:
        parse_range(text)
    assert said in str(refused.value)


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


@given(st.permutations([0, 1, 2, 3]), st.sampled_from(["AKs", "T9o", "55", "full"]))
def test_classes_do_not_depend_on_suits(suits: list[int], text: str) -> None:
    weights = parse_range(text)
    assert np.array_equal(weights[permuted_hands(suits)], weights)


@pytest.mark.parametrize("text", [f"22+,{'9' * 10_000}", f"AA:{'9' * 10_000}.1.1", f"{'AA,' * 3_000}x"])
def test_long_ranges_are_refused_briefly(text: str) -> None:
    with pytest.raises(GameError) as refused:
        parse_range(text)
    assert len(str(refused.value)) < 500
