"""Equal rows of an array found by their bytes: histories and infostates are rows of numbers; it knows no game."""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Int64

__all__ = ["distinct_rows", "row_keys"]


def row_keys(rows: Array) -> Array:
    """[M]: each row of an array [M, Q] as one item, its bytes, which sorts and compares."""
    whole = np.ascontiguousarray(rows)
    return whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel()


def distinct_rows(rows: Array) -> tuple[Int64, Int64]:
    """The first place of each of U different rows of an array [M, Q], int64[U], and which of them each is, int64[M]."""
    if not rows.shape[1]:
        return np.zeros(min(1, len(rows)), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    _, first, number = np.unique(row_keys(rows), return_index=True, return_inverse=True)
    return first.astype(np.int64), number.astype(np.int64)
