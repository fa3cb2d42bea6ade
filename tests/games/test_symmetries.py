"""Symmetries: each game's own are symmetries, all of them, and one that is not is found."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import Game
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.go import Go
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game
from sog.games.checks.symmetries import check_symmetries
from sog.games.rules.leduc.game import Leduc
from sog.games.symmetries import Symmetry, of_square

COUNTS: list[tuple[Game, int]] = [(ConnectFour(), 2), (Go(5, 0.5), 8), (Go(4, 2.5), 8), (TicTacToe(), 8)]


@pytest.mark.parametrize(("game", "count"), COUNTS, ids=lambda value: getattr(value, "name", str(value)))
def test_a_games_symmetries_are_all_different_and_hold(game: Game, count: int) -> None:
    found = {symmetry.features.tobytes() for symmetry in game.symmetries}
    assert len(game.symmetries) == len(found) == count
    assert np.array_equal(game.symmetries[0].features, np.arange(game.num_features))
    check_symmetries(game, seed=1, games=5)


@pytest.mark.parametrize("name", ["chess", "leduc_poker", "kuhn_poker", "liars_dice"])
def test_other_games_name_none(name: str) -> None:
    assert make_game(name).symmetries == ()


def test_a_symmetry_of_features_alone_is_refused() -> None:
    game = ConnectFour()
    same = np.arange(game.num_actions, dtype=np.int32)
    game.symmetries = (Symmetry(game.symmetries[1].features, same),)
    with pytest.raises(GameError, match=r"connect_four at '\d+': features of symmetry 0 are not the image's"):
        check_game(game, max_states=10)


def test_upside_down_is_no_symmetry_of_connect_four() -> None:
    game = ConnectFour()
    cells = np.arange(42, dtype=np.int32).reshape(6, 7)[::-1].ravel()
    features = (np.arange(17, dtype=np.int32)[:, None] * 42 + cells).ravel()
    game.symmetries = (Symmetry(features, np.arange(7, dtype=np.int32)),)
    with pytest.raises(GameError, match="features of symmetry 0"):
        check_symmetries(game)


def test_what_is_no_permutation_is_refused() -> None:
    game = TicTacToe()
    twice = np.zeros(9, dtype=np.int32)
    game.symmetries = (Symmetry(game.symmetries[0].features, twice),)
    with pytest.raises(GameError, match=r"actions of symmetry 0 are not a permutation int32\[9\]"):
        check_symmetries(game)


def test_games_with_hidden_information_have_none() -> None:
    game = Leduc()
    game.symmetries = of_square(3, 2)
    with pytest.raises(GameError, match="deterministic"):
        check_symmetries(game)
