"""The table of learning algorithms and their presets by game."""

from __future__ import annotations

from collections.abc import Callable

from sog.errors import SettingError
from sog.games.base import Game
from sog.train.presets_alphazero import alphazero_preset
from sog.train.presets_rebel import rebel_preset
from sog.train.presets_sog import sog_preset
from sog.train.settings import TrainSettings

PRESETS = ("demo", "full", "paper")
SOG = "sog"
ALPHAZERO = "alphazero"
REBEL = "rebel"

# Each takes the game and the name of a preset.
_ALGORITHMS: dict[str, Callable[[Game, str], TrainSettings]] = {
    SOG: sog_preset,
    ALPHAZERO: alphazero_preset,
    REBEL: rebel_preset,
}


def preset(game: Game, name: str, algorithm: str = SOG) -> TrainSettings:
    """The algorithm's settings called demo (minutes on two cores), full, or paper; SettingError for others."""
    if algorithm not in _ALGORITHMS:
        raise SettingError(f"no learning algorithm is called {algorithm}; known: {', '.join(_ALGORITHMS)}")
    if name not in PRESETS:
        raise SettingError(f"no preset is called {name}; known: {', '.join(PRESETS)}")
    return _ALGORITHMS[algorithm](game, name)
