"""How searches grow: a series ends where it should, and exponents are those of the figures."""

from __future__ import annotations

import math

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
    assert [growth._next(times) for times in ([], [0.5], [0.5, 1.0])] == [0.0, 8.0, 2.0]


def test_exponents() -> None:
    assert growth._exponent([0.5, 1.0, 16.0]) == pytest.approx(2.0)
    assert math.isnan(growth._exponent([0.01, 1.0])) and math.isnan(growth._exponent([1.0]))
