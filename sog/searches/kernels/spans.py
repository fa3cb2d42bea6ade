"""Kernels' helpers for spans of infostates: copies, sums and products of parts of rows (vectors.py).

A span of up to eight goes without a loop: the compiler would unroll it for long ones, and most are short.
"""

from __future__ import annotations

from typing import Final

from sog.arrays import Array, Float64
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.registers import sum_of
from sog.searches.kernels.vectors import LANES64, load_first, splat, store_first

# A sum of weights up to this counts as 0: with one over a number below 1e-308, which is infinite, 0 becomes a NaN.
LEAST: Final = 1e-300


@inlined
def copy_span(a: Array, first: int, b: Array, second: int, width: int) -> None:
    """b[second + i] = a[first + i] for i < width."""
    # `load_first` and `store_first` take no more than a register, however large the width.
    store_first(b, second, width, load_first(a, first, width))
    if width > LANES64:
        for i in range(LANES64, width, LANES64):
            store_first(b, second + i, width - i, load_first(a, first + i, width - i))


@inlined
def put_scaled(a: Array, first: int, factor: float, plus: float, b: Array, second: int, width: int) -> None:
    """b[second + i] = a[first + i] * factor + plus."""
    # A product, then a sum: two roundings on every processor.
    times, more = splat(factor), splat(plus)
    store_first(b, second, width, load_first(a, first, width) * times + more)
    if width > LANES64:
        for i in range(LANES64, width, LANES64):
            store_first(b, second + i, width - i, load_first(a, first + i, width - i) * times + more)


@inlined
def add_scaled(a: Array, first: int, factor: float, b: Array, second: int, width: int) -> None:
    """b[second + i] += a[first + i] * factor."""
    times = splat(factor)
    store_first(b, second, width, load_first(b, second, width) + load_first(a, first, width) * times)
    if width > LANES64:
        for i in range(LANES64, width, LANES64):
            store_first(
                b,
                second + i,
                width - i,
                load_first(b, second + i, width - i) + load_first(a, first + i, width - i) * times,
            )


@inlined
def total_of(a: Array, first: int, width: int) -> float:
    """The sum of a[first + i]."""
    # Lane by lane over the registers, then the lanes: the order is the same on every processor.
    total = load_first(a, first, width)
    if width > LANES64:
        for i in range(LANES64, width, LANES64):
            total += load_first(a, first + i, width - i)
    return sum_of(total)  # type: ignore[no-any-return]


@inlined
def dot(a: Array, first: int, b: Array, second: int, width: int) -> float:
    """The sum of a[first + i] * b[second + i]."""
    # As in `total_of`: lanes beyond the width are 0 in both, and add nothing.
    total = load_first(a, first, width) * load_first(b, second, width)
    if width > LANES64:
        for i in range(LANES64, width, LANES64):
            total += load_first(a, first + i, width - i) * load_first(b, second + i, width - i)
    return sum_of(total)  # type: ignore[no-any-return]


@inlined
def dot_of_three(a: Array, first: int, b: Array, second: int, c: Array, third: int, width: int) -> float:
    """The sum of a[first + i] * b[second + i] * c[third + i]."""
    total = load_first(a, first, width) * load_first(b, second, width) * load_first(c, third, width)
    if width > LANES64:
        for i in range(LANES64, width, LANES64):
            total += (
                load_first(a, first + i, width - i)
                * load_first(b, second + i, width - i)
                * load_first(c, third + i, width - i)
            )
    return sum_of(total)  # type: ignore[no-any-return]


_LARGEST: Final = 1e150  # the square of a larger number is close to infinite


@njit
def are_finite(row: Float64) -> bool:
    """Whether every number of float64[N] is finite, and small enough to be squared."""
    finite = True
    # Without a way out of the loop, and with an `and` of bits, the processor compares several numbers at once.
    for k in range(len(row)):
        finite &= abs(row[k]) <= _LARGEST  # false of a NaN
    return finite
