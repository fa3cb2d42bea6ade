"""The UCI engine: transcripts, limits, what it ignores, and python-chess's own client driving the whole program."""

from __future__ import annotations

import re
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial

import pytest

from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.algorithms.student.player import SogPlayer
from sog.cli.app import main
from sog.games.boards.chess import PAPER, START, Chess
from sog.play.player import ENDLESS, Limits
from sog.protocols.chess_setup import ChessBoard, read_position
from sog.protocols.lines import Lines
from sog.protocols.opening_book import Opening
from sog.protocols.uci import GoCommand, UciEngine, centipawns, limits_of, read_go, wins_draws_losses
from sog.searches.leaves.evaluator import zero_evaluator

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"
SHUFFLE = "g1f3 g8f6 f3g1 f6g8"


@pytest.fixture
def uci(player: SogPlayer, talk: Callable[..., list[str]]) -> Callable[..., list[str]]:
    return partial(talk, lambda say: UciEngine(player, Chess(), say, simulations=20))


def test_the_handshake_names_every_option_with_its_range(uci: Callable[..., list[str]]) -> None:
    heard = uci("uci", "isready")
    assert heard[0].startswith("id name sog") and heard[1].startswith("id author")
    assert heard[-2:] == ["uciok", "readyok"]
    assert "option name MultiPV type spin default 1 min 1 max 256" in heard
    assert "option name Simulations type spin default 20 min 1 max 10000000" in heard


def test_any_player_can_be_behind_it(talk: Callable[..., list[str]]) -> None:
    """AlphaZero has no PerUpdate."""
    player = AlphaZeroPlayer("az", zero_evaluator, 20)
    said = ("uci", f"position fen {MATE_IN_ONE}", "go nodes 300", "position startpos moves e2e4", "go nodes 5")
    heard = talk(lambda say: UciEngine(player, Chess(), say, 20), *said)
    assert "bestmove a1a8" in heard and heard[-1].startswith("bestmove")
    assert not any("PerUpdate" in line for line in heard)


def test_it_finds_a_mate_and_reports_as_many_lines_as_asked(uci: Callable[..., list[str]]) -> None:
    heard = uci("setoption name multipv value 3", f"position fen {MATE_IN_ONE}", "go nodes 300")
    assert heard[-1] == "bestmove a1a8"
    report = heard[-4:-1]
    pattern = r"info depth \d+ multipv {} score {} nodes 300 nps \d+ time \d+ pv( [a-h][1-8][a-h][1-8])+"
    assert re.fullmatch(pattern.format(1, "mate 1"), report[0])
    assert all(re.fullmatch(pattern.format(k, r"cp -?\d+"), line) for k, line in enumerate(report[1:], start=2))


def test_castling_promotion_and_en_passant_are_read_and_written(uci: Callable[..., list[str]]) -> None:
    castling = "position startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1g1 f6e4"
    assert uci(castling, "go nodes 1")[-1].startswith("bestmove ")
    only = uci("position fen 7k/P7/8/8/8/8/8/K7 w - - 0 1", "go nodes 20 searchmoves a7a8n")
    assert only[-1] == "bestmove a7a8n"
    assert [line.split(" pv ")[1][:5] for line in only if " pv " in line] == ["a7a8n"]  # reported, too
    passant = uci("position startpos moves e2e4 a7a6 e4e5 d7d5", "go nodes 20 searchmoves e5d6")
    assert passant[-1] == "bestmove e5d6"


def test_what_is_malformed_is_ignored_and_the_engine_lives_on(uci: Callable[..., list[str]]) -> None:
    heard = uci(
        "", "joho", "joho debug on", "position", "position fen", "position fen x y z w 0 1",
        "position startpos moves e2e5", "setoption", "setoption name Hash value 5", "setoption name MultiPV value 0",
        "setoption name MultiPV", "\x00\xff", "stop", "ponderhit", "register later", "go nodes x depth", "isready",
    )  # fmt: skip
    said = [line.split()[0] for line in heard if not line.startswith("info")]
    assert sorted(said) == ["bestmove", "readyok"] and "bestmove (none)" in heard
    remarks = [line for line in heard if line.startswith("info string")]
    assert len(remarks) == 9 and all("\n" not in remark for remark in remarks)


def test_a_finished_game_has_no_move(uci: Callable[..., list[str]]) -> None:
    assert uci("position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "go")[-1] == "bestmove (none)"


def test_after_a_draw_that_nobody_claimed_play_goes_on(uci: Callable[..., list[str]]) -> None:
    for position in (f"position startpos moves {SHUFFLE} {SHUFFLE} {SHUFFLE}", f"position fen {START[:-4]} 120 90"):
        assert re.fullmatch("bestmove [a-h][1-8][a-h][1-8]( ponder .*)?", uci(position, "go nodes 5")[-1])
    board = ChessBoard(Chess())
    board.set_up(*read_position(f"startpos moves {SHUFFLE} {SHUFFLE} e2e4".split()))
    assert len(board.setup.moves) == 1


def test_the_game_is_the_same_object_while_its_moves_go_on() -> None:
    """So the player's search goes on from its last tree."""
    board = ChessBoard(Chess())
    first = board.setup.tree
    board.set_up(START, ["e2e4"])
    board.set_up(START, ["e2e4", "e7e5"])
    assert board.setup.tree is first


def test_a_position_is_seen_as_the_network_sees_the_game() -> None:
    """inputs=paper stays when a client or an opening sets up another position."""
    game, fen = Chess(inputs=PAPER), "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"
    board = ChessBoard(game)
    board.set_up(fen, [])
    start = Opening(fen=fen).start(game)
    assert board.setup.game.inputs == PAPER and board.setup.game.fen == fen
    assert isinstance(start, Chess) and (start.inputs, start.fen) == (PAPER, fen)


def test_it_stops_when_told_and_only_then(player: SogPlayer) -> None:
    heard: list[str] = []
    stop = threading.Event()

    class Said:
        def __init__(self) -> None:
            self.lines = deque(["position startpos", "go infinite", "isready", "stop", "position startpos", "go"])

        def readline(self, size: int, /) -> bytes:
            if self.lines and self.lines[0] == "stop":
                stop.wait(20)
            return f"{self.lines.popleft()}\n".encode() if self.lines else b""

    def answer(line: str) -> None:
        if line == "readyok":
            assert not any(line.startswith("bestmove") for line in heard)
            stop.set()
        heard.append(line)

    UciEngine(player, Chess(), answer, 20).serve(Lines(Said()))
    assert stop.is_set() and sum(line.startswith("bestmove") for line in heard) == 2


@pytest.mark.parametrize("command", ["go movetime 60", "go wtime 1500 btime 1500 winc 10 binc 10", "go depth 2"])
def test_other_limits_end_a_search_too(uci: Callable[..., list[str]], command: str) -> None:
    assert uci("position startpos", command)[-1].startswith("bestmove")


def test_a_depth_beyond_the_games_end_is_reached_at_it(uci: Callable[..., list[str]]) -> None:
    heard = uci(f"position fen {MATE_IN_ONE}", "go depth 8")
    assert heard[-1] == "bestmove a1a8" and " pv a1a8" in heard[-2] and not heard[-2].endswith("a1a8 ")


def test_limits() -> None:
    assert limits_of(read_go(["nodes", "7"]), 20, True) == Limits(7, None)
    assert limits_of(read_go([]), 20, True) == Limits(20, None)
    assert limits_of(read_go(["movetime", "250"]), 20, True) == Limits(ENDLESS, 0.25)
    assert limits_of(read_go(["infinite"]), 20, True) == Limits(ENDLESS, None)
    clock = ["wtime", "60000", "btime", "3000", "winc", "1000", "binc", "0", "movestogo", "10"]
    assert limits_of(read_go(clock), 20, white=True).seconds == pytest.approx(6.8)
    assert limits_of(read_go(clock), 20, white=False).seconds == pytest.approx(0.3)
    assert limits_of(read_go(["wtime", "-5"]), 20, True).seconds == 0.001
    assert read_go(["searchmoves", "e2e4", "d2d4", "infinite"]) == GoCommand({}, True, ("e2e4", "d2d4"))
    assert limits_of(read_go(["ponder", "wtime", "60000"]), 20, True) == Limits(ENDLESS, None)


def test_centipawns() -> None:
    assert centipawns(0.0) == 0 and centipawns(0.5) == -centipawns(-0.5) == 89
    assert centipawns(1.0) == centipawns(2.0) > 12_000


def test_wins_draws_and_losses_follow_the_score_where_they_are_asked_for(uci: Callable[..., list[str]]) -> None:
    """They say the search's value: wins less losses, which is all that it knows, and a mate is certain."""
    for value in (-3.0, -1.0, -0.2, 0.0, 0.0005, 0.37, 1.0):
        wins, draws, losses = wins_draws_losses(value)
        assert wins + draws + losses == 1000 and min(wins, draws, losses) >= 0
        assert (wins - losses) / 1000.0 == pytest.approx(max(-1.0, value), abs=1.1e-3)
    assert "option name UCI_ShowWDL type check default false" in uci("uci")
    said = ("setoption name MultiPV value 9", f"position fen {MATE_IN_ONE}", "go nodes 300")
    assert not any(" wdl " in line for line in uci(*said))
    heard = uci("setoption name uci_showwdl value true", *said)
    found = [re.search(r" score (cp|mate) (-?\d+) wdl (\d+) (\d+) (\d+) nodes ", line) for line in heard[-10:-1]]
    assert found[0] and found[0].groups() == ("mate", "1", "1000", "0", "0")
    for line in found[1:]:
        assert line and sum(map(int, line.groups()[2:])) == 1000
        assert abs(centipawns((int(line[3]) - int(line[5])) / 1000.0) - int(line[2])) <= 1
    assert "UCI_ShowWDL is true or false" in uci("setoption name UCI_ShowWDL value 1")[0]


def test_python_chess_drives_the_program() -> None:
    """Handshake, options, two moves of a game, analysis with several lines, and a clean end."""
    engine_of = pytest.importorskip("chess.engine")
    chess = pytest.importorskip("chess")
    command = [sys.executable, "-m", "sog.cli.app", "uci", "chess", "-s", "20"]
    with engine_of.SimpleEngine.popen_uci(command, timeout=300) as engine:
        engine.configure({"Simulations": 30})
        board = chess.Board()
        for _ in range(2):
            result = engine.play(board, engine_of.Limit(nodes=20))
            assert result.move in board.legal_moves
            board.push(result.move)
        rows = engine.analyse(board, engine_of.Limit(nodes=40), multipv=3)
        assert [row["multipv"] for row in rows] == [1, 2, 3] and all(row["pv"][0] in board.legal_moves for row in rows)
        mate = engine.play(chess.Board(MATE_IN_ONE), engine_of.Limit(nodes=300))
        assert mate.move == chess.Move.from_uci("a1a8")
        with engine.analysis(board) as analysis:
            next(iter(analysis))
            analysis.stop()
        engine.quit()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("uci leduc_poker", "UCI is for chess"), ("gtp tic_tac_toe", "GTP is for Go"), ("uci runs/none", "no such"),
        ("uci chess -s 0", "greater than or equal to 1"), ("gtp go(board_size=1)", "board_size"),
        ("uci chess --algorithm bfs", "known: sog, alphazero"),
    ],
)  # fmt: skip
def test_what_is_no_engine_is_one_line_and_code_2(command: str, why: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 2
    out, err = capfd.readouterr()
    assert out == "" and why in err and err.splitlines()[-1].startswith("sog: ")
