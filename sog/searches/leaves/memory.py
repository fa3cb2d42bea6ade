"""The last evaluation of each leaf of a solve: a belief that has not changed is not evaluated again."""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.searches.kernels.jit import njit


class LeafMemory:
    """The last belief of each leaf, and its answer.

    Pure policies leave many beliefs as they are for hundreds of iterations, and an evaluator's answer depends on
    nothing else.
    """

    def __init__(self, leaves: int, width: int) -> None:
        """width: of ranges by slot."""
        # NaN equals nothing, so each leaf's first belief is a changed one.
        self.ranges: Float64 = np.full((leaves, width), np.nan)
        self.values: Float64 = np.zeros((leaves, 0))
        self._rows: Int32 = np.zeros(leaves, dtype=np.int32)

    def changed(self, leaves: Int32, ranges: Float64) -> Int32:
        """int32[C]: which of the beliefs, a row for each of the leaves, are not as they were; they are kept."""
        return self._rows[: _keep_changed(self.ranges, leaves, ranges, self._rows)]

    def answer(self, leaves: Int32, changed: Int32, values: Float64) -> None:
        """Keep the answers to the changed beliefs."""
        if not self.values.shape[1]:
            self.values = np.zeros((len(self.values), values.shape[1]))
        self.values[leaves[changed]] = values

    def latest(self, leaves: Int32) -> Float64:
        """The answers to the leaves' beliefs as they are now."""
        return self.values[leaves]


@njit
def _keep_changed(last_ranges: Array, leaves: Array, ranges: Array, rows: Array) -> int:
    """Write the beliefs that differ into last_ranges, and their rows into rows; how many there are."""
    count = 0
    for b in range(len(leaves)):
        old, new = last_ranges[leaves[b]], ranges[b]
        # Equal to the last bit: the answer is then equal, too, and results do not depend on this memory.
        same = True
        for i in range(len(new)):
            if old[i] != new[i]:  # or NaN: never evaluated
                same = False
                break
        if not same:
            for i in range(len(new)):
                old[i] = new[i]
            rows[count] = b
            count += 1
    return count
