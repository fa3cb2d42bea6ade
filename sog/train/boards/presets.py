"""Settings of self-play on boards for two cores, the same for both searches; they run nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sog.games.base import Game
from sog.nets.shape import shape_for
from sog.train.boards.actor import BoardActing
from sog.train.boards.caps import PlayoutCaps
from sog.train.boards.game import BoardPlay
from sog.train.boards.openings import names_starts
from sog.train.boards.searches import Searching
from sog.train.boards.targets import TargetSettings
from sog.train.learner import LearnerSettings
from sog.train.replay import WindowGrowth
from sog.train.settings import TrainSettings

__all__ = ["board_preset"]

# Rows a round, about, since a round is where the network of self-play changes.
_GAMES: Final = 64
_LONG_GAMES: Final = 16
_VALUE_PLANES: Final = 16  # as many as kernels compute at once; fewer cost no less
_STARTS: Final = 0.5  # of the games, where the game names starts


def board_preset(game: Game, name: str, search: Searching) -> TrainSettings:
    """The settings called demo (minutes on two cores) or full (hours)."""
    long, full = game.drawn_out, name == "full"
    play = BoardPlay(
        search,
        PlayoutCaps(full=64, cheap=16, share=0.25) if long else PlayoutCaps(full=32),
        TargetSettings(c_scale=0.25, prior_temperature=1.5),
        openings=4 if long else 6,
        starts=_STARTS if names_starts(game) else 0.0,
        start_moves=60,
        start_simulations=128 if long else 0,
        sampled_moves=20 if long else 14,
        moves_max=160 if long else 0,
        resign_below=-0.95 if long else -2.0,
    )
    return TrainSettings(
        acting=BoardActing(play, discount=0.99 if long else 1.0, side_by_side=_LONG_GAMES if long else _GAMES),
        learner=LearnerSettings(
            batch=256,
            learning_rate=1e-3,
            decay=0.5,
            decay_steps=16_000 if full else 4_000,
            policy_weight=1.0,
            ownership_weight=1.0 if game.ownership else 0.0,
            updates_per_example=4.0,
            symmetries=True,
            average=1e-3,
        ),
        shape=replace(
            shape_for(game, *((64, 4) if full else (32, 2)), "resnet", ownership=game.ownership),
            value_planes=_VALUE_PLANES,
        ),
        replay=200_000 if full else 60_000,
        games=_LONG_GAMES if long else _GAMES,
        rounds=3_000 if full else 150,
        window=WindowGrowth(),
    )
