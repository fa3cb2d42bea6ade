"""`sog solve SPOT --lock FILE`: a decision shown, edited and read back; what is printed; one line for a bad file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from sog.cli.app import main
from tests.cli.answers import answer

SPOT = 'holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;1.0;allin,range0="AA,KQo",range1="JJ")'
Capture = pytest.CaptureFixture[str]


def solved(capsys: Capture, *words: str) -> dict[str, Any]:
    return answer(capsys, "solve", SPOT, *words)


def shown(capsys: Capture, result: Path, *words: str) -> dict[str, Any]:
    return answer(capsys, "show", str(result), *words)


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
    again = shown(capsys, fixed)
    for found_or_given in (again, decision):  # what hands are worth depends on the answer to the lock
        for row in (found_or_given, *found_or_given["hands"]):
            del row["ev"], row["equity"]
    assert again == decision
    answer = shown(capsys, fixed, "--line", "bet allin")
    assert all(row["policy"][0] == pytest.approx(1, abs=0.01) for row in answer["hands"])
    assert solved(capsys, "--iterations", str(found["iterations"] + 5), *words)["iterations"] == found["iterations"] + 5
    for others in ([], ["--lock", str(lock)]):
        assert main(["solve", SPOT, "--out", str(free if others else fixed), *others]) == 2
        assert "was solved with other locked decisions; choose another name" in capsys.readouterr().err


def test_where_nobody_comes_nothing_is_earned(tmp_path: Path, capsys: Capture) -> None:
    """The first player always bets: after a check no hand of it meets the second one's."""
    out, lock = tmp_path / "spot.npz", tmp_path / "lock.json"
    lock.write_text(json.dumps({"line": "", "hands": {"full": {"bet 1000 (allin)": 1.0}}}))
    solved(capsys, "--iterations", "20", "--lock", str(lock), "--out", str(out))
    seen = shown(capsys, out, "--line", "check")
    assert seen["ev"] is seen["equity"] is None and {row["ev"] for row in seen["hands"]} == {None}
    assert main(["show", str(out), "--line", "check", "--csv", str(tmp_path / "hands.csv")]) == 0
    assert "no hands of both players come here" in capsys.readouterr().out
    assert {row["ev"] for row in csv.DictReader((tmp_path / "hands.csv").open())} == {""}


def test_a_whole_strategy_is_written_and_locked(tmp_path: Path, capsys: Capture) -> None:
    """The second player's, as solved: the first one's best answer is what was solved, too."""
    free, whole, table, lock = (tmp_path / name for name in ("free.npz", "all.json", "all.csv", "lock.json"))
    solved(capsys, "--target", "0.01", "--out", str(free))
    assert main(["show", str(free), "--whole", str(whole)]) == 0
    assert main(["show", str(free), "--whole", str(table)]) == 0
    capsys.readouterr()
    found = json.loads(whole.read_text())
    assert {decision["player"] for decision in found} == {0, 1} and len(whole.read_text().splitlines()) == 2 + len(
        found
    )
    rows = list(csv.DictReader(table.open()))
    assert len(rows) == sum(len(decision["actions"]) * len(decision["hands"]) for decision in found)
    first = found[0]["hands"][0]
    assert [float(row["probability"]) for row in rows[:3]] == pytest.approx(first["policy"], abs=1e-6)
    assert {row["action"] for row in rows[:3]} == set(found[0]["actions"]) and rows[0]["hand"] == first["hand"]
    theirs = [decision for decision in found if decision["player"] == 1]
    lock.write_text(json.dumps(theirs))
    words = ("--lock", str(lock), "--out", str(tmp_path / "fixed.npz"), "--target", "0.01")
    assert solved(capsys, *words)["locked_decisions"] == len(theirs)
    before, after = (shown(capsys, tmp_path / name)["hands"] for name in ("free.npz", "fixed.npz"))
    assert [row["policy"][2] for row in before if row["hand"][0] == "A"] == pytest.approx(6 * [1.0], abs=0.02)
    assert [row["policy"][2] for row in after if row["hand"][0] == "A"] == pytest.approx(6 * [1.0], abs=0.02)
    for more in (["--whole", str(whole)], ["--whole", str(tmp_path / "x"), "--csv", str(tmp_path / "x")]):
        assert main(["show", str(free), *more]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["show", str(free), "--line", "bet 1", "--whole", str(tmp_path / "below.json")]) == 0
    below = json.loads((tmp_path / "below.json").read_text())
    assert all("bet 1000" in decision["state"] for decision in below) and 0 < len(below) < len(found)


def test_what_is_locked_is_said(tmp_path: Path, capsys: Capture) -> None:
    lock, out = tmp_path / "lock.json", tmp_path / "spot.npz"
    lock.write_text('[{"line": "", "hands": {"full": {"check": 1}}}, {"line": "check", "hands": {"JJ": {"check": 1}}}]')
    assert main(["solve", SPOT, "--lock", str(lock), "--bits", "16", "--iterations", "9", "--out", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "locked decisions 2 EV player 0 333.3, player 1 666.7 of the 1,000 chips in the pot" in printed
    assert "exploitability 0 chips, 0% of the pot, by best responses that keep to the locked" in printed
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
