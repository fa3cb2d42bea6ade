"""OpenSpiel's own AlphaZero: processor time is counted and ends it whole, what it trained plays, errors are told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sog.cli.app import main
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.opponents.openspiel_alphazero import settings as az_settings
from sog.opponents.openspiel_alphazero.compiled import answer_compiled
from sog.opponents.openspiel_alphazero.planes import planes_of
from sog.opponents.openspiel_alphazero.player import openspiel_alphazero
from sog.opponents.openspiel_alphazero.settings import RECORD, AzSettings, AzTraining, newest_checkpoint
from sog.opponents.rating import RatingPlayer, spiel_state
from sog.play.move_tree import MoveTree
from sog.play.player import Limits, think
from soglab.baselines.openspiel_alphazero.group import Group
from soglab.baselines.openspiel_alphazero.train import main as train_main
from soglab.baselines.openspiel_alphazero.train import train
from soglab.checks.connect_four_mistakes import THEIRS, compute, plan
from soglab.study import Options

NEEDED = ("chex", "flax", "jax", "optax", "orbax.checkpoint", "psutil")
SMALL = AzSettings("mlp", 16, 1, 4, train_batch_size=16, replay_buffer_size=64, replay_buffer_reuse=4)
MARK = "SOG_TEST_OF_OPENSPIEL_ALPHAZERO"


def needs_the_extra() -> None:
    for name in NEEDED:
        pytest.importorskip(name, reason="the extra alphazero is not installed")


def marked(mark: str) -> list[Any]:
    """Processes with this mark in their environment, which those that they start inherit."""
    psutil = pytest.importorskip("psutil")
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, AzTraining]]:
    """A network after twenty seconds of processor time, most of which goes into imports and compiling."""
    needs_the_extra()
    out, mark = tmp_path_factory.mktemp("az") / "run", f"module {os.getpid()}"
    os.environ[MARK] = mark
    lines: list[str] = []
    try:
        record = train("connect_four", 1 / 3, out, SMALL, lines.append)
    finally:
        del os.environ[MARK]
    assert not marked(mark), "processes of the training live on"
    yield out, record


def test_processor_time_ends_it(trained: tuple[Path, AzTraining]) -> None:
    out, record = trained
    assert 1 / 3 <= record.processor_minutes < 1 / 2
    assert record.played >= record.games and record.played > 0
    assert newest_checkpoint(out) == record.checkpoint >= 0 and len(list(out.glob("checkpoint-*"))) == 1
    said = json.loads((out / RECORD).read_text())
    assert said["processor_minutes"] == record.processor_minutes and said["settings"]["nn_model"] == "mlp"
    assert said["versions"]["open-spiel"]


def test_it_plays_legal_games(
    trained: tuple[Path, AzTraining], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, az = tmp_path / "m.toml", f'openspiel_alphazero = "{trained[0]}"'
    agents = f"[agents.s]\n{az}\nsimulations = 8\n[agents.t]\n{az}\nseconds = 0.01\n[agents.r]\nrandom = true\n"
    path.write_text(f'game = "connect_four"\nplies = 2\n{agents}')
    assert main(["tournament", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["games"] == 6 and not said["faults"]


def test_it_wins_and_blocks_at_once_and_counts_its_simulations(trained: tuple[Path, AzTraining]) -> None:
    game = make_game("connect_four")
    player, tree = RatingPlayer("az", openspiel_alphazero(trained[0], game)), MoveTree(game)
    for moves, best in (([0, 0, 1, 1, 2, 2], 3), ([3, 0, 3, 0, 3], 3)):
        player.new_game(game)
        thought = think(player, moves, Limits(400))
        assert thought.action == best and {c.action for c in thought.candidates} == set(
            tree.actions(tree.node_after(moves))
        )
    for simulations in (2, 30):
        search = player.search([], simulations)
        assert search.thought().candidates and search.simulations == simulations - 1  # the first is the root's own
    assert player.search([]).thought().nodes == 100


def test_its_moves_are_counted_on_solved_positions_beside_the_shipped_networks(
    trained: tuple[Path, AzTraining],
) -> None:
    keys = plan(Options(quick=True, runs=(trained[0],)), print)
    assert {key["agent"] for key in keys} > {"sog", THEIRS}
    theirs = next(key for key in keys if key["agent"] == THEIRS and key["set"] == "Middle-Medium")
    counted = compute({**theirs, "last": 20})
    assert counted["positions"] == 20 and len(counted["losses"]) == counted["can_lose_value"]
    assert 0 < counted["lose_value"] < counted["can_lose_value"]  # a network of seconds finds some and misses some


@pytest.mark.parametrize("kind", ["resnet", "conv2d", "mlp"])
def test_compiled_answers_are_the_librarys(kind: str) -> None:
    needs_the_extra()
    import pyspiel
    from open_spiel.python.algorithms.alpha_zero.model_nnx import Model

    spiel = pyspiel.load_game("connect_four")
    model = Model.build_model(kind, spiel.observation_tensor_shape(), 7, 8, 2, 1e-4, 1e-3, None)
    state = spiel.new_initial_state()
    for action in (3, 3, 3, 3, 3, 3):  # the column is full
        state.apply_action(action)
    observed, legal = np.asarray(state.observation_tensor()), np.asarray(state.legal_actions_mask())
    value, policy = answer_compiled(model, observed, legal)
    theirs = model.inference(observed, legal)
    assert value == pytest.approx(float(theirs[0]), abs=1e-5) and policy[3] == 0
    np.testing.assert_allclose(policy, np.asarray(theirs[1]), atol=1e-5)


def test_folders_that_are_none_are_refused(
    trained: tuple[Path, AzTraining], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, game = (trained[0] / "config.json").read_text(), make_game("connect_four")
    with pytest.raises(CheckpointError, match="config\\.json cannot be read"):
        openspiel_alphazero(tmp_path / "missing", game)
    bad = tmp_path / "bad"
    bad.mkdir()
    for text, says in (("{", "cannot be read"), ("[]", "no object"), (config, "no checkpoint")):
        (bad / "config.json").write_text(text)
        with pytest.raises(CheckpointError, match=says):
            openspiel_alphazero(bad, game)
    (bad / "checkpoint-3").mkdir()
    with pytest.raises(CheckpointError, match="checkpoint-3 cannot be read"):
        openspiel_alphazero(bad, game)
    with pytest.raises(CheckpointError, match="not for tic_tac_toe"):
        openspiel_alphazero(trained[0], make_game("tic_tac_toe"))
    path = tmp_path / "m.toml"
    path.write_text('game = "connect_four"\n[agents.a]\nopenspiel_alphazero = "nowhere"\n[agents.r]\nrandom = true\n')
    assert main(["tournament", str(path)]) == 2
    assert "nowhere" in (said := capsys.readouterr().err) and len(said.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_lives_on_when_the_command_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    needs_the_extra()
    out, mark = tmp_path / "run", f"{number} {os.getpid()}"
    command = [sys.executable, "-m", "soglab.baselines.openspiel_alphazero.train", "connect_four"]
    command += ["--minutes", "60", "--out", str(out), "--model", "mlp", "--width", "16", "--simulations", "2"]
    process = subprocess.Popen(command, env={**os.environ, MARK: mark}, stderr=subprocess.PIPE, text=True)
    while not ((log := out / "log-actor-0.txt").exists() and "Game 1:" in log.read_text()):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.1)
    assert len(marked(mark)) >= 3  # the command, the learner, the actor
    process.send_signal(number)
    said = process.communicate()[1]
    while marked(mark):
        time.sleep(0.1)
    if number == signal.SIGTERM:
        assert process.returncode == 143 and "is kept in" in said
        assert newest_checkpoint(out) is not None and (out / RECORD).exists()
    else:
        assert process.returncode == -number


# Two busy children of a process that ends, one of which does not listen.
_FAMILY = """
import os, signal, time
if os.fork() and os.fork():
    os._exit(0)
if os.fork():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    sum(range(1000))
"""


def test_a_group_is_counted_and_ended_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psutil")
    monkeypatch.setattr("soglab.baselines.openspiel_alphazero.group._PATIENCE", 0.2)
    process = subprocess.Popen([sys.executable, "-c", _FAMILY], start_new_session=True)
    group = Group(process.pid)
    process.wait()
    while len(group.processes()) < 2 or group.seconds() < 0.4:
        time.sleep(0.05)
    before = group.seconds()
    assert len(group.processes()) >= 2
    group.end()
    assert not group.processes() and group.seconds() >= before  # those that ended still count


def test_what_cannot_be_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(az_settings, "_PACKAGES", ())
    with pytest.raises(SettingError, match="exists"):
        train("connect_four", 1.0, tmp_path, SMALL)
    for settings, says in (
        (AzSettings("lstm"), "the network is one of"),
        (AzSettings(nn_width=0), "nn_width"),
        (AzSettings(max_simulations=1), "max_simulations"),
        (AzSettings(replay_buffer_size=64), "replay_buffer_size"),
        (AzSettings(learning_rate=float("nan")), "learning_rate"),
        (AzSettings(uct_c=float("nan")), "uct_c"),
        (AzSettings(temperature_drop=-1), "temperature_drop"),
    ):
        with pytest.raises(SettingError, match=says):
            train("connect_four", 1.0, tmp_path / "new", settings)
    with pytest.raises(SettingError, match="minutes"):
        train("connect_four", 0.0, tmp_path / "new", SMALL)
    assert not (tmp_path / "new").exists()


def test_missing_packages_are_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(az_settings, "_PACKAGES", ("no_such_package",))
    assert train_main(["connect_four", "--minutes", "1", "--out", str(tmp_path / "new")]) == 2
    path = tmp_path / "m.toml"
    path.write_text('game = "connect_four"\n[agents.a]\nopenspiel_alphazero = "x"\n[agents.r]\nrandom = true\n')
    assert main(["tournament", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and all("pip install 'sog[alphazero]'" in line for line in lines)
    assert not (tmp_path / "new").exists()


def test_planes_are_those_that_our_network_gets() -> None:
    """Of random positions, in the layout that OpenSpiel's residual network reads: rows, columns, planes."""
    game, rng = make_game("connect_four"), np.random.default_rng(5)
    boards, ours = [], []
    for _ in range(20):
        start = game.random_start(rng)  # type: ignore[attr-defined]
        planes = np.zeros((6, 6, 7), dtype=np.float32)
        start.write_planes(start.root(), planes)
        boards.append(spiel_state(start, start.root()).observation_tensor())
        ours.append(planes.transpose(1, 2, 0).ravel())
    assert any(planes.reshape(6, 7, 6)[:, :, 2:4].any() for planes in ours)
    np.testing.assert_array_equal(planes_of(boards), ours)


def test_a_network_of_planes_learns_and_plays(tmp_path: Path) -> None:
    needs_the_extra()
    settings = replace(SMALL, nn_model="resnet", nn_width=4, inputs="planes")
    run = tmp_path / "run"
    record = train("connect_four", 1 / 2, run, settings)
    if not record.steps:  # compiling may take all of it on a busy machine
        run = tmp_path / "longer"
        record = train("connect_four", 2.0, run, settings)
    assert record.steps > 0 and record.settings.inputs == "planes"
    game = make_game("connect_four")
    player = RatingPlayer("az", openspiel_alphazero(run, game))
    player.new_game(game)
    assert think(player, [0, 0, 1, 1, 2, 2], Limits(200)).action == 3


def test_only_connect_four_has_planes(tmp_path: Path) -> None:
    needs_the_extra()
    with pytest.raises(SettingError, match="only connect_four"):
        train("tic_tac_toe", 1.0, tmp_path / "run", replace(SMALL, inputs="planes"))
    with pytest.raises(SettingError, match="inputs are one of"):
        replace(SMALL, inputs="hexes").check()
