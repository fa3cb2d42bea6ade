"""What memory a training run would need, worked out before anything of it is made."""

from __future__ import annotations

from typing import Final

import torch

from sog.errors import SettingError
from sog.memory import gigabytes, machine_bytes
from sog.nets.cvpn import CVPN
from sog.nets.shape import NetworkShape
from sog.training.packing import blank_packed
from sog.training.replay import blank_rows

__all__ = ["check_memory", "learning_bytes", "row_bytes", "weights"]

_WEIGHT: Final = 4 * 4  # bytes: float32 of itself, its gradient and the two moments of Adam
_SAVED: Final = 3  # more windows while one is saved: its rows in order, as safetensors takes them, as bytes


def learning_bytes(shape: NetworkShape, networks: int = 1) -> float:
    """Bytes of learned networks of this shape, with their gradients and Adam's two moments."""
    return float(networks * _WEIGHT * weights(shape))


def row_bytes(shape: NetworkShape) -> int:
    """Bytes of one row in the replay window."""
    row = blank_packed(shape, 1) if shape.planes else blank_rows(shape, 1)
    return sum(column.nbytes for column in row.columns().values())


def check_memory(needed: tuple[float, float], game: str, saves: bool = True) -> None:
    """SettingError, which says what would be needed, where the machine has not the memory for this run of a game.

    needed: `RunSettings.needed_bytes`; what self-play and saving take on the way comes on top and is not counted.
    saves: whether its replay window is saved.
    """
    learner, window = needed
    whole = learner + (1 + _SAVED * saves) * window
    if whole > machine_bytes():
        parts = f"{gigabytes(learner)} for the network and its learner, {gigabytes(window)} for the replay window"
        parts += ", three times as much again while it is saved" if saves else ""
        need = f"{gigabytes(whole)} of memory ({parts})"
        raise SettingError(f"training {game} would need {need}; this machine has {gigabytes(machine_bytes())}")


def weights(shape: NetworkShape) -> int:
    """How many weights a network of this shape has; none of them is made."""
    # Tensors without storage.
    with torch.device("meta"):
        return sum(weight.numel() for weight in CVPN(shape).parameters())
