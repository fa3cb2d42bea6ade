"""What decides a training run: network, learner, and the algorithm's way of acting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np

from sog.errors import CheckpointError, GameError, SettingError
from sog.games.base import Game
from sog.games.strings import write_game
from sog.nets.shape import NetworkShape, sized
from sog.searches.leaves.evaluator import Evaluator
from sog.training.learner import LearnerSettings
from sog.training.memory import NeededMemory, batch_bytes, learning_bytes
from sog.training.packing import PackedRows
from sog.training.replay import WindowGrowth

__all__ = ["DEFAULT", "Acting", "Actor", "Harvest", "RunSettings", "TrainSettings", "algorithm_text", "preset_of"]


@dataclass(frozen=True)
class Harvest:
    """The training rows of one round, and how many games, searches and queries they took."""

    rows: PackedRows
    games: int
    searches: int
    queries: int


# The algorithm of runs and checkpoints that name none.
DEFAULT: Final = "sog"


def algorithm_text(stored: Mapping[str, Any]) -> str:
    """The algorithm string in what a checkpoint says of its run.

    Checkpoints before 28 November 2026 have the algorithm's name, and its settings beside it under `variant`, where
    "" and 0 mean the preset's.
    """
    name, variant = str(stored.get("algorithm", DEFAULT)), stored.get("variant", {})
    given = {key: value for key, value in sorted(variant.items()) if value}
    try:
        return write_game(name, given) if given else name
    except GameError as error:
        raise CheckpointError("the checkpoint's algorithm is not one that this program knows") from error


def preset_of(stored: dict[str, Any]) -> str:
    """The name of the preset in what a checkpoint says of its run; "" where it says none."""
    return str(stored.get("preset", ""))


class Actor(Protocol):
    """Plays on one core and hands back training rows; it trains nothing."""

    def round(self, games: int, evaluator: Evaluator, rng: np.random.Generator, number: int) -> Harvest:
        """Play this many games with the network behind `evaluator`.  number: of the round, which schedules count."""
        ...


class Acting(Protocol):
    """An algorithm's settings of self-play: a frozen dataclass that every worker makes its actor from."""

    def make(self, game: Game, shape: NetworkShape) -> Actor:
        """An actor whose rows fit networks of this shape."""
        ...


class RunSettings(Protocol):
    """What the platform asks of any algorithm's settings; each is a frozen dataclass, whose repr a checkpoint keeps.

    rounds: the run's length.  shape: of the network that is kept.
    """

    @property
    def rounds(self) -> int: ...

    @property
    def shape(self) -> NetworkShape: ...

    def with_network(self, size: str) -> RunSettings:
        """The settings with other hidden layers, such as 2x256; SettingError where `size` is not of this form."""
        ...

    def needed_memory(self) -> NeededMemory:
        """What a run with these settings takes in memory."""
        ...


@dataclass(frozen=True)
class TrainSettings:
    """Everything that decides a training run but its game, its seed and its number of workers.

    games: self-play games that a worker plays in a round; 0: as many as take half a minute, measured as the run begins.
    rounds: how many rounds a run has.
    replay: the most rows in the replay window.
    replay_bytes: the most bytes of the replay window, whose oldest rows are dropped beyond that; 0: half of the memory
    that is free when the run begins.
    window: how the window grows up to that; None: it is as large from the start.
    """

    acting: Acting
    learner: LearnerSettings
    shape: NetworkShape
    replay: int = 300_000
    replay_bytes: int = 0
    games: int = 64
    rounds: int = 240
    window: WindowGrowth | None = None

    def __post_init__(self) -> None:
        if self.games < 0:
            raise SettingError(f"games must be 0 or more, not {self.games}")

    def needed_memory(self) -> NeededMemory:
        """The learner's network, its optimiser's state and a batch."""
        batch = self.learner.batch
        return NeededMemory(learning_bytes(self.shape), batch_bytes(self.shape, batch), batch)

    def with_network(self, size: str) -> TrainSettings:
        """With other hidden layers, of a residual network blocks x channels; SettingError as of `sized`."""
        return replace(self, shape=sized(self.shape, size))
