"""Area scoring of a Go board (Chinese rules) where every stone on it counts as alive."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from sog.arrays import Array, Bool, Int64

_NEIGHBOURS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])


def area(board: Array) -> tuple[int, int]:
    """Points of Black and of White: stones, and empty regions that only one colour touches.

    board: int8[N, N], 0 where empty, 1 for Black's stones, 2 for White's.
    """
    points = [int((board == colour).sum()) for colour in (1, 2)]
    regions, count = ndimage.label(board == 0, _NEIGHBOURS)
    touched = [_regions_beside(regions, count, board == colour) for colour in (1, 2)]
    sizes: Int64 = np.bincount(regions.ravel(), minlength=count + 1)
    for k, (own, other) in enumerate((touched, touched[::-1])):
        points[k] += int(sizes[1:][own & ~other].sum())
    return points[0], points[1]


def _regions_beside(regions: Array, count: int, stones: Bool) -> Bool:
    """bool[count]: which of the regions 1..count have a neighbour among `stones`."""
    beside = ndimage.binary_dilation(stones, _NEIGHBOURS)
    found = np.zeros(count + 1, dtype=np.bool_)
    found[regions[beside]] = True
    return found[1:]
