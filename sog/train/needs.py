"""What memory a training run would need, worked out before anything of it is made; it knows no way of acting."""

from __future__ import annotations

from typing import Final

import torch

from sog.errors import SettingError
from sog.memory import gigabytes, machine_bytes
from sog.nets.cvpn import CVPN
from sog.nets.shape import NetworkShape
from sog.train.packing import blank_packed
from sog.train.policy_gradient.settings import PolicySettings
from sog.train.replay import blank_rows
from sog.train.sepot.learner import SepotSettings
from sog.train.settings import TrainSettings

__all__ = ["check_memory", "needed_bytes", "weights"]

_KEPT: Final = 4 * 4  # bytes a weight: float32 of itself, its gradient and the two moments of Adam
_FORMER: Final = 4 * 4  # bytes a weight: a target or magnet, two networks before, an average of weights
_SAVED: Final = 3  # more windows while one is saved: its rows in order, as safetensors takes them, as bytes
_BATCH: Final = 2 * 4  # bytes an entry of a batch's outputs: float32 of itself and its gradient


def needed_bytes(settings: TrainSettings | PolicySettings) -> tuple[float, float]:
    """Bytes of the learner's network, its optimizer's state and a batch's outputs; and of a full replay window.

    What self-play and saving hold on the way comes on top and is not counted. A policy learner keeps networks of former
    steps, and no replay window; SePoT's critic and transformations are about two networks more.
    """
    shape = settings.shape
    if isinstance(settings, PolicySettings):
        beside = 2 * _KEPT if isinstance(settings.learning, SepotSettings) else 0
        return float((_KEPT + _FORMER + beside) * weights(shape)), 0.0
    learner = _KEPT * weights(shape) + _BATCH * settings.learner.batch * shape.outputs
    row = blank_packed(shape, 1) if shape.planes else blank_rows(shape, 1)
    return float(learner), float(settings.replay) * sum(column.nbytes for column in row.columns().values())


def check_memory(settings: TrainSettings | PolicySettings, game: str, saves: bool = True) -> None:
    """SettingError, which says what would be needed, where the machine has not the memory for this run of a game.

    saves: whether its replay window is saved.
    """
    learner, window = needed_bytes(settings)
    whole = learner + (1 + _SAVED * saves) * window
    if whole > machine_bytes():
        parts = f"{gigabytes(learner)} for the network and its learner, {gigabytes(window)} for the replay window"
        parts += ", three times as much again while it is saved" if saves else ""
        need = f"{gigabytes(whole)} of memory ({parts})"
        raise SettingError(f"training {game} would need {need}; this machine has {gigabytes(machine_bytes())}")


def weights(shape: NetworkShape) -> int:
    """How many weights a network of this shape has; none of them is made."""
    with torch.device("meta"):
        return sum(weight.numel() for weight in CVPN(shape).parameters())
