"""What OpenSpiel's AlphaZero needs and is trained with, and what a finished training says of itself; without JAX."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sog.errors import SettingError

__all__ = [
    "INPUTS",
    "MODELS",
    "ONE_CORE",
    "PLANES",
    "RECORD",
    "AzSettings",
    "AzTraining",
    "inputs_of",
    "newest_checkpoint",
    "require_extra",
    "write_record",
]

MODELS: Final = ("resnet", "conv2d", "mlp")
BOARD, PLANES = "board", "planes"
INPUTS: Final = (BOARD, PLANES)
RECORD: Final = "trained.json"
_CHECKPOINT: Final = re.compile(r"checkpoint-(\d+)")
_PACKAGES: Final = ("chex", "flax", "jax", "optax", "orbax", "psutil")

# What JAX reads from the environment when it is imported first: the processor, one thread of it.
ONE_CORE: Final = {
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def require_extra() -> None:
    """SettingError that says what to install, where a package is missing."""
    if missing := [name for name in _PACKAGES if importlib.util.find_spec(name) is None]:
        raise SettingError(
            f"OpenSpiel's AlphaZero needs {', '.join(missing)}, not installed here: pip install 'sog[alphazero]'"
        )


@dataclass(frozen=True)
class AzSettings:
    """Named as in OpenSpiel's configuration; what is not here is as in its example, with one actor, no evaluators.

    nn_model, nn_width, nn_depth: the network.  max_simulations: a move of self-play.  A step of learning comes every
    replay_buffer_size // replay_buffer_reuse positions.  compiled: its network's answers are compiled
    (compiled.py); otherwise the library is used untouched.  inputs: the board as OpenSpiel gives it, or our planes of
    connect four (planes.py).

    Rates, batch, buffer, reuse and exploration constant are those of its example, the move after which it is greedy
    that of the example's earlier version, whose game was connect four; an MLP is what its page on AlphaZero names
    for connect four.
    """

    nn_model: str = "mlp"
    nn_width: int = 256
    nn_depth: int = 3
    max_simulations: int = 100
    learning_rate: float = 1e-3
    train_batch_size: int = 128
    replay_buffer_size: int = 8192
    replay_buffer_reuse: int = 4
    uct_c: float = 1.41
    temperature_drop: int = 10
    compiled: bool = True
    inputs: str = BOARD

    def check(self) -> None:
        """SettingError where a value cannot be."""
        if self.nn_model not in MODELS:
            raise SettingError(f"the network is one of {', '.join(MODELS)}, not {self.nn_model}")
        if self.inputs not in INPUTS:
            raise SettingError(f"the inputs are one of {', '.join(INPUTS)}, not {self.inputs}")
        for name in ("nn_width", "nn_depth", "train_batch_size", "replay_buffer_reuse"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.max_simulations < 2:
            raise SettingError(f"max_simulations must be at least 2, not {self.max_simulations}")
        if self.replay_buffer_size < max(self.train_batch_size, self.replay_buffer_reuse):
            raise SettingError("replay_buffer_size must be at least train_batch_size and replay_buffer_reuse")
        if not (self.learning_rate > 0 and math.isfinite(self.learning_rate)):
            raise SettingError(f"learning_rate must be above 0, not {self.learning_rate:g}")
        for name in ("uct_c", "temperature_drop"):
            if not 0 <= getattr(self, name) < math.inf:
                raise SettingError(f"{name} must not be negative, but is {getattr(self, name)}")


@dataclass(frozen=True)
class AzTraining:
    """A training that has ended.

    processor_minutes: of all its processes from their start.  minutes: by the clock.  games, positions: learned from.
    played: games played, those that came too late to be learned from included.  steps: of learning; the checkpoint
    kept is that of the last one that was written.
    """

    game: str
    processor_minutes: float
    minutes: float
    played: int
    games: int
    positions: int
    steps: int
    checkpoint: int
    settings: AzSettings
    versions: dict[str, str]


def newest_checkpoint(folder: Path) -> int | None:
    """The step of the last checkpoint that was written whole; None without one. Begun ones have longer names."""
    try:
        matches = [_CHECKPOINT.fullmatch(path.name) for path in folder.iterdir()]
    except (OSError, ValueError):  # ValueError: a name with a NUL
        return None
    return max((int(match[1]) for match in matches if match), default=None)


def write_record(folder: Path, trained: AzTraining) -> None:
    """Beside the checkpoint."""
    (folder / RECORD).write_text(json.dumps(asdict(trained), indent=2) + "\n")


def inputs_of(folder: Path) -> str:
    """What the network in a folder was given, by the record beside it; OpenSpiel's board where there is no record."""
    try:
        return str(json.loads((folder / RECORD).read_text())["settings"].get("inputs", BOARD))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return BOARD
