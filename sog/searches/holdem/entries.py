"""Regrets and averages as the hold'em solver's kernels read and write them: float32, or int16 with a scale a vector.

In 16 bits an entry is n * |n| * scales[vector] with n of `numbers`, and a vector's largest number is 32,767 or its
negative. Roots keep small entries: an all-in loses a hundred thousand times what decides between two bets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numba import types

from sog.arrays import Array, Float32, Int16
from sog.searches.holdem.payoffs import BLOCK, U0, ZERO
from sog.searches.kernels.compiler_types import Builder, Context, Instruction, Signature, TypingContext, Value, ir
from sog.searches.kernels.jit import inlined
from sog.searches.kernels.registers import Lanes, address, declared, instruction, larger, largest_of
from sog.searches.kernels.vectors import F32X16, LANES32, aligned, load, splat

__all__ = ["BITS", "Entries", "decoded", "entry", "exact", "keep", "new_entries", "store_entry"]

BITS: Final = (32, 16)
LARGEST: Final = np.float32(32_767.0)
ONE: Final = np.float32(1.0)
LEAST: Final = np.float32(1e-25)


class Entries(NamedTuple):
    """Numbers of hand vectors, one behind the other.

    numbers: float32[*], or int16[*].  scales: float32[V], of each vector of int16; of float32 float32[0].
    """

    numbers: Float32 | Int16
    scales: Float32


def new_entries(count: int, vectors: int, bits: int) -> Entries:
    """Zeros.  count: of numbers.  vectors: in which they lie.  bits: of a number, 32 or 16."""
    if bits == BITS[0]:
        return Entries(aligned(count), np.zeros(0, dtype=np.float32))
    # Two int16 to a float32: aligned alike.
    return Entries(aligned((count + 1) // 2).view(np.int16)[:count], np.zeros(vectors, dtype=np.float32))


def decoded(entries: Entries, at: int, vector: int, count: int, width: int) -> Float32:
    """float32[count, width]: vectors from number `vector` on, whose numbers begin at `at`; of float32 a view."""
    rows: Array = entries.numbers[at : at + count * width].reshape(count, width)
    if rows.dtype == np.float32:
        return rows
    roots: Float32 = rows.astype(np.float32)
    return roots * np.abs(roots) * entries.scales[vector : vector + count, None]


# --- inside kernels ---


@instruction
def exact(typing_context: TypingContext, numbers: types.Array) -> Instruction:
    """Whether numbers are float32, which the compiler knows: it leaves out what is for the others."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        return context.get_constant(types.boolean, numbers.dtype == types.float32)

    return types.boolean(numbers), code


def _short(array: types.Array) -> Any:
    """LLVM's type of sixteen int16, None for float32."""
    return None if array.dtype == types.float32 else ir.VectorType(ir.IntType(16), LANES32)


@instruction
def _load(typing_context: TypingContext, array: types.Array, index: types.Integer) -> Instruction:
    """array[index : index + 16] as float32."""
    short = _short(array)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at = address(context, builder, array, args[0], args[1])
        if short is None:
            return builder.load(builder.bitcast(at, F32X16.vector.as_pointer()), align=F32X16.bytes)
        return builder.sitofp(builder.load(builder.bitcast(at, short.as_pointer()), align=2), F32X16.vector)

    return F32X16(array, types.uint64), code


@instruction
def store_entry(
    typing_context: TypingContext, array: types.Array, index: types.Integer, value: types.Type
) -> Instruction:
    """array[index : index + 16] = value, rounded to whole numbers where it holds int16."""
    short = _short(array)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at, written = address(context, builder, array, args[0], args[1]), args[2]
        if short is None:
            builder.store(written, builder.bitcast(at, F32X16.vector.as_pointer()), align=F32X16.bytes)
        else:
            nearest = declared(builder, f"llvm.nearbyint.{F32X16.suffix}", F32X16.vector, [F32X16.vector])
            whole = builder.fptosi(builder.call(nearest, [written]), short)
            builder.store(whole, builder.bitcast(at, short.as_pointer()), align=2)
        return context.get_dummy_value()

    return types.void(array, types.uint64, F32X16), code


@instruction
def _root(typing_context: TypingContext, value: types.Type) -> Instruction:
    """Lane by lane the root of the number without its sign, with the sign."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        vector, suffix = F32X16.vector, F32X16.suffix
        size = builder.call(declared(builder, f"llvm.fabs.{suffix}", vector, [vector]), args)
        root = builder.call(declared(builder, f"llvm.sqrt.{suffix}", vector, [vector]), [size])
        sign = declared(builder, f"llvm.copysign.{suffix}", vector, [vector, vector])
        return builder.call(sign, [root, args[0]])

    return F32X16(F32X16), code


@inlined
def entry(entries: Entries, vector: np.uint64, at: np.uint64) -> Lanes:
    """Sixteen entries of a vector, those whose numbers n begin at `at`; in 16 bits n * |n| * scale."""
    n: Lanes = _load(entries.numbers, at)
    if exact(entries.numbers):
        return n
    size: Lanes = larger(n, splat(ZERO) - n)
    decoded: Lanes = n * size * splat(entries.scales[vector])
    return decoded


@inlined
def keep(entries: Entries, vector: np.uint64, at: np.uint64, row: Array, width: np.uint64) -> None:
    """Write a whole vector in 16 bits: scale = max |x| / 32767^2, n = the sign of x times round(sqrt(|x| / scale))."""
    largest = splat(ZERO)
    for k in range(U0, width, BLOCK):
        x = load(row, k)
        largest = larger(largest, larger(x, splat(ZERO) - x))
    most = largest_of(largest)
    entries.scales[vector] = most / (LARGEST * LARGEST)
    # What is next to nothing becomes zeros: its scale would be.
    inverse, largest_root = splat(ONE / most if most > LEAST else ZERO), splat(LARGEST)
    for k in range(U0, width, BLOCK):
        store_entry(entries.numbers, at + k, _root(load(row, k) * inverse) * largest_root)
