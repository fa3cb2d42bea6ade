"""A new run that begins where the training of another checkpoint's network stopped; it knows no loop."""

from __future__ import annotations

import math
from pathlib import Path

from sog.errors import CheckpointError
from sog.files import shown
from sog.nets.cvpn import CVPN
from sog.training import checkpoint
from sog.training.settings import TrainSettings

__all__ = ["continued"]


def continued(folder: Path, game: str, settings: TrainSettings) -> tuple[CVPN, int, int]:
    """The checkpoint's network, the steps it was trained for, and the rows that such a learner sees in so many steps.

    Learning rate and window go on from there; the window's rows and the optimiser's memory are not in a checkpoint
    that ships, so both begin empty. Raises CheckpointError where the network is of another game or shape.
    """
    _, network, meta = checkpoint.load_network(folder, game)
    if meta.shape != settings.shape:
        raise CheckpointError(f"{shown(folder)}: its network is not of the shape that this run trains")
    rows = math.ceil(meta.step * settings.learner.batch / settings.learner.updates_per_example)
    return network, meta.step, rows
