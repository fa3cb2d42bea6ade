"""`sog train`, `exploit`, `play` and `distil` of policy learners, killed and resumed; `sog bench histories`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sog
from sog.algorithms.policy import responses
from sog.algorithms.policy.agent import policy_exploitability
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.sepot.learner import train_sepot
from sog.algorithms.table import settings_of
from sog.cli.app import main
from sog.games.catalog import make_game, make_history_game
from sog.measure.intervals import mean_interval
from sog.searches.tree.whole import whole_tree
from sog.training import checkpoint
from sog.training.run import Run, Until
from sog.training.state import pack
from tests.cli.answers import answer

Capture = pytest.CaptureFixture[str]
LARGE = "goofspiel(imp_info=True,num_cards=8,points_order=descending)"


def test_a_policy_is_trained_measured_and_opened(tmp_path: Path, capsys: Capture) -> None:
    run = tmp_path / "run"
    found = answer(capsys, "train", "kuhn_poker", "--algorithm", "mmd", "--rounds", "2", "--out", str(run))
    assert found["algorithm"] == "mmd" and found["steps"] == 40
    measured = answer(capsys, "exploit", str(run))
    assert measured["algorithm"] == "mmd"
    exploitability = measured["exploitability"]
    assert isinstance(exploitability, dict) and 0.0 < exploitability["mean"] < 0.45
    assert found["exploitability"] == pytest.approx(exploitability["mean"])
    agent = sog.load_agent(str(run))
    assert sog.exploitability(agent) == pytest.approx(exploitability["mean"])
    assert main(["exploit", str(run), "--algorithm", "rebel"]) == 2
    assert main(["exploit", str(run), "-s", "10"]) == 2
    assert "mmd has no setting simulations; `sog algorithms mmd`" in " ".join(capsys.readouterr().err.split())
    assert main(["play", str(run), "--algorithm", "sog"]) == 2
    assert "sog cannot search with a policy network, which mmd trained" in " ".join(capsys.readouterr().err.split())
    assert main(["play", "kuhn_poker", "--algorithm", "rnad", "--hands", "0"]) == 2


def test_a_policy_network_values_no_leaves(tmp_path: Path, capsys: Capture) -> None:
    """Its outputs have a value network's shape, and would be taken for values."""
    run, out = str(tmp_path / "run"), str(tmp_path / "results")
    for game, lines in (
        ("kuhn_poker", [["bench", "training", run], ["bench", "search", run, "--no-training"]]),
        ("leduc_poker", [["reproduce", name, "--run", run, "--out", out] for name in ("sog-fig3", "paper-deviations")]),
    ):
        run_of = ["train", game, "--algorithm", "rnad(network=1x16)", "--rounds", "1", "--out", run]
        assert main(run_of) == 0
        for line in lines:
            capsys.readouterr()
            assert main([*line, "--quick"] if line[0] == "reproduce" else line) == 2
            assert "holds a policy network by rnad, which values no leaves" in " ".join(capsys.readouterr().err.split())
        shutil.rmtree(run)


def test_a_run_ends_after_its_processor_minutes_in_all(tmp_path: Path, capsys: Capture) -> None:
    """A run that has used them gets no round more when it is resumed, and its checkpoint says how many it used."""
    line = ("train", "kuhn_poker", "--algorithm", "mmd", "--processor-minutes", "0.001", "--out", str(tmp_path / "run"))
    first = answer(capsys, *line)
    assert 1 <= int(str(first["rounds"])) < 300
    said = checkpoint.load_meta(tmp_path / "run" / "checkpoint").settings
    assert said["processor_minutes"] >= 0.001
    assert answer(capsys, *line, "--resume")["rounds"] == first["rounds"]


def test_a_game_without_public_states_is_trained_without_exploitability(tmp_path: Path, capsys: Capture) -> None:
    run = tmp_path / "run"
    line = ("--algorithm", "rnad(network=1x16,games=64,steps=2)", "--rounds", "1", "--out", str(run))
    assert answer(capsys, "train", LARGE, *line)["exploitability"] is None
    assert main(["exploit", str(run), "--limit-gb", "0.001"]) == 2
    assert "--best-response streamed (exact) and learned" in " ".join(capsys.readouterr().err.split())
    assert main(["train", LARGE, "--algorithm", "sog"]) == 2
    assert main(["train", "chess", "--algorithm", "rnad"]) == 2
    assert "chess is a game by public states alone" in " ".join(capsys.readouterr().err.split())


def test_sepot_is_trained_searched_and_measured_without_search(tmp_path: Path, capsys: Capture) -> None:
    run, small = tmp_path / "run", "goofspiel(imp_info=True,num_cards=3,points_order=descending)"
    whole = "sepot(games=256,network=1x16,step=0.2,steps=5,transformations=predefined)"
    found = answer(capsys, "train", small, "--algorithm", whole, "--rounds", "1", "--out", str(run))
    assert found["algorithm"] == whole
    searched = answer(capsys, "exploit", str(run), "--algorithm", "sepot(updates=50)")
    assert (searched["algorithm"], searched["gadget"], searched["depth"]) == ("sepot", "previous", 0)
    assert isinstance(searched["searched"], int) and searched["searched"] > 2
    alone = [
        answer(capsys, "exploit", str(run), "--algorithm", "rnad", "--best-response", how)["exploitability"]
        for how in ("listed", "streamed")
    ]
    assert alone[0]["mean"] == pytest.approx(alone[1]["mean"]) == pytest.approx(found["exploitability"])  # type: ignore
    learned = ("exploit", str(run), "--algorithm", "rnad", "--best-response", "learned(updates=2)")
    bound = answer(capsys, *learned)
    assert bound["updates"] == 2 and bound["exploitability"]["mean"] < alone[0]["mean"] + bound["interval"]  # type: ignore
    assert main(["exploit", str(run), "--algorithm", "rnad", "--best-response", "listed(updates=2)"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "listed best responses have no setting updates; write learned(updates=1000)" in said
    assert answer(capsys, "exploit", str(run), "--algorithm", "sepot(histories=1)")["searched"] == 0
    assert main(["exploit", str(run), "--algorithm", "sepot(histories=1)"]) == 0
    assert "SePoT's search at 0 of " in " ".join(capsys.readouterr().out.split())
    assert main(["exploit", str(run), "--algorithm", "mmd"]) == 0
    assert "the policy network by sepot after" in " ".join(capsys.readouterr().out.split())
    agent = sog.load_agent(str(run))
    assert 0.0 <= sog.exploitability(agent) <= 1.0
    assert main(["exploit", str(run), "--algorithm", "sepot(gadget=none)"]) == 2
    assert main(["exploit", str(run), "--algorithm", "rnad", "--best-response", "none"]) == 2
    assert main(["train", small, "--algorithm", "sepot(transformations=none)"]) == 2
    assert main(["train", small, "--algorithm", "rnad(step=1)"]) == 2
    assert "rnad has no setting step; `sog algorithms rnad` lists them" in " ".join(capsys.readouterr().err.split())
    assert main(["exploit", "kuhn_poker", "--algorithm", "sepot"]) == 2


def test_every_measure_is_in_the_games_unit(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A point of this Goofspiel is half a utility: while training, of the policy, of a search, of a learned bound."""
    run = tmp_path / "run"
    game = "goofspiel(imp_info=True,num_cards=3,points_order=descending,returns_type=point_difference)"
    line = ("--algorithm", "sepot(games=64,network=1x16,steps=2,transformations=predefined)", "--rounds", "1")
    trained = answer(capsys, "train", game, *line, "--out", str(run))
    network, public = checkpoint.load_network(run / "checkpoint")[1], whole_tree(make_game(game))
    points = pytest.approx(2.0 * policy_exploitability(public, network), rel=1e-6)
    assert trained["exploitability"] == points
    for algorithm in ("rnad", "sepot(histories=1)"):  # which searches no public state
        found = answer(capsys, "exploit", str(run), "--algorithm", algorithm)["exploitability"]
        assert isinstance(found, dict) and found["mean"] == points
    won = np.array([0.0, 1.0, 2.0])
    monkeypatch.setattr(responses, "learn_response", lambda game, network, seat, settings, report: won)
    bound = answer(capsys, "exploit", str(run), "--algorithm", "rnad", "--best-response", "learned")
    half = mean_interval(won)[1]
    assert half is not None and bound["exploitability"]["mean"] == 2.0  # type: ignore[index]
    assert bound["interval"] == pytest.approx(2.0 * half * 2.0**0.5 / 2.0)


def test_sepot_searches_on_a_policy_by_another_learner(tmp_path: Path, capsys: Capture) -> None:
    run = tmp_path / "run"
    line = ("train", "kuhn_poker", "--algorithm", "sepot(games=256,network=1x16,policy=mmd)", "--out", str(run))
    assert answer(capsys, *line, "--rounds", "1")["algorithm"] == "sepot(games=256,network=1x16,policy=mmd)"
    line = ("train", "kuhn_poker", "--algorithm", "sepot", "--out", str(run), "--resume", "--rounds", "2")
    assert (
        answer(capsys, *line)["algorithm"] == "sepot(games=256,network=1x16,policy=mmd)"
    )  # as the run that is resumed was
    assert answer(capsys, "exploit", str(run), "--algorithm", "sepot(updates=20)")["algorithm"] == "sepot"
    assert main(["train", "kuhn_poker", "--algorithm", "sepot(policy=none)"]) == 2


def critic_run(name: str, out: Path, algorithm: str = "sepot") -> str:
    """The folder of a run after one step."""
    run = Run(name, algorithm=f"{algorithm}(network=1x8)")
    settings = settings_of(make_history_game(name), "demo", run.algorithm)
    assert isinstance(settings, PolicySettings)
    train_sepot(run, replace(settings, games=8, steps=1), out, Until(rounds=1))
    return str(out)


def test_a_critic_is_distilled_into_a_network_for_search(tmp_path: Path, capsys: Capture) -> None:
    run, out = critic_run("kuhn_poker", tmp_path / "run"), str(tmp_path / "out")
    line = ("distil", run, "--out", out, "--steps", "5", "--network", "1x16")
    found = answer(capsys, *line, "--values", "choice")
    assert (found["game"], found["values"], found["steps"]) == ("kuhn_poker", "choice", 5)
    meta = checkpoint.load_meta(Path(out) / "checkpoint")
    assert (meta.shape.depth, meta.shape.width, meta.settings["distilled"]["algorithm"]) == (1, 16, "sepot")
    searched = answer(capsys, "exploit", out, "-s", "5", "--workers", "1")
    assert searched["simulations"] == 5
    solved = answer(capsys, "exploit", out, "--algorithm", "rebel(updates=16)", "--playthroughs", "2")
    assert (solved["algorithm"], solved["solver"]) == ("rebel", "cfr-d")
    assert 0.0 <= sog.exploitability(sog.load_agent(out, simulations=5)) <= 1.0
    before = (Path(out) / "checkpoint" / "meta.json").read_bytes()
    assert main([*line]) == 2
    assert "holds a checkpoint already" in " ".join(capsys.readouterr().err.split())
    assert (Path(out) / "checkpoint" / "meta.json").read_bytes() == before
    assert main(["train", "kuhn_poker", "--out", out, "--resume"]) == 2


def test_what_cannot_be_distilled_is_refused_in_one_line(tmp_path: Path, capsys: Capture) -> None:
    run, out = critic_run("kuhn_poker", tmp_path / "run"), str(tmp_path / "out")
    wide, plain = critic_run(LARGE, tmp_path / "wide"), critic_run("kuhn_poker", tmp_path / "plain", "mmd")
    lines = (
        ((wide, "--out", out), "goofspiel"),
        ((plain, "--out", out), "holds no critic to search with; train one by sepot"),
        (("leduc_poker", "--out", out), "holds no critic"),
        ((str(tmp_path / "no"), "--out", out), "no such checkpoint"),
        ((run, "--out", out, "--values", "best"), "no values are called best; known: identity, choice"),
        ((run, "--out", out, "--network", "9x"), "hidden layers x width"),
        ((run, "--out", out, "--steps", "0"), "'--steps'"),
        ((run, "--out", run), "holds a checkpoint already"),
        ((run,), "--out"),
    )
    for words, why in lines:
        assert main(["distil", *words]) == 2
        said = capsys.readouterr().err
        assert why in " ".join(said.split()) and "Traceback" not in said
    assert not Path(out).exists()


@pytest.mark.parametrize("algorithm", ["nashpg", "sepot"])
def test_a_killed_run_resumes_as_if_nothing_had_been(algorithm: str, tmp_path: Path, capsys: Capture) -> None:
    """kill -9 in mid-run; resumed to the same round, weights and optimiser are those of the uninterrupted run."""
    parts, whole = tmp_path / "parts", tmp_path / "whole"
    line = ["train", "kuhn_poker", "--algorithm", f"{algorithm}(network=1x16)"]
    often = "import sog.training.loop as k; k.SAVE_SECONDS = 0.2; from sog.cli.app import main; main("
    process = subprocess.Popen(
        [sys.executable, "-c", f"{often}{[*line, '--rounds', '100000', '--out', str(parts)]!r})"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(sog.__file__).parents[1])},
    )
    deadline = time.monotonic() + 120.0
    while not (parts / "checkpoint" / "meta.json").exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    rounds = int(checkpoint.load_meta(parts / "checkpoint").settings["round"]) + 2
    assert main([*line, "--rounds", str(rounds), "--out", str(parts), "--resume"]) == 0
    assert main([*line, "--rounds", str(rounds), "--out", str(whole)]) == 0
    states = [pack(checkpoint.load_state(run / "checkpoint")["learner"])[1] for run in (parts, whole)]
    assert {key: array.tobytes() for key, array in states[0].items()} == {
        key: array.tobytes() for key, array in states[1].items()
    }


def test_bench_histories_prints_rates(capsys: Capture) -> None:
    found = answer(capsys, "bench", "histories", "kuhn_poker", "--network", "1x8", "--seconds", "0.01")
    (row,) = found["rows"]  # type: ignore[misc]
    assert (row["game"], row["network"]) == ("kuhn_poker", "1x8")
    assert min(row["random"], row["actor"], row["learning"]) > 0
    assert main(["bench", "histories", "checkers"]) == 2


@pytest.mark.parametrize("how", ["listed", "streamed", "learned"])
def test_a_network_that_is_no_policy_is_refused_before_anything_is_listed(how: str, capsys: Capture) -> None:
    assert main(["exploit", "leduc_poker", "--algorithm", "rnad", "--best-response", how]) == 2
    assert "no policy network of leduc_poker" in " ".join(capsys.readouterr().err.split())


def test_a_game_without_public_observations_is_not_trained_to_be_searched(tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("pyspiel")
    line = ["train", "openspiel:kuhn_poker", "--rounds", "1", "--out", str(tmp_path / "run")]
    assert main([*line, "--algorithm", "sepot"]) == 2
    assert "sepot cannot search openspiel:kuhn_poker" in " ".join(capsys.readouterr().err.split())
    assert main([*line, "--algorithm", "rnad(network=1x16,games=64,steps=2)"]) == 0
