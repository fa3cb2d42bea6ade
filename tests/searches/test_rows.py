"""Rows of eight float64 in kernels: what they read and write, whatever part of the eight is used."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from sog.arrays import Array
from sog.searches.cfr.matching import regret_step
from sog.searches.kernels import registers, vectors
from sog.searches.kernels.jit import OPTIONS

# Not cached on disk: the cache does not know what a test's kernels import, and would keep outdated ones.
njit = numba.njit(**OPTIONS)


@njit
def combine(a: Array, b: Array, start: int, count: int, out: Array, sums: Array) -> bool:
    """out = a + a * b / b where a > 0, else b; sums: of a, at 0."""
    at, some = np.uint64(start), np.uint64(count)
    x, y = vectors.load_first(a, at, some), vectors.load_first(b, at, some)
    sums[0] = registers.sum_of(x)
    vectors.store_first(out, at, some, registers.pick(x, x + x * y / y, y - vectors.splat(0.0)))
    return bool(vectors.all_positive(x, some))


@pytest.mark.parametrize("count", range(1, vectors.LANES64 + 1))
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
def pick_apart(test: Array, positive: Array, other: Array, out: Array) -> None:
    """pick() number by number."""
    for k in range(len(test)):
        out[k] = registers.pick(test[k], positive[k], other[k])


@njit
def pick_together(test: Array, positive: Array, other: Array, out: Array) -> None:
    """pick() of registers, eight numbers at a time."""
    for k in range(np.uint64(0), np.uint64(len(test)), np.uint64(vectors.LANES64)):
        left = np.uint64(len(test)) - k
        x = registers.pick(
            vectors.load_first(test, k, left), vectors.load_first(positive, k, left), vectors.load_first(other, k, left)
        )
        vectors.store_first(out, k, left, x)


@njit
def step_apart(regret: Array, instant: Array, positive: float, negative: float, prediction: float, out: Array) -> None:
    """regret_step number by number: the new sums in out[0], the weights in out[1]."""
    for k in range(len(regret)):
        out[0, k], out[1, k] = regret_step(regret[k], instant[k], positive, negative, prediction, 0.0)


@njit
def step_together(
    regret: Array, instant: Array, positive: float, negative: float, prediction: float, out: Array
) -> None:
    """regret_step of registers."""
    splat = vectors.splat
    for k in range(np.uint64(0), np.uint64(len(regret)), np.uint64(vectors.LANES64)):
        left = np.uint64(len(regret)) - k
        before, now = vectors.load_first(regret, k, left), vectors.load_first(instant, k, left)
        x, weight = regret_step(before, now, splat(positive), splat(negative), splat(prediction), splat(0.0))
        vectors.store_first(out[0], k, left, x)
        vectors.store_first(out[1], k, left, weight)


def edge_cases(seed: int) -> tuple[Array, Array]:
    """Pairs of numbers among which are both zeros, infinities, numbers that cancel, and ones that are not numbers."""
    rng = np.random.default_rng(seed)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -5e-324])
    first, second = (x.ravel() for x in np.meshgrid(special, special))
    normal = rng.normal(size=(2, 42))
    return np.concatenate([first, normal[0]]), np.concatenate([second, normal[1]])


def test_picking_is_the_same_for_numbers_and_registers() -> None:
    test, positive = edge_cases(0)
    other = np.arange(len(test)) + 0.5
    apart, together = np.empty_like(test), np.empty_like(test)
    pick_apart(test, positive, other, apart)
    pick_together(test, positive, other, together)
    with np.errstate(invalid="ignore"):
        expected = np.where(test > 0, positive, other)  # other where the test is 0, or not a number
    assert apart.tobytes() == together.tobytes() == expected.tobytes()


@pytest.mark.parametrize("prediction", [0.0, 1.0])
@pytest.mark.parametrize("negative", [0.5, 0.0, 1.0])
def test_a_step_of_regret_is_the_same_for_numbers_and_registers(negative: float, prediction: float) -> None:
    """And what the definition says, for which numbers are kept that round in no product or sum."""
    rng = np.random.default_rng(1)
    regret, instant = rng.integers(-8, 9, (2, 500)) / 4.0
    apart, together = np.empty((2, 500)), np.empty((2, 500))
    step_apart(regret, instant, 0.75, negative, prediction, apart)
    step_together(regret, instant, 0.75, negative, prediction, together)
    np.testing.assert_array_equal(apart, together)
    total = regret + instant
    kept = np.where(total > 0, 0.75 * total, negative * total)
    np.testing.assert_array_equal(apart[0], kept)
    np.testing.assert_array_equal(apart[1], np.maximum(kept + prediction * instant, 0.0))
    assert {True, False} == set((apart[1] > 0).tolist()) and (total == 0).any()


@pytest.mark.parametrize("prediction", [0.0, 1.0])
def test_a_step_of_any_regret_is_the_same_but_for_rounding(prediction: float) -> None:
    """One multiplication and addition may be rounded once or twice."""
    rng = np.random.default_rng(2)
    regret, instant = rng.normal(size=(2, 997))
    apart, together = np.empty((2, 997)), np.empty((2, 997))
    step_apart(regret, instant, 8 / 9, 0.5, prediction, apart)
    step_together(regret, instant, 8 / 9, 0.5, prediction, together)
    np.testing.assert_allclose(apart, together, rtol=1e-14, atol=1e-15)
