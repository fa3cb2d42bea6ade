"""`sog perft` counts and refuses."""

from __future__ import annotations

import json

import pytest

from sog.cli.app import main


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perft", "chess(fen=8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1)", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lines"] == 191


@pytest.mark.parametrize("words", [["go(board_size=5)", "1"], ["chess", "0"], ["chess(fen=x)", "1"]])
def test_refusals(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perft", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
