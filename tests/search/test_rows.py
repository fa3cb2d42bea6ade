"""Rows of eight float64 in kernels: what they read and write, whatever part of the eight is used."""

from __future__ import annotations

import numpy as np
import pytest

from sog.arrays import Array
from sog.search.simd import f64x8 as rows
from sog.search.simd import registers
from sog.search.simd.jit import njit


@njit
def combine(a: Array, b: Array, start: int, count: int, out: Array, sums: Array) -> bool:
    """out = a + a * b / b where a > 0, else b; sums: of a, at 0."""
    at, some = np.uint64(start), np.uint64(count)
    x, y = rows.load(a, at, some), rows.load(b, at, some)
    sums[0] = registers.sum_of(x)
    rows.store(out, at, some, registers.pick(x, x + x * y / y, y - rows.splat(0.0)))
    return bool(rows.all_positive(x, some))


@pytest.mark.parametrize("count", range(1, rows.LANES + 1))
def test_a_row_is_as_long_as_it_is_told_and_nothing_else_is_touched(count: int) -> None:
    rng = np.random.default_rng(count)
    a, b, out, sums = rng.normal(size=20), rng.normal(size=20), np.full(20, 9.0), np.zeros(1)
    positive = combine(a, b, 5, count, out, sums)
    used = slice(5, 5 + count)
    np.testing.assert_allclose(out[used], np.where(a[used] > 0, 2 * a[used], b[used]), rtol=1e-12)
    assert sums[0] == pytest.approx(a[used].sum(), rel=1e-12)
    assert (np.delete(out, np.arange(5, 5 + count)) == 9.0).all()
    assert positive == (a[used] > 0).all()


def test_lanes_beyond_the_row_do_not_count_as_not_positive() -> None:
    a = np.array([1.0, 2.0, -1.0, 0.0])
    out, sums = np.zeros(4), np.zeros(1)
    assert combine(a, a, 0, 2, out, sums)
    assert not combine(a, a, 0, 3, out, sums)
    assert not combine(a, a, 3, 1, out, sums)


@njit
def turn(source: Array, at: int, target: Array, to: int, step: int, count: int) -> None:
    """Rows apart where step > 0, else eight next to each other."""
    if step > 0:
        rows.transpose_apart(source, np.uint64(at), target, np.uint64(to), np.uint64(step), np.uint64(count))
    else:
        rows.transpose(source, np.uint64(at), target, np.uint64(to))


@pytest.mark.parametrize("count", range(1, rows.LANES + 1))
def test_columns_become_rows_that_may_lie_apart(count: int) -> None:
    source, target = np.arange(70.0), np.full(120, -1.0)
    columns = source[3:67].reshape(8, 8).T
    turn(source, 3, target, 5, 0, 0)
    np.testing.assert_array_equal(target[5:69].reshape(8, 8), columns)
    target[:] = -1.0
    turn(source, 3, target, 5, 13, count)
    expected = np.full(120, -1.0)
    for k in range(8):
        expected[5 + 13 * k : 5 + 13 * k + count] = columns[k, :count]
    np.testing.assert_array_equal(target, expected)
