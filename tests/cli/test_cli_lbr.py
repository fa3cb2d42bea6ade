"""`sog lbr`: what it prints, whom it plays against, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sog.agents.poker import open_agent
from sog.algorithms.student.algorithm import Student
from sog.cli.app import main
from sog.measure.lbr import LbrSettings, local_best_response
from tests.cli.answers import answer

Capture = pytest.CaptureFixture[str]

RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=900,bets=0.5;allin)"


def test_the_figure_has_its_bets_and_streets(capsys: Capture) -> None:
    found = answer(capsys, "lbr", "always-fold", "--game", "leduc_poker", "--bets", "offered", "--hands", "99")
    assert found["mbb_per_hand"] == found["chips_per_hand"] * 1000 == 1000.0
    assert found["interval95"] == [1000.0, 1000.0] and found["hands"] == 100
    assert (found["bets"], found["call_streets"], found["scoring"]) == ("offered", 0, "expectation")
    found = answer(capsys, "lbr", "random", "--game", "leduc_poker", "--bets", "offered", "--hands", "40")
    seats = open_agent("random", "leduc_poker", Student, 0)
    figure = local_best_response(seats.game, seats.seats, 40, LbrSettings("offered"))
    assert figure.half is not None and figure.mean == found["chips_per_hand"]
    assert found["interval95"] == pytest.approx(
        [1000 * (figure.mean - figure.half), 1000 * (figure.mean + figure.half)]
    )


def test_for_people(capsys: Capture) -> None:
    words = ["always-fold", "--game", RIVER, "--bets", "fold-call-pot-allin", "--hands", "40", "--call-streets", "1"]
    assert main(["lbr", *words]) == 0
    printed = capsys.readouterr().out
    assert "always-fold: LBR wins 5000 ± 0 mbb/h, 500 chips (bets fold-call-pot-allin, calling" in printed
    assert "calling on the first 1 street, 40 hands, " in printed


def test_a_checkpoint_and_a_class_of_ones_own(capsys: Capture) -> None:
    words = "--hands", "10", "--bets", "offered", "-s", "5", "-c", "5"
    found = answer(capsys, "lbr", "leduc_poker", *words)
    assert found["game"] == "leduc_poker" and found["agent"] == "leduc_poker"
    own = answer(capsys, "lbr", "sog.agents.uniform:UniformAgent", "--game", "kuhn_poker", "--hands", "10", "--raw")
    assert own["scoring"] == "raw" and "mbb_per_hand" not in own and own["unit"] == "utility"


def test_a_solved_spot(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "river.npz"
    assert main(["solve", RIVER, "--out", str(out), "--json"]) == 0
    solved = json.loads(capsys.readouterr().out)
    found = answer(capsys, "lbr", str(out), "--bets", "offered", "--hands", "60")
    low = found["interval95"][0] / found["mbb_per_hand"] * found["chips_per_hand"]
    assert low <= solved["exploitability_chips"]
    assert main(["lbr", str(out), "--game", RIVER]) == 2
    assert "leave out --game" in capsys.readouterr().err


def test_a_solved_policy(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "leduc.json"
    assert main(["solve", "leduc_poker", "--iterations", "100", "--out", str(out)]) == 0
    capsys.readouterr()
    found = answer(capsys, "lbr", str(out), "--game", "leduc_poker", "--bets", "offered", "--hands", "20")
    assert found["hands"] == 20 and found["agent"] == str(out)
    assert main(["lbr", str(out), "--bets", "offered"]) == 2
    assert "is a policy: name the game that it plays with --game" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["always-call", "--game", "tic_tac_toe"], "no poker game"),
        (["always-call", "--game", "leduc_poker", "--bets", "56"], "fixed size"),
        (["nothing:Here"], "name the game"),
        (["runs/none"], "no such checkpoint"),
        (["always-call", "--hands", "0"], "--hands"),
        (
            ["random", "--game", "leduc_poker", "-s", "5"],
            "random has no search: --algorithm, -s, -c and --paper change",
        ),
        (["random", "--game", "leduc_poker", "--algorithm", "rebel"], "has no search"),
    ],
)
def test_what_cannot_be_measured(words: list[str], message: str, capsys: Capture) -> None:
    assert main(["lbr", *words]) == 2
    printed = capsys.readouterr().err
    assert message in printed and printed.count("\n") == 1
