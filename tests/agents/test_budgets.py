"""Every door that is given no budget searches with the same one."""

from __future__ import annotations

import pytest

import sog
from sog.algorithms.student.algorithm import Student
from sog.algorithms.student.budgets import usual_budget
from sog.games.catalog import make_game
from sog.play.agent import SearchAgent
from sog.searches.gtcfr.settings import Budget
from sog.searches.tree.public_tree import PublicTree
from sog.training.opened import Opened
from sog.web.positions import place_of


@pytest.mark.parametrize(
    ("game", "budget"),
    [
        ("leduc_poker", Budget(400, 1.0)),
        ("connect_four", Budget(400, 10.0)),
        ("holdem(board=turn,pot=2000)", Budget(100, 1.0)),
        ("holdem", Budget(10, 0.1)),
        ("scotland_yard(map=london)", Budget(30, 1.0)),
        ("scotland_yard(map=glasses)", Budget(400, 1.0)),
    ],
)
def test_the_usual_budget_is_the_game_s(game: str, budget: Budget) -> None:
    rules = make_game(game)
    assert usual_budget(rules) == budget
    place = place_of({}, rules)
    assert Budget(place.simulations, place.per_update) == budget


def test_python_and_the_terminal_search_alike() -> None:
    loaded = sog.load_agent("leduc_poker")
    seat = loaded.seat(0)
    assert isinstance(seat, SearchAgent) and seat.settings.budget == usual_budget(loaded.game)
    public = PublicTree(loaded.game)
    opened: Opened = loaded._opened
    played = Student().agents(public, opened)(0, 0)
    assert isinstance(played, SearchAgent) and played.settings.budget == seat.settings.budget
    assert "simulations=400, per_update=10.0" in repr(sog.load_agent("connect_four"))
