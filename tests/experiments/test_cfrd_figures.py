"""CFR-D's figures at few iterations: the figures of the paper's text that come out at once, and the plans."""

from __future__ import annotations

import pytest

from sog.experiments import cfrd_figures
from sog.experiments.study import Options, Point


def test_plans() -> None:
    fig3, fig4, fig5 = (
        plan(Options(), print) for plan in (cfrd_figures.plan_fig3, cfrd_figures.plan_fig4, cfrd_figures.plan_fig5)
    )
    assert {key["iterations"] for key in fig3} == {100 * 2**k for k in range(17)}
    assert (len(fig3), len(fig5)) == (17 * 6, 6)
    assert len(fig4) == 3 * 8
    assert {"trunk": 8_000, "subgame": 12_800} in fig4
    full = cfrd_figures.plan_fig4(Options(full=True), print)
    assert len(full) == 4 * 8
    assert full[-1] == {"trunk": 32_000, "subgame": 12_800}


def test_fig3_safe_falls_and_unsafe_stays() -> None:
    keys = [
        {"method": method, "rule": rule, "iterations": count}
        for count in (100, 3_200)
        for method, rule in cfrd_figures.SETTINGS
    ]
    points = [Point(key, cfrd_figures.compute_fig3(key)) for key in keys]
    found = {(p.key["method"], p.key["rule"], p.key["iterations"]): p.result["exploitability"] for p in points}
    assert points[0].result["base"] <= 2.5e-11
    for rule in cfrd_figures.RULES:
        assert found["safe", rule, 3_200] < found["safe", rule, 100] / 5  # 1/sqrt(T) would be 5.66
        assert found["unsafe", rule, 3_200] > 0.04
    assert cfrd_figures.present_fig3(points).beside[0].paper == "< 2.5e-11"


def test_fig5_is_the_papers_abstract_strategy() -> None:
    keys = cfrd_figures.plan_fig5(Options(quick=True), print)
    points = [Point(key, cfrd_figures.compute_fig5(key)) for key in keys]
    for p in points:
        assert p.result["base"] == pytest.approx(0.382, abs=0.001)
        last = p.result["exploitability"]["200"]
        assert last <= 0.33 if p.key["method"] == "safe" else last > 0.36
    outcome = cfrd_figures.present_fig5(points)
    assert [b.what for b in outcome.beside[:2]] == ["the abstract strategy", "safe, CFR, 200 iterations"]
    assert len(outcome.rows) == 6 * 6


def test_fig4_more_iterations_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cfrd_figures, "_RESOLVE_ITERATIONS", 5_000)
    points = [
        Point(key, cfrd_figures.compute_fig4(key))
        for key in ({"trunk": 20, "subgame": 20}, {"trunk": 20, "subgame": 200}, {"trunk": 100, "subgame": 200})
    ]
    rough, fine, long = (p.result["finely_resolved"] for p in points)
    assert long < fine < rough
    assert long == pytest.approx(points[2].result["exploitability"], abs=0.02)
    beside = cfrd_figures.present_fig4(points).beside
    assert [b.what for b in beside] == ["20 trunk, 200 subgame iterations", "100 trunk, 200 subgame iterations"]
