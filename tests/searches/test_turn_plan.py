"""The turns of a depth-limited solve: when leaves are evaluated, for whom, and where iterations are read."""

from __future__ import annotations

from sog.searches.depth_limited.plan import evaluated, plan_turns
from sog.searches.depth_limited.settings import SolveSettings


def in_turn(iterations: int, warm: int = 0, recycle: float = 0.0) -> SolveSettings:
    """Two updates an iteration; CFR-D, which alone can be started warm."""
    return SolveSettings(updates=2 * iterations, warm=warm, recycle=recycle)


def together(iterations: int, recycle: float = 0.0) -> SolveSettings:
    return SolveSettings(updates=2 * iterations, simultaneous=True, recycle=recycle)


def test_players_take_turns_and_every_turn_evaluates() -> None:
    plan = plan_turns(in_turn(3), ())
    assert plan.users == (1, 2, 1, 2, 1, 2) and plan.stops == (0, 1, 2, 3, 4, 5, 6)
    assert [plan.begins(turn) for turn in plan.stops] == [1, None, 2, None, 3, None, None]
    assert plan.users_at(6) == 0


def test_together_there_is_one_turn_an_iteration() -> None:
    plan = plan_turns(together(3), ())
    assert plan.users == (3, 3, 3) and plan.stops == (0, 1, 2, 3) and plan.begins(2) == 3


def test_recycled_values_are_evaluated_ever_less_often() -> None:
    settings = in_turn(20, recycle=0.5)
    assert sorted(evaluated(settings, 1)) == [1, 2, 4, 7, 11, 17]
    assert sorted(evaluated(in_turn(20), 3)) == list(range(3, 21))
    users = plan_turns(settings, ()).users
    assert [t for t in range(1, 21) if users[2 * t - 2 : 2 * t] == (1, 2)] == [1, 2, 4, 7, 11, 17]


def test_iterations_that_are_read_stop_the_turns() -> None:
    settings = together(6, recycle=1.0)  # evaluated: 1, 3
    assert sorted(evaluated(settings, 1)) == [1, 3]
    assert plan_turns(settings, ()).stops == (0, 2, 6)
    assert plan_turns(settings, {5}).stops == (0, 2, 4, 6)
    assert plan_turns(settings, None).stops == (0, 1, 2, 3, 4, 5, 6)


def test_a_warm_start_stands_for_the_first_turns() -> None:
    plan = plan_turns(in_turn(4, warm=2), ())
    assert plan.users == (0, 0, 0, 0, 1, 2, 1, 2) and plan.origin == 4 and plan.stops == (4, 5, 6, 7, 8)
