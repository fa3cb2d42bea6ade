"""Numbers of rows in compiled games: counted or sorted, the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sog.games.compiled.tree import joint

INTEGERS = st.integers(-5, 5) | st.integers(-(2**40), 2**40)


@given(st.lists(st.tuples(INTEGERS, INTEGERS), max_size=40))
def test_rows_are_numbered_in_lexicographic_order(rows: list[tuple[int, int]]) -> None:
    """Close together they are counted, far apart sorted; both as NumPy sorts rows."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 2)
    expected = np.unique(columns, axis=0, return_inverse=True)[1].ravel() if len(rows) else np.zeros(0, dtype=np.int64)
    np.testing.assert_array_equal(joint(columns[:, 0], columns[:, 1]), expected)
