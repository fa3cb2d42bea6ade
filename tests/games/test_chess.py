"""Chess: moves through our notation and back, planes, draws, and positions that are refused."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards import chess_moves
from sog.games.boards.chess import BLACK, WHITE, Chess
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
    game = Chess()
    first = planes(game, cast(BoardPosition, game.root()))
    assert first[0, :, 1].all() and first[0].sum() == 8 and first[5, 4, 0] == 1 and first[6, :, 6].all()
    assert first[14:112].sum() == 0 and first[-1].sum() == 0 and first[112:116].all()
    black = planes(game, after(game, "e2e4"))
    assert black[0, :, 1].all() and black[5, 4, 0] == 1 and black[6, 4, 4] == 1 and black[-1].all()
    assert np.array_equal(black[14 + 6 : 14 + 12], first[:6][:, :, ::-1])  # the position before, seen by Black


def test_counters_and_repetitions() -> None:
    game = Chess()
    position = after(game, "g1f3 g8f6 f3g1 f6g8 e2e4 e7e5 e1e2")
    shown = planes(game, position)
    assert [shown[14 * t + 12, 0, 0] for t in range(8)] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert shown[112:116, 0, 0].tolist() == [1, 1, 0, 0]  # Black moves and may castle, White no more
    assert np.allclose(shown[116:118, 0, 0], [0.01, 0.04])


def test_the_interface_holds() -> None:
    assert not check_game(Chess("7k/P7/8/8/8/8/8/K7 w - - 0 1"), 12).complete
