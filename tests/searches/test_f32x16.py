"""Registers of sixteen float32 in kernels, and the arrays that are made of such blocks."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from sog.arrays import Array
from sog.searches.kernels.f32x16 import LANES, aligned, load_span, padded, splat, store_span, transpose
from sog.searches.kernels.jit import OPTIONS

U = np.uint64
uncached = numba.njit(**OPTIONS)  # the cache on disk does not know what a kernel outside the package imports


@uncached
def add_one(source: Array, at: int, first: int, end: int, target: Array) -> None:
    """target = source + 1 in the lanes first..end-1 of source[at : at + LANES]."""
    store_span(target, U(at), first, end, load_span(source, U(at), first, end) + splat(np.float32(1.0)))


@uncached
def turn_over(source: Array, at: int, stride: int, target: Array, to: int, target_stride: int) -> None:
    transpose(source, U(at), U(stride), target, U(to), U(target_stride))


@pytest.mark.parametrize(("first", "end"), [(0, LANES), (3, 9), (5, 5), (-4, 2), (14, 40)])
def test_spans_touch_only_their_lanes(first: int, end: int) -> None:
    source, target = np.arange(40, dtype=np.float32), np.full(40, -1.0, dtype=np.float32)
    add_one(source, 7, first, end, target)
    expected = np.full(40, -1.0)
    span = slice(7 + max(first, 0), 7 + min(end, LANES))
    expected[span] = source[span] + 1
    np.testing.assert_array_equal(target, expected)


def test_transpose_takes_and_leaves_vectors_that_lie_apart() -> None:
    source, target = np.arange(500, dtype=np.float32), np.full(500, -1.0, dtype=np.float32)
    turn_over(source, 4, 20, target, 9, 25)
    block = np.array([source[4 + 20 * r : 4 + 20 * r + LANES] for r in range(LANES)])
    got = np.array([target[9 + 25 * k : 9 + 25 * k + LANES] for k in range(LANES)])
    np.testing.assert_array_equal(got, block.T)
    assert np.count_nonzero(target != -1) == LANES * LANES


@pytest.mark.parametrize(("count", "floats"), [(1, 16), (16, 16), (17, 32), (1081, 1088)])
def test_arrays_are_padded_and_begin_with_a_cache_line(count: int, floats: int) -> None:
    assert padded(count) == floats
    numbers = aligned(floats)
    assert numbers.ctypes.data % 64 == 0 and numbers.dtype == np.float32
    assert numbers.tolist() == [0.0] * floats
