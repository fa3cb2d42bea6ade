"""Eight float64 side by side as one value in Numba kernels: the numbers of so many infostates, or the last few of them.

Rows of infostates are short (four in Liar's Dice) and their lengths not known to the compiler, which then enters and
leaves a loop for less work than that takes. Here a row is a register with a mask: AVX-512 has it in one instruction,
other processors in a few. Outside kernels none of these functions can be called.
"""

from __future__ import annotations

import operator
from typing import Any, Final, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

from sog.search.lanes import declared, instruction

LANES: Final = 8

_DOUBLE: Final = ir.DoubleType()
_VECTOR: Final = ir.VectorType(_DOUBLE, LANES)
_INDEX: Final = ir.IntType(32)
_MASK: Final = ir.VectorType(ir.IntType(1), LANES)
_BYTES: Final = 8
_FLAGS: Final = ("nsz", "contract", "arcp", "reassoc")  # those of jit.OPTIONS


class _RowType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Row8d")


row_type: Any = cast(Any, _RowType)()


@register_model(_RowType)
class _RowModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)  # type: ignore[no-untyped-call]


def _register(function: Any, name: str) -> None:
    """Let an arithmetic operator of two rows compile to one vector instruction."""

    def typer(context: Any) -> Any:
        return lambda a, b: row_type if a == row_type and b == row_type else None

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, name)(args[0], args[1], flags=_FLAGS)

    cast(Any, type_callable)(function)(typer)
    cast(Any, lower_builtin)(function, row_type, row_type)(lower)


for _function, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"),
    (operator.imul, "fmul"),
):
    _register(_function, _name)


def _pointer(builder: Any, context: Any, array_type: Any, array: Any, index: Any) -> Any:
    """The address of array[index] as a pointer to a row."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


def _splat(builder: Any, scalar: Any, kind: Any) -> Any:
    vector = ir.VectorType(kind, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(_INDEX, 0))
    zeros = ir.Constant(ir.VectorType(_INDEX, LANES), [ir.Constant(_INDEX, 0)] * LANES)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _mask(builder: Any, count: Any) -> Any:
    """<8 x i1>: lane < count."""
    lane = ir.Constant(ir.VectorType(_INDEX, LANES), [ir.Constant(_INDEX, k) for k in range(LANES)])
    return builder.icmp_unsigned("<", lane, _splat(builder, builder.trunc(count, _INDEX), _INDEX))


@instruction
def load(typing_context: Any, array: Any, index: Any, count: Any) -> Any:
    """The first `count` (8 at most) of array[index : index + 8], zeros in the other lanes; float64 array."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _pointer(builder, context, signature.args[0], args[0], args[1])
        arguments = [_VECTOR.as_pointer(), _INDEX, _MASK, _VECTOR]
        masked = declared(builder, f"llvm.masked.load.v{LANES}f64.p0", _VECTOR, arguments)
        return builder.call(
            masked, [at, ir.Constant(_INDEX, _BYTES), _mask(builder, args[2]), ir.Constant(_VECTOR, None)]
        )

    return row_type(array, types.uint64, types.uint64), code


@instruction
def store(typing_context: Any, array: Any, index: Any, count: Any, value: Any) -> Any:
    """Write the first `count` (8 at most) lanes to array[index : index + 8], and nothing else."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _pointer(builder, context, signature.args[0], args[0], args[1])
        done, whole = builder.append_basic_block("done"), builder.append_basic_block("whole")
        switch = builder.switch(args[2], whole)
        for count in range(1, LANES):
            block = builder.append_basic_block(f"first{count}")
            switch.add_case(ir.Constant(args[2].type, count), block)
            builder.position_at_end(block)
            _store_first(builder, args[3], at, count)
            builder.branch(done)
        builder.position_at_end(whole)
        builder.store(args[3], at, align=_BYTES)
        builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64, row_type), code


def _store_first(builder: Any, value: Any, at: Any, count: int) -> None:
    """Write `count` lanes in as few parts as there are powers of two in it.

    A load waits for a masked store that came before whenever their eight places overlap; for these it need not.
    """
    first = builder.bitcast(at, _DOUBLE.as_pointer())
    done = 0
    for size in (4, 2, 1):
        if not count & size:
            continue
        order = ir.Constant(ir.VectorType(_INDEX, size), [ir.Constant(_INDEX, done + k) for k in range(size)])
        part = builder.shuffle_vector(value, ir.Constant(_VECTOR, ir.Undefined), order)
        to = builder.gep(first, [ir.Constant(_INDEX, done)])
        builder.store(part, builder.bitcast(to, part.type.as_pointer()), align=_BYTES)
        done += size


@instruction
def splat(typing_context: Any, scalar: Any) -> Any:
    """The same float64 in every lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(builder, args[0], _DOUBLE)

    return row_type(types.float64), code


@instruction
def sum_of(typing_context: Any, value: Any) -> Any:
    """float64: the sum of the lanes, those that are next to each other first."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        reduce = declared(builder, f"llvm.vector.reduce.fadd.v{LANES}f64", _DOUBLE, [_DOUBLE, _VECTOR])
        return builder.call(reduce, [ir.Constant(_DOUBLE, 0.0), args[0]], fastmath=("reassoc", "nsz"))

    return types.float64(row_type), code


@instruction
def pick(typing_context: Any, test: Any, positive: Any, other: Any) -> Any:
    """Lane by lane: `positive` where test > 0, else `other`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        above = builder.fcmp_ordered(">", args[0], ir.Constant(_VECTOR, None))
        return builder.select(above, args[1], args[2])

    return row_type(row_type, row_type, row_type), code


@instruction
def all_positive(typing_context: Any, value: Any, count: Any) -> Any:
    """Whether the first `count` lanes are all above 0."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        above = builder.fcmp_ordered(">", args[0], ir.Constant(_VECTOR, None))
        missing = builder.and_(builder.not_(above), _mask(builder, args[1]))
        bits = builder.bitcast(missing, ir.IntType(LANES))
        return builder.icmp_unsigned("==", bits, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(row_type, types.uint64), code
