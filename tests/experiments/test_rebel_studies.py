"""ReBeL's experiments: what their points hold, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.errors import SettingError
from sog.experiments import rebel_fig5, rebel_rps, rebel_table2
from sog.experiments.study import Options, Point


def quiet(line: str) -> None:
    """Nobody reads the notes."""


@pytest.mark.parametrize("solver", ["cfr-d", "cfr-ave", "fp"])
def test_with_oracle_leaves_solvers_that_are_known_to_converge_come_close(solver: str) -> None:
    found = rebel_fig5.compute({"solver": solver, "iterations": 32})["exploitability"]
    assert list(found) == ["8", "16", "32"]
    assert found["32"] < 0.8 * found["8"] < 0.2


def test_every_solver_has_a_point_and_a_line() -> None:
    keys = rebel_fig5.plan(Options(quick=True), quiet)
    points = [Point(key, {"exploitability": {"8": 0.2, "16": 0.1}}) for key in keys]
    outcome = rebel_fig5.present(points)
    assert len(outcome.rows) == 2 * len(keys) == 8 and len(outcome.beside) == len(keys)


def test_unsafe_search_has_a_pure_answer_and_safe_search_has_not() -> None:
    unsafe = rebel_rps.compute({"search": "unsafe", "playthroughs": 1})
    safe = rebel_rps.compute({"search": "safe", "playthroughs": 64})
    assert max(unsafe["player 1"]) > 0.95 > 0.7 > max(safe["player 1"])
    assert safe["exploitability"] < unsafe["exploitability"]


def test_the_table_needs_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match="train one"):
        rebel_table2.plan(Options(), quiet)
