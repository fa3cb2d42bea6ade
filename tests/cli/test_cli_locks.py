"""`sog solve SPOT --lock FILE`: a decision shown, edited and read back; what is printed; one line for a bad file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sog.cli.app import main

SPOT = 'holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1.0;allin,range0="AA,KQo",range1="JJ")'
Capture = pytest.CaptureFixture[str]


def solved(capsys: Capture, *words: str) -> dict[str, Any]:
    assert main(["solve", SPOT, "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def shown(capsys: Capture, result: Path, *words: str) -> dict[str, Any]:
    assert main(["show", str(result), "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_decision_is_shown_edited_and_locked(tmp_path: Path, capsys: Capture) -> None:
    free, fixed, lock = tmp_path / "free.npz", tmp_path / "fixed.npz", tmp_path / "lock.json"
    assert solved(capsys, "--target", "0.01", "--out", str(free))["locked_decisions"] == 0
    decision = shown(capsys, free)
    place = decision["actions"].index("bet 1000 (allin)")
    for row in decision["hands"]:
        if row["hand"][0] == "K":
            row["policy"] = [0.1 if a == place else 0.9 * (a == 0) for a in range(len(row["policy"]))]
    lock.write_text(json.dumps(decision))
    words = ("--lock", str(lock), "--out", str(fixed))
    found = solved(capsys, "--target", "0.01", *words)
    assert found["locked_decisions"] == 1 and found["exploitability_percent_of_pot"] <= 0.01
    assert shown(capsys, fixed) == decision
    answer = shown(capsys, fixed, "--line", "bet allin")
    assert all(row["policy"][0] == pytest.approx(1, abs=0.01) for row in answer["hands"])
    assert solved(capsys, "--iterations", str(found["iterations"] + 5), *words)["iterations"] == found["iterations"] + 5
    for others in ([], ["--lock", str(lock)]):
        assert main(["solve", SPOT, "--out", str(free if others else fixed), *others]) == 2
        assert "was solved with other locked decisions; choose another name" in capsys.readouterr().err


def test_what_is_locked_is_said(tmp_path: Path, capsys: Capture) -> None:
    lock, out = tmp_path / "lock.json", tmp_path / "spot.npz"
    lock.write_text('[{"line": "", "hands": {"full": {"check": 1}}}, {"line": "check", "hands": {"JJ": {"check": 1}}}]')
    assert main(["solve", SPOT, "--lock", str(lock), "--bits", "16", "--iterations", "9", "--out", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "locked decisions 2 exploitability 0 chips, 0% of the pot, by best responses that keep to the locked" in printed
    )
    assert main(["show", str(out)]) == 0
    assert "player 0 to act (0% of the pot exploitable, 18 hands locked)" in capsys.readouterr().out
    assert main(["show", str(out), "--line", "bet 0.5"]) == 0
    assert "(0% of the pot exploitable)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("check", "lock.json: it is not JSON: "),
        ('{"line": "bet 2", "hands": {"full": {"check": 1}}}', "lock.json: decision 1: no action 'bet 2'"),
        ('{"line": "", "hands": {"JJ": {"check": 1}}}', "player 0 has no hand of 'JJ'"),
        ('{"line": "", "hands": {"AA": {"check": 0.9}}}', "are 0.9 in all, and not 1"),
        ('{"line": "", "hands": {"AA": {"check": NaN}}}', "it is not JSON: NaN is not a finite number"),
        ('{"line": "", "player": 1, "hands": {"AA": {"check": 1}}}', "player 0 decides at"),
        ('{"state": "board 2s2h2d7c9d", "hands": {"AA": {"check": 1}}}', "is not on the board 2s2h2d7c9c"),
        (None, "lock.json: No such file"),
    ],
)
def test_a_bad_lock_is_told_in_one_line(text: str | None, says: str, tmp_path: Path, capsys: Capture) -> None:
    lock = tmp_path / "lock.json"
    if text is not None:
        lock.write_text(text)
    assert main(["solve", SPOT, "--lock", str(lock)]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_only_holdem_spots_are_locked(tmp_path: Path, capsys: Capture) -> None:
    lock = tmp_path / "lock.json"
    lock.write_text("[]")
    assert main(["solve", "kuhn_poker", "--lock", str(lock)]) == 2
    assert "--lock are for hold'em spots" in capsys.readouterr().err
    assert main(["solve", SPOT, "--lock", str(tmp_path)]) == 2
    assert "is not a plain file" in capsys.readouterr().err
