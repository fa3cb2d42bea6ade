"""`sog map`: the game that it prints is played by that string, and a written map is the same one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.cli.app import main
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import ScotlandYard
from tests.cli.answers import answer

Capture = pytest.CaptureFixture[str]


def test_a_cut_by_name_and_by_file_are_one_game(tmp_path: Path, capsys: Capture) -> None:
    by_name = answer(capsys, "map", "--stations", "30", "--around", "67")
    by_file = answer(capsys, "map", "--stations", "30", "--around", "67", "--out", str(tmp_path / "part.csv"))
    assert by_name["game"] == "scotland_yard(map=london30@67)"
    games = [make_game(str(found["game"])) for found in (by_name, by_file)]
    one, other = games
    assert isinstance(one, ScotlandYard) and isinstance(other, ScotlandYard)
    assert one.city == other.city and one.rules.cards == other.rules.cards and one.rules.rounds == other.rules.rounds
    assert by_name["stations"] == list(one.city.stations) and by_name["links"] == one.city.kinds()


def test_what_people_see(capsys: Capture) -> None:
    assert main(["map", "--stations", "40", "--around", "100"]) == 0
    printed = capsys.readouterr().out
    for words in ("map=london40", "78: 60 taxi, 15 bus, 3 underground", "2 black, 1 double", "3, 8, 13, 15"):
        assert words in printed


@pytest.mark.parametrize("words", [["--stations", "5"], ["--stations", "200"], ["--around", "200"]])
def test_what_london_does_not_have(words: list[str], capsys: Capture) -> None:
    assert main(["map", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_is_not_replaced(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "part.csv"
    path.write_text("mine")
    assert main(["map", "--out", str(path)]) == 2
    assert path.read_text() == "mine" and "exists already" in capsys.readouterr().err
