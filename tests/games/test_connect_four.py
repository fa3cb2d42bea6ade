"""Connect four against OpenSpiel's, and its planes."""

from __future__ import annotations

from typing import cast

import numpy as np

from sog.games.base import TERMINAL
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.positions import Position
from sog.games.check import check_game
from sog.games.compare import compare_with_openspiel


def after(columns: str) -> Position:
    position = cast(Position, ConnectFour().root())
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
    assert len(shown) == 3 and shown[2].sum() == 0 and game.features(after("44")).reshape(game.planes)[2].all()


def test_self_play_may_begin_all_over_the_game() -> None:
    rng = np.random.default_rng(0)
    starts = [ConnectFour().random_start(rng) for _ in range(300)]
    assert all(start is not None and start.actor(start.root()) != TERMINAL for start in starts)
    lengths = np.array([len(start.moves) for start in starts if start is not None])
    assert lengths.min() == 1 and lengths.max() == 30
    assert np.percentile(lengths, 25) < 9 and (lengths > 15).mean() > 0.25
    assert len({start.name for start in starts if start is not None}) > 270
    assert ConnectFour("44").random_start(rng) is None
