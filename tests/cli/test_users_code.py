"""What a user's own modules print, paths with blanks, the help without docstrings, and completion by the shell."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sog.cli.app import main

Capture = pytest.CaptureFixture[str]
OWN = """
from sog.agents.uniform import UniformAgent
from sog.games.rules.kuhn import Kuhn

print("imported")

class Loud(Kuhn):
    def __init__(self):
        print("made")
        super().__init__()
        self.name = "loud"

    def actor(self, s):
        print("asked")
        return super().actor(s)

class LoudAgent(UniformAgent):
    def __init__(self, *given):
        print("an agent")
        super().__init__(*given)

GAMES = {"loud": Loud}
"""


@pytest.mark.parametrize(
    "line",
    [
        "games --json",
        "games loud --json",
        "solve loud --iterations 2 --json",
        "match loud_games:LoudAgent random --game kuhn_poker --hands 2 --json",
        "exploit kuhn_poker --agent loud_games:LoudAgent --json",
        "train loud --rounds 1 --workers 2 --out run --json",
    ],
)
def test_what_a_users_code_prints_is_no_part_of_the_json(line: str, tmp_path: Path) -> None:
    (tmp_path / "loud_games.py").write_text(OWN)
    found = subprocess.run(
        [sys.executable, "-m", "sog", *line.split()],
        cwd=tmp_path,
        env={**os.environ, "SOG_GAMES": "loud_games"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert isinstance(json.loads(found.stdout), dict) and found.stdout.count("\n") == 1
    assert "imported" in found.stderr


def test_a_run_in_a_folder_with_a_blank_says_a_command_to_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", "kuhn_poker", "--rounds", "1", "--workers", "1", "--out", "my runs/one"]) == 0
    hint = capsys.readouterr().out.splitlines()[-1].partition("play against it: ")[2]
    assert shlex.split(hint) == ["sog", "play", "my runs/one"]


def test_a_boards_run_says_a_command_that_finds_out_whether_it_got_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    trained = ["tic_tac_toe", "--algorithm", "alphazero(simulations=2,games=64,network=1x8)", "--rounds", "2"]
    assert main(["train", *trained, "--workers", "1", "--out", "my runs/one"]) == 0
    program, *words = shlex.split(capsys.readouterr().out.splitlines()[-1].partition("in Elo: ")[2])
    assert program == "sog" and main([*words, "--quick", "--workers", "1", "--out", "results"]) == 0
    assert "my runs/one, " in capsys.readouterr().out


def test_without_docstrings_the_help_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-OO", "-m", "sog"]
    for words, said in ((["solve", "--help"], 1), (["games", "rps"], 0)):
        found = subprocess.run([*command, *words], capture_output=True, text=True, check=True)
        assert found.stderr.count("unset PYTHONOPTIMIZE") == said


def test_a_shell_completes_and_the_help_does_not_grow(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert main(["--help"]) == 0
    assert "completion" not in capsys.readouterr().out
    for words, found in (("sog so", "solve"), ("sog solve --iter", "--iterations")):
        monkeypatch.setenv("_SOG_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        assert main([]) == 0
        printed = capsys.readouterr()
        assert printed.out.split() == [found] and not printed.err
    monkeypatch.delenv("_SOG_COMPLETE")
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))  # a test may run without a shell
    assert main(["--show-completion", "bash"]) == 0
    printed = capsys.readouterr()
    assert "_SOG_COMPLETE" in printed.out and not printed.err
