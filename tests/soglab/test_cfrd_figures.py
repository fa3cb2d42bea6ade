"""CFR-D's figures at few iterations: the figures of the paper's text that come out at once, and the plans."""

from __future__ import annotations

import pytest

from soglab.papers import cfrd_figures
from soglab.study import Options, StudyPoint


def test_plans() -> None:
    fig3, fig4, fig5 = (
        plan(Options(), print) for plan in (cfrd_figures.plan_fig3, cfrd_figures.plan_fig4, cfrd_figures.plan_fig5)
    )
    assert {key["most"] for key in fig3} == {6_553_600}
    assert (len(fig3), len(fig5)) == (6, 6)
    assert [key["subgame"] for key in fig4] == [100 * 2**k for k in reversed(range(8))]
    assert {tuple(key["trunks"]) for key in fig4} == {(500, 2_000, 8_000)}
    full = cfrd_figures.plan_fig4(Options(full=True), print)
    assert len(full) == 2 * 8
    assert full[0] == {"trunks": [32_000], "subgame": 12_800, "resolve": 200_000}


def test_fig3_safe_falls_and_unsafe_stays() -> None:
    keys = [{"method": method, "rule": rule, "most": 3_200} for method, rule in cfrd_figures.SETTINGS]
    points = [StudyPoint(key, cfrd_figures.compute_fig3(key)) for key in keys]
    found = {(p.key["method"], p.key["rule"]): p.result["exploitability"] for p in points}
    assert points[0].result["base"] <= 2.5e-11
    for rule in cfrd_figures.RULES:
        assert found["safe", rule]["3200"] < found["safe", rule]["100"] / 5  # 1/sqrt(T) would be 5.66
        assert found["unsafe", rule]["3200"] > 0.04
    outcome = cfrd_figures.present_fig3(points)
    assert [b.paper for b in outcome.beside[:3]] == ["< 2.5e-11", "T^-0.5", "around 0.080"]
    assert [row["iterations"] for row in outcome.rows[:6]] == [100, 200, 400, 800, 1_600, 3_200]


def test_fig5_is_the_papers_abstract_strategy() -> None:
    keys = cfrd_figures.plan_fig5(Options(quick=True), print)
    points = [StudyPoint(key, cfrd_figures.compute_fig5(key)) for key in keys]
    for p in points:
        assert p.result["base"] == pytest.approx(0.382, abs=0.001)
        last = p.result["exploitability"]["200"]
        assert last <= 0.33 if p.key["method"] == "safe" else last > 0.36
    outcome = cfrd_figures.present_fig5(points)
    assert [b.what for b in outcome.beside[:2]] == ["the abstract strategy", "safe, CFR, 200 iterations"]
    assert len(outcome.rows) == 6 * 6


def test_fig4_more_iterations_help() -> None:
    points = [
        StudyPoint(key, cfrd_figures.compute_fig4(key))
        for key in (
            {"trunks": [20, 100], "subgame": 200, "resolve": 5_000},
            {"trunks": [20, 100], "subgame": 20, "resolve": 5_000},
        )
    ]
    fine, rough = (p.result["finely_resolved"] for p in points)
    assert fine["100"] < fine["20"]
    assert fine["100"] < rough["100"]  # with 20 trunk iterations their number hides that of the subgames'
    assert fine["100"] == pytest.approx(points[0].result["exploitability"]["100"], abs=0.02)
    outcome = cfrd_figures.present_fig4(points)
    assert [(row["trunk"], row["subgame"]) for row in outcome.rows] == [(20, 20), (20, 200), (100, 20), (100, 200)]
    assert [b.what for b in outcome.beside[::2]] == [
        "20 trunk, 20 to 200 subgame iterations", "100 trunk, 20 to 200 subgame iterations"
    ]  # fmt: skip


def test_fig4_trunks_on_the_way_are_those_of_shorter_runs() -> None:
    short, long = ({"trunks": trunks, "subgame": 10, "resolve": 500} for trunks in ([5], [5, 8]))
    there = cfrd_figures.compute_fig4(short)["exploitability"]["5"]
    on_the_way = cfrd_figures.compute_fig4(long)["exploitability"]
    assert on_the_way["5"] == there
    assert on_the_way["8"] != there
