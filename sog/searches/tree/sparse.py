"""Pair operators of few entries applied to ranges without matrices, row by row (see `SparseOperator.packed`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sog.arrays import Array
from sog.searches.kernels.jit import inlined, njit
from sog.searches.tree.arrays import Ranges
from sog.searches.tree.players import Players
from sog.searches.tree.records import OperatorRow

__all__ = ["entry", "mass_of", "masses", "payoffs"]


class _SparseBlocks(NamedTuple):
    """Where the blocks of a packed operator begin."""

    rows: int  # where each row's entries begin, and at last how many there are
    columns: int
    entries: int


@inlined
def _whole(number: float) -> int:
    """A place or a count, which is kept among the floats of the table."""
    return np.uint32(number)  # type: ignore[return-value]


@inlined
def _blocks(table: Array, operator: OperatorRow) -> _SparseBlocks:
    """The blocks of an operator in the table."""
    # rows + 1 places, then the columns of all entries, then the entries; the last place is their number.
    columns = operator.start + operator.rows + 1
    return _SparseBlocks(operator.start, columns, columns + _whole(table[operator.start + operator.rows]))


@inlined
def _row(table: Array, at: _SparseBlocks, i: int) -> tuple[int, int]:
    """Where the entries of row i begin and end, counted from the first."""
    return _whole(table[at.rows + i]), _whole(table[at.rows + i + 1])


@inlined
def _dot(table: Array, at: _SparseBlocks, i: int, reach: Array, offset: int) -> float:
    """Row i against reach[offset...].

    The sum over the row's entries (j, x) of x * reach[offset + j].
    """
    total = 0.0
    first, last = _row(table, at, i)
    for k in range(first, last):
        total += table[at.entries + k] * reach[offset + _whole(table[at.columns + k])]
    return total


@njit
def payoffs(
    table: Array, operator: OperatorRow, scale: float, reach: Array, offset: Array, cfv: Array, players: Players
) -> None:
    """Values of the players against the other's reach.

    cfv0[i] = scale * sum over j of M[i, j] r1[j], cfv1[j] = -scale * sum over i of M[i, j] r0[i].

    offset: [2], where player 0's and player 1's infostates begin in reach and in cfv.
    """
    at, offset0, offset1 = _blocks(table, operator), offset[0], offset[1]
    if players & Players.FIRST:
        for i in range(operator.rows):
            cfv[offset0 + i] = scale * _dot(table, at, i, reach, offset1)
    # Columns for player 1, whose utilities are minus player 0's.
    if players & Players.SECOND:
        _spread(table, operator, -scale, reach, offset0, cfv, offset1)


@inlined
def _spread(table: Array, operator: OperatorRow, scale: float, reach: Array, offset: int, out: Array, to: int) -> None:
    """out[to + j] = scale * sum over rows i of the entry (i, j) times reach[offset + i]."""
    at = _blocks(table, operator)
    for j in range(operator.columns):
        out[to + j] = 0.0
    # Entries are listed by row, so each row adds to the columns that it meets.
    for i in range(operator.rows):
        x = scale * reach[offset + i]
        # Exact: a row of a range's 0 adds nothing.
        if x == 0.0:
            continue
        first, last = _row(table, at, i)
        for k in range(first, last):
            out[to + _whole(table[at.columns + k])] += table[at.entries + k] * x


@njit
def masses(table: Array, operator: OperatorRow, scale: float, ranges: Ranges, mass: Array) -> None:
    """mass[0, i], mass[1, j]: the weight of each infostate against the opponent's range.

    mass[0, i] = scale * sum over j of W[i, j] r1[j], mass[1, j] = scale * sum over i of W[i, j] r0[i].
    """
    at = _blocks(table, operator)
    for i in range(operator.rows):
        mass[0, i] = scale * _dot(table, at, i, ranges.one, ranges.at1)
    _spread(table, operator, scale, ranges.zero, ranges.at0, mass[1], 0)


@njit
def entry(table: Array, operator: OperatorRow, i: int, j: int) -> float:
    """The operator at (i, j)."""
    at = _blocks(table, operator)
    first, last = _row(table, at, i)
    for k in range(first, last):
        if _whole(table[at.columns + k]) == j:
            return float(table[at.entries + k])
    return 0.0


@njit
def mass_of(table: Array, operator: OperatorRow, reach: Array, offset: int, p: int, i: int) -> float:
    """The sum over the opponent's infostates of the entry with player p's infostate i times reach[offset...]."""
    if p == 0:
        return float(_dot(table, _blocks(table, operator), i, reach, offset))
    total = 0.0
    # Column i: entries are listed by row, so each row is asked for it.
    for k in range(operator.rows):
        total += reach[offset + k] * entry(table, operator, k, i)
    return total
