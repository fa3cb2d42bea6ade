"""The pair operators of a public tree, each packed once for kernels."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float64
from sog.games.base import DENSE, Operator, Scaled
from sog.searches.tree.records import OperatorRows
from sog.searches.tree.tables import ROOM, Table


class Operators:
    """table: a row per operator.  values: float64[*], the operators as they are packed."""

    def __init__(self) -> None:
        self.table = Table(OperatorRows.zeros(ROOM))
        self.values = Table(np.zeros(ROOM))
        self._numbers: dict[Operator, int] = {}

    def add(self, scaled: Scaled) -> tuple[int, float]:
        """Its operator's number, packed on first use, and its scale."""
        operator = scaled.operator
        if operator not in self._numbers:
            self._numbers[operator] = self.table.count
            packed, factors = operator.packed(), _factors(operator)
            # A row: start, kind, rows, columns, factors (records.OperatorRow).
            start = self.values.count
            first = start + len(packed) if len(factors) else -1
            self.table.extend(1)[0] = start, operator.kind, *operator.shape, first
            # The factors lie behind the operator itself.
            self.values.extend(len(packed) + len(factors))[:] = np.concatenate([packed, factors])
        return self._numbers[operator], scaled.scale

    def matrix(self, number: int) -> Float64:
        """float64[I0, I1]: the dense operator with this number, unscaled."""
        operator = self.table.rows[number]
        start, rows, columns = int(operator.start), int(operator.rows), int(operator.columns)
        assert operator.kind == DENSE
        matrix: Float64 = self.values.rows[start : start + rows * columns].reshape(rows, columns)
        return matrix

    @property
    def all_dense(self) -> bool:
        """Whether every operator so far is a matrix."""
        return bool((self.table.rows.kind[: self.table.count] == DENSE).all())


def _factors(operator: Operator) -> Float64:
    """float64[I0 + I1]: two vectors whose outer product a dense operator is to rounding; empty for other operators.

    M[i, j] = f0[i] * f1[j], with f0 the column of M's largest entry and f1 its row over that entry.
    """
    if operator.kind != DENSE or not operator.matrix.any():
        return np.zeros(0)
    matrix = operator.matrix
    # The largest entry is not 0, since some entry is not.
    i, j = divmod(int(np.abs(matrix).argmax()), matrix.shape[1])
    first, second = matrix[:, j], matrix[i] / matrix[i, j]
    # 4e-16 is less than twice the distance of 1 to the next number, 2.2e-16: no more than rounding.
    outer = np.allclose(np.outer(first, second), matrix, rtol=4e-16, atol=0.0)
    return np.concatenate([first, second]) if outer else np.zeros(0)
