"""ReBeL's experiments: what their points hold, and what they refuse."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from sog.errors import CheckpointError, SettingError
from sog.games.rules.liars_dice import LiarsDice
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.training import checkpoint, curve
from sog.training.run import Run
from soglab.papers import rebel_fig5, rebel_rps, rebel_table2
from soglab.study import Key, Options, StudyPoint


def quiet(line: str) -> None:
    """Nobody reads the notes."""


@pytest.mark.parametrize("solver", ["cfr-d", "cfr-ave", "fp"])
def test_with_oracle_leaves_solvers_that_are_known_to_converge_come_close(solver: str) -> None:
    found = rebel_fig5.compute({"solver": solver, "iterations": 32, "start": 0})["exploitability"]
    assert list(found) == ["8", "16", "32"]
    assert found["32"] < 0.8 * found["8"] < 0.2


def test_every_solver_has_a_point_and_a_line() -> None:
    keys = rebel_fig5.plan(Options(quick=True), quiet)
    points = [StudyPoint(key, {"exploitability": {"8": 0.2, "16": 0.1}}) for key in keys]
    outcome = rebel_fig5.present(points)
    assert len(outcome.rows) == 2 * len(keys) == 8 and len(outcome.beside) == len(keys)


def test_each_start_but_the_first_is_nudged() -> None:
    keys = rebel_fig5.plan(Options(quick=True, seeds=3), quiet)
    assert [key["start"] for key in keys if key["solver"] == "cfr-d"] == [0, 1, 2]
    found = [rebel_fig5.compute({**key, "iterations": 8})["exploitability"]["8"] for key in keys[:3]]
    assert len(set(found)) == 3
    ranges = np.array([0.25, 0.0, 0.75])
    moved = rebel_fig5._nudged(ranges, 2)
    assert 0.0 < np.abs(moved - ranges).max() <= 1e-9 and np.array_equal(rebel_fig5._nudged(ranges, 0), ranges)
    points = [StudyPoint(key, {"exploitability": {"8": 0.1 * (1 + key["start"])}}) for key in keys]
    assert rebel_fig5.present(points).beside[0].ours.startswith("0.20000 (0.10000 .. 0.30000)")


def test_unsafe_search_has_a_pure_answer_and_safe_search_has_not() -> None:
    unsafe = rebel_rps.compute({"search": "unsafe", "playthroughs": 1})
    safe = rebel_rps.compute({"search": "safe", "playthroughs": 64})
    assert max(unsafe["player 1"]) > 0.95 > 0.7 > max(safe["player 1"])
    assert safe["exploitability"] < unsafe["exploitability"]


def test_the_table_needs_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match="train one"):
        rebel_table2.plan(Options(), quiet)


def made_run(folder: Path, algorithm: str, steps: tuple[int, ...], faces: int = 4) -> Path:
    """A folder as training leaves it, with untrained networks: a snapshot of each round but the last."""
    game = LiarsDice(1, faces)
    shape, points = shape_for(game, width=8, depth=1), []
    run = Run(game.name, algorithm=algorithm)
    for number, step in enumerate(steps):
        points.append(curve.Point(number, 2.0 * number, step, 100 * number, 0, 0, 0, 0.0, 0.0, 0.0))
        said = {**asdict(run), "round": number, "minutes": 2.0 * number}
        network = CVPN(shape, seed=number)
        out = folder / "checkpoint" if number == len(steps) - 1 else folder / "snapshots" / f"{number:06d}"
        checkpoint.save(out, network, game.name, run.name, step, said)
    curve.write_curve(folder / "curve.csv", points[1:])
    return folder


def keys_of(*runs: Path) -> list[Key]:
    return rebel_table2.plan(Options(quick=True, runs=runs), quiet)


def test_the_table_has_the_last_three_networks_and_the_curve_all_that_learned(tmp_path: Path) -> None:
    keys = keys_of(made_run(tmp_path / "run", "rebel(solver=fp)", (0, 5, 9, 12, 20)))
    steps = {part: [key["step"] for key in keys if key["part"] == part] for part in ("table", "curve")}
    assert steps == {"table": [9, 12, 20], "curve": [5, 9, 12, 20]}
    assert {(key["solver"], key["search"], key["search_solver"]) for key in keys} == {("fp", "rebel", "fp")}
    assert (keys[-1]["round"], keys[-1]["minutes"], keys[-1]["examples"]) == (4, 8.0, 400)
    assert keys[-2]["checkpoint"].endswith("snapshots/000003") and keys[-2]["examples"] == 300


def test_a_run_that_used_values_again_is_searched_so(tmp_path: Path) -> None:
    keys = keys_of(made_run(tmp_path / "run", "rebel(recycle=0.5,solver=modified-cfr-ave)", (0, 5)))
    assert {key["recycle"] for key in keys} == {0.5}
    assert "recycle" not in keys_of(made_run(tmp_path / "other", "rebel", (0, 5)))[-1]
    assert rebel_table2._label_rebel(keys[-1]).endswith("modified-cfr-ave, recycle 0.5")


@pytest.mark.parametrize(
    ("faces", "full", "playthroughs"),
    [(5, False, {1024}), (6, False, {256, 1024}), (6, True, {1024})],  # on 1x6f the last network more closely
)
def test_large_games_are_measured_as_closely_as_small_ones_only_when_asked(
    tmp_path: Path, faces: int, full: bool, playthroughs: set[int]
) -> None:
    run = made_run(tmp_path / "run", "rebel", (0, 5), faces)
    keys = rebel_table2.plan(Options(full=full, runs=(run,)), quiet)
    assert {key["playthroughs"] for key in keys if key["part"] == "table"} == playthroughs


def test_a_run_of_student_of_games_is_searched_by_both(tmp_path: Path) -> None:
    keys = keys_of(made_run(tmp_path / "run", "sog", (0, 5)))
    assert {(key["search"], key.get("search_solver")) for key in keys} == {("sog", None), ("rebel", "cfr-d")}
    for key in keys[:2]:
        small = {**key, **({"s": 1} if key["search"] == "sog" else {"playthroughs": 1, "updates": 2})}
        result = rebel_table2.compute(small)
        assert 0.0 < result["exploitability"] <= 1.0 and result["searches"] > 0 and result["ms_a_search"] > 0


def test_a_network_that_has_learned_on_is_not_measured_as_the_old_one(tmp_path: Path) -> None:
    key = keys_of(made_run(tmp_path / "run", "rebel", (0, 5)))[-1]
    with pytest.raises(CheckpointError, match="has learned on"):
        rebel_table2.compute({**key, "network_id": "another"})


def test_a_runs_checkpoint_is_the_run(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", "rebel", (0, 5))
    assert keys_of(run / "checkpoint") == keys_of(run)


def test_the_means_stand_beside_the_papers_figure_of_the_same_solver() -> None:
    key: Key = {"part": "table", "game": "1x5f", "run": "a", "algorithm": "rebel", "solver": "fp", "network": "2x256"}
    key |= {"search": "rebel", "search_solver": "fp", "warm": 0, "playthroughs": 1024, "updates": 1024}
    key |= {"minutes": 120.0, "examples": 5000}
    found = {"exploitability": 0.02, "ms_a_search": 40.0}
    points = [StudyPoint({**key, "step": k}, {**found, "exploitability": 0.01 * k}) for k in (1, 2, 3)]
    (line,) = rebel_table2.present(points).beside
    assert line.paper == "0.020"
    assert line.ours == "0.0200 (0.0100 .. 0.0300), 3 networks, 120 min, 5,000 examples, 40 ms a search"
    quick = [StudyPoint({**p.key, "playthroughs": 16}, p.result) for p in points]
    other = [StudyPoint({**p.key, "algorithm": "sog", "solver": ""}, p.result) for p in points]
    assert [rebel_table2.present(p).beside[0].paper for p in (quick, other)] == ["", ""]


def test_networks_that_no_self_play_made_are_left_out(tmp_path: Path) -> None:
    """A folder of `sog distil` has no rounds and no curve."""
    game, said = LiarsDice(1, 4), list[str]()
    trained = made_run(tmp_path / "a", "sog", (0, 5))
    distilled = tmp_path / "b"
    checkpoint.save(distilled / "checkpoint", CVPN(shape_for(game, 8, 1), 0), game.name, "distilled", 5, {})
    keys = rebel_table2.plan(Options(runs=(trained, distilled)), said.append)
    assert {key["run"] for key in keys} == {"a"} and any("was not trained by self-play" in line for line in said)
    (trained / "curve.csv").unlink(missing_ok=True)
    assert {key["examples"] for key in rebel_table2.plan(Options(runs=(trained,)), print)} == {0}


def test_runs_of_the_same_name_get_names_of_their_own(tmp_path: Path) -> None:
    runs = tuple(made_run(tmp_path / name / "run", "sog", (0, 5)) for name in "ab")
    assert {key["run"] for key in rebel_table2.plan(Options(runs=runs), print)} == {str(run) for run in runs}
