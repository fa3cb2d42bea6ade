"""Floating-point numbers side by side as one value in Numba kernels: one register, one instruction for all of them.

The two kinds of it, and what loads and stores them, are in vectors.py; here is what needs no array. Outside kernels
none of these functions can be called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from numba import types
from numba.core.datamodel.manager import DataModelManager
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from sog.searches.kernels.compiler_types import (
    Builder,
    Context,
    Instruction,
    LlvmType,
    Signature,
    TypingContext,
    Value,
    ir,
)

INDEX: Final = ir.IntType(32)


class Lanes:
    """A register to type checkers, which follow no kernel: numbers side by side, added and so on lane by lane."""

    if TYPE_CHECKING:

        def __add__(self, other: Lanes) -> Lanes: ...
        def __sub__(self, other: Lanes) -> Lanes: ...
        def __mul__(self, other: Lanes) -> Lanes: ...
        def __truediv__(self, other: Lanes) -> Lanes: ...


def instruction(function: Callable[..., Instruction]) -> Callable[..., Any]:
    """Numba's intrinsic: the first argument is the compiler's, the others are the types of what kernels give it."""
    return cast(Callable[..., Any], intrinsic(function))


class Register(types.Type):
    """The Numba type of this many numbers of one kind side by side.

    element, vector, mask: LLVM's types of a number, of all of them, and of a truth value for each.  bytes: of a number.
    """

    def __init__(self, name: str, scalar: types.Float, lanes: int) -> None:
        """scalar: types.float32 or types.float64."""
        super().__init__(name=name)
        self.scalar, self.lanes, self.bytes = scalar, lanes, scalar.bitwidth // 8
        self.element: LlvmType = ir.FloatType() if scalar == types.float32 else ir.DoubleType()
        self.vector = ir.VectorType(self.element, lanes)
        self.mask = ir.VectorType(ir.IntType(1), lanes)
        self.suffix = f"v{lanes}f{scalar.bitwidth}"

    @property
    def zeros(self) -> Value:
        """LLVM's constant of zeros."""
        return ir.Constant(self.vector, None)


@register_model(Register)
class _RegisterModel(models.PrimitiveModel):
    def __init__(self, dmm: DataModelManager, fe_type: Register) -> None:
        super().__init__(dmm, fe_type, fe_type.vector)  # type: ignore[no-untyped-call]


def _register(function: Callable[..., object], name: str) -> None:
    """Let an arithmetic operator of two registers of one kind compile to one vector instruction."""

    def typer(context: TypingContext) -> Callable[[types.Type, types.Type], Register | None]:
        return lambda a, b: a if isinstance(a, Register) and a == b else None

    def lower(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        # No flags that allow another rounding: see jit.OPTIONS.
        return getattr(builder, name)(args[0], args[1])

    cast(Any, type_callable)(function)(typer)
    cast(Any, lower_builtin)(function, Register, Register)(lower)


for _function, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"),
    (operator.isub, "fsub"),
    (operator.imul, "fmul"),
):
    _register(_function, _name)


# --- parts of the code of instructions ---


def declared(builder: Builder, name: str, result: LlvmType, arguments: Sequence[LlvmType]) -> Value:
    """One of LLVM's own functions, declared in the module that is being compiled."""
    # A module may declare a name once.
    module = builder.module
    function = module.globals.get(name)
    return function or ir.Function(module, ir.FunctionType(result, arguments), name)


def address(context: Context, builder: Builder, array_type: types.Array, array: Value, index: Value) -> Value:
    """The address of array[index]."""
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


def pointer(
    kind: Register, context: Context, builder: Builder, array_type: types.Array, array: Value, index: Value
) -> Value:
    """The address of array[index] as a pointer to a register."""
    return builder.bitcast(address(context, builder, array_type, array, index), kind.vector.as_pointer())


def order(places: Sequence[int]) -> Value:
    """LLVM's constant that says which lanes a shuffle takes."""
    return ir.Constant(ir.VectorType(INDEX, len(places)), [ir.Constant(INDEX, k) for k in places])


def repeated(builder: Builder, scalar: Value, lanes: int) -> Value:
    """The same number in every lane."""
    # Into the first lane, and from there into all.
    undefined = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(first, undefined, order([0] * lanes))


def masked_load(kind: Register, builder: Builder, at: Value, mask: Value) -> Value:
    """The lanes of a mask from memory, zeros elsewhere; reads no more than those."""
    # (address, alignment in bytes, mask, what the other lanes are)
    arguments = [kind.vector.as_pointer(), INDEX, kind.mask, kind.vector]
    load = declared(builder, f"llvm.masked.load.{kind.suffix}.p0", kind.vector, arguments)
    return builder.call(load, [at, ir.Constant(INDEX, kind.bytes), mask, kind.zeros])


def masked_store(kind: Register, builder: Builder, value: Value, at: Value, mask: Value) -> None:
    """Write the lanes of a mask, and nothing else."""
    # (value, address, alignment in bytes, mask)
    arguments = [kind.vector, kind.vector.as_pointer(), INDEX, kind.mask]
    store = declared(builder, f"llvm.masked.store.{kind.suffix}.p0", ir.VoidType(), arguments)
    builder.call(store, [value, at, ir.Constant(INDEX, kind.bytes), mask])


def transposed(builder: Builder, rows: list[Value]) -> list[Value]:
    """As many registers as each has lanes, transposed: exchanges blocks of rows that lie 8, 4, 2 and 1 apart, say."""
    lanes = len(rows)
    half = lanes // 2
    while half:
        mixed = list(rows)
        for r in range(lanes):
            if r & half:
                continue
            # Two rows `half` apart exchange the upper row's right halves of blocks for the lower row's left ones.
            upper, lower = rows[r], rows[r + half]
            keep = [k if not k & half else lanes + k - half for k in range(lanes)]
            swap = [k + half if not k & half else lanes + k for k in range(lanes)]
            mixed[r] = builder.shuffle_vector(upper, lower, order(keep))
            mixed[r + half] = builder.shuffle_vector(upper, lower, order(swap))
        rows, half = mixed, half // 2
    return rows


def folded(builder: Builder, value: Value, lanes: int, join: Callable[[Value, Value], Value]) -> Value:
    """The lanes joined into one, the upper half onto the lower, and so on: one order on every processor."""
    # 16 lanes become 8, 4, 2 and 1.
    while lanes > 1:
        lanes //= 2
        lower, upper = (builder.shuffle_vector(value, value, order(range(k, k + lanes))) for k in (0, lanes))
        value = join(lower, upper)
    return builder.extract_element(value, ir.Constant(INDEX, 0))


# --- instructions for every kind ---


@instruction
def sum_of(typing_context: TypingContext, value: Register) -> Instruction:
    """The sum of the lanes, see `folded`."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        return folded(builder, args[0], value.lanes, builder.fadd)

    return value.scalar(value), code


@instruction
def largest_of(typing_context: TypingContext, value: Register) -> Instruction:
    """The largest of the lanes."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        def larger_one(a: Value, b: Value) -> Value:
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        return folded(builder, args[0], value.lanes, larger_one)

    return value.scalar(value), code


@instruction
def pick(typing_context: TypingContext, test: types.Type, positive: types.Type, other: types.Type) -> Instruction:
    """Lane by lane: `positive` where test > 0, else `other`; also of three single numbers."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        # "Ordered": not a number is not above 0.
        zero = test.zeros if isinstance(test, Register) else ir.Constant(args[0].type, 0.0)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return test(test, test, test), code


@instruction
def larger(typing_context: TypingContext, a: types.Type, b: types.Type) -> Instruction:
    """Lane by lane the larger one."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return a(a, a), code
