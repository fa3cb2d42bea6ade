"""One GT-CFR search from the root: with exact leaves, and on a tree that holds the game, its errors vanish."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from soglab.papers import gtcfr_growth
from soglab.papers.gtcfr_growth import CASES, EXACT, ZERO, Case
from soglab.study import Key, Options, Result, StudyPoint


def key(game: str, leaves: str, s: int, opening: tuple[int, ...] = ()) -> Key:
    return {"game": game, "opening": list(opening), "leaves": leaves, "simulations": s, "seed": 0}


def solve(game: str, leaves: str, s: int, opening: tuple[int, ...] = ()) -> Result:
    return gtcfr_growth.compute(key(game, leaves, s, opening))


def test_kuhn_reaches_its_value() -> None:
    found = solve("kuhn_poker", EXACT, 300)
    assert found["value"] == pytest.approx(-1 / 18, abs=2e-3)
    assert found["value_error"] == pytest.approx(abs(found["value"] + 1 / 18), abs=1e-6)
    assert found["covered"] == 1.0
    assert found["uniform"] == found["below"] < 2e-3


def test_one_expansion_leaves_the_rest_uniform_or_solved() -> None:
    found = solve("kuhn_poker", EXACT, 1)
    assert found["covered"] == 1 / 4  # the root of four decisions
    assert 0 < found["uniform"] < 0.4583333  # the root begins at its exact prior, the rest is uniform
    assert 0 < found["below"] < 0.2


def test_exploitability_falls_with_s_on_a_full_tree() -> None:
    found = [solve("kuhn_poker", ZERO, s) for s in (30, 100, 400)]
    assert [result["covered"] for result in found] == [1.0] * 3
    first, second, third = (result["uniform"] for result in found)
    assert first > 2 * second > 4 * third
    assert found[0]["below"] is None


def test_tic_tac_toe_from_a_late_position() -> None:
    (case,) = (case for case in CASES if case.opening)
    found = solve(case.game, EXACT, 50, case.opening)
    assert found["value_error"] < 0.05
    assert found["covered"] < 1.0


def test_the_plan_has_every_case_both_ways() -> None:
    keys = gtcfr_growth.plan(Options(seeds=2), print)
    assert len(keys) == 2 * sum(
        (leaves == gtcfr_growth.ZERO or s <= case.exact)
        for case in CASES for leaves in (gtcfr_growth.EXACT, gtcfr_growth.ZERO) for s in gtcfr_growth.SIMULATIONS
    )  # fmt: skip
    assert max(k["simulations"] for k in keys if k["leaves"] == "exact" and "glasses" in k["game"]) == 500
    assert {k["simulations"] for k in gtcfr_growth.plan(Options(quick=True), print)} == {1, 10, 100}


def test_the_picture_and_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gtcfr_growth, "CASES", (Case("Kuhn", "kuhn_poker"),))
    keys = [key("kuhn_poker", leaves, s) for leaves in (EXACT, ZERO) for s in (1, 30)]
    outcome = gtcfr_growth.present([StudyPoint(k, gtcfr_growth.compute(k)) for k in keys])
    assert [row.what for row in outcome.beside] == ["Kuhn, exact leaves, s = 30", "Kuhn, zero leaves, s = 30"]
    figure = Figure()
    outcome.pictures["gtcfr-growth"](figure)
    assert len(figure.axes) == 4
    for axis in figure.axes:
        line, dots = axis.get_lines()
        assert list(line.get_xdata()) == [1, 30]  # type: ignore[arg-type]
        assert list(dots.get_xdata()) == [30]  # type: ignore[arg-type]
