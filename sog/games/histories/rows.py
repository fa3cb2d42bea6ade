"""Equal rows of an array found by their bytes: histories and infostates are rows of numbers."""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Int32, Int64
from sog.games.kernels import kernel

__all__ = ["distinct_rows", "equal_rows"]


def distinct_rows(rows: Array) -> tuple[Int64, Int64]:
    """The first place of each of U different rows of an array [M, Q], int64[U], and which of them each is, int64[M].

    The different rows are numbered as they come up.
    """
    if not rows.shape[1]:
        return np.zeros(min(1, len(rows)), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    whole = np.ascontiguousarray(rows)
    width = whole.itemsize * whole.shape[1]
    words = whole.view(np.uint8 if width % 4 else np.uint32 if width % 8 else np.uint64)
    table = np.full(1 << max(3, (2 * len(rows)).bit_length()), -1, dtype=np.int32)
    first, number = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    return first[: _number_rows(words, table, first, number)], number


def equal_rows(rows: Array) -> list[Int64]:
    """The places, ascending, of each of the different rows of an array [M, Q], which are numbered as they come up."""
    if not len(rows):
        return []
    numbers = distinct_rows(rows)[1]
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


@kernel
def _number_rows(words: Array, table: Int32, first: Int64, number: Int64) -> int:
    """The number of different rows.  table: filled with -1; a power of two of places, more than there are rows."""
    count = 0
    for m in range(len(words)):
        place = np.uint64(0x9E3779B97F4A7C15)
        for word in words[m]:
            place = (place ^ np.uint64(word)) * np.uint64(0xD6E8FEB86659FD93)
            place ^= place >> np.uint64(32)
        place = (place ^ place >> np.uint64(20)) * np.uint64(0xD6E8FEB86659FD93)  # a last word's high bits, too
        place ^= place >> np.uint64(32)
        while True:
            place &= np.uint64(len(table) - 1)
            known = table[place]
            if known < 0:
                table[place], first[count], number[m] = count, m, count
                count += 1
                break
            if _equal(words[first[known]], words[m]):
                number[m] = known
                break
            place += np.uint64(1)
    return count


@kernel
def _equal(one: Array, other: Array) -> bool:
    differing = 0
    for k in range(len(one)):
        differing += one[k] != other[k]
    return differing == 0
