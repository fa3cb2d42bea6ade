"""Elo: the closed form for two players, known ratings given back, intervals that hold 95% of the time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import SettingError
from sog.measure.elo import by_units, points_of, rate


def expected_score(difference: float) -> float:
    """What a player that much stronger scores a game on average: 10 of 11 points with 400 Elo more."""
    return 1.0 / (1.0 + 10.0 ** (-difference / 400.0))


@given(st.integers(1, 500), st.integers(1, 500))
def test_two_players_have_a_closed_form(won: int, lost: int) -> None:
    """400 log10(won / lost), with variance 1 / (n p (1 - p)) on the logistic scale."""
    ratings = rate(np.array([[0.0, won], [lost, 0.0]]))
    difference, half = ratings.difference(0, 1)
    share, games = won / (won + lost), won + lost
    assert difference == pytest.approx(400.0 * math.log10(won / lost), abs=1e-6)
    width = 1.959964 / (math.log(10.0) / 400.0 * math.sqrt(games * share * (1.0 - share)))
    assert half == pytest.approx(width, rel=1e-6)
    assert ratings.virtual == 0.0 and ratings.elo.sum() == pytest.approx(0.0, abs=1e-9)
    assert ratings.interval(0) == pytest.approx(half / 2.0, rel=1e-6)


def test_expected_points_give_the_ratings_back() -> None:
    """Points equal to their expectations are explained exactly, in a round robin and in a chain."""
    elo = np.array([-310.0, -20.0, 80.0, 250.0])
    expected = np.array([[expected_score(a - b) for b in elo] for a in elo])
    chain = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) == 1
    for met in (~np.eye(4, dtype=bool), chain):
        ratings = rate(np.where(met, 30.0 * expected, 0.0))
        assert ratings.elo == pytest.approx(elo, abs=1e-6)


def test_intervals_hold_the_truth_95_times_in_a_hundred() -> None:
    rng, elo = np.random.default_rng(1), np.array([-60.0, 0.0, 60.0])
    inside = 0
    for _ in range(400):
        points = np.zeros((3, 3))
        for i in range(3):
            for j in range(i):
                points[i, j] = rng.binomial(60, expected_score(elo[i] - elo[j]))
                points[j, i] = 60 - points[i, j]
        ratings = rate(points)
        difference, half = ratings.difference(2, 0)
        inside += abs(difference - 120.0) <= half
    assert 365 <= inside <= 393  # 380 expected, three standard deviations


def test_openings_that_end_alike_both_ways_round_count_once() -> None:
    """The dispersion of pairs that are won or lost whole is 2, with m / (m - 1) for the rating that is fitted."""
    ratings = rate(np.array([[0.0, 14.0], [6.0, 0.0]]))
    units = [(0, 1, 2.0, 2)] * 7 + [(0, 1, 0.0, 2)] * 3
    wider = by_units(ratings, units)
    assert wider.elo is ratings.elo
    assert wider.difference(0, 1)[1] == pytest.approx(ratings.difference(0, 1)[1] * (2.0 * 10 / 9) ** 0.5)
    for alike in ([(0, 1, 1.4, 2)] * 10, units[:1]):  # no more certain than by games, and no claim from one unit
        assert by_units(ratings, alike).difference(0, 1) == ratings.difference(0, 1)


def test_without_a_loss_virtual_draws_keep_ratings_finite_and_say_so() -> None:
    ratings = rate(points_of(["a", "b", "c"], [("a", "b", 1.0, 1), ("b", "c", 1.0, 1), ("c", "b", 0.5, 1)]))
    assert ratings.virtual == 1.0 and np.isfinite(ratings.elo).all()
    assert list(np.argsort(-ratings.elo)) == [0, 1, 2]
    difference, _ = rate(np.array([[0.0, 9.0], [0.0, 0.0]])).difference(0, 1)
    assert difference == pytest.approx(400.0 * math.log10(9.5 / 0.5))


def test_points_count_draws_half_for_both() -> None:
    points = points_of(["a", "b"], [("a", "b", 1.0, 1), ("b", "a", 0.5, 2)])
    assert points.tolist() == [[0.0, 2.5], [0.5, 0.0]]


def test_players_who_never_met_cannot_be_compared() -> None:
    alone = np.zeros((4, 4))
    alone[0, 1] = alone[1, 0] = alone[2, 3] = alone[3, 2] = 1.0
    with pytest.raises(SettingError, match="connect"):
        rate(alone)
    with pytest.raises(SettingError, match="two players"):
        rate(np.zeros((1, 1)))
