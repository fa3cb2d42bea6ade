"""Connect four's boards as bits: threats, legal moves and stones in parallel.

Column c holds bits 7 c (bottom) to 7 c + 5; bit 7 c + 6 stays empty, so that no line wraps round to the next column.
`mask` has every stone's bit, `own` those of the player to move. A board and its mover are distinguished by
`own + mask + BOTTOM`, which sets a bit above each column's top stone (the representation is John Tromp's).
Everything is int64: 49 bits fit, and Numba makes floats of mixed signs.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.searches.kernels.jit import inlined

__all__ = ["BOTTOM", "COLUMNS", "FULL", "ROWS", "counted", "legal", "mirrored", "threats"]

ROWS: Final = 6
COLUMNS: Final = 7
_HIGH: Final = ROWS + 1
BOTTOM: Final = np.int64(sum(1 << (_HIGH * c) for c in range(COLUMNS)))
FULL: Final = np.int64(int(BOTTOM) * ((1 << ROWS) - 1))

_PAIRS: Final = np.int64(0x5555555555555555)
_FOURS: Final = np.int64(0x3333333333333333)
_BYTES: Final = np.int64(0x0F0F0F0F0F0F0F0F)
_ONES: Final = np.int64(0x0101010101010101)


@inlined
def counted(bits):  # type: ignore[no-untyped-def]
    """How many of the bits are set."""
    bits = bits - ((bits >> 1) & _PAIRS)
    bits = (bits & _FOURS) + ((bits >> 2) & _FOURS)
    return (((bits + (bits >> 4)) & _BYTES) * _ONES) >> 56


@inlined
def threats(own, mask):  # type: ignore[no-untyped-def]
    """Empty cells, reachable or not, that would complete four of the player with stones `own`."""
    cells = (own << 1) & (own << 2) & (own << 3)
    for step in (ROWS, ROWS + 1, ROWS + 2):
        pair = (own << step) & (own << 2 * step)
        cells |= pair & ((own << 3 * step) | (own >> step))
        pair = (own >> step) & (own >> 2 * step)
        cells |= pair & ((own << step) | (own >> 3 * step))
    return cells & (FULL ^ mask)


@inlined
def legal(mask):  # type: ignore[no-untyped-def]
    """The cells that a stone can fall into, one a column that is not full."""
    return (mask + BOTTOM) & FULL


def mirrored(own: int, mask: int) -> tuple[int, int]:
    """The same position seen in a mirror."""
    out = [0, 0]
    for k, bits in enumerate((own, mask)):
        for column in range(COLUMNS):
            out[k] |= ((bits >> (_HIGH * column)) & ((1 << _HIGH) - 1)) << (_HIGH * (COLUMNS - 1 - column))
    return out[0], out[1]
