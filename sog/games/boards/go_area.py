"""Area scoring of a Go board (Chinese rules) where every stone on it counts as alive."""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Bool

_NEIGHBOURS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])


def area(board: Array) -> tuple[int, int]:
    """Points of Black and of White: stones, and empty regions that only one colour touches.

    board: int8[N, N], 0 where empty, 1 for Black's stones, 2 for White's.
    """
    owned = owners(board)
    return int((owned == 1).sum()), int((owned == -1).sum())


def owners(board: Array) -> Array:
    """int8[N, N]: 1 where a cell is Black's, -1 where it is White's, 0 where it is nobody's.

    A cell is its stone's, or where empty that of the only colour that its region touches.
    """
    from scipy import ndimage  # its import takes as long as all other games' imports together

    regions, count = ndimage.label(board == 0, _NEIGHBOURS)
    black, white = (_regions_beside(regions, count, board == colour) for colour in (1, 2))
    of_region = np.concatenate([[0], black.astype(np.int8) - white.astype(np.int8)])
    owned: Array = (of_region[regions] + (board == 1) - (board == 2)).astype(np.int8)
    return owned


def _regions_beside(regions: Array, count: int, stones: Bool) -> Bool:
    """bool[count]: which of the regions 1..count have a neighbour among `stones`."""
    from scipy import ndimage

    beside = ndimage.binary_dilation(stones, _NEIGHBOURS)
    touched = np.zeros(count + 1, dtype=np.bool_)
    touched[regions[beside]] = True
    return touched[1:]
