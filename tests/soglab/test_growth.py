"""How searches grow: a series ends where it should, and exponents are those of the figures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sog.games.catalog import make_game
from sog.searches.gtcfr.settings import SearchSettings
from sog.searches.leaves.evaluator import zero_evaluator
from soglab.bench import growth


def test_a_series_ends_with_the_game_or_at_the_most_simulations() -> None:
    kuhn, board = make_game("kuhn_poker"), make_game("tic_tac_toe")
    whole = growth.growth_of(kuhn, zero_evaluator, "constant", SearchSettings(), 1.0, 6_400, 60.0)
    assert whole.simulations == [100] and math.isnan(whole.time)
    part = growth.growth_of(board, zero_evaluator, "constant", SearchSettings(paths=True), 10.0, 400, 60.0)
    assert part.simulations == [100, 400] and part.updates == "paths" and part.megabytes[1] > part.megabytes[0]
    assert str(part).startswith("tic_tac_toe | constant | 10 | paths | 100: ")


def test_a_series_ends_before_a_search_that_would_take_too_long() -> None:
    leduc, settings = make_game("leduc_poker"), SearchSettings(tolerance=0.01)
    first = growth.growth_of(leduc, zero_evaluator, "constant", settings, 10.0, 6_400, 0.0)
    assert first.simulations == [100] and first.updates == "tolerance"
    expected = [growth._expected([100, 400][: len(times)], times, 1_600) for times in ([], [0.5], [0.5, 1.0])]
    assert expected == [0.0, 128.0, 2.0]


def test_exponents() -> None:
    assert growth._exponent([100, 400, 1_600], [0.5, 1.0, 16.0], 0.02) == pytest.approx(2.0)
    assert growth._exponent([25_600, 64_000], [4.0, 10.0]) == pytest.approx(1.0)
    assert math.isnan(growth._exponent([100, 400], [0.01, 1.0], 0.02)) and math.isnan(growth._exponent([100], [1.0]))


def test_simulations_end_with_the_most() -> None:
    assert list(growth._counts(64_000)) == [100, 400, 1_600, 6_400, 25_600, 64_000]
    assert list(growth._counts(400)) == [100, 400] and list(growth._counts(100)) == [100]


def test_what_a_search_held_at_most_is_counted() -> None:
    before = growth._least_held()
    taken = np.ones(4_000_000)
    del taken
    assert 31e6 < growth._most_held() - before < 64e6  # the system counts a few pages late
    before = growth._least_held()
    assert growth._most_held() - before < 31e6  # counted anew


def test_the_picture_has_a_column_for_each_game() -> None:
    rows = [
        growth.growth_of(make_game(name), zero_evaluator, "constant", SearchSettings(), 1.0, 400, 60.0)
        for name in ("tic_tac_toe", "leduc_poker")
    ]
    picture = growth.picture_of(rows)
    assert picture.columns == 2 and [panel.title for panel in picture.panels] == ["tic_tac_toe", "leduc_poker", "", ""]
    assert all(len(panel.marks) == 1 for panel in picture.panels)
