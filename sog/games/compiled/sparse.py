"""A pair operator that is 0 for all but a few pairs of infostates, as where a public history leaves few."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float64, Int64
from sog.games.base import SPARSE, Operator

__all__ = ["SparseOperator"]


class SparseOperator(Operator):
    """A pair operator by its entries; compared by identity, kept by the game.

    pairs: int64[N], ascending, i0 * I1 + i1 of each entry.  entries: float64[N].
    """

    pairs: Int64
    entries: Float64
    _shape: tuple[int, int]

    def __init__(self, shape: tuple[int, int], pairs: Int64, entries: Float64) -> None:
        for name, value in (("_shape", shape), ("pairs", pairs), ("entries", entries)):
            object.__setattr__(self, name, value)

    @property
    def kind(self) -> int:
        return SPARSE

    @property
    def shape(self) -> tuple[int, int]:
        return self._shape

    def packed(self) -> Float64:
        """float64[I0 + 1 + 2 N]: where each row's entries begin and how many there are; their columns; the entries."""
        rows, columns = np.divmod(self.pairs, self.shape[1])
        begins = np.searchsorted(rows, np.arange(self.shape[0] + 1))
        return np.concatenate((begins, columns, self.entries)).astype(np.float64)

    def entry(self, i0: int, i1: int) -> float:
        """The matrix at (i0, i1), which is not made for it."""
        wanted = i0 * self.shape[1] + i1
        k = int(np.searchsorted(self.pairs, wanted))
        return float(self.entries[k]) if k < len(self.pairs) and self.pairs[k] == wanted else 0.0

    @property
    def matrix(self) -> Float64:
        """float64[I0, I1]: the operator written out, made anew each time; for checks only."""
        out = np.zeros(self.shape)
        out.ravel()[self.pairs] = self.entries
        return out
