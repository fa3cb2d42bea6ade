"""What decides a training run: network, learner, and the algorithm's way of acting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np

from sog.errors import SettingError, check_not_negative
from sog.games.base import Game
from sog.nets.shape import NetworkShape, sized
from sog.searches.leaves.evaluator import Evaluator
from sog.training.memory import NeededMemory, batch_bytes, learning_bytes
from sog.training.packing import PackedRows
from sog.training.replay import WindowGrowth

__all__ = [
    "DEFAULT",
    "OPTIMISERS",
    "OVER_HANDS",
    "Acting",
    "Actor",
    "Harvest",
    "LearnerSettings",
    "RunSettings",
    "TrainSettings",
    "algorithm_text",
    "preset_of",
]

OPTIMISERS: Final = ("adam", "sgd")


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
    """The algorithm string in what a checkpoint says of its run."""
    return str(stored.get("algorithm", DEFAULT))


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
class LearnerSettings:
    """How a network learns from rows (PoG, Table 3).

    batch: rows of a gradient step.  optimiser: adam or sgd.
    learning_rate: the first step's; step t has learning_rate * decay ** (t / decay_steps).
    decay: the factor by which the learning rate falls every `decay_steps` steps.
    decay_steps: steps in which the learning rate falls by the factor `decay`.
    stepped: the learning rate falls at once every `decay_steps` steps instead of at each step.
    warm_up: first steps, over which the learning rate grows from 0.
    value_weight: w_v, the weight of the value loss.  policy_weight: w_p, the weight of the policy loss.
    ownership_weight: the weight of the loss of who owns each cell.
    sum_policies: the policy loss is the sum over infostates instead of the mean (see `losses`).
    policies_by_row: the policy loss is the mean over rows of the mean over a row's infostates (see `losses`).
    squared_policies: the policy loss is the squared error instead of the KL divergence (see `losses`).
    updates_per_example: how often a row is learned from at most, on average.
    clip: the largest gradient norm, 0 for no limit.  momentum: that of the optimiser sgd.
    symmetries: each row is turned by one of the symmetries that the game names, if any, drawn anew each time that
    it is learned from.
    average: the network that plays and is saved is an average of the weights over about the last 1 / average steps, or
    the last tenth of all steps where these are fewer; 0: the last step's weights (KataGo saves such an average).
    bfloat16: a gradient step computes layers in 16 bits, weights and losses in 32; it is faster where the processor
    has AVX-512 BF16, slower elsewhere. Play is in 32 bits.
    """

    batch: int = 256
    optimiser: str = "adam"
    learning_rate: float = 1e-3
    decay: float = 1.0
    decay_steps: int = 100_000
    stepped: bool = False
    value_weight: float = 1.0
    policy_weight: float = 0.1
    ownership_weight: float = 0.0
    sum_policies: bool = False
    policies_by_row: bool = False
    squared_policies: bool = False
    updates_per_example: float = 10.0
    clip: float = 0.0
    momentum: float = 0.9
    symmetries: bool = False
    warm_up: int = 0
    average: float = 0.0
    bfloat16: bool = False

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise SettingError(f"no optimiser is called {self.optimiser}; known: {', '.join(OPTIMISERS)}")
        for name in ("batch", "learning_rate", "decay", "decay_steps", "updates_per_example"):
            if not 0 < getattr(self, name) < math.inf:
                raise SettingError(f"{name} must be positive and finite, not {getattr(self, name)}")
        for name in ("value_weight", "policy_weight", "ownership_weight", "clip", "momentum", "warm_up", "average"):
            if not 0 <= getattr(self, name) < math.inf:
                raise SettingError(f"{name} must be finite and not negative, but is {getattr(self, name)}")
        for name in ("decay", "momentum", "average"):
            if getattr(self, name) > 1.0:
                raise SettingError(f"{name} is a share of at most 1, not {getattr(self, name)}")
        if self.optimiser != "sgd" and self.momentum != LearnerSettings.momentum:
            raise SettingError(f"momentum is that of the optimiser sgd, and {self.optimiser} takes none")

    def rate_of(self, step: int) -> float:
        """The learning rate of step `step`, from 0."""
        # alpha_t = alpha_init * d^(t / T_decay) (PoG, B.3), times the warm-up.
        warmed = min(1.0, (step + 1) / self.warm_up) if self.warm_up else 1.0
        falls = step // self.decay_steps if self.stepped else step / self.decay_steps
        return float(warmed * self.learning_rate * self.decay**falls)


# A row of a network over hold'em's hands has targets for over 2,000 hands, so that small batches do; a step costs what
# they cost.
OVER_HANDS: Final = LearnerSettings(
    batch=32,
    learning_rate=2e-3,
    decay=0.5,
    decay_steps=1_500,
    policy_weight=0.01,
    updates_per_example=16.0,
    average=3e-3,
)


@dataclass(frozen=True)
class TrainSettings:
    """Everything that decides a training run but its game, its seed and its number of workers.

    games: self-play games that a worker plays in a round; 0: as many as take half a minute, measured as the run begins.
    rounds: how many rounds a run has.
    replay: the most rows in the replay window.
    replay_bytes: the most bytes of the replay window, whose oldest rows are dropped beyond that; 0: half of the memory
    that is free when the run begins.
    window: how the window grows up to that; None: it is as large from the start.
    halved_at: once a run has made this many rows, the older half of the window is dropped, since an untrained network
    made it (ReBeL, G); 0: never.
    """

    acting: Acting
    learner: LearnerSettings
    shape: NetworkShape
    replay: int = 300_000
    replay_bytes: int = 0
    games: int = 64
    rounds: int = 240
    window: WindowGrowth | None = None
    halved_at: int = 0

    def __post_init__(self) -> None:
        for name in ("replay_bytes", "games", "rounds", "halved_at"):
            check_not_negative(name, getattr(self, name))

    def needed_memory(self) -> NeededMemory:
        """The learner's network, its optimiser's state and a batch."""
        batch = self.learner.batch
        return NeededMemory(learning_bytes(self.shape), batch_bytes(self.shape, batch), batch)

    def with_network(self, size: str) -> TrainSettings:
        """With other hidden layers, of a residual network blocks x channels; SettingError as of `sized`."""
        return replace(self, shape=sized(self.shape, size))
