"""Runs as experiments see them: each network once by its steps, curves spread over the whole run, no other network."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sog.algorithms.table import settings_of
from sog.errors import CheckpointError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.training import checkpoint
from sog.training.curve import Point
from sog.training.run import Run
from sog.training.settings import TrainSettings
from soglab.papers import sog_fig3
from soglab.runs import check_unchanged, checkpoint_of, networks_of, run_folder, spread, train_watched
from soglab.study import Options


def save(folder: Path, seed: int, step: int, game: str = "kuhn_poker") -> Path:
    checkpoint.save(folder, CVPN(shape_for(make_game(game), 8, 1), seed), game, "run", step, {})
    return folder


def test_each_network_once_by_its_steps(tmp_path: Path) -> None:
    """The last snapshot's network is the checkpoint's; one that learned nothing between two steps counts once."""
    save(tmp_path / "snapshots" / "000002", 1, 20)
    first = save(tmp_path / "snapshots" / "000001", 0, 10)
    save(tmp_path / "snapshots" / "000003", 1, 30)
    last = save(tmp_path / "snapshots" / "000004", 2, 40)
    save(tmp_path / "checkpoint", 2, 40)
    assert [(one.folder, one.meta.step) for one in networks_of(tmp_path)] == [
        (first, 10),
        (tmp_path / "snapshots" / "000002", 20),
        (last, 40),
    ]
    save(tmp_path / "checkpoint", 3, 50)
    assert networks_of(tmp_path)[-1].folder == tmp_path / "checkpoint"
    assert len(networks_of(tmp_path / "checkpoint")) == 1  # a checkpoint by itself is a run of one network


def test_networks_of_two_games_are_no_run(tmp_path: Path) -> None:
    save(tmp_path / "snapshots" / "000001", 0, 10)
    save(tmp_path / "checkpoint", 0, 20, "rps")
    with pytest.raises(CheckpointError, match="kuhn_poker and of rps"):
        networks_of(tmp_path)


def test_a_curve_of_many_networks_is_spread_over_the_whole_run() -> None:
    """Of 40 networks 12: the first, the last, and those between them, not the last 12."""
    kept = spread(range(40), 12)
    assert len(kept) == 12 and kept[0] == 0 and kept[-1] == 39 and max(np.diff(kept)) <= 4
    assert spread(range(40), 1) == [39] and spread(range(3), 12) == [0, 1, 2] == spread(range(3), None)


def test_folders_of_a_run(tmp_path: Path) -> None:
    assert checkpoint_of(tmp_path) == tmp_path
    snapshot, latest = save(tmp_path / "snapshots" / "000001", 0, 10), save(tmp_path / "checkpoint", 0, 20)
    assert checkpoint_of(tmp_path) == latest
    assert run_folder(latest) == run_folder(snapshot) == tmp_path


def test_points_of_a_network_that_has_learned_on_are_refused(tmp_path: Path) -> None:
    """The key of a point names its network: another in the same folder is not measured in its place."""
    run = tmp_path / "run"
    save(run / "checkpoint", 0, 10)
    key = sog_fig3.plan(Options(quick=True, runs=(run,)), lambda line: None)[0]
    check_unchanged(run / "checkpoint", key["network"])
    assert sog_fig3.compute(key)["exploitability"] > 0.0
    save(run / "checkpoint", 1, 20)
    with pytest.raises(CheckpointError, match="learned on"):
        sog_fig3.compute(key)


RUN = Run("kuhn_poker", algorithm="sog(network=1x8)")


@pytest.fixture(scope="module")
def tiny() -> TrainSettings:
    settings = settings_of(make_game(RUN.game), RUN.preset, RUN.algorithm)
    assert isinstance(settings, TrainSettings)
    return replace(settings, games=2, replay=200)


def test_a_watched_run_ends_when_enough_is_seen(tmp_path: Path, tiny: TrainSettings) -> None:
    seen: list[int] = []

    def report(point: Point) -> bool:
        seen.append(point.round)
        return point.round == 3

    train_watched(RUN, tiny, tmp_path, report)
    assert seen == [1, 2, 3]


def test_a_signal_while_a_run_is_watched_ends_the_program(tmp_path: Path, tiny: TrainSettings) -> None:
    """Training saves its round first; who measures it must not go on with half of a run."""
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        train_watched(RUN, tiny, tmp_path, lambda point: os.kill(os.getpid(), signal.SIGTERM) is not None)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM]
