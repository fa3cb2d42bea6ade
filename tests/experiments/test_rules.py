"""Perft of standard positions to small depths, and random games beside OpenSpiel."""

from __future__ import annotations

import numpy as np
import pytest

from sog.experiments.rules import POSITIONS, perft, random_game
from sog.games.catalog import make_game
from sog.games.chess import Chess
from sog.games.positions import PositionGame


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
