"""Intervals: Student's for few runs, none for one, and differences in which what pairs share cancels."""

from __future__ import annotations

import math

import pytest

from sog.measure.intervals import (
    mean_and_range,
    mean_interval,
    paired_difference,
    plus_minus,
    ratio_interval,
    share_interval,
    wilson,
)


def test_intervals_of_means_are_students() -> None:
    """Three runs: 4.30 standard errors in place of 1.96; one run says nothing of its spread."""
    mean, half = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2.0 and half == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert mean_interval([1.0]) == (1.0, None)
    assert plus_minus(2.0, half) == "2 ± 2.5" and plus_minus(1.0, None) == "1"


def test_intervals_of_ratios_are_those_of_their_logarithms() -> None:
    ratio, low, high = ratio_interval([1.0, 2.0, 8.0], [1.0, 1.0, 1.0])  # 2 ** 0, 1 and 3
    mean, half = mean_interval([0.0, 1.0, 3.0])
    assert half is not None and (ratio, low, high) == pytest.approx((2**mean, 2 ** (mean - half), 2 ** (mean + half)))
    assert ratio_interval([3.0], [2.0]) == (pytest.approx(1.5), 0.0, math.inf)
    assert plus_minus(-339.4, 688.2, "+.4g") == "-339.4 ± 690"


def test_what_pairs_share_cancels() -> None:
    assert paired_difference([11.0, 21.0, 31.0], [10.0, 20.0, 30.0]) == (1.0, 0.0)
    assert paired_difference([11.0], [10.0]) == (1.0, None)
    with pytest.raises(ValueError, match="longer"):
        paired_difference([11.0], [10.0, 20.0])


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval(hits: int, count: int, low: float, high: float) -> None:
    """Newcombe, Two-sided confidence intervals for the single proportion (1998), Table I, method 3."""
    assert wilson(hits, count) == pytest.approx((low, high), abs=5e-5)


def test_nothing_counted_is_no_share() -> None:
    assert wilson(0, 0) == (0.0, 1.0) == share_interval([])


def test_games_of_a_unit_that_end_alike_count_as_one() -> None:
    """Five openings, three won both ways round: V = 5 / 4 * (3 * 0.8^2 + 2 * 1.2^2) / 10^2 = 0.06, p (1 - p) = 0.24."""
    count = 0.24 / 0.06 * (1.959964 / 2.776445) ** 2
    assert share_interval([(2.0, 2)] * 3 + [(0.0, 2)] * 2) == pytest.approx(wilson(0.6 * count, count), rel=1e-6)


def test_units_are_worth_no_more_than_their_games() -> None:
    """Where all are won nothing is seen of what a unit's games share; where each is split, nothing is certain yet."""
    assert share_interval([(2.0, 2)] * 10) == wilson(10, 10)
    assert share_interval([(1.0, 2)] * 10) == wilson(10, 20)
    assert share_interval([(1.5, 2)]) == wilson(0.75, 1)
    assert share_interval([(1.0, 1)] * 7 + [(0.0, 1)] * 3) == wilson(7, 10)


def test_the_interval_holds_the_share() -> None:
    """12 of 12 and 0 of 12 were once left out by a rounding error."""
    for count in range(1, 200):
        for hits in (0, 1, count // 2, count):
            low, high = wilson(hits, count)
            assert 0.0 <= low <= hits / count <= high <= 1.0


def test_one_value_has_no_range() -> None:
    assert mean_and_range([2.0, 1.0, 6.0]) == "3 (1 .. 6)"
    assert mean_and_range([2.0], ".1f") == "2.0"
