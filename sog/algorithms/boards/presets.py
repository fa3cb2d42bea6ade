"""Settings that Student of Games and AlphaZero share: boards on two cores, small games, the papers' sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.caps import PlayoutCaps
from sog.algorithms.boards.game import BoardPlay
from sog.algorithms.boards.openings import names_starts
from sog.algorithms.boards.searches import Searching
from sog.algorithms.boards.targets import TargetSettings
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.boards.chess import PAPER, Chess
from sog.games.holdem.game import Holdem
from sog.games.scotland_yard.station_inputs import has_station_inputs
from sog.games.strings import parse_game, write_game
from sog.nets.shape import NetworkShape, shape_for
from sog.searches.tree.whole import is_large
from sog.training.replay import WindowGrowth
from sog.training.settings import Acting, LearnerSettings, TrainSettings

__all__ = [
    "PAPER_NETWORK",
    "PAPER_ROWS",
    "board_preset",
    "is_board",
    "paper_size",
    "require_papers_inputs",
    "small_preset",
]

# PoG, Tables 2 and 3, of chess and Go: width, depth and kind of the network, and rows of the window.
PAPER_NETWORK: Final = (256, 19, "resnet")
PAPER_ROWS: Final = 50_000_000

# Rows a round, about, since a round is where the network of self-play changes.
_GAMES: Final = 64
_LONG_GAMES: Final = 16
_VALUE_PLANES: Final = 16  # as many as kernels compute at once; fewer cost no less
_WIDE: Final = 200  # cells
_MLP: Final = (256, 3)  # width and depth of a network without planes
_STARTS: Final = 0.5  # of the games, where the game names starts


def is_board(game: Game) -> bool:
    """Whether a game is learned as boards are: with planes, or large, without chance and with nothing hidden."""
    return game.planes is not None or (game.deterministic and is_large(game))


def board_preset(game: Game, name: str, search: Searching) -> TrainSettings:
    """The settings called demo (minutes on two cores) or full (hours)."""
    long, full = game.drawn_out, name == "full"
    # Long games: a quarter of the moves in full, the rest cheap (KataGo); short ones are searched in full throughout.
    play = BoardPlay(
        search,
        PlayoutCaps(simulations=64, cheap=16, share=0.25) if long else PlayoutCaps(simulations=32),
        TargetSettings(c_scale=0.25, target_temperature=1.5),
        openings=4 if long else 6,
        starts=_STARTS if names_starts(game) else 0.0,
        start_moves=60,
        start_simulations=128 if long else 0,
        sampled_moves=20 if long else 14,
        moves_max=160 if long else 0,
        resign_below=-0.95 if long else -2.0,
    )
    return TrainSettings(
        # A long game's outcome is discounted, so that a won game is also ended.
        acting=BoardActing(play, discount=0.99 if long else 1.0, side_by_side=_LONG_GAMES if long else _GAMES),
        learner=LearnerSettings(
            batch=256,
            learning_rate=1e-3,
            decay=0.5,
            decay_steps=16_000 if full else 4_000,
            # Values and policies weigh alike, as in AlphaZero.
            policy_weight=1.0,
            ownership_weight=1.0 if game.ownership else 0.0,
            updates_per_example=4.0,
            symmetries=True,
            average=1e-3,
        ),
        shape=_board_network(game, full),
        # The window grows up to this (WindowGrowth): early rows come from nearly random play.
        replay=200_000 if full else 60_000,
        games=0 if _is_wide(game) else _LONG_GAMES if long else _GAMES,
        rounds=3_000 if full else 150,
        window=WindowGrowth(),
    )


def _board_network(game: Game, full: bool) -> NetworkShape:
    """Residual over the planes; of a game without them the network of small games."""
    if game.planes is None:
        return shape_for(game, *_MLP)
    shape = shape_for(game, *((64, 4) if full else (32, 2)), "resnet", ownership=game.ownership)
    return replace(shape, value_planes=_VALUE_PLANES)


def _is_wide(game: Game) -> bool:
    """Whether a round of long games would take minutes: on 19x19 Go, not on a chess board or 9x9."""
    return game.planes is not None and game.planes[1] * game.planes[2] >= _WIDE


def small_preset(game: Game, name: str, acting: Acting) -> TrainSettings:
    """The settings called demo or full of a game without planes: a small network, which two cores learn Leduc with."""
    full = TrainSettings(
        acting=acting,
        learner=LearnerSettings(batch=512, learning_rate=2e-3, decay=0.5, decay_steps=4_000, updates_per_example=20.0),
        shape=shape_for(game, *_MLP, crossed=game.crossed),
    )
    if is_large(game):
        full = replace(full, games=0)
    if name == "full":
        return full
    return replace(full, rounds=70, games=min(16, full.games), learner=replace(full.learner, decay_steps=350))


def require_papers_inputs(game: Game) -> None:
    """SettingError where networks of a game would see inputs made by hand that it can do without."""
    if has_station_inputs(game) or (isinstance(game, Chess | Holdem) and game.inputs != PAPER):
        short, values = parse_game(game.name)
        own = write_game(short, {**values, "inputs": PAPER})
        raise SettingError(f"the papers' networks see their own inputs: {own}")


def paper_size(game: Game) -> tuple[NetworkShape, int]:
    """The network and the rows of the window that PoG trains a game of perfect information with, or a small one."""
    if game.planes is not None:
        return shape_for(game, *PAPER_NETWORK), PAPER_ROWS
    return shape_for(game, 2048, 6), 1_000_000
