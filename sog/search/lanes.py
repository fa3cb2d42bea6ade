"""Sixteen float32 side by side as one value in Numba kernels: one instruction each on CPUs with AVX-512.

Numba leaves loops scalar where it cannot tell that two rows of one array do not overlap; these say it outright.
Outside kernels none of these functions can be called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES: Final = 16


def instruction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's intrinsic for mypy: the first argument is the compiler's, callers give the others."""
    return cast(Callable[..., Any], intrinsic(function))


_FLOAT: Final = ir.FloatType()
_VECTOR: Final = ir.VectorType(_FLOAT, LANES)
_INDEX: Final = ir.IntType(32)
_BYTES: Final = 4


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes16f")


lanes_type: Any = cast(Any, _LanesType)()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)  # type: ignore[no-untyped-call]


def _register(function: Any, name: str) -> None:
    """Let an arithmetic operator of two lanes compile to one vector instruction."""

    def typer(context: Any) -> Any:
        return lambda a, b: lanes_type if a == lanes_type and b == lanes_type else None

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, name)(args[0], args[1], flags=("nsz", "contract", "arcp", "reassoc"))

    cast(Any, type_callable)(function)(typer)
    cast(Any, lower_builtin)(function, lanes_type, lanes_type)(lower)


for _function, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register(_function, _name)


def _pointer(builder: Any, context: Any, array_type: Any, array: Any, index: Any) -> Any:
    """The address of array[index] as a pointer to lanes."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


@instruction
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index : index + 16] of a float32 array."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(builder, context, signature.args[0], args[0], args[1]), align=_BYTES)

    return lanes_type(array, types.uint64), code


@instruction
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index : index + 16] = value."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _pointer(builder, context, signature.args[0], args[0], args[1]), align=_BYTES)
        return context.get_dummy_value()

    return types.void(array, types.uint64, lanes_type), code


def _mask(builder: Any, first: Any, end: Any) -> Any:
    """<16 x i1>: first <= lane < end, signed."""
    lane = ir.Constant(ir.VectorType(_INDEX, LANES), [ir.Constant(_INDEX, k) for k in range(LANES)])
    above = builder.icmp_signed(">=", lane, _splat(builder, builder.trunc(first, _INDEX), _INDEX))
    below = builder.icmp_signed("<", lane, _splat(builder, builder.trunc(end, _INDEX), _INDEX))
    return builder.and_(above, below)


def _splat(builder: Any, scalar: Any, kind: Any) -> Any:
    vector = ir.VectorType(kind, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(_INDEX, 0))
    zeros = ir.Constant(ir.VectorType(_INDEX, LANES), [ir.Constant(_INDEX, 0)] * LANES)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def declared(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """One of LLVM's own functions, declared in the module that is being compiled."""
    module = builder.module
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, arguments), name)


_MASK: Final = ir.VectorType(ir.IntType(1), LANES)


@instruction
def load_span(typing_context: Any, array: Any, index: Any, first: Any, end: Any) -> Any:
    """Lanes first..end-1 of array[index : index + 16], zeros elsewhere; reads no more than those."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _pointer(builder, context, signature.args[0], args[0], args[1])
        arguments = [_VECTOR.as_pointer(), _INDEX, _MASK, _VECTOR]
        masked = declared(builder, "llvm.masked.load.v16f32.p0", _VECTOR, arguments)
        mask, zero = _mask(builder, args[2], args[3]), ir.Constant(_VECTOR, None)
        return builder.call(masked, [at, ir.Constant(_INDEX, _BYTES), mask, zero])

    return lanes_type(array, types.uint64, types.int64, types.int64), code


@instruction
def store_span(typing_context: Any, array: Any, index: Any, first: Any, end: Any, value: Any) -> Any:
    """Write lanes first..end-1 to array[index : index + 16], and nothing else."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _pointer(builder, context, signature.args[0], args[0], args[1])
        arguments = [_VECTOR, _VECTOR.as_pointer(), _INDEX, _MASK]
        masked = declared(builder, "llvm.masked.store.v16f32.p0", ir.VoidType(), arguments)
        mask = _mask(builder, args[2], args[3])
        builder.call(masked, [args[4], at, ir.Constant(_INDEX, _BYTES), mask])
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.int64, types.int64, lanes_type), code


@instruction
def splat(typing_context: Any, scalar: Any) -> Any:
    """The same float32 in every lane."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(builder, args[0], _FLOAT)

    return lanes_type(types.float32), code


@instruction
def sum_of(typing_context: Any, value: Any) -> Any:
    """float32: the sum of the lanes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        reduce = declared(builder, "llvm.vector.reduce.fadd.v16f32", _FLOAT, [_FLOAT, _VECTOR])
        return builder.call(reduce, [ir.Constant(_FLOAT, 0.0), args[0]], fastmath=("reassoc", "nsz"))

    return types.float32(lanes_type), code


@instruction
def pick(typing_context: Any, test: Any, positive: Any, other: Any) -> Any:
    """Lane by lane: `positive` where test > 0, else `other`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        above = builder.fcmp_ordered(">", args[0], ir.Constant(_VECTOR, None))
        return builder.select(above, args[1], args[2])

    return lanes_type(lanes_type, lanes_type, lanes_type), code


@instruction
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """Lane by lane the larger one."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        above = builder.fcmp_ordered(">", args[0], args[1])
        return builder.select(above, args[0], args[1])

    return lanes_type(lanes_type, lanes_type), code


@instruction
def transpose(typing_context: Any, source: Any, at: Any, stride: Any, target: Any, to: Any, target_stride: Any) -> Any:
    """target[to + k * target_stride + r] = source[at + r * stride + k] for r, k in 0..15."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, at = [], args[1]
        for _ in range(LANES):
            rows.append(builder.load(_pointer(builder, context, signature.args[0], args[0], at), align=_BYTES))
            at = builder.add(at, args[2])
        to = args[4]
        for row in _transposed(builder, rows):
            builder.store(row, _pointer(builder, context, signature.args[3], args[3], to), align=_BYTES)
            to = builder.add(to, args[5])
        return context.get_dummy_value()

    size = types.uint64
    return types.void(source, size, size, target, size, size), code


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Four rounds of exchanging blocks between rows that lie 8, 4, 2 and 1 apart."""
    half = LANES // 2
    while half:
        mixed = list(rows)
        for r in range(LANES):
            if r & half:
                continue
            upper, lower = rows[r], rows[r + half]
            keep = [k if not k & half else LANES + k - half for k in range(LANES)]
            swap = [k + half if not k & half else LANES + k for k in range(LANES)]
            mixed[r] = builder.shuffle_vector(upper, lower, _order(keep))
            mixed[r + half] = builder.shuffle_vector(upper, lower, _order(swap))
        rows, half = mixed, half // 2
    return rows


def _order(places: list[int]) -> Any:
    return ir.Constant(ir.VectorType(_INDEX, LANES), [ir.Constant(_INDEX, k) for k in places])
