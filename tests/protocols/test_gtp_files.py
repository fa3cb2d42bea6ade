"""GTP's handicaps, games from SGF files, and KataGo's analysis."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sog.algorithms.student.player import SogPlayer
from sog.errors import GameError
from sog.games.boards.go import Go
from sog.games.boards.sgf_reader import read_sgf
from sog.protocols.go_setup import fixed_handicap, write_vertex
from sog.protocols.gtp import GtpEngine
from sog.protocols.gtp_analysis import kata_row


@pytest.fixture
def gtp(player: SogPlayer, talk: Callable[..., list[str]]) -> Callable[..., list[str]]:
    return partial(talk, lambda say: GtpEngine(player, Go(7, 7.5), say, simulations=4))


@pytest.mark.parametrize(
    ("size", "count", "points"),
    [
        (19, 2, "D4 Q16"), (19, 3, "D4 Q16 D16"), (19, 5, "D4 Q16 D16 Q4 K10"), (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"), (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
        (9, 5, "C3 G7 C7 G3 E5"), (13, 4, "D4 K10 D10 K4"), (7, 4, "C3 E5 C5 E3"), (8, 2, "C3 F6"),
    ],
)  # fmt: skip
def test_the_fixed_points_of_the_specification(size: int, count: int, points: str) -> None:
    """GTP 2, table of fixed handicap placements: the fourth line from 13x13 on, the third on smaller boards."""
    assert {write_vertex(action, size) for action in fixed_handicap(size, count)} == set(points.split())


@pytest.mark.parametrize(("size", "count"), [(5, 2), (7, 5), (8, 5), (9, 10), (19, 1), (19, 0)])
def test_handicaps_that_a_board_has_not(size: int, count: int) -> None:
    with pytest.raises(GameError, match="invalid number of stones"):
        fixed_handicap(size, count)


def test_handicaps_are_black_stones_and_white_is_next(gtp: Callable[..., list[str]]) -> None:
    heard = gtp("fixed_handicap 3", "final_status_list alive", "fixed_handicap 2", "genmove w", "undo", "undo")
    assert heard[0].split()[1:] == ["C3", "E5", "C5"] and len(heard[1].split()) == 4
    assert heard[2] == "? board not empty\n" and heard[3:][1:] == ["=\n"] * 2 and heard[3].startswith("= ")
    heard = gtp("place_free_handicap 4", "final_status_list alive", "place_free_handicap 2")
    assert set(heard[0].split()) == set(heard[1].split()) and len(heard[0].split()) == 5
    assert heard[2] == "? board not empty\n"
    heard = gtp("set_free_handicap A1 B2", "final_status_list alive", "set_free_handicap A1 B2")
    assert heard == ["=\n", "= A1\nB2\n", "? board not empty\n"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("set_free_handicap A1", "bad vertex list"), ("set_free_handicap A1 A1", "bad vertex list"),
        ("set_free_handicap A1 pass", "bad vertex list"), ("set_free_handicap A1 Z9", "bad vertex list"),
        ("set_free_handicap", "bad vertex list"), ("place_free_handicap 1", "invalid number of stones"),
        ("place_free_handicap 49", "invalid number of stones"), ("fixed_handicap x", "syntax error"),
        ("loadsgf", "syntax error"), ("loadsgf a b c", "syntax error"), ("loadsgf /dev/zero", "cannot load file"),
    ],
)  # fmt: skip
def test_wrong_handicaps_change_nothing(gtp: Callable[..., list[str]], said: str, answer: str) -> None:
    assert gtp(said, "final_status_list alive") == [f"? {answer}\n", "=\n"]


SGF = """(;GM[1]FF[4]SZ[7]KM[0.5]C[with \\] a bracket]AB[aa][ba]
;W[gg];B[dd]C[a comment: ;B[ee\\]];W[];B[cc](;W[bb];B[ab])(;W[fa]))"""


def test_a_file_is_loaded_up_to_a_move(gtp: Callable[..., list[str]], tmp_path: Path) -> None:
    """White plays G1, passes, and then B6, where Black's A7 and B7 lose no liberty that they need."""
    (tmp_path / "a.sgf").write_text(SGF)
    heard = gtp(f"loadsgf {tmp_path}/a.sgf", "final_status_list alive", "final_score", "undo", "genmove b")
    assert set(heard[1].split()[1:]) == {"A7", "B7", "G1", "D4", "C5", "B6", "A6"} and heard[-1].startswith("= ")
    heard = gtp("play b A1", f"loadsgf {tmp_path}/a.sgf 3", "final_status_list alive")
    assert set(heard[-1].split()[1:]) == {"A7", "B7", "G1", "D4"}
    assert gtp(f"loadsgf {tmp_path}/a.sgf 1", "final_status_list alive")[-1] == "= A7\nB7\n"


@pytest.mark.parametrize(
    "text",
    ["", "(", "x", "(;SZ[9];B[aa])", "(;SZ[7];B[zz])", "(;SZ[7];B[hh])", "(;SZ[7]AE[aa])", "(;SZ[7];B[aa];W[aa])",
     "(;SZ[7]KM[x])", "(;SZ[7];B[a])", "(;SZ[7];B[aa]", "(;SZ[7]KM[1e9];B[aa])", "(;SZ[7]AB[:aa])"],
)  # fmt: skip
def test_files_that_are_no_such_game_change_nothing(gtp: Callable[..., list[str]], tmp_path: Path, text: str) -> None:
    (tmp_path / "a.sgf").write_text(text)
    heard = gtp("play b A1", f"loadsgf {tmp_path}/a.sgf", "final_status_list alive")
    assert heard[1].startswith("? cannot load file") and heard[2] == "= A1\n"


def test_points_and_passes_of_sgf() -> None:
    game = read_sgf("(;FF[3]SiZe[9]AddBlack[aa:bb]\n;White[tt];Black[];W[ai])")
    assert game.size == 9 and game.komi is None
    assert game.plays == (
        *((0, action, False) for action in (72, 73, 63, 64)), (1, 81, True), (0, 81, True), (1, 0, True)
    )  # fmt: skip


def test_kata_analyze_has_shares_of_one(player: SogPlayer, talk: Callable[..., list[str]]) -> None:
    """A search that another line ends at once may report nothing: then its rows are asked of the thought."""
    engine: list[GtpEngine] = []

    def make(say: Callable[[str], None]) -> GtpEngine:
        engine.append(GtpEngine(player, Go(7, 7.5), say, 4))
        return engine[0]

    heard = talk(make, "play b C3", "5 kata-analyze w 1", "name", "kata-analyze w x")
    assert heard[1] == "=5" and heard[-2:] == ["= sog\n", "? syntax error\n"]
    last = engine[0]._last()
    row = kata_row(0, last.candidates[0], last.value_of(last.candidates[0]), 7)
    one = r"info move \w+ visits \d+ utility -?[\d.e-]+ winrate [\d.e-]+ prior [\d.e-]+ order 0 pv( \w+)+"
    assert re.fullmatch(one, row) and 0.0 <= float(row.split()[8]) <= 1.0


@pytest.mark.parametrize(("command", "chance"), [("lz-genmove_analyze", r"\d+"), ("kata-genmove_analyze", r"[\d.e-]+")])
def test_a_move_is_made_with_its_analysis(
    command: str, chance: str, player: SogPlayer, talk: Callable[..., list[str]]
) -> None:
    """The rows, at least as many as asked for, then the move, which is on the board."""
    heard = talk(lambda say: GtpEngine(player, Go(5, 2.5), say, 4), f"7 {command} b 5 minmoves 9", "showboard")
    assert heard[0] == "=7" and heard[-2].startswith("play ") and heard[-2].endswith("\n")
    rows = re.findall(
        rf"info move (\w+) visits \d+ (?:utility \S+ )?winrate {chance} prior {chance} order \d+ pv", heard[-3]
    )
    assert len(rows) == 9 and heard[-2] == f"play {rows[0]}\n"
    assert heard[-1].count("X") == 1
    one = talk(lambda say: GtpEngine(player, Go(5, 2.5), say, 4), f"{command} maxmoves 1", "showboard")
    assert one[-3].count("info move") == 1 and one[-1].count("X") == 1


def test_moves_cannot_be_forbidden(player: SogPlayer, talk: Callable[..., list[str]]) -> None:
    heard = talk(lambda say: GtpEngine(player, Go(5, 2.5), say, 4), "lz-genmove_analyze b 50 avoid w c3 1", "showboard")
    assert heard[0] == "? avoid and allow are not supported: the search looks at all moves\n" and "X" not in heard[-1]
