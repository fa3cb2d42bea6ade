"""Settings of a training on a board that takes seconds; for tests."""

from __future__ import annotations

from sog.algorithms.alphazero.actor import AlphaZeroActing
from sog.games.boards.connect_four import ConnectFour
from sog.nets.shape import shape_for
from sog.searches.mcts.search import PuctSettings
from sog.training.settings import LearnerSettings, TrainSettings


def connect_four_settings(symmetries: bool = False) -> TrainSettings:
    """AlphaZero with a residual network of one block of eight channels and one value plane."""
    return TrainSettings(
        AlphaZeroActing(4, PuctSettings(noise=0.25), side_by_side=4),
        LearnerSettings(batch=16, updates_per_example=1.0, symmetries=symmetries),
        shape_for(ConnectFour(), 8, 1, "resnet"),
        replay=500,
        games=2,
        rounds=4,
    )
