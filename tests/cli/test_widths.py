"""Nothing that a command prints is cut: not at 80 columns, not in wide terminals, not in a pipe."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import typer
from rich.table import Table

from sog.cli import frame
from sog.cli.app import app, main
from sog.cli.frame import print_table, progress_bar, say

Capture = pytest.CaptureFixture[str]
SPOT = "holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.25;0.5;0.75;1.0;allin)"
GOOFSPIEL = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"
LONG = "a-name-that-is-longer-than-most"
TOURNAMENT = f"""
game = "{{game}}"
rounds = 1
[agents.{LONG}-1]
random = true
[agents.{LONG}-2]
random = true
[agents.{LONG}-3]
random = true
"""
CHEAP = [
    ["games"],
    ["games", "--check-openspiel", "kuhn_poker", "matrix_pd", GOOFSPIEL],
    ["algorithms"],
    ["algorithms", "rebel"],
    ["solve", "kuhn_poker", "--iterations", "3"],
    ["solve", "kuhn_poker", "--algorithm", "list"],
    ["solve", SPOT, "--iterations", "3", "--out", "spot.npz"],
    ["solve", "connect_four(moves=444444333335555222222111111)"],
    ["exploit", "kuhn_poker", "--algorithm", "sog(leaves=zero)", "-s", "2"],
    ["lbr", "always-call", "--game", "leduc_poker", "--bets", "offered", "--hands", "10"],
    ["match", "random", "random", "--game", "kuhn_poker", "--hands", "10"],
    ["perft", "chess", "1"],
    ["map", "--stations", "40", "--around", "100"],
    ["reproduce", "--list"],
    ["train", "kuhn_poker", "--rounds", "1", "--workers", "1", "--out", "runs/kuhn"],
]


@pytest.fixture(params=["80", "100", "160", None])
def width(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The terminal's columns; None in a pipe."""
    monkeypatch.chdir(tmp_path)
    width: str | None = request.param
    if width is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", width)
    return width


def printed(words: list[str], capsys: Capture) -> str:
    assert main(words) in (0, 1)
    captured = capsys.readouterr()
    assert "…" not in captured.out + captured.err, words
    return captured.out


@pytest.mark.parametrize("words", CHEAP, ids=lambda words: " ".join(words[:2]))
def test_no_command_cuts_what_it_prints(words: list[str], width: str | None, capsys: Capture) -> None:
    printed(words, capsys)


def test_all_hands_of_a_spot_have_their_figures(width: str | None, capsys: Capture) -> None:
    assert main(["solve", SPOT, "--iterations", "3", "--out", "spot.npz"]) == 0
    capsys.readouterr()
    out = printed(["show", "spot.npz", "--hands", "AcKc"], capsys)
    # Of the hand its equity and five actions; of the range exploitability, equity and five actions.
    assert out.count("%") == 1 + 5 + 2 + 5 and "bet 1000 (allin)" in out


@pytest.mark.parametrize("game", ["kuhn_poker", "tic_tac_toe"])
def test_a_tournament_of_long_names_has_all_of_them(game: str, width: str | None, capsys: Capture) -> None:
    Path("matches.toml").write_text(TOURNAMENT.format(game=game))
    out = printed(["tournament", "matches.toml", "--out", "matches"], capsys)
    assert all(out.count(f"{LONG}-{k}") >= 2 for k in (1, 2, 3))


def commands(group: typer.main.TyperGroup) -> list[list[str]]:
    """The words of a group's commands, those of its groups included."""
    found = []
    for name, command in group.commands.items():
        found += [[name]]
        if isinstance(command, typer.main.TyperGroup):
            found += [[name, *words] for words in commands(command)]
    return found


def test_no_help_cuts_an_option_or_an_example(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    group = typer.main.get_command(app)
    assert isinstance(group, typer.main.TyperGroup)
    for words in [[], *commands(group)]:
        printed([*words, "--help"], capsys)


def test_a_row_is_a_paragraph_where_its_words_have_no_room(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    table = Table("name", "figure", "note", title="A title")
    table.add_row("one", "1,234,567", "words that wrap")
    table.add_row("two", "", "")
    for width, lines in (("28", 4 + 4 + 1), ("20", 1 + 4 + 1)):
        monkeypatch.setenv("COLUMNS", width)
        print_table(table)
        out = capsys.readouterr().out
        assert "1,234,567" in out and len(out.splitlines()) == lines, out


class Terminal(io.StringIO):
    """A terminal of 80 columns that keeps all that is written to it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(frame, "_SILENT_SECONDS", 0.0)
    return Terminal()


@pytest.mark.parametrize("title", ["train leduc_poker", f"train {SPOT}"])
def test_the_progress_bar_has_all_its_figures(title: str, terminal: Terminal) -> None:
    note = "9,719 rows, value loss 0.0094, exploitability 280.9 mbb/h, and 22 words more, to the end"
    with redirect_stderr(terminal), progress_bar(title, 1_000_000, "rounds", begun=999_000, minutes=75.5) as report:
        report(999_500, note)
        shown_by(terminal, "end")
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    assert "…" not in plain
    assert "999,500 rounds" in plain and "1:15:" in plain and "280.9 mbb/h" in plain


def test_what_is_said_beside_a_bar_has_lines_of_its_own(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress_bar("train leduc_poker", 70, "rounds") as report:
        report(8, "")
        shown_by(terminal, "8 rounds")
        say("exploitability of search: 280.9 mbb/h")
    assert re.search(r"(\x1b\[2K|\n)exploitability of search: 280.9 mbb/h\r?\n", terminal.getvalue())


def shown_by(terminal: Terminal, words: str) -> None:
    """Wait for the thread that draws the bar, for half a minute at most."""
    from tests.cli.test_cli import until

    until(lambda: words in terminal.getvalue())
