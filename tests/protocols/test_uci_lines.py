"""UCI beyond a plain game: positions that cannot be read, lines during a search, pondering, and forced mates."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from sog.algorithms.student.player import SogPlayer
from sog.games.boards.chess import Chess
from sog.play.player import Limits, think
from sog.play.proofs import Proofs
from sog.protocols.lines import LONGEST, Lines
from sog.protocols.uci import UciEngine

SHREDDER = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1"
MATED = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"


class Script:
    """A client that says line after line, and waits where an entry is something else: seconds, or an event."""

    def __init__(self, *entries: str | float | threading.Event) -> None:
        self.left = deque(entries)

    def readline(self, size: int, /) -> bytes:
        while self.left and not isinstance(self.left[0], str):
            entry = self.left.popleft()
            time.sleep(entry) if isinstance(entry, float) else entry.wait(60)
        return f"{self.left.popleft()}\n".encode() if self.left else b""


def heard_of(
    player: SogPlayer, *entries: str | float | threading.Event, notice: Callable[[str], None] = print
) -> list[str]:
    """What the engine answers to a script. notice: called with each line that it says."""
    heard: list[str] = []

    def say(line: str) -> None:
        heard.append(line)
        notice(line)

    UciEngine(player, Chess(), say, 20).serve(Lines(Script(*entries)))
    return heard


@pytest.fixture
def uci(player: SogPlayer, talk: Callable[..., list[str]]) -> Callable[..., list[str]]:
    return partial(talk, lambda say: UciEngine(player, Chess(), say, simulations=20))


def test_shredders_castling_letters_are_read(uci: Callable[..., list[str]]) -> None:
    assert uci(f"position fen {SHREDDER} moves e2e4", "go nodes 4 searchmoves a7a6")[-1].split()[1] == "a7a6"
    castling = "position fen r3k2r/8/8/8/8/8/8/R3K2R w {} - 0 1"
    for letters, moves in (("HAha", "e1c1 e8g8"), ("hA", "e1c1 e8g8")):
        said = (castling.format(letters) + f" moves {moves}", "go nodes 2")
        assert not any(line.startswith("info string") for line in uci(*said))
    assert uci(castling.format("Ah") + " moves e1g1", "go nodes 2")[-1] == "bestmove (none)"


@pytest.mark.parametrize(
    "position",
    ["", "fen", "fen x y z w 0 1", "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w GBgb - 0 1",
     "startpos moves e2e5", "startpos moves e2e4 e2e4 d7d5", "startpos e2e4"]
)  # fmt: skip
def test_a_position_that_cannot_be_read_has_no_move(uci: Callable[..., list[str]], position: str) -> None:
    heard = uci("position startpos moves e2e4", f"position {position}", "go nodes 2")
    assert len(heard) == 3 and all(line.startswith("info string ") for line in heard[:2])
    assert heard[1:] == ["info string no position was read", "bestmove (none)"]
    assert uci(f"position {position}", "position startpos", "go nodes 2")[-1] != "bestmove (none)"


def test_quit_comes_after_the_lines_before_it(player: SogPlayer) -> None:
    said = ("position startpos", "go nodes 40", "position startpos moves e2e4", "go nodes 4 searchmoves a7a6", "uci")
    heard = heard_of(player, *said, "quit", "isready")
    assert [line.split()[1] for line in heard if line.startswith("bestmove")][1:] == ["a7a6"]
    assert heard[-1] == "uciok"
    assert heard_of(player, "go infinite", "uci", "quit")[-1] == "uciok"


@pytest.mark.parametrize("last", [("stop", "isready"), ("quit",), ()])
def test_ten_thousand_lines_do_not_deafen_it(player: SogPlayer, last: tuple[str, ...]) -> None:
    """The end of the input ends an endless search, too."""
    heard = heard_of(player, "go infinite", *["setoption name MultiPV value 2"] * 30_000, *last)
    assert sum(line.startswith("bestmove") for line in heard) == 1


def test_long_lines_during_a_search_are_bounded(player: SogPlayer) -> None:
    """400 lines of 131 kB are 52 MB; what is kept of them is no more than 4 MB and one line."""
    kept = []
    lines = Lines(Script("go infinite", *["setoption name x value " + "9" * (LONGEST - 100)] * 400, "stop"))
    hold = lines.hold
    lines.hold = lambda later: (kept.append(sum(len(line or "") for line in later)), hold(later))  # type: ignore
    heard: list[str] = []
    UciEngine(player, Chess(), heard.append, 20).serve(lines)
    assert kept[0] < 2**22 + 2 * LONGEST
    assert sum("too many lines" in line for line in heard) == 1


def test_lines_that_nobody_takes_are_bounded() -> None:
    read = []

    class Endless:
        def readline(self, size: int, /) -> bytes:
            read.append(1)
            return b"x" * (LONGEST - 2) + b"\n"

    lines = Lines(Endless())
    time.sleep(0.5)
    before = len(read)
    assert 30 <= before <= 40  # 4 MB
    assert lines.next() and lines.arrived()


@pytest.mark.parametrize("go", ["go infinite", "go ponder wtime 1000 btime 1000"])
@pytest.mark.parametrize("position", [f"fen {MATED}", "fen x"])
def test_an_endless_search_waits_for_stop_where_nothing_is_to_move(player: SogPlayer, go: str, position: str) -> None:
    ready = threading.Event()
    seen: list[str] = []

    def notice(line: str) -> None:
        seen.append(line)
        if line == "readyok":
            assert not any(line.startswith("bestmove") for line in seen)
            ready.set()

    heard = heard_of(player, f"position {position}", go, 0.2, "isready", ready, "stop", notice=notice)
    assert ready.is_set() and heard[-1] == "bestmove (none)"


def test_a_ponder_takes_its_time_after_the_hit(player: SogPlayer) -> None:
    """`ponderhit` starts the clock: 400 ms and 12 moves of it are 33 ms; before, nothing ends it."""
    at: dict[str, float] = {}
    said = ("position startpos moves e2e4 e7e5", "go ponder movetime 300", 0.6, "ponderhit", 20.0, "quit")
    ended = threading.Event()

    def notice(line: str) -> None:
        at.setdefault(line.split()[0], time.monotonic())
        if line.startswith("bestmove"):
            ended.set()

    started = time.monotonic()
    script = (*said[:4], ended, "quit")
    heard_of(player, *script, notice=notice)
    assert ended.is_set() and at["bestmove"] - started >= 0.9
    for rest in ("wtime 900 btime 900", "nodes 5", ""):
        assert heard_of(player, "position startpos", f"go ponder {rest}", 0.1, "ponderhit", 5.0)[-1].startswith("best")


def test_ponder_is_an_option_and_infinite_is_no_ponder(player: SogPlayer, uci: Callable[..., list[str]]) -> None:
    assert "option name Ponder type check default false" in uci("uci")
    assert uci("setoption name Ponder value true", "isready") == ["readyok"]
    ready = threading.Event()
    heard = heard_of(player, "go infinite", "ponderhit", 0.1, "isready", 0.1, "stop")
    assert heard.index("readyok") < next(k for k, line in enumerate(heard) if line.startswith("bestmove"))
    ready.set()


@pytest.mark.parametrize(
    ("fen", "nodes", "mate", "best"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", 300, 1, "a1a8"),
        ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 4000, 2, None),  # a ladder: 1. Ra7 and mate
        ("k7/8/1K6/8/8/8/8/7R b - - 0 1", 300, -1, "a8b8"),  # the only move, and then mate
    ],
)
def test_forced_mates_are_said_in_moves(
    uci: Callable[..., list[str]], fen: str, nodes: int, mate: int, best: str | None
) -> None:
    """python-chess plays the line that is given: it ends in mate after that many moves."""
    chess = pytest.importorskip("chess")
    heard = uci(f"position fen {fen}", f"go nodes {nodes}")
    said = re.search(r"score mate (-?\d+) .* pv (.*)", heard[-2])
    assert said and int(said[1]) == mate, heard[-2]
    board, line = chess.Board(fen), said[2].split()
    for move in line:
        board.push_uci(move)
    assert board.is_checkmate() and len(line) == (2 * mate - 1 if mate > 0 else -2 * mate)
    assert heard[-1].split()[:2] == ["bestmove", line[0]] and best in (None, line[0])
    assert heard[-1].split()[2:] == (["ponder", line[1]] if len(line) > 1 else [])


def test_a_mate_that_is_not_forced_is_none(player: SogPlayer) -> None:
    """Of every position of a search's tree: what it proves, a search of all moves by python-chess proves, too."""
    chess = pytest.importorskip("chess")
    game = Chess("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1")
    player.new_game(game)
    think(player, (), Limits(1500))
    public = player.tree.public
    proofs, rng = Proofs.of(public), np.random.default_rng(0)
    short = [node for node, plies in proofs.plies.items() if plies <= 2]
    drawn = rng.choice(short, size=min(40, len(short)), replace=False).tolist()
    assert {proofs.plies[node] for node in drawn} == {0, 1, 2}
    for node in drawn:
        board, plies = chess.Board(game.state_name(public.states[node])), proofs.plies[node]
        mates = (proofs.winner[node] == 1) == board.turn  # White is player 1
        assert mates_within(board, plies) if mates else mated_within(board, plies), board.fen()


def mates_within(board: object, plies: int) -> bool:
    """Whether whoever moves mates within that many half moves."""
    for move in list(board.legal_moves) if plies > 0 else []:  # type: ignore[attr-defined]
        board.push(move)  # type: ignore[attr-defined]
        found = mated_within(board, plies - 1)
        board.pop()  # type: ignore[attr-defined]
        if found:
            return True
    return False


def mated_within(board: object, plies: int) -> bool:
    """Whether whoever moves is mated within that many half moves, whatever is played."""
    if board.is_checkmate():  # type: ignore[attr-defined]
        return True
    moves = list(board.legal_moves)  # type: ignore[attr-defined]
    if plies <= 0 or not moves:
        return False
    for move in moves:
        board.push(move)  # type: ignore[attr-defined]
        found = mates_within(board, plies - 1)
        board.pop()  # type: ignore[attr-defined]
        if not found:
            return False
    return True
