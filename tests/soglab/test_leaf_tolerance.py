"""Leaves that are not evaluated anew: the experiment's plan, its counts, and what it prints."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from soglab.papers import leaf_tolerance
from soglab.papers.leaf_tolerance import BUDGETS, GAMES, SEEDS, TOLERANCES
from soglab.study import Key, Options, StudyPoint


def planned(seeds: int = 1) -> list[Key]:
    return leaf_tolerance.plan(Options(quick=True, seeds=seeds), print)


def test_with_a_tolerance_fewer_beliefs_are_evaluated() -> None:
    keys = planned()
    searches = sum(len(counts) for counts in BUDGETS.values()) * len(TOLERANCES)
    assert len(leaf_tolerance.plan(Options(), print)) == len(GAMES) * SEEDS * searches
    every, moved = ({**keys[0], "tolerance": tolerance} for tolerance in (0.0, 0.1))
    exact, rough = leaf_tolerance.compute(every), leaf_tolerance.compute(moved)
    assert 0 < rough["beliefs"] < exact["beliefs"]
    assert rough["exploitability"] != exact["exploitability"] and rough["seconds"] > 0


def test_what_is_printed_and_drawn() -> None:
    """Exploitability is 100 / seconds in every series; with a tolerance the same play takes half of the time."""
    points = []
    for key in planned(2):
        seconds = key["s"] / 100 * (1.0 if key["tolerance"] == 0.0 else 0.5)
        play = 1e4 / key["s"] + key["seed"] - 0.5
        points.append(StudyPoint(key, {"exploitability": play, "beliefs": 1000 * seconds, "seconds": seconds}))
    outcome = leaf_tolerance.present(points)
    said = {row.what: row.ours for row in outcome.beside}
    assert said["leduc_poker, (100,1), tolerance 0.01"] == "100 (99.5 .. 100.5) mbb/h, 0.50 processor s, 500 beliefs"
    assert said["leduc_poker: times as fast to the play of (100,1)"] == (
        "c 1 tolerance 0.01: 2.00, c 3 tolerance 0: 1.00, c 3 tolerance 0.01: 2.00"
    )
    for draw in outcome.pictures.values():
        draw(Figure())


@pytest.mark.parametrize(("figure", "seconds"), [(200.0, 0.5), (100.0, 1.0), (141.42135, 0.7071068), (50.0, None)])
def test_seconds_between_two_searches(figure: float, seconds: float | None) -> None:
    curve = [[StudyPoint({}, {"exploitability": 100 / t, "seconds": t})] for t in (0.5, 1.0)]
    assert leaf_tolerance._seconds_to(figure, curve) == (None if seconds is None else pytest.approx(seconds))
