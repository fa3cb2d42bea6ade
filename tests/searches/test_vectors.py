"""Registers of sixteen float32 and of eight float64 in kernels: the same instructions; arrays in blocks of them."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from sog.arrays import Array
from sog.searches.kernels.jit import OPTIONS
from sog.searches.kernels.registers import sum_of
from sog.searches.kernels.vectors import (
    LANES32,
    LANES64,
    aligned,
    load,
    load_first,
    load_span,
    padded,
    splat,
    store,
    store_first,
    store_span,
    transpose,
)

U = np.uint64
uncached = numba.njit(**OPTIONS)  # the cache on disk does not know what a kernel outside the package imports
KINDS = pytest.mark.parametrize(("number", "lanes"), [(np.float32, LANES32), (np.float64, LANES64)])


@uncached
def add_span(source: Array, at: int, first: int, end: int, more: float, target: Array) -> None:
    """target = source + more in the lanes first..end-1 of source[at : at + lanes]."""
    store_span(target, U(at), first, end, load_span(source, U(at), first, end) + splat(more))


@uncached
def add_first(source: Array, at: int, count: int, more: float, target: Array) -> None:
    """target = source + more in the first `count` lanes of source[at : at + lanes]."""
    store_first(target, U(at), U(count), load_first(source, U(at), U(count)) + splat(more))


@uncached
def double(source: Array, at: int, target: Array) -> float:
    """target = 2 * source in source[at : at + lanes]; the sum of that."""
    x = load(source, U(at))
    store(target, U(at), x + x)
    return sum_of(x + x)  # type: ignore[no-any-return]


@uncached
def turn_over(source: Array, at: int, stride: int, target: Array, to: int, target_stride: int) -> None:
    transpose(source, U(at), U(stride), target, U(to), U(target_stride))


@KINDS
@pytest.mark.parametrize(("first", "end"), [(0, 99), (3, 7), (5, 5), (-4, 2), (6, 40)])
def test_spans_touch_only_their_lanes(number: type, lanes: int, first: int, end: int) -> None:
    source, target = np.arange(40, dtype=number), np.full(40, -1.0, dtype=number)
    add_span(source, 7, first, end, number(1), target)
    expected = np.full(40, -1.0)
    span = slice(7 + max(first, 0), 7 + min(end, lanes))
    expected[span] = source[span] + 1
    np.testing.assert_array_equal(target, expected)


@KINDS
def test_first_lanes_are_read_and_written_alone(number: type, lanes: int) -> None:
    for count in range(1, lanes + 1):
        source, target = np.arange(40, dtype=number), np.full(40, -1.0, dtype=number)
        add_first(source, 5, count, number(1), target)
        expected = np.full(40, -1.0)
        expected[5 : 5 + count] = source[5 : 5 + count] + 1
        np.testing.assert_array_equal(target, expected)


@KINDS
def test_a_register_is_as_wide_as_its_numbers_say(number: type, lanes: int) -> None:
    source, target = np.arange(40, dtype=number), np.full(40, -1.0, dtype=number)
    assert double(source, 3, target) == 2 * source[3 : 3 + lanes].sum()
    expected = np.full(40, -1.0)
    expected[3 : 3 + lanes] = 2 * source[3 : 3 + lanes]
    np.testing.assert_array_equal(target, expected)


def test_no_register_has_whole_numbers() -> None:
    with pytest.raises(TypingError, match="no register has numbers of type int64"):
        double(np.arange(40), 3, np.zeros(40))


@KINDS
def test_transpose_takes_and_leaves_vectors_that_lie_apart(number: type, lanes: int) -> None:
    source, target = np.arange(500, dtype=number), np.full(500, -1.0, dtype=number)
    turn_over(source, 4, 20, target, 9, 25)
    block = np.array([source[4 + 20 * r : 4 + 20 * r + lanes] for r in range(lanes)])
    got = np.array([target[9 + 25 * k : 9 + 25 * k + lanes] for k in range(lanes)])
    np.testing.assert_array_equal(got, block.T)
    assert np.count_nonzero(target != -1) == lanes * lanes


@pytest.mark.parametrize(("count", "floats"), [(1, 16), (16, 16), (17, 32), (1081, 1088)])
def test_arrays_are_padded_and_begin_with_a_cache_line(count: int, floats: int) -> None:
    assert padded(count) == floats
    numbers = aligned(floats)
    assert numbers.ctypes.data % 64 == 0 and numbers.dtype == np.float32
    assert numbers.tolist() == [0.0] * floats
