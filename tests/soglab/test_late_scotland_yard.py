"""Late positions of Scotland Yard: they are reached by play, their values are exact, and errors are means of them."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import Chase, ScotlandYard
from sog.searches.cfr import exact
from sog.searches.cfr.exact import ExactEvaluator
from sog.searches.cfr.rules import DCFR
from sog.searches.leaves.evaluator import zero_evaluator
from soglab.papers import late_scotland_yard as late
from soglab.papers.late_positions import LatePosition, late_positions, solved
from soglab.study import Options, StudyPoint

GAME = "scotland_yard(map=london20)"


@pytest.fixture(scope="module")
def position() -> LatePosition:
    game = make_game(GAME)
    assert isinstance(game, ScotlandYard)
    return next(late_positions(game, 2, 0, 200))


def test_a_position_is_undecided_solved_and_two_moves_from_the_end(position: LatePosition) -> None:
    start = position.public.states[0]
    assert isinstance(start, Chase) and (start.kind, start.turn, start.owed, start.moved) == ("act", 0, 0, 6)
    assert abs(position.value) < 0.95 and position.exploitability < 1e-3
    zero, one = position.values
    assert len(zero) == len(start.hidden) and zero.mean() == pytest.approx(position.value)
    assert one[0] == pytest.approx(-position.value)


def test_a_position_is_measured_as_a_game_that_begins_there(position: LatePosition) -> None:
    """Chance's weights, which are those of the whole game, are divided by their sum."""
    game, start, public = make_game(GAME), position.public.states[0], position.public
    assert isinstance(game, ScotlandYard) and isinstance(start, Chase)
    measure, weights = exact.measure(exact.solve(public, DCFR, 2)), public.game.weights(public.states[0]).dense()
    found = solved(game, start, 2)
    assert found is not None and measure.exploitability > 0 and weights.sum() < 0.1
    assert found.exploitability == pytest.approx(measure.exploitability / weights.sum())
    assert found.value == pytest.approx(measure.value / weights.sum())


def test_positions_are_reached_by_play(position: LatePosition) -> None:
    """The public log leads from the game's root to the same state."""
    game, start = make_game(GAME), position.public.states[0]
    assert isinstance(start, Chase)
    s = game.root()
    while s != start:
        children = game.fan(s).children
        s = next(c for c in children if isinstance(c, Chase) and start.log[: len(c.log)] == c.log)
    assert isinstance(s, Chase)
    assert (s.hidden, s.detectives, s.tickets, s.x_tickets, s.scale) == (
        start.hidden,
        start.detectives,
        start.tickets,
        start.x_tickets,
        start.scale,
    )


def test_errors_of_exact_values_are_none(position: LatePosition) -> None:
    truth = [late._listed(position.values)]
    own = [late._listed(late.answers(position, ExactEvaluator(200)))]
    assert late.mean_errors(truth, own).max() < 1e-2
    nothing = late.mean_errors(truth, [late._listed(late.answers(position, zero_evaluator))])
    assert nothing[:, 0] == pytest.approx([np.abs(values).mean() for values in position.values])


def test_the_study_from_end_to_end() -> None:
    key = late.plan(Options(quick=True), print)[0] | {"game": GAME}
    keys = [key | {"batch": k} for k in range(3)]
    outcome = late.present([StudyPoint(one, late.compute(one)) for one in keys])
    by_name = {row["values"]: row for row in outcome.rows}
    assert set(by_name) == {"0", "median"} and by_name["0"]["positions"] == 3
    assert by_name["median"]["mr_x_error"] <= by_name["0"]["mr_x_error"]


def test_another_game_has_no_such_positions() -> None:
    with pytest.raises(SettingError, match="not of leduc_poker"):
        late._yard("leduc_poker")
