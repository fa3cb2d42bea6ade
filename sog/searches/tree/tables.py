"""Growing arrays, of which the trees' tables are made."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar, cast

import numpy as np

from sog.arrays import Int32, Int64

ROOM: Final = 256  # of a new table, in rows

A = TypeVar("A", bound=np.ndarray[Any, Any])


class Growth:
    """Whether a table has moved to a larger array since its tree last put its tables together.

    Tables share it with their tree instead of knowing the tree: a tree that nobody holds is then freed at once.
    """

    __slots__ = ("happened",)

    def __init__(self) -> None:
        self.happened = False


class Table(Generic[A]):
    """A growing array: rows are appended along axis 0 and capacity doubles."""

    __slots__ = ("growth", "room", "rows", "used")

    def __init__(self, rows: A, used: Int64 | None = None) -> None:
        """rows: a table of zeros.  used: int64[1], how many are in use, for kernels that append rows themselves."""
        self.growth = Growth()
        self.rows: A = rows
        self.room = len(rows)
        self.used: Int64 = np.zeros(1, dtype=np.int64) if used is None else used

    @property
    def count(self) -> int:
        """How many rows are in use."""
        return int(self.used.item())

    def reserve(self, count: int) -> int:
        """The first of `count` new rows."""
        first = self.used.item()
        self.make_room(first + count)
        self.used[0] = first + count
        return first

    def make_room(self, need: int) -> None:
        """Have at least `need` rows, in use or not."""
        if need > self.room:
            self.rows = grown(self.rows, need, axis=0)
            self.room = len(self.rows)
            # Tuples for kernels that were made before have the old array: the tree makes new ones.
            self.growth.happened = True

    def extend(self, count: int) -> A:
        """A writable view of `count` new rows."""
        first = self.reserve(count)
        return cast(A, self.rows[first : self.count])


class Runs:
    """Runs of numbers one after the other, int32[*], each different run once."""

    def __init__(self) -> None:
        self.table = Table[Int32](np.zeros(ROOM, dtype=np.int32))
        self._starts: dict[bytes, int] = {}

    def add(self, run: Int32) -> int:
        """Where the run starts, appended on first use."""
        # Many public states have the same slots: one run serves them all.
        key = run.tobytes()
        if key not in self._starts:
            self._starts[key] = self.table.count
            self.table.extend(len(run))[:] = run
        return self._starts[key]


def grown(array: A, need: int, axis: int = 0) -> A:
    """A copy with at least `need` places along `axis`, doubling; new places are zero."""
    shape = list(array.shape)
    shape[axis] = max(need, 2 * shape[axis])
    # A view of the array's own type, so that a table of rows stays one.
    out = cast(A, np.zeros(shape, dtype=array.dtype).view(type(array)))
    if array.ndim == 1:
        copy_rows(array, out, len(array))
    else:
        out[tuple(slice(0, k) for k in array.shape)] = array
    return out


def copy_rows(array: np.ndarray[Any, Any], out: np.ndarray[Any, Any], count: int) -> None:
    """Copy the first rows of a table into another of its type, as bytes: NumPy copies records field by field."""
    size = count * array.itemsize
    out.view(np.uint8, np.ndarray)[:size] = array.view(np.uint8, np.ndarray)[:size]
