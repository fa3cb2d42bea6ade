"""What training's small rows can hold of a game with planes: each plane's one value, and how many legal actions."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Float32

__all__ = ["ALL_ACTIONS", "LEVELS", "MOST", "MOST_LEGAL", "are_plain"]

# No position of chess has more legal moves than 218; a game with fewer actions than the first figure keeps them all.
ALL_ACTIONS: Final = 400
MOST_LEGAL: Final = 256
LEVELS: Final = 100.0  # a plane's one value is kept in hundredths
MOST: Final = 2.55  # of them, in a byte


def are_plain(planes: Float32) -> bool:
    """Whether each of float32[..., cells] is 0 or one value everywhere, which is at least 0.01 when rounded."""
    top = planes.max(axis=-1)
    uneven = (planes != 0) & (planes != top[..., None])
    return not (uneven.any() or (np.rint(top * LEVELS) < (top != 0)).any())
