"""Registers of sixteen float32 or eight float64 in Numba kernels: what loads, stores and fills them; aligned arrays.

Numba leaves loops scalar where it cannot see that two parts of one array do not overlap; code that names its
registers is compiled as it is written. An operation is one instruction on CPUs with AVX-512, two with AVX2 and four
with SSE. Which of the two registers is meant follows from the numbers: those of an array, or the one that fills it.

Rows of infostates are short (four in Liar's Dice) and their lengths not known to the compiler, which then enters and
leaves a loop for less work than that takes. Such a row is a register whose first lanes are in use (`load_first`):
AVX-512 has it in one instruction, other processors in a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numba import types
from numba.core.errors import TypingError

from sog.arrays import Float32
from sog.searches.kernels.compiler_types import Builder, Context, Instruction, Signature, TypingContext, Value, ir
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

__all__ = [
    "F32X16",
    "F64X8",
    "LANES32",
    "LANES64",
    "aligned",
    "all_positive",
    "load",
    "load_first",
    "load_span",
    "padded",
    "splat",
    "store",
    "store_first",
    "store_span",
    "transpose",
]

LANES32: Final = 16  # float32 in a register, and in a block of an array
LANES64: Final = 8  # float64 in a register

F32X16: Final = Register("f32x16", types.float32, LANES32)
F64X8: Final = Register("f64x8", types.float64, LANES64)

_CACHE_LINE: Final = 64


# --- arrays in blocks of LANES32 ---


def padded(count: int) -> int:
    """The smallest multiple of LANES32 that is at least `count`."""
    return -(-count // LANES32) * LANES32


def aligned(count: int) -> Float32:
    """float32[count] of zeros that starts at the beginning of a cache line."""
    # NumPy promises less than a cache line's alignment: some bytes more, and the first are skipped.
    raw = np.zeros(count * 4 + _CACHE_LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % _CACHE_LINE
    out: Float32 = raw[skip : skip + 4 * count].view(np.float32)
    return out


# --- which register, where, and which of its lanes ---


def _kind(number: types.Type) -> Register:
    """The register of numbers of this type; TypingError for other types."""
    # A number of another type would be read as if its bits were a float's.
    for kind in (F32X16, F64X8):
        if number == kind.scalar:
            return kind
    raise TypingError(f"no register has numbers of type {number}")


def _place(kind: Register, context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
    """The address of the register at array[index], an instruction's first two arguments."""
    return pointer(kind, context, builder, signature.args[0], args[0], args[1])


def _first(kind: Register, builder: Builder, count: Value) -> Value:
    """The mask of the first lanes: lane < count."""
    # Unsigned, so that a count may be any number from 0 on.
    lane = order(range(kind.lanes))
    return builder.icmp_unsigned("<", lane, repeated(builder, builder.trunc(count, INDEX), kind.lanes))


def _span(kind: Register, builder: Builder, first: Value, end: Value) -> Value:
    """The mask of the lanes in between: first <= lane < end, signed."""
    # Signed, so that a span may begin before the register and end behind it.
    lane = order(range(kind.lanes))
    above = builder.icmp_signed(">=", lane, repeated(builder, builder.trunc(first, INDEX), kind.lanes))
    below = builder.icmp_signed("<", lane, repeated(builder, builder.trunc(end, INDEX), kind.lanes))
    return builder.and_(above, below)


# --- whole registers ---


@instruction
def splat(typing_context: TypingContext, scalar: types.Type) -> Instruction:
    """The same number in every lane; a whole number is taken as float64."""
    kind = F64X8 if isinstance(scalar, types.Integer) else _kind(scalar)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        return repeated(builder, args[0], kind.lanes)

    return kind(kind.scalar), code


@instruction
def load(typing_context: TypingContext, array: types.Array, index: types.Integer) -> Instruction:
    """array[index : index + lanes]."""
    kind = _kind(array.dtype)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        return builder.load(_place(kind, context, builder, signature, args), align=kind.bytes)

    return kind(array, types.uint64), code


@instruction
def store(typing_context: TypingContext, array: types.Array, index: types.Integer, value: Register) -> Instruction:
    """array[index : index + lanes] = value."""
    kind = _kind(array.dtype)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        builder.store(args[2], _place(kind, context, builder, signature, args), align=kind.bytes)
        return context.get_dummy_value()

    return types.void(array, types.uint64, kind), code


@instruction
def transpose(
    typing_context: TypingContext,
    source: types.Array,
    at: types.Integer,
    stride: types.Integer,
    target: types.Array,
    to: types.Integer,
    target_stride: types.Integer,
) -> Instruction:
    """target[to + k * target_stride + r] = source[at + r * stride + k] for each two lanes r and k."""
    kind = _kind(source.dtype)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        # All rows are in registers before the first column is written.
        rows, at, to = [], args[1], args[4]
        for _ in range(kind.lanes):
            begin = pointer(kind, context, builder, signature.args[0], args[0], at)
            rows.append(builder.load(begin, align=kind.bytes))
            at = builder.add(at, args[2])
        # Column k goes to row k of the target.
        for column in transposed(builder, rows):
            begin = pointer(kind, context, builder, signature.args[3], args[3], to)
            builder.store(column, begin, align=kind.bytes)
            to = builder.add(to, args[5])
        return context.get_dummy_value()

    size = types.uint64
    return types.void(source, size, size, target, size, size), code


# --- some lanes of a register ---


@instruction
def load_first(
    typing_context: TypingContext, array: types.Array, index: types.Integer, count: types.Integer
) -> Instruction:
    """The first `count` (all at most) of array[index : index + lanes], zeros in the other lanes."""
    kind = _kind(array.dtype)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at = _place(kind, context, builder, signature, args)
        return masked_load(kind, builder, at, _first(kind, builder, args[2]))

    return kind(array, types.uint64, types.uint64), code


@instruction
def load_span(
    typing_context: TypingContext, array: types.Array, index: types.Integer, first: types.Integer, end: types.Integer
) -> Instruction:
    """Lanes first..end-1 of array[index : index + lanes], zeros elsewhere; reads no more than those."""
    kind = _kind(array.dtype)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at = _place(kind, context, builder, signature, args)
        return masked_load(kind, builder, at, _span(kind, builder, args[2], args[3]))

    return kind(array, types.uint64, types.int64, types.int64), code


@instruction
def store_span(
    typing_context: TypingContext,
    array: types.Array,
    index: types.Integer,
    first: types.Integer,
    end: types.Integer,
    value: Register,
) -> Instruction:
    """Write lanes first..end-1 to array[index : index + lanes], and nothing else."""
    kind = _kind(array.dtype)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at = _place(kind, context, builder, signature, args)
        masked_store(kind, builder, args[4], at, _span(kind, builder, args[2], args[3]))
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.int64, types.int64, kind), code


@instruction
def store_first(
    typing_context: TypingContext, array: types.Array, index: types.Integer, count: types.Integer, value: Register
) -> Instruction:
    """Write the first `count` (1 to all) lanes to array[index : index + lanes], and nothing else.

    array[index + k] = value[k] for k < count. A load waits for a masked store that came before whenever the places of
    their registers overlap. Here each count has its own code, without masks: as many plain stores as there are powers
    of two in it.
    """
    kind = _kind(array.dtype)

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at = _place(kind, context, builder, signature, args)
        done, whole = builder.append_basic_block("done"), builder.append_basic_block("whole")
        # Any count from `lanes` on is a whole register.
        switch = builder.switch(args[2], whole)
        for number in range(1, kind.lanes):
            block = builder.append_basic_block(f"first{number}")
            switch.add_case(ir.Constant(args[2].type, number), block)
            builder.position_at_end(block)
            _store_parts(kind, builder, args[3], at, number)
            builder.branch(done)
        builder.position_at_end(whole)
        builder.store(args[3], at, align=kind.bytes)
        builder.branch(done)
        # What comes after the instruction is written where all cases meet.
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64, kind), code


def _store_parts(kind: Register, builder: Builder, value: Value, at: Value, count: int) -> None:
    """Write `count` lanes in parts of half a register, a quarter and so on, those that are in `count` as a sum."""
    # 13 of 16 lanes: 8, then 4, then 1.
    first, done, size = builder.bitcast(at, kind.element.as_pointer()), 0, kind.lanes // 2
    while size:
        if count & size:
            undefined = ir.Constant(kind.vector, ir.Undefined)
            part = builder.shuffle_vector(value, undefined, order(range(done, done + size)))
            to = builder.gep(first, [ir.Constant(INDEX, done)])
            builder.store(part, builder.bitcast(to, part.type.as_pointer()), align=kind.bytes)
            done += size
        size //= 2


@instruction
def all_positive(typing_context: TypingContext, value: Register, count: types.Integer) -> Instruction:
    """Whether the first `count` lanes are all above 0."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        # A bit for each lane that is in use and not above 0; none of them may be set.
        bits = ir.IntType(value.lanes)
        above = builder.fcmp_ordered(">", args[0], value.zeros)
        missing = builder.and_(builder.not_(above), _first(value, builder, args[1]))
        return builder.icmp_unsigned("==", builder.bitcast(missing, bits), ir.Constant(bits, 0))

    return types.boolean(value, types.uint64), code
