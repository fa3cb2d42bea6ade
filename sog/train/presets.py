"""The table of learning algorithms and their presets by game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sog.errors import SettingError
from sog.games.base import Game
from sog.nets.cvpn import NetworkShape
from sog.train.alphazero.presets import alphazero_preset
from sog.train.rebel.presets import rebel_preset, rebel_variant
from sog.train.settings import PLAIN, TrainSettings, Variant
from sog.train.sog.presets import sog_preset

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


def preset(game: Game, name: str, algorithm: str = SOG, variant: Variant = PLAIN) -> TrainSettings:
    """The algorithm's settings called demo (minutes on two cores), full, or paper, in a variant of it.

    Raises SettingError for names and variants that there are none of.
    """
    if algorithm not in _ALGORITHMS:
        raise SettingError(f"no learning algorithm is called {algorithm}; known: {', '.join(_ALGORITHMS)}")
    if name not in PRESETS:
        raise SettingError(f"no preset is called {name}; known: {', '.join(PRESETS)}")
    settings = _ALGORITHMS[algorithm](game, name)
    if variant.network:
        settings = replace(settings, shape=_sized(settings.shape, variant.network))
    if not (variant.solver or variant.warm):
        return settings
    if algorithm != REBEL:
        raise SettingError(f"solvers and warm starts are rebel's to choose, not {algorithm}'s")
    return rebel_variant(settings, variant)


def _sized(shape: NetworkShape, size: str) -> NetworkShape:
    """A network's shape with other hidden layers; SettingError unless `size` reads like 2x256."""
    depth, _, width = size.partition("x")
    if not (depth.isdecimal() and width.isdecimal()):
        raise SettingError(f"a network's size is hidden layers x width, such as 2x256, not {size}")
    return replace(shape, depth=int(depth), width=int(width))
