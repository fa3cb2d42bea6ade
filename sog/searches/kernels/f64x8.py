"""Eight float64 as one register in Numba kernels: the numbers of eight infostates, or of the last few.

Rows of infostates are short (four in Liar's Dice) and their lengths not known to the compiler, which then enters and
leaves a loop for less work than that takes. Here a row is a register with a mask: AVX-512 has it in one instruction,
other processors in a few.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from sog.searches.kernels.registers import INDEX, Register, instruction, masked_load, order, pointer, repeated

LANES: Final = 8
row_type: Any = Register("Row8d", types.float64, LANES)


def _mask(builder: Any, count: Any) -> Any:
    """<8 x i1>: lane < count."""
    return builder.icmp_unsigned("<", order(range(LANES)), repeated(builder, builder.trunc(count, INDEX), LANES))


@instruction
def load(typing_context: Any, array: Any, index: Any, count: Any) -> Any:
    """The first `count` (8 at most) of array[index : index + 8], zeros in the other lanes; float64 array."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(row_type, context, builder, signature.args[0], args[0], args[1])
        return masked_load(row_type, builder, at, _mask(builder, args[2]))

    return row_type(array, types.uint64, types.uint64), code


@instruction
def store(typing_context: Any, array: Any, index: Any, count: Any, value: Any) -> Any:
    """Write the first `count` (1 to 8) lanes to array[index : index + 8], and nothing else."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = pointer(row_type, context, builder, signature.args[0], args[0], args[1])
        done, whole = builder.append_basic_block("done"), builder.append_basic_block("whole")
        switch = builder.switch(args[2], whole)
        for number in range(1, LANES):
            block = builder.append_basic_block(f"first{number}")
            switch.add_case(ir.Constant(args[2].type, number), block)
            builder.position_at_end(block)
            _store_first(builder, args[3], at, number)
            builder.branch(done)
        builder.position_at_end(whole)
        builder.store(args[3], at, align=row_type.bytes)
        builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64, row_type), code


def _store_first(builder: Any, value: Any, at: Any, count: int) -> None:
    """Write `count` lanes in as few parts as there are powers of two in it.

    A load waits for a masked store that came before whenever their eight places overlap; for these it need not.
    """
    first = builder.bitcast(at, row_type.element.as_pointer())
    done = 0
    for size in (4, 2, 1):
        if not count & size:
            continue
        undefined = ir.Constant(row_type.vector, ir.Undefined)
        part = builder.shuffle_vector(value, undefined, order(range(done, done + size)))
        to = builder.gep(first, [ir.Constant(INDEX, done)])
        builder.store(part, builder.bitcast(to, part.type.as_pointer()), align=row_type.bytes)
        done += size


@instruction
def splat(typing_context: Any, scalar: Any) -> Any:
    """The same float64 in every lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return repeated(builder, args[0], LANES)

    return row_type(types.float64), code


@instruction
def all_positive(typing_context: Any, value: Any, count: Any) -> Any:
    """Whether the first `count` lanes are all above 0."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        above = builder.fcmp_ordered(">", args[0], row_type.zeros)
        missing = builder.and_(builder.not_(above), _mask(builder, args[1]))
        bits = builder.bitcast(missing, ir.IntType(LANES))
        return builder.icmp_unsigned("==", bits, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(row_type, types.uint64), code
