"""SoG Fig. 3 from small runs: which networks it measures, how, and what it says where there are none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from matplotlib.figure import Figure

from sog.algorithms.student.measure import EXACT_LEAVES, Subject, measure_seed, network_leaves
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings, paper_settings
from sog.searches.gtcfr.settings import Budget
from sog.training import checkpoint
from soglab.papers import sog_fig3
from soglab.study import Key, Options, StudyPoint


def save(folder: Path, step: int, game: str = "kuhn_poker", seed: int = 0) -> None:
    network = CVPN(shape_for(make_game(game), width=8, depth=1), seed)
    with torch.no_grad():
        network.head.bias.add_(0.01 * seed)
    checkpoint.save(folder, network, game, "test", step, {})


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Snapshots of steps 0 (twice the same network), 5 and 30."""
    for k, (step, seed) in enumerate([(0, 0), (0, 0), (30, 2), (5, 1)]):
        save(tmp_path / "run" / "snapshots" / f"{k:06d}", step, seed=seed)
    return tmp_path / "run"


def networks(keys: list[Key]) -> list[Key]:
    return [key for key in keys if key["leaves"] != EXACT_LEAVES]


def test_every_network_once_by_step_with_every_budget_and_seed(run: Path) -> None:
    keys = networks(sog_fig3.plan(Options(runs=(run,), seeds=2), print))
    assert list(dict.fromkeys(key["step"] for key in keys)) == [0, 5, 30]
    assert len(keys) == 3 * 4 * 2
    assert {(key["simulations"], key["per_update"]) for key in keys} == {(10, 1), (100, 1), (100, 0.1), (1000, 1)}
    assert {key["rule"] for key in keys} == {"best"}


def test_exact_leaves_stand_beside_a_small_game(run: Path) -> None:
    keys = [key for key in sog_fig3.plan(Options(runs=(run,)), print) if key["leaves"] == EXACT_LEAVES]
    assert [(key["simulations"], key["step"], key["seed"]) for key in keys] == [
        (s, None, 0) for s in (10, 100, 100, 1000)
    ]


def test_a_run_without_snapshots_gives_one_network(tmp_path: Path) -> None:
    save(tmp_path / "run" / "checkpoint", 7)
    told: list[str] = []
    keys = networks(sog_fig3.plan(Options(runs=(tmp_path / "run",), seeds=1), told.append))
    assert {key["step"] for key in keys} == {7}
    assert told == [f"{tmp_path / 'run'} has one network: a point instead of a curve"]


def test_runs_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match="no training run in runs/leduc_poker"):
        sog_fig3.plan(Options(), print)
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        sog_fig3.plan(Options(runs=(Path("nothing"),)), print)
    save(Path("runs/leduc_poker/snapshots/000000"), 0, "leduc_poker")
    told: list[str] = []
    keys = sog_fig3.plan(Options(seeds=1), told.append)
    assert {key["game"] for key in keys} == {"leduc_poker"}
    assert told == [
        "no training run in runs/scotland_yard-map-glasses: its figure is left out",
        "runs/leduc_poker has one network: a point instead of a curve",
    ]


def test_two_runs_of_a_game_are_refused(run: Path) -> None:
    with pytest.raises(SettingError, match="two runs are of kuhn_poker"):
        sog_fig3.plan(Options(runs=(run, run)), print)


def test_points_differ_by_seed_and_rule(run: Path) -> None:
    first = networks(sog_fig3.plan(Options(runs=(run,), seeds=1), print))[0]
    changes: dict[str, Key] = {"one": {}, "again": {}, "paper": {"rule": "paper"}, "more": {"simulations": 100}}
    found = {name: sog_fig3.compute({**first, **more})["exploitability"] for name, more in changes.items()}
    assert found["one"] == found["again"]
    assert found["paper"] != found["one"]
    budget, (_, leaves) = Budget(first["simulations"], first["per_update"]), network_leaves(Path(first["leaves"]))
    for name, settings in (("one", ResolveSettings(budget)), ("paper", paper_settings(budget))):
        assert found[name] == measure_seed(Subject("kuhn_poker", leaves, settings), first["seed"])
    assert found["more"] < found["one"]


def test_two_games_of_a_family_have_a_picture_each() -> None:
    """Liar's Dice with four faces a die and with five."""
    how = {"leaves": "", "network": "", "step": 1, "simulations": 10, "per_update": 1.0, "rule": "best", "seed": 0}
    games = [f"liars_dice(numdice=1,dice_sides={faces})" for faces in (4, 5)]
    points = [StudyPoint({"game": game, **how}, {"exploitability": 0.1}) for game in games]
    assert list(sog_fig3.present(points).pictures) == ["liars_dice", "liars_dice-1"]


def test_the_picture_has_lines_ribbons_and_dashes() -> None:
    def point(step: int | None, seed: int, value: float) -> StudyPoint:
        key = {"game": "leduc_poker", "leaves": "", "network": "", "step": step, "simulations": 10, "per_update": 1.0}
        return StudyPoint({**key, "rule": "best", "seed": seed}, {"exploitability": value})

    points = [point(step, seed, 90.0 - step + seed) for step in (0, 30) for seed in (0, 2)]
    outcome = sog_fig3.present([*points, point(None, 0, 5.0)])
    (row,) = outcome.beside
    assert row.what == "leduc_poker, SoG(10,1) after 30 steps"
    assert row.ours == "61 (60 .. 62) mbb/h; exact leaves 5 (one seed)"
    assert {r["unit"] for r in outcome.rows} == {"mbb/h"}
    figure = Figure()
    outcome.pictures["leduc_poker"](figure)
    (axis,) = figure.axes
    dashed, line = axis.get_lines()
    assert dashed.get_linestyle() == "--"
    assert list(line.get_ydata()) == [91.0, 61.0]  # type: ignore[arg-type]
