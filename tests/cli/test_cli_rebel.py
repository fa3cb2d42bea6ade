"""`sog train` and `sog exploit` with ReBeL: the solver that a run was trained with stays its own."""

from __future__ import annotations

import builtins
import csv
from pathlib import Path

import pytest

from sog.agents.loaded import load_agent
from sog.cli.app import main
from tests.cli.answers import answer

DICE = "liars_dice(numdice=1,dice_sides=2)"


def test_a_run_keeps_its_solver_and_its_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    train = ["train", DICE, "--workers", "1", "--out", run]
    whole = "rebel(network=1x16,solver=fp)"
    assert answer(capsys, *train, "--algorithm", whole, "--rounds", "1")["algorithm"] == whole
    resumed = answer(capsys, *train, "--resume", "--rounds", "2")
    assert (resumed["algorithm"], resumed["rounds"]) == (whole, 2)
    assert main([*train, "--resume", "--algorithm", "rebel(solver=cfr-d)"]) == 2
    assert f"{whole} demo" in capsys.readouterr().err
    measured = ["exploit", run, "--playthroughs", "4", "--algorithm"]
    assert answer(capsys, *measured, "rebel(updates=16)")["solver"] == "fp"
    found = answer(capsys, *measured, "rebel(updates=16,solver=cfr-d,warm=3)")
    assert (found["solver"], found["warm"]) == ("cfr-d", 3)


def test_a_run_with_a_policy_network_is_played_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    train = ["train", DICE, "--algorithm", "rebel(warm=5)", "--workers", "1", "--out", run]
    assert answer(capsys, *train, "--rounds", "2")["algorithm"] == "rebel(warm=5)"
    with (tmp_path / "run" / "curve.csv").open() as file:
        assert float(list(csv.DictReader(file))[-1]["policy_loss"]) > 0
    measured = ["exploit", run, "--algorithm", "rebel(updates=16)", "--playthroughs", "4"]
    assert answer(capsys, *measured)["warm"] == 5


def test_the_papers_preset_trains_goes_on_and_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    train = ["train", "kuhn_poker", "--algorithm", "rebel(warm=5)", "--preset", "paper", "--workers", "1", "--out", run]
    answer(capsys, *train, "--rounds", "1")
    assert answer(capsys, *train, "--resume", "--rounds", "2")["rounds"] == 2
    found = answer(capsys, "exploit", run, "--algorithm", "rebel(updates=16)", "--playthroughs", "4")
    assert found["warm"] == 5 and 0 < found["exploitability"]["mean"] < 1000


def test_cfr_ave_learns_and_plays_by_values_of_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A network trained for it serves CFR-D, too; one trained for CFR-D does not serve CFR-AVE."""
    run, plain = str(tmp_path / "run"), str(tmp_path / "plain")
    train = ["train", DICE, "--workers", "1", "--rounds", "2"]
    chosen = "rebel(network=1x16,recycle=0.05,solver=cfr-ave)"
    assert answer(capsys, *train, "--algorithm", chosen, "--out", run)["algorithm"] == chosen
    answer(capsys, *train, "--algorithm", "rebel(network=1x16)", "--out", plain)
    measured = ["--playthroughs", "4", "--algorithm"]
    found = answer(capsys, "exploit", run, *measured, "rebel(updates=64)")
    assert (found["solver"], found["recycle"]) == ("cfr-ave", 0.05)
    rarely = answer(capsys, "exploit", run, *measured, "rebel(updates=64,recycle=1)")
    assert (rarely["solver"], rarely["recycle"]) == ("cfr-ave", 1.0)
    other = answer(capsys, "exploit", run, *measured, "rebel(updates=64,solver=cfr-d,recycle=0)")
    assert len({str(measure["exploitability"]) for measure in (found, rarely, other)}) == 3
    assert main(["exploit", plain, *measured, "rebel(updates=64,solver=cfr-ave)"]) == 2
    assert "only a network with matchups" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("algorithm", "why"),
    [
        ("sog(solver=fp)", "sog has no setting solver; `sog algorithms sog` lists them"),
        ("rebel(warm=128)", "must be shorter than 128 iterations, not 128"),
        ("rebel(warm=3,solver=modified-cfr-ave)", "cannot be started warm"),
        ("rebel(warm=3,solver=cfr-ave)", "cannot be started warm"),
        ("rebel(solver=fq)", "solver is one of cfr-d, cfr-ave, modified-cfr-ave, fp, flop, not fq"),
        ("sog(recycle=0.1)", "sog has no setting recycle"),
        ("rebel(recycle=1.5)", "recycle must lie in [0, 1]"),
        ("rebel(recycle=nan)", "recycle is a number, not nan"),
    ],
)
def test_a_solver_out_of_place_is_refused(
    algorithm: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", DICE, "--algorithm", algorithm, "--out", str(tmp_path / "run")]) == 2
    assert why in " ".join(capsys.readouterr().err.split())


def test_on_a_board_student_of_games_plays_with_its_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = str(tmp_path / "run")
    train = ["train", "tic_tac_toe", "--algorithm", "rebel(network=1x16)", "--workers", "1", "--rounds", "1"]
    assert main([*train, "--out", run]) == 0
    printed = capsys.readouterr()
    assert f"sog play {run}" in printed.out and "the network is as it began" in printed.err
    answers = iter(["b2", "q"])
    monkeypatch.setattr(builtins, "input", lambda question: next(answers))
    assert main(["play", run, "--seat", "0", "-s", "10"]) == 0
    printed = capsys.readouterr()
    assert "rebel does not play on boards: sog searches with its network" in printed.err
    assert "agent: " in printed.out
    assert main(["play", run, "--algorithm", "rebel"]) == 2
    assert "rebel plays no games of perfect information; known: sog, alphazero" in capsys.readouterr().err
    thought = load_agent(run, simulations=10).think([4])
    assert thought.action != 4 and thought.nodes <= 11
