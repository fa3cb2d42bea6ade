"""What memory a training run would need, worked out before anything of it is made."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sog.errors import SettingError
from sog.memory import available_bytes, gigabytes, machine_bytes
from sog.nets.network import COUNT, sizes_of
from sog.nets.shape import NetworkShape

__all__ = [
    "NeededMemory",
    "batch_bytes",
    "check_memory",
    "free_for_window",
    "free_on_disk",
    "learning_bytes",
    "weights",
]

_WEIGHT: Final = 4 * 4  # bytes: float32 of itself, its gradient and the two moments of Adam
_LOSSES: Final = 6  # arrays of a batch's outputs at once: outputs, targets, softmax, loss and two gradients
_FITS: Final = 0.8  # of the machine: what a suggested setting takes
_LAYER: Final = 4  # arrays of a hidden layer that are kept for the gradient: sum, normalised, active and gradient


@dataclass(frozen=True)
class NeededMemory:
    """Bytes of the networks with their learning, and of a batch of `rows` while it is learned from."""

    networks: float
    batch: float = 0.0
    rows: int = 0


def learning_bytes(shape: NetworkShape, networks: int = 1) -> float:
    """Bytes of learned networks of this shape, with their gradients and Adam's two moments."""
    return float(networks * _WEIGHT * weights(shape))


def batch_bytes(shape: NetworkShape, batch: int) -> float:
    """About the bytes that learning from a batch takes: its rows, its losses and its hidden layers."""
    units = shape.width * (2 * math.prod(shape.planes[1:]) if shape.planes else 1) * shape.depth
    return 4.0 * batch * (shape.inputs + _LOSSES * shape.outputs + _LAYER * units)


def free_for_window(folder: Path) -> int:
    """Bytes for a replay window in a folder: half of what is free of memory, or of its disk where that is less."""
    return min(available_bytes(), free_on_disk(folder)) // 2


def free_on_disk(folder: Path) -> int:
    """Bytes free on the disk of a folder that may not be there yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def check_memory(needed: NeededMemory, game: str) -> None:
    """SettingError, which says what would fit, where the machine has not the memory for this run of a game.

    What self-play takes comes on top and is not counted; the replay window lies in files.
    """
    whole, there = needed.networks + needed.batch, machine_bytes()
    if whole <= there:
        return
    parts = gigabytes(needed.networks) + " for the network and its learner"
    parts += f", {gigabytes(needed.batch)} for a batch of {needed.rows:,} rows" if needed.rows else ""
    way_out = "the setting network=3x256, or one like it, makes a smaller network"
    if needed.rows and needed.networks < _FITS * there:
        fitting = int(needed.rows * (_FITS * there - needed.networks) / needed.batch)
        way_out = f"the setting batch={max(1, fitting)} would fit"
    need = f"{gigabytes(whole)} of memory ({parts})"
    raise SettingError(f"training {game} would need {need}; this machine has {gigabytes(there)}: {way_out}")


def weights(shape: NetworkShape) -> int:
    """How many weights a network of this shape learns."""
    beside = ("running_mean", "running_var", COUNT)
    return sum(math.prod(size) for name, size in sizes_of(shape).items() if not name.endswith(beside))
