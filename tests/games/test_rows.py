"""Different rows are found by their bytes: against NumPy's sort, for every width of a row, and where hashes collide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.arrays import Array
from sog.games.histories.rows import distinct_rows, equal_rows

KINDS = (np.float32, np.int32, np.int16, np.int8, np.int64, np.bool_)


def check(rows: Array) -> None:
    """The first places, in order, and every row's number among them."""
    first, number = distinct_rows(rows)
    expected = np.unique([row.tobytes() for row in rows], return_index=True)[1]
    assert np.array_equal(first, np.sort(expected))
    assert np.array_equal(rows[first][number], rows)
    assert [at.tolist() for at in equal_rows(rows)] == [np.flatnonzero(number == k).tolist() for k in range(len(first))]


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 4), st.sampled_from(KINDS), st.integers(0, 10**6))
def test_rows_are_numbered_as_they_come_up(count: int, width: int, values: int, kind: Any, seed: int) -> None:
    check(np.random.default_rng(seed).integers(0, values, (count, width)).astype(kind))


def test_rows_whose_words_differ_in_high_bits_only() -> None:
    """Numbers such as 0.0 and 1.0, as features are: a hash of their low bits alone would be a long search."""
    check(np.random.default_rng(0).integers(0, 2, (20_000, 28)).astype(np.float32))
    check(np.arange(5_000, dtype=np.int64)[:, None] << 40)


def test_bytes_decide() -> None:
    """0.0 and -0.0 differ, two NaNs of the same bits do not; a slice of columns is read as it is."""
    assert len(distinct_rows(np.array([[0.0], [-0.0], [np.nan], [np.nan]], dtype=np.float32))[0]) == 3
    wide = np.array([[1, 7, 2], [1, 8, 2]], dtype=np.int32)
    assert len(distinct_rows(wide[:, ::2])[0]) == 1


@pytest.mark.parametrize(("shape", "different"), [((0, 3), 0), ((4, 0), 1), ((0, 0), 0)])
def test_rows_of_nothing(shape: tuple[int, int], different: int) -> None:
    first, number = distinct_rows(np.zeros(shape, dtype=np.int32))
    assert len(first) == different and number.tolist() == [0] * shape[0]
