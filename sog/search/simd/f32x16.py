"""Sixteen float32 as one register in Numba kernels: one instruction each on CPUs with AVX-512.

Numba leaves loops scalar where it cannot tell that two rows of one array do not overlap; these say it outright.
"""

from __future__ import annotations

from typing import Any, Final

from numba import types

from sog.search.simd.registers import (
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

LANES: Final = 16
lanes_type: Any = Register("Lanes16f", types.float32, LANES)


@instruction
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index : index + 16] of a float32 array."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(lanes_type, builder, context, signature.args[0], args[0], args[1])
        return builder.load(at, align=lanes_type.bytes)

    return lanes_type(array, types.uint64), code


@instruction
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index : index + 16] = value."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(lanes_type, builder, context, signature.args[0], args[0], args[1])
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
        at = pointer(lanes_type, builder, context, signature.args[0], args[0], args[1])
        return masked_load(lanes_type, builder, at, _mask(builder, args[2], args[3]))

    return lanes_type(array, types.uint64, types.int64, types.int64), code


@instruction
def store_span(typing_context: Any, array: Any, index: Any, first: Any, end: Any, value: Any) -> Any:
    """Write lanes first..end-1 to array[index : index + 16], and nothing else."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(lanes_type, builder, context, signature.args[0], args[0], args[1])
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
        rows, at = [], args[1]
        for _ in range(LANES):
            row = pointer(lanes_type, builder, context, signature.args[0], args[0], at)
            rows.append(builder.load(row, align=lanes_type.bytes))
            at = builder.add(at, args[2])
        to = args[4]
        for row in transposed(builder, rows):
            target = pointer(lanes_type, builder, context, signature.args[3], args[3], to)
            builder.store(row, target, align=lanes_type.bytes)
            to = builder.add(to, args[5])
        return context.get_dummy_value()

    size = types.uint64
    return types.void(source, size, size, target, size, size), code
