"""Connect four against OpenSpiel's, and its planes."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.positions import BoardPosition
from sog.games.catalog import make_game
from sog.games.checks.openspiel import compare_with_openspiel
from sog.games.checks.public_states import check_game
from sog.opponents.connect_four.bitboards import threats
from sog.opponents.connect_four.solver import Board


def after(columns: str) -> BoardPosition:
    position = cast(BoardPosition, ConnectFour().root())
    for column in columns:
        position = position.play(int(column) - 1)
    return position


def test_the_interface_holds() -> None:
    assert check_game(ConnectFour(), 60).pairs == 60


def test_histories_agree_with_openspiel() -> None:
    assert compare_with_openspiel(ConnectFour(), 60).pairs == 60


def test_four_in_a_column_win() -> None:
    over = after("1212121")
    assert over.actor == TERMINAL and ConnectFour().payoff(over).scale == 1.0


def test_planes() -> None:
    game = ConnectFour()
    shown = game.features(after("443")).reshape(game.planes)
    assert shown[0, 4, 3] == 1 and shown[0].sum() == 1  # o moves: its piece lies on x's
    assert shown[1, 5, 3] == shown[1, 5, 2] == 1 and shown[1].sum() == 2
    assert len(shown) == 6 and shown[5].sum() == 0 and game.features(after("44")).reshape(game.planes)[5].all()
    assert shown[4, 1::2].all() and shown[4].sum() == 21  # the bottom row is one of them, the first player's favourite


def test_planes_of_threats_are_those_of_the_exact_solver() -> None:
    """Where a stone would complete four, by lines of cells and by the solver's bits, over random games."""
    game, rng, seen = ConnectFour(), np.random.default_rng(0), 0
    for _ in range(60):
        position = cast(BoardPosition, game.root())
        board = Board()
        while position.actor != TERMINAL:
            shown = game.features(position).reshape(game.planes)
            for plane, own in ((2, board.own), (3, board.own ^ board.mask)):
                bits = int(threats.py_func(np.int64(own), np.int64(board.mask)))
                expected = [[(bits >> (7 * c + 5 - r)) & 1 for c in range(7)] for r in range(6)]
                assert np.array_equal(shown[plane], expected)
                seen += bits > 0
            action = int(rng.choice(position.legal))
            position, board = position.play(action), board.play(action)
    assert seen > 500


def test_self_play_may_begin_all_over_the_game() -> None:
    rng = np.random.default_rng(0)
    starts = [ConnectFour().random_start(rng) for _ in range(300)]
    assert all(start is not None and start.actor(start.root()) != TERMINAL for start in starts)
    lengths = np.array([len(start.moves) for start in starts if start is not None])
    assert lengths.min() == 1 and lengths.max() == 30
    assert np.percentile(lengths, 25) < 9 and (lengths > 15).mean() > 0.25
    assert len({start.name for start in starts if start is not None}) > 270
    assert ConnectFour("44").random_start(rng) is None


@pytest.mark.parametrize("moves", ["044", "00004", "0"])
def test_a_zero_before_the_moves_is_no_column(moves: str) -> None:
    with pytest.raises(GameError, match=f"move 1 of moves={moves} is not the number of an open column"):
        make_game(f"connect_four(moves={moves})")
