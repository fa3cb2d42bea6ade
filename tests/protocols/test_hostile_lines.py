"""Lines that no client should send: numbers without end, bytes that are no text, closed pipes. Engines live on."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from sog.algorithms.student.player import SogPlayer
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.protocols.gtp import GtpEngine
from sog.protocols.lines import LONGEST, Lines
from sog.protocols.uci import UciEngine
from sog.protocols.words import LARGEST, read_number, read_whole, shown

DIGITS = b"9" * 5000
LOCALES = {
    "C": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "C.UTF-8": {"LC_ALL": "C.UTF-8"},
    "strict": {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8:strict"},
}
UCI_LINES = (
    b"setoption name MultiPV value " + DIGITS,
    b"setoption name \xff value 1", b"setoption name PerUpdate value \xd9\xa3",
    b"go nodes 1 movetime " + b"9" * 400, b"go nodes 1 wtime " + DIGITS + b" winc " + DIGITS + b" movestogo " + DIGITS,
    b"go nodes 1 depth -" + DIGITS, b"go nodes 1 movetime -" + DIGITS, b"\xff\xfe",
    b"position fen \xed\xa0\x80 w - - 0 1",
    b"\x00", b"position startpos moves " + b"e2e4 " * LONGEST, b"x" * 3 * LONGEST,
)  # fmt: skip
GTP_LINES = (
    b"1 time_settings 0 1 " + DIGITS, b"2 boardsize " + DIGITS, b"3 komi 1e999", b"4 komi " + DIGITS,
    b"5 time_left b " + DIGITS + b" " + DIGITS, b"6 kgs-time_settings canadian 0 1 1e308", b"7 play \xff \xff",
    b"8 play b a" + DIGITS, b"9 lz-analyze b " + DIGITS, b"10 time_settings 0 \xd9\xa3 1",
    b"11 play " + b"x" * 3 * LONGEST,
    b"12 time_settings -5 0 0 0", b"13 \xed\xa0\x80", b"14 kgs-time_settings byoyomi 1 1 -1",
)  # fmt: skip


def fed(engine: UciEngine | GtpEngine, lines: tuple[bytes, ...]) -> None:
    engine.serve(Lines(io.BytesIO(b"".join(line + b"\n" for line in lines))))


def test_uci_takes_any_number_and_any_byte(player: SogPlayer) -> None:
    heard: list[str] = []
    fed(UciEngine(player, Chess(), heard.append, 2), (*UCI_LINES, b"uci"))
    assert heard[-1] == "uciok" and sum(line.startswith("bestmove ") for line in heard) == 4
    assert max(map(len, heard)) < 400
    assert "info string a line that is too long is ignored" in heard
    assert all("\n" not in line for line in heard)


def test_gtp_answers_each_with_an_error_and_its_id(player: SogPlayer) -> None:
    heard: list[str] = []
    fed(GtpEngine(player, Go(5, 0.5), heard.append, 2), (*GTP_LINES, b"15 name"))
    assert [line.split()[0] for line in heard] == [*(f"?{k}" for k in range(1, 15)), "=15"]
    assert heard[10] == "?11 the line is too long\n" and max(map(len, heard)) < 400


@pytest.mark.parametrize("locale", LOCALES)
def test_the_programs_do_so_under_any_locale(locale: str) -> None:
    kept = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LANG", "PYTHONUTF8", "PYTHONIOENCODING")}
    for command, lines, last in (
        (["uci", "chess"], (*UCI_LINES, b"uci"), b"uciok\n"),
        (["gtp", "go(board_size=5)"], (*GTP_LINES, b"15 name"), b"=15 sog\n\n"),
    ):
        program = [sys.executable, "-m", "sog.cli.app", *command, "-s", "2"]
        done = subprocess.run(program, input=b"\n".join(lines), capture_output=True, env=kept | LOCALES[locale])
        assert done.returncode == 0 and done.stdout.endswith(last), done.stderr
        done.stdout.decode("utf-8")


def test_input_that_ends_in_a_line_ends_the_program(player: SogPlayer) -> None:
    for said in (b"posi", b"", b"uci\ngo nodes 5"):
        heard: list[str] = []
        UciEngine(player, Chess(), heard.append, 2).serve(Lines(io.BytesIO(said)))
        assert any(line.startswith("bestmove ") for line in heard) == (b"go" in said)
    program = [sys.executable, "-m", "sog.cli.app", "uci", "chess", "-s", "2"]
    assert subprocess.run(program, input=said, stdout=subprocess.DEVNULL, timeout=120).returncode == 0


@pytest.mark.parametrize("command", ["uci chess", "gtp go(board_size=5)"])
def test_closed_pipes_end_it_quietly(command: str) -> None:
    program = f"{sys.executable} -m sog.cli.app {command.split()[0]} '{command.split()[1]}' -s 2"
    lines = "yes name | head -n 2000; yes isready | head -n 2000"
    for pipes in (f"({lines}) | {program} | head -c 1", f"{program} <&-"):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", pipes], capture_output=True, text=True, timeout=120)
        assert done.returncode in (0, 141) and "Traceback" not in done.stderr and "unexpected" not in done.stderr
    done = subprocess.run(["bash", "-c", f"{program} >&-"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "stdout is closed" in done.stderr


def test_numbers() -> None:
    assert [read_whole(w) for w in ("0", "-7", "007", "9" * 5000, "-" + "9" * 5000)] == [0, -7, 7, LARGEST, -LARGEST]
    assert not any(read_whole(w) is not None for w in ("", "-", "+1", "1.0", "٣", "²", "1_0", "0x1", " 1"))
    assert read_whole("0" * 5000 + "1") == 1
    assert [read_number(w) for w in ("1", "-.5", "1e2", "+1.")] == [1.0, -0.5, 100.0, 1.0]
    assert not any(read_number(w) is not None for w in ("", ".", "nan", "inf", "1e999", "1_0", "٣", "9" * 400))
    assert shown("a\nb\x1b" + "x" * 100, 10) == "a b?xxx..."


def test_lines_are_bounded_and_end() -> None:
    lines = Lines(io.BytesIO(b"a\r\n" + b"b" * (LONGEST + 9) + b"\nc\xff\nd"))
    assert [lines.next() for _ in range(6)] == ["a", "b" * 100 + "\n", "c\ufffd", "d", None, None]
    lines.hold(["x", "y"])
    assert [lines.next(), lines.next(), lines.next()] == ["x", "y", None] and lines.arrived()
