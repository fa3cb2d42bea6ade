"""Perft of standard positions to small depths, and random games beside OpenSpiel."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.boards import chess, chess_moves
from sog.games.boards.chess import Chess
from sog.games.boards.chess_cells import row_of
from sog.games.boards.positions import PositionGame
from sog.games.catalog import make_game
from sog.games.checks.perft import POSITIONS, perft
from soglab.checks.rules import random_game


@pytest.mark.parametrize(
    ("name", "depth"),
    [("start", 2), ("kiwipete", 2), ("position 3", 3), ("position 4", 2), ("position 5", 2)],
)
def test_perft(name: str, depth: int) -> None:
    position = POSITIONS[name]
    assert perft(Chess(position.fen), depth) == position.counts[depth - 1]


@pytest.mark.parametrize("name", ["chess", "go(board_size=5,komi=0.5)", "go(board_size=3,komi=2)", "connect_four"])
def test_random_games_agree_with_openspiel(name: str) -> None:
    game = make_game(name)
    assert isinstance(game, PositionGame)
    rng = np.random.default_rng(0)
    assert min(random_game(game, rng) for _ in range(4)) > 1


@pytest.mark.parametrize("games", [1, 4])
def test_a_name_that_leads_elsewhere_is_found_once_or_often_met(games: int, monkeypatch: pytest.MonkeyPatch) -> None:
    game, spoken = Chess(), dict[int, str]()
    for seed in range(games - 1):
        random_game(game, np.random.default_rng(seed), spoken)
    full = chess_moves.write_step
    monkeypatch.setattr(chess_moves, "write_step", lambda step: full(step)[:4])  # loses the piece of a promotion
    with pytest.raises(GameError, match=r"is not legal|is read as|have one name"):
        for seed in range(3, 20):
            random_game(game, np.random.default_rng(seed), spoken)


def test_planes_of_the_wrong_side_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chess, "row_of", lambda board, actor, before, rest: row_of(board, 1, before, rest))
    with pytest.raises(GameError, match="another position than OpenSpiel's"):
        random_game(Chess(), np.random.default_rng(0))
