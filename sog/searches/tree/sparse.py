"""Pair operators of few entries applied to ranges without matrices, row by row (see `SparseOperator.packed`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sog.arrays import Array
from sog.searches.kernels.jit import inlined, njit

__all__ = ["entry", "mass_of", "masses", "payoffs"]

U = np.uint64


class _Blocks(NamedTuple):
    """Where the blocks of a packed operator begin."""

    rows: np.uint64  # where each row's entries begin, and at last how many there are
    columns: np.uint64
    entries: np.uint64


@inlined
def _blocks(table: Array, start: Any, rows: Any) -> _Blocks:
    """The blocks of the operator with so many rows at table[start...]."""
    first = U(start)
    columns = first + U(rows) + U(1)
    return _Blocks(first, columns, columns + U(table[first + U(rows)]))


@inlined
def _row(table: Array, at: _Blocks, i: Any) -> tuple[Any, Any]:
    """Where the entries of row i begin and end, counted from the first."""
    return U(table[at.rows + U(i)]), U(table[at.rows + U(i) + U(1)])


@inlined
def _dot(table: Array, at: _Blocks, i: Any, reach: Array, off: Any) -> Any:
    """Row i against reach[off...]."""
    total = 0.0
    first, last = _row(table, at, i)
    for k in range(first, last):
        total += table[at.entries + k] * reach[off + U(table[at.columns + k])]
    return total


@njit
def payoffs(
    table: Array,
    start: Any,
    scale: float,
    shape: tuple[Any, Any],
    reach: Array,
    offsets: tuple[Any, Any],
    cfv: Array,
    players: int,
) -> None:
    """Values of the players in the bit mask against the other's reach.

    shape: (I0, I1).  offsets: where player 0's and player 1's infostates begin in reach and in cfv.
    """
    at, off0, off1 = _blocks(table, start, shape[0]), U(offsets[0]), U(offsets[1])
    if players & 1:
        for i in range(U(shape[0])):
            cfv[off0 + i] = scale * _dot(table, at, i, reach, off1)
    if players & 2:
        _spread(table, at, -scale, shape, reach, off0, cfv, off1)


@inlined
def _spread(
    table: Array, at: _Blocks, scale: float, shape: tuple[Any, Any], reach: Array, off: Any, out: Array, to: Any
) -> None:
    """out[to + j] = scale * sum over rows i of the entry (i, j) times reach[off + i]."""
    for j in range(U(shape[1])):
        out[to + j] = 0.0
    for i in range(U(shape[0])):
        x = scale * reach[off + i]
        if x == 0.0:
            continue
        first, last = _row(table, at, i)
        for k in range(first, last):
            out[to + U(table[at.columns + k])] += table[at.entries + k] * x


@njit
def masses(
    table: Array, start: Any, scale: float, shape: tuple[Any, Any], ranges: tuple[Array, Any, Array, Any], mass: Array
) -> None:
    """mass[0, i], mass[1, j]: the weight of each infostate against the opponent's range.

    ranges: player 0's, where it begins there, player 1's, where it begins there.
    """
    r0, off0, r1, off1 = ranges
    at = _blocks(table, start, shape[0])
    for i in range(U(shape[0])):
        mass[0, i] = scale * _dot(table, at, i, r1, U(off1))
    _spread(table, at, scale, shape, r0, U(off0), mass[1], U(0))


@njit
def entry(table: Array, start: Any, rows: Any, i: Any, j: Any) -> float:
    """The operator at (i, j)."""
    at = _blocks(table, start, rows)
    first, last = _row(table, at, i)
    for k in range(first, last):
        if U(table[at.columns + k]) == U(j):
            return float(table[at.entries + k])
    return 0.0


@njit
def mass_of(table: Array, start: Any, shape: tuple[Any, Any], reach: Array, off: Any, p: int, i: Any) -> float:
    """The sum over the opponent's infostates of the entry with player p's infostate i times reach[off...]."""
    if p == 0:
        return float(_dot(table, _blocks(table, start, shape[0]), i, reach, U(off)))
    total = 0.0
    for k in range(U(shape[0])):
        total += reach[U(off) + k] * entry(table, start, shape[0], k, i)
    return total
