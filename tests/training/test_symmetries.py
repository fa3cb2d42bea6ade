"""Rows seen by symmetries: the rows of the images' own positions; a run that learns by them resumes as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sog.games.base import State
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.go import Go
from sog.games.boards.positions import PositionGame
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.nets.shape import NetworkShape, shape_for
from sog.training import checkpoint
from sog.training.rows import Rows, blank_rows
from sog.training.run import Run, Until
from sog.training.self_play import train
from sog.training.symmetries import turned
from tests.boards import connect_four_settings


def row_of(game: PositionGame, shape: NetworkShape, s: State) -> Rows:
    """A row of one position, its policy different for every action."""
    rows = blank_rows(shape, 1)
    rows.inputs[0, : game.num_features] = game.features(s)
    rows.inputs[0, game.num_features :] = 1.0
    legal = game.actions(s)
    rows.legal[0, 0, legal] = True
    rows.policies[0, 0, legal] = (1.0 + legal) / (1.0 + legal).sum()
    rows.values[:] = 0.5, -0.5
    return rows


@pytest.mark.parametrize("game", [ConnectFour(), Go(3, 0.5)], ids=lambda game: game.name)
def test_a_turned_row_is_the_row_of_the_image(game: PositionGame) -> None:
    """The position is reached by the moves that the symmetry makes of the row's."""
    shape = shape_for(game, 8, 1, "resnet")
    s = game.root()
    played = []
    for column in (0, 3, 1, 2, 2):
        played.append(int(game.actions(s)[column]))
        s = game.child(s, column)
    rows = row_of(game, shape, s).take(np.zeros(200, dtype=np.int64))
    found = turned(rows, game.symmetries, np.random.default_rng(1))
    images = []
    for symmetry in game.symmetries:
        image, image_of = game.root(), np.argsort(symmetry.actions)
        for action in played:
            image = game.child(image, int(np.searchsorted(game.actions(image), image_of[action])))
        expected = row_of(game, shape, image)
        expected.policies[0, 0] = rows.policies[0, 0, symmetry.actions]
        images.append(expected)
    seen = set()
    for k in range(len(found)):
        alike = [n for n, image in enumerate(images) if np.array_equal(image.inputs[0], found.inputs[k])]
        assert len(alike) == 1
        seen.add(alike[0])
        for name, column in images[alike[0]].columns().items():
            np.testing.assert_array_equal(found.columns()[name][k], column[0], err_msg=name)
    assert seen == set(range(len(images)))


def test_both_players_policies_turn_with_the_board() -> None:
    """Where each player has logits of its own, those of player 1 are in the second slot."""
    game = TicTacToe()
    rows = blank_rows(shape_for(game, 8, 1, policies_apart=True), 8)
    rows.policies[:, :, 0] = 1.0  # the upper left corner
    rows.legal[:, :, 0] = True
    image = turned(rows, game.symmetries, np.random.default_rng(3))
    np.testing.assert_array_equal(image.policies[:, 0], image.policies[:, 1])
    np.testing.assert_array_equal(image.legal[:, 0], image.legal[:, 1])
    assert (image.policies[:, 1, 0] < 1.0).any()


def test_without_symmetries_rows_and_draws_are_left_alone() -> None:
    rng = np.random.default_rng(3)
    rows = blank_rows(shape_for(ConnectFour(), 8, 1, "resnet"), 4)
    assert turned(rows, (), rng) is rows
    assert rng.random() == np.random.default_rng(3).random()


def test_a_run_with_symmetries_resumes_as_it_was(tmp_path: Path) -> None:
    run = Run("connect_four", algorithm="alphazero")
    train(run, connect_four_settings(True), tmp_path / "whole")
    train(run, connect_four_settings(True), tmp_path / "parts", Until(rounds=2))
    train(run, connect_four_settings(True), tmp_path / "parts", resume=True)
    train(run, connect_four_settings(False), tmp_path / "without")
    names = "whole", "parts", "without"
    weights = [checkpoint.load_network(tmp_path / name / "checkpoint")[1].arrays() for name in names]
    for name, weight in weights[0].items():
        assert np.array_equal(weight, weights[1][name]), name
    assert any(not np.array_equal(weight, weights[2][name]) for name, weight in weights[0].items())
