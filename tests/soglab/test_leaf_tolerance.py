"""Leaves that are not evaluated anew: the experiment's plan, its counts, and what it prints."""

from __future__ import annotations

from matplotlib.figure import Figure

from soglab.papers import leaf_tolerance
from soglab.papers.leaf_tolerance import SEEDS, TOLERANCES
from soglab.study import Options, StudyPoint


def test_a_larger_tolerance_asks_about_fewer_beliefs() -> None:
    keys = leaf_tolerance.plan(Options(quick=True), print)
    assert [key["tolerance"] for key in keys] == list(TOLERANCES)
    assert len(leaf_tolerance.plan(Options(), print)) == 2 * SEEDS * len(TOLERANCES)
    exact, rough = (leaf_tolerance.compute(keys[k]) for k in (0, -1))
    assert 0 < rough["beliefs"] < exact["beliefs"]
    assert rough["exploitability"] != exact["exploitability"]


def test_what_is_printed_and_drawn() -> None:
    keys = leaf_tolerance.plan(Options(quick=True, seeds=2), print)
    points = [
        StudyPoint(key, {"exploitability": 10.0 + key["seed"], "beliefs": 50 if key["tolerance"] else 100})
        for key in keys
    ]
    outcome = leaf_tolerance.present(points)
    assert outcome.beside[0].ours == "10.5 (10 .. 11) mbb/h, 100% of the beliefs"
    assert outcome.beside[1].ours == "10.5 (10 .. 11) mbb/h, 50% of the beliefs"
    for draw in outcome.pictures.values():
        draw(Figure())
