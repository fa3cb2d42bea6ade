"""Growing arrays, of which the trees' tables are made."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Array, Int32

ROOM: Final = 256  # of a new table, in rows


class Growth:
    """Whether a table has moved to a larger array since its tree last put its tables together.

    Tables share it with their tree instead of knowing the tree: a tree that nobody holds is then freed at once.
    """

    __slots__ = ("happened",)

    def __init__(self) -> None:
        self.happened = False


class Table:
    """A growing array: rows are appended along axis 0 and capacity doubles."""

    __slots__ = ("count", "growth", "room", "rows")

    def __init__(self, dtype: type, columns: int | None = None) -> None:
        self.growth = Growth()
        self.rows: Array = np.zeros((ROOM,) if columns is None else (ROOM, columns), dtype=dtype)
        self.count, self.room = 0, ROOM

    def reserve(self, count: int) -> int:
        """The first of `count` new rows."""
        first = self.count
        self.count += count
        if self.count > self.room:
            self.rows = grown(self.rows, self.count, axis=0)
            self.room = len(self.rows)
            self.growth.happened = True
        return first

    def extend(self, count: int) -> Array:
        """A writable view of `count` new rows."""
        first = self.reserve(count)
        return self.rows[first : self.count]


class Runs:
    """Runs of numbers one after the other, int32[*], each different run once."""

    def __init__(self) -> None:
        self.table = Table(np.int32)
        self._starts: dict[bytes, int] = {}

    def add(self, run: Int32) -> int:
        """Where the run starts, appended on first use."""
        key = run.tobytes()
        if key not in self._starts:
            self._starts[key] = self.table.count
            self.table.extend(len(run))[:] = run
        return self._starts[key]


def grown(array: Array, need: int, axis: int) -> Array:
    """A copy with at least `need` places along `axis`, doubling; new places are zero."""
    shape = list(array.shape)
    shape[axis] = max(need, 2 * shape[axis])
    out = np.zeros(shape, dtype=array.dtype)
    out[tuple(slice(0, k) for k in array.shape)] = array
    return out
