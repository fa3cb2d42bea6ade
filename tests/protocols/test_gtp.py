"""The GTP engine: transcripts after the protocol's specification, scoring, and a game against GNU Go through pipes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from sog.algorithms.student.player import SogPlayer
from sog.games.boards.go import Go
from sog.games.boards.go_area import area
from sog.protocols.go_setup import read_vertex, write_vertex
from sog.protocols.gtp import GtpEngine, read_command
from sog.protocols.lines import Lines

GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


@pytest.fixture
def gtp(player: SogPlayer, talk: Callable[..., list[str]]) -> Callable[..., list[str]]:
    return partial(talk, lambda say: GtpEngine(player, Go(5, 2.5), say, simulations=20))


def test_the_engine_names_itself_and_its_commands(gtp: Callable[..., list[str]]) -> None:
    version, name, known, unknown, commands = gtp(
        "protocol_version", "7 name", "known_command genmove", "known_command x", "list_commands"
    )
    assert (version, name, known, unknown) == ("= 2\n", "=7 sog\n", "= true\n", "= false\n")
    required = "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove"
    assert set(required.split()) <= set(commands.removeprefix("= ").split())


def test_errors_are_the_protocols_and_the_engine_lives_on(gtp: Callable[..., list[str]]) -> None:
    wrong = {
        "x": "? unknown command", "3 x": "?3 unknown command", "play": "? syntax error", "play black": "? syntax error",
        "play black z9": "? invalid coordinate", "play black a6": "? invalid coordinate", "komi x": "? syntax error",
        "play green a1": "? invalid color", "boardsize x": "? syntax error", "undo": "? cannot undo",
        "boardsize 9": "? unacceptable size: this network plays 5x5", "final_status_list x": "? syntax error",
        "fixed_handicap 2": "? invalid number of stones", "loadsgf no.sgf": "? cannot load file",
        "time_left black x 1": "? syntax error",
        "komi nan": "? syntax error", "sog-value": "? nothing was searched yet",
        "kgs-time_settings x": "? syntax error",
    }  # fmt: skip
    assert gtp(*wrong) == [answer + "\n" for answer in wrong.values()]
    assert gtp("play black a1", "play white a1", "name") == ["=\n", "? illegal move\n", "= sog\n"]


def test_ids_comments_and_control_characters() -> None:
    assert read_command("12 play\tblack  C3 # a comment") == ("12", ["play", "black", "C3"])
    assert read_command("# nothing") == ("", []) and read_command("") == ("", [])
    assert read_command("\x01na\x02me\r") == ("", ["name"])
    assert read_command("2gtp") == ("", ["2gtp"])


def test_it_answers_nothing_to_empty_lines_and_nothing_after_quit(gtp: Callable[..., list[str]]) -> None:
    assert gtp("", "# comment", "1 quit", "name") == ["=1\n"]


def test_a_game_with_undo_and_score(gtp: Callable[..., list[str]]) -> None:
    heard = gtp("komi 0.5", "play b C3", "final_score", "play w pass", "undo", "showboard", "final_status_list alive")
    assert heard[2] == "= B+24.5\n"
    assert " 3 . . X . . 3" in heard[5]
    assert heard[6] == "= C3\n"
    assert gtp("komi 0.5", "play b C3", "undo", "final_score")[-1] == "= W+0.5\n"


def test_komi_may_change_within_a_game(gtp: Callable[..., list[str]]) -> None:
    assert gtp("play b C3", "play w B2", "komi 0", "undo", "final_score")[-1] == "= B+25\n"


def test_genmove_plays_what_it_names(gtp: Callable[..., list[str]]) -> None:
    heard = gtp("genmove b", "final_status_list alive", "genmove w", "sog-value", "sog-policy")
    vertex = heard[0].removeprefix("= ").strip()
    assert heard[1] == f"= {vertex}\n"
    policy = np.array([row.split() for row in heard[4].removeprefix("= ").strip().split("\n")], dtype=float)
    assert policy.shape == (5, 5) and policy.sum() <= 1.02


def test_a_colour_may_move_twice(gtp: Callable[..., list[str]]) -> None:
    heard = gtp("play b A1", "play b B1", "final_status_list alive", "undo", "final_status_list alive")
    assert heard[2] == "= A1\nB1\n" and heard[4] == "= A1\n"


def test_a_colour_may_move_after_its_own_pass(gtp: Callable[..., list[str]]) -> None:
    heard = gtp("komi 0.5", "play b pass", "play b C3", "final_score", "undo", "play w C3", "final_score")
    assert heard == ["=\n"] * 3 + ["= B+24.5\n"] + ["=\n"] * 2 + ["= W+25.5\n"]


def test_clocks_limit_a_move(gtp: Callable[..., list[str]]) -> None:
    for setting in ("time_settings 1 0 0", "time_settings 0 1 5", "kgs-time_settings byoyomi 0 1 3"):
        heard = gtp(setting, "genmove b", "time_left w 1 0", "genmove w")
        assert all(answer.startswith("=") for answer in heard)
    assert gtp("kgs-time_settings none", "time_settings 0 1 0", "genmove b")[-1].startswith("=")


def test_a_clock_stands_in_place_of_simulations(player: SogPlayer) -> None:
    """As with UCI: what a move may take is the client's to say, or else the engine's."""
    engine = GtpEngine(player, Go(5, 2.5), lambda line: None, simulations=3)
    engine._reg_genmove("b")
    assert engine.thought is not None and sum(one.visits for one in engine.thought.candidates) <= 4
    engine._time_settings("9", "0", "0")
    engine._reg_genmove("w")
    assert sum(one.visits for one in engine.thought.candidates) > 20


def test_lz_analyze_runs_until_something_is_sent(player: SogPlayer) -> None:
    heard: list[str] = []
    seen = threading.Event()

    class Said:
        def __init__(self) -> None:
            self.lines = deque(["play b C3", "4 lz-analyze w 0", "name"])

        def readline(self, size: int, /) -> bytes:
            if self.lines and self.lines[0] == "name":
                seen.wait(300)
            return f"{self.lines.popleft()}\n".encode() if self.lines else b""

    def answer(text: str) -> None:
        if text.startswith("info move "):
            seen.set()
        heard.append(text)

    GtpEngine(player, Go(5, 2.5), answer).serve(Lines(Said()))
    assert heard[1].strip() == "=4" and heard[-2:] == ["", "= sog\n"]
    rows = heard[2:-2]
    one = r"info move \w+ visits \d+ winrate \d+ prior \d+ .*order \d+ pv( \w+)+ ?"
    assert rows and all(re.fullmatch(f"({one})+", row) for row in rows), rows[:1]


def test_words_that_lz_analyze_does_not_know_are_an_error(gtp: Callable[..., list[str]]) -> None:
    for words in ("50 avoid w c3 1", "b 50 1", "b 50 1 2 3 4 5", "b x"):
        assert gtp(f"lz-analyze {words}")[-1].startswith("?")


def test_vertices_there_and_back() -> None:
    for size in (5, 9, 19):
        for action in range(size * size + 1):
            assert read_vertex(write_vertex(action, size).lower(), size) == action
    assert write_vertex(8, 9) == "J1"


def test_area_of_known_boards() -> None:
    assert area(np.zeros((3, 3), dtype=np.int8)) == (0, 0)
    assert area(np.array([[0, 1, 0], [1, 1, 0], [0, 0, 2]], dtype=np.int8)) == (4, 1)
    split = np.array([[0, 1, 2, 0], [0, 1, 2, 0], [1, 1, 2, 2], [0, 1, 2, 0]], dtype=np.int8)
    assert area(split) == (8, 8)


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (apt-get install gnugo)")
def test_gnugo_and_the_program_play_a_game_through_pipes() -> None:
    """What twogtp does: each is told the other's moves, and both count the same area at the end."""
    ours = _Pipe([sys.executable, "-m", "sog.cli.app", "gtp", "go(board_size=5)", "-s", "10"])
    theirs = _Pipe([str(GNUGO), "--mode", "gtp", "--level", "1", "--chinese-rules", "--seed", "1"])
    sides = [("b", ours, theirs), ("w", theirs, ours)]
    for engine in (ours, theirs):
        for command in ("boardsize 5", "clear_board", "komi 2.5"):
            engine.ask(command)
    passes, count = 0, 0
    while passes < 2 and count < 60:
        colour, mover, other = sides[count % 2]
        vertex = mover.ask(f"genmove {colour}")
        if vertex.lower() == "resign":
            break
        other.ask(f"play {colour} {vertex}")
        passes, count = passes + 1 if vertex.lower() == "pass" else 0, count + 1
    assert ours.ask("final_score")[0] in "BW0"
    ours.ask("quit"), theirs.ask("quit")
    assert ours.process.wait(60) == 0 and theirs.process.wait(60) == 0


class _Pipe:
    """One GTP engine on pipes; an error answer fails the test."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = ""
        while not answer or (answer.strip() and not answer.endswith("\n\n")):
            answer += self.process.stdout.readline()
        assert answer.startswith("="), f"{command}: {answer}"
        return answer[1:].strip()
