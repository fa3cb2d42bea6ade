"""Calls of compiled functions by their addresses, so that a kernel is compiled once for the rules of every game."""

from __future__ import annotations

from collections.abc import Sequence

from numba import types

from sog.searches.kernels.compiler_types import Builder, Context, Instruction, Signature, TypingContext, Value, ir
from sog.searches.kernels.registers import address, instruction

__all__ = ["play"]


@instruction
def play(
    typing_context: TypingContext,
    function: types.Type,
    numbers: types.Type,
    cells: types.Type,
    above: types.Type,
    action: types.Type,
    below: types.Type,
    actions: types.Type,
) -> Instruction:
    """The answer of the rule at this address: see games/cells.py.

    numbers: int64[N, K].  cells: int8[N, C].  above, action, below: whole numbers.  actions: int32[*].
    """
    whole = types.int64

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        zero, plain = ir.Constant(ir.IntType(64), 0), ir.IntType(64)
        tables = [address(context, builder, signature.args[k], args[k], zero) for k in (1, 2, 6)]
        width = builder.extract_value(context.make_array(signature.args[2])(context, builder, args[2]).shape, 1)
        given = [*tables[:2], width, *args[3:6], tables[2]]
        kind = ir.FunctionType(plain, [value.type for value in given])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), given)

    return whole(whole, numbers, cells, whole, whole, whole, actions), code
