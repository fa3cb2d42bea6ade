"""Sixteen float32 as one register in Numba kernels, and arrays that are made of such blocks.

Numba leaves loops scalar where it cannot tell that two parts of one array do not overlap; code that names its
registers is compiled as it is written. An operation is one instruction on CPUs with AVX-512, two with AVX2 and four
with SSE.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from sog.arrays import Float32
from sog.searches.kernels.registers import (
    INDEX,
    Register,
    instruction,
    masked_load,
    masked_store,
    order,
    pointer,
    repeated,
    transposed,
)

__all__ = ["LANES", "aligned", "lanes_type", "load", "load_span", "padded", "splat", "store", "store_span", "transpose"]

LANES: Final = 16  # numbers in a register, and in a block of an array
lanes_type: Any = Register("Lanes16f", types.float32, LANES)

_CACHE_LINE: Final = 64


def padded(count: int) -> int:
    """The smallest multiple of LANES that is at least `count`."""
    return -(-count // LANES) * LANES


def aligned(count: int) -> Float32:
    """float32[count] of zeros that starts at the beginning of a cache line."""
    raw = np.zeros(count * 4 + _CACHE_LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % _CACHE_LINE
    out: Float32 = raw[skip : skip + 4 * count].view(np.float32)
    return out


@instruction
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index : index + 16] of a float32 array."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(lanes_type, context, builder, signature.args[0], args[0], args[1])
        return builder.load(at, align=lanes_type.bytes)

    return lanes_type(array, types.uint64), code


@instruction
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index : index + 16] = value."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(lanes_type, context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], at, align=lanes_type.bytes)
        return context.get_dummy_value()

    return types.void(array, types.uint64, lanes_type), code


def _mask(builder: Any, first: Any, end: Any) -> Any:
    """<16 x i1>: first <= lane < end, signed."""
    lane = order(range(LANES))
    above = builder.icmp_signed(">=", lane, repeated(builder, builder.trunc(first, INDEX), LANES))
    below = builder.icmp_signed("<", lane, repeated(builder, builder.trunc(end, INDEX), LANES))
    return builder.and_(above, below)


@instruction
def load_span(typing_context: Any, array: Any, index: Any, first: Any, end: Any) -> Any:
    """Lanes first..end-1 of array[index : index + 16], zeros elsewhere; reads no more than those."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(lanes_type, context, builder, signature.args[0], args[0], args[1])
        return masked_load(lanes_type, builder, at, _mask(builder, args[2], args[3]))

    return lanes_type(array, types.uint64, types.int64, types.int64), code


@instruction
def store_span(typing_context: Any, array: Any, index: Any, first: Any, end: Any, value: Any) -> Any:
    """Write lanes first..end-1 to array[index : index + 16], and nothing else."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(lanes_type, context, builder, signature.args[0], args[0], args[1])
        masked_store(lanes_type, builder, args[4], at, _mask(builder, args[2], args[3]))
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.int64, types.int64, lanes_type), code


@instruction
def splat(typing_context: Any, scalar: Any) -> Any:
    """The same float32 in every lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return repeated(builder, args[0], LANES)

    return lanes_type(types.float32), code


@instruction
def transpose(typing_context: Any, source: Any, at: Any, stride: Any, target: Any, to: Any, target_stride: Any) -> Any:
    """target[to + k * target_stride + r] = source[at + r * stride + k] for r, k in 0..15."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        registers, at = [], args[1]
        for _ in range(LANES):
            begin = pointer(lanes_type, context, builder, signature.args[0], args[0], at)
            registers.append(builder.load(begin, align=lanes_type.bytes))
            at = builder.add(at, args[2])
        to = args[4]
        for register in transposed(builder, registers):
            begin = pointer(lanes_type, context, builder, signature.args[3], args[3], to)
            builder.store(register, begin, align=lanes_type.bytes)
            to = builder.add(to, args[5])
        return context.get_dummy_value()

    size = types.uint64
    return types.void(source, size, size, target, size, size), code
