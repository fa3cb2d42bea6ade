"""Go: results, ko and repetition as OpenSpiel has them, planes, and games that are refused."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards.go import Go
from sog.games.boards.positions import Position
from sog.games.catalog import make_game
from sog.games.check import check_game


def after(game: Go, moves: str) -> Position:
    position = cast(Position, game.root())
    for move in moves.split():
        (action,) = (a for a in position.legal.tolist() if game.action_name(position, a) == move)
        position = position.play(action)
    return position


@pytest.mark.parametrize(("komi", "result"), [(8.5, 1.0), (9.0, 0.0), (9.5, -1.0)])
def test_area_and_komi(komi: float, result: float) -> None:
    game = Go(3, komi)
    over = after(game, "B2 pass pass")
    assert over.actor == TERMINAL and game.payoff(over).scale == result


def test_captured_stones_leave_the_board() -> None:
    game = Go(5, 0.5)
    board = game.board(after(game, "A2 A1 B1"))
    assert board[0].tolist() == [0, 1, 0, 0, 0] and board[1, 0] == 1 and board.sum() == 2


def test_suicide_and_ko_are_illegal() -> None:
    game = Go(5, 0.5)
    assert 0 not in after(game, "B1 E5 A2").legal and 0 in after(game, "B1 E5 A2 E4").legal
    ko = after(game, "B1 C1 A2 D2 B3 C3 C2 B2")  # White took C2 from B2
    assert game.board(ko)[1, 2] == 0 and 1 * 5 + 2 not in ko.legal


def test_a_board_that_comes_again_is_a_draw() -> None:
    game = Go(2, 0.5)
    rng = np.random.default_rng(0)
    for _ in range(200):
        position, seen = cast(Position, game.root()), set()
        while position.actor != TERMINAL:
            board = game.board(position).tobytes()
            seen.add(board)
            stones = [a for a in position.legal.tolist() if a != 4]
            position = position.play(int(rng.choice(stones)) if stones else 4)
        passes = position.spiel.history()[-2:] == [4, 4]
        if not passes and game.board(position).tobytes() in seen and len(position.spiel.history()) < 8:
            assert game.payoff(position).scale == 0.0
            return
    raise AssertionError("no repetition in 200 games")


def test_planes() -> None:
    game = Go(5, 0.5)
    shown = game.features(after(game, "A1 B2 C3")).reshape(game.planes)
    assert shown[0, 1, 1] == 1 and shown[0].sum() == 1  # White moves: its stone is B2
    assert shown[8].sum() == 2 and shown[8, 0, 0] == shown[8, 2, 2] == 1
    assert shown[9].sum() == 1 and shown[1].sum() == 1 and shown[2].sum() == 0 and shown[11].sum() == 0
    assert shown[16].sum() == 0
    assert game.features(game.root()).reshape(game.planes)[16].all()


def test_every_row_of_the_largest_board() -> None:
    game = Go(19)
    board = game.board(after(game, "A1 T1 A19 T19 J10"))
    assert [(r, c) for r, c in np.argwhere(board == 1).tolist()] == [(0, 0), (9, 8), (18, 0)]
    assert [(r, c) for r, c in np.argwhere(board == 2).tolist()] == [(0, 18), (18, 18)]


@pytest.mark.parametrize("text", ["go(board_size=1)", "go(board_size=20)", "go(komi=much)", "go(komi=1e9)", "go(s=9)"])
def test_refused(text: str) -> None:
    with pytest.raises(GameError):
        make_game(text)


def test_the_interface_holds() -> None:
    check_game(Go(3, 0.5), 60)
