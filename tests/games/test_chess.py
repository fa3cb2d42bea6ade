"""Chess: moves through our notation and back, planes, draws, and positions that are refused."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards import chess_moves
from sog.games.boards.chess import BLACK, PAPER, WHITE, Chess
from sog.games.boards.positions import BoardPosition
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game


def after(game: Chess, moves: str) -> BoardPosition:
    position = cast(BoardPosition, game.root())
    for move in moves.split():
        position = position.play(game.action(position, move))
    return position


def planes(game: Chess, position: BoardPosition) -> np.ndarray:
    return game.features(position).reshape(game.planes)


@given(st.integers(0, chess_moves.NUM_ACTIONS - 1), st.booleans())
def test_steps_come_back_as_the_same_action(action: int, black: bool) -> None:
    king = action >= chess_moves.QUEENSIDE
    if not king and not _on_the_board(action):
        return
    step = chess_moves.step_of(action, black, pawn=False)
    assert chess_moves.read_step(chess_moves.write_step(step)) == step
    assert chess_moves.action_of(step, black, king) == action


def _on_the_board(action: int) -> bool:
    """Whether the plane's step leads from the square to another one of the board."""
    square, plane = divmod(action, chess_moves.PLANES)
    files, ranks = chess_moves.PLANE_STEPS[plane]
    return 0 <= square // 8 + files < 8 and 0 <= square % 8 + ranks < 8


def test_start() -> None:
    game = Chess()
    root = cast(BoardPosition, game.root())
    assert game.name == "chess" and root.actor == WHITE
    assert sorted(game.action_name(root, a) for a in root.legal.tolist())[:3] == ["a2a3", "a2a4", "b1a3"]
    assert game.num_actions == chess_moves.NUM_ACTIONS


def test_every_kind_of_move() -> None:
    castling = Chess("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert castling.state_name(after(castling, "e1g1 e8c8")).startswith("2kr3r/8/8/8/8/8/8/R4RK1 w")
    assert castling.state_name(after(castling, "e1c1 e8g8")).startswith("r4rk1/8/8/8/8/8/8/2KR3R w")
    pawns = Chess("n1n1k3/1P6/8/8/8/8/1p6/N1N1K3 w - - 0 1")
    assert pawns.state_name(after(pawns, "b7b8n b2b1r")).startswith("nNn1k3/8/8/8/8/8/8/NrN1K3 w")
    assert pawns.state_name(after(pawns, "b7a8q b2c1b")).startswith("Q1n1k3/8/8/8/8/8/8/N1b1K3 w")
    assert pawns.state_name(after(pawns, "b7c8r")).startswith("n1R1k3/8/8/8/8/8/1p6/N1N1K3 b")
    game = Chess("4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1")
    position = after(game, "a2a4 b4a3")
    assert game.state_name(position).startswith("4k3/8/8/8/8/p7/8/4K3 w")


@pytest.mark.parametrize("move", ["e2e5", "e7e5", "e1g1", "e2e4q", "e2", "i2e4", "", "0000", "a1h8"])
def test_illegal_and_malformed_moves_are_refused(move: str) -> None:
    game = Chess()
    with pytest.raises(GameError):
        game.action(game.root(), move)


@pytest.mark.parametrize(
    "fen",
    [
        "x",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0",
        "4k3/9/8/8/8/8/8/4K3 w - - 0 1",
        "4k3/7/8/8/8/8/8/4K4 w - - 0 1",
        "P3k3/8/8/8/8/8/8/4K3 w - - 0 1",
    ],
)
def test_positions_that_are_refused(fen: str) -> None:
    with pytest.raises(GameError):
        Chess(fen)


def test_a_name_with_a_position_makes_it_again() -> None:
    fen = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 3 9"
    game = make_game(f"chess(fen={fen})")
    assert make_game(game.name).name == game.name
    assert game.state_name(game.root()) == fen


def test_draws() -> None:
    game = Chess()
    line = "g1f3 g8f6 f3g1 f6g8 " * 2
    assert after(game, line[:-6]).actor == BLACK
    third = after(game, line)
    assert third.actor == TERMINAL and game.payoff(third).scale == 0
    assert after(Chess("8/7k/8/8/8/8/R5K1/8 w - - 98 90"), "a2a3").actor == BLACK
    assert after(Chess("8/7k/8/8/8/8/R5K1/8 w - - 99 90"), "a2a3").actor == TERMINAL
    assert Chess("8/7k/8/8/8/8/B5K1/8 w - - 0 1").actor(Chess("8/7k/8/8/8/8/B5K1/8 w - - 0 1").root()) == TERMINAL


def test_mate_pays_the_winner() -> None:
    game = Chess()
    assert game.payoff(after(game, "f2f3 e7e5 g2g4 d8h4")).scale == 1.0  # player 0 is Black
    assert game.payoff(after(game, "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7")).scale == -1.0


def test_planes_are_from_the_movers_side() -> None:
    """The start seen by White and, after a quiet pair of moves, by both: pawns on the second rank, the king on e."""
    game = Chess(inputs=PAPER)
    first = planes(game, cast(BoardPosition, game.root()))
    assert first[0, :, 1].all() and first[0].sum() == 8 and first[5, 4, 0] == 1 and first[6, :, 6].all()
    assert first[14:112].sum() == 0 and first[-1].sum() == 0 and first[112:116].all()
    black = planes(game, after(game, "e2e4"))
    assert black[0, :, 1].all() and black[5, 4, 0] == 1 and black[6, 4, 4] == 1 and black[-1].all()
    assert np.array_equal(black[14 + 6 : 14 + 12], first[:6][:, :, ::-1])  # the position before, seen by Black


def test_counters_and_repetitions() -> None:
    game = Chess(inputs=PAPER)
    position = after(game, "g1f3 g8f6 f3g1 f6g8 e2e4 e7e5 e1e2")
    shown = planes(game, position)
    assert [shown[14 * t + 12, 0, 0] for t in range(8)] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert shown[112:116, 0, 0].tolist() == [1, 1, 0, 0]  # Black moves and may castle, White no more
    assert np.allclose(shown[116:118, 0, 0], [0.01, 0.04])


def test_the_interface_holds() -> None:
    assert not check_game(Chess("7k/P7/8/8/8/8/8/K7 w - - 0 1"), 12).complete


SHUFFLES = {
    "pinned on the file": ("4k3/8/8/8/4p3/8/3P4/K3R3 w - - 0 1", "d2d4", "e8d8 e1f1 d8e8 f1e1"),
    "pinned on the rank": ("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1", "e2e4", "a4a5 e1d1 a5a4 d1e1"),
    "pinned on the diagonal": ("8/k7/8/8/3p4/8/2P2B2/4K3 w - - 0 1", "c2c4", "a7a8 e1d1 a8a7 d1e1"),
    "begins so": ("4k3/8/8/8/3Pp3/8/8/K3R3 b - d3 0 1", "", "e8d8 e1f1 d8e8 f1e1"),
    "begins without a taker": ("4k3/8/8/8/3P4/8/8/K3R3 b - d3 0 1", "", "e8d8 e1f1 d8e8 f1e1"),
    "legal": ("4k3/8/8/8/4p3/8/3P4/K2R4 w - - 0 1", "d2d4", "e8d8 d1f1 d8e8 f1d1"),
    "begins legal": ("4k3/8/8/8/3Pp3/8/8/K2R4 b - d3 0 1", "", "e8d8 d1f1 d8e8 f1d1"),
    "one of two pinned": ("4k3/8/8/8/2p1p3/8/3P4/K3R3 w - - 0 1", "d2d4", "e8d8 e1f1 d8e8 f1e1"),
    "Black passes": ("k3r3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", "e1d1 e8f8 d1e1 f8e8"),
}


@pytest.mark.parametrize("case", SHUFFLES)
def test_a_capture_en_passant_counts_only_where_it_is_legal(case: str) -> None:
    """The third repetition ends the game when python-chess says so, at every half move."""
    chess = pytest.importorskip("chess")
    fen, first, shuffle = SHUFFLES[case]
    game, board = Chess(fen), chess.Board(fen)
    position = cast(BoardPosition, game.root())
    for move in [*first.split(), *shuffle.split() * 3]:
        assert (position.actor == TERMINAL) == board.is_repetition(3)
        if position.actor == TERMINAL:
            break
        position = position.play(game.action(position, move))
        board.push_uci(move)
    assert position.actor == TERMINAL and game.payoff(position).scale == 0.0
    assert len(board.move_stack) == len(first.split()) + (8 if "legal" not in case and "two" not in case else 9)


def test_repetitions_are_python_chess_in_random_games() -> None:
    """Kings, rooks and pawns that meet: every double step and every repetition, and the history of each position."""
    chess = pytest.importorskip("chess")
    rng = np.random.default_rng(3)
    starts = ("4k3/3p4/8/4P3/2p5/8/1P1P4/K3R3 w - - 0 1", "8/2p5/8/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1")
    thirds = 0
    for n in range(60):
        game, board = Chess(starts[n % 2]), chess.Board(starts[n % 2])
        position = cast(BoardPosition, game.root())
        actions = list[int]()
        while position.actor != TERMINAL and len(actions) < 60:
            legal = position.legal.tolist()
            back = [a for a in legal if len(actions) > 1 and _undoes(game, position, a, board)]
            action = int(rng.choice(back if back and rng.random() < 0.8 else legal))
            board.push_uci(game.action_name(position, action))
            position = position.play(action)
            actions.append(action)
            assert game.history(position, 0, 0) == actions
            assert not board.is_repetition(3) or position.actor == TERMINAL
        if position.actor == TERMINAL and not board.is_game_over():
            assert board.is_repetition(3) or board.can_claim_fifty_moves()
            thirds += board.is_repetition(3)
    assert thirds > 5


def _undoes(game: Chess, position: BoardPosition, action: int, board: Any) -> bool:
    """Whether a move takes the mover's last one back."""
    last = board.move_stack[-2].uci()
    return game.action_name(position, action) == last[2:4] + last[:2]
