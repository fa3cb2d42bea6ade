"""Products of a matrix of weights with columns of numbers in Numba kernels, sixteen outputs to a register.

Columns lie in blocks of 16 channels, float32[blocks, columns, 16]. A tile is a few columns times 16 or 32 outputs,
whose sums stay in registers from the first product to the last. Every sum is made in one order, and products are
rounded before they are added: the bits are the same on every processor, and a column's do not depend on other columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from numba import types
from numba.core import cgutils

from sog.arrays import Array
from sog.searches.kernels.compiler_types import Builder, Context, Instruction, Signature, TypingContext, Value, ir
from sog.searches.kernels.jit import njit
from sog.searches.kernels.registers import instruction, repeated
from sog.searches.kernels.vectors import F32X16, LANES32

__all__ = ["LARGEST_TILE", "WIDE", "Layer", "multiply", "register_at", "tile_of"]

LARGEST_TILE: Final = 12  # columns
WIDE: Final = 2  # registers of outputs that a tile may have side by side

# Where the first column of an array begins, and how far its blocks lie apart.
Blocks: TypeAlias = tuple[int, int]
# (bias, at, inputs, blocks, registers, most, floor): see `multiply`.
Layer: TypeAlias = tuple[int, int, int, int, int, int, np.float32]

_P = TypeVar("_P", bound=NamedTuple)

_INT: Final = ir.IntType(64)
_cgutils: Final = cast(Any, cgutils)  # it has no types


class _Tile(NamedTuple):
    """A tile's place in the arrays; LLVM's values in the code that makes it.

    x: its first column's first channel.  bias, weights, y: its first output's.
    x_step, y_step: from a block to the next.
    """

    x: Value
    bias: Value
    weights: Value
    y: Value
    x_step: Value
    y_step: Value
    inputs: Value
    columns: Value


def tile_of(place: type[_P], most: int, write: Callable[..., None]) -> Callable[..., Any]:
    """The instruction that makes a tile of 1 to `most` columns, or rows: (x, weights, y, place, floor[, listed]).

    place: a tuple of indices, the first four those of the tile's first number in x, of its biases and its weights,
    which are in one array, and in y; the last is how many columns there are.
    write: makes the code for a number of columns, from the builder, the place, its first four now addresses, the floor,
    the number and, where the instruction is given a list, the address of `listed`, an array of any kind.
    """

    @instruction
    def tile(
        typing_context: TypingContext,
        x: types.Array,
        weights: types.Array,
        y: types.Array,
        indices: types.UniTuple,
        floor: types.Float,
        listed: types.Array | None = None,
    ) -> Instruction:
        """Write the tile into y."""

        def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
            arrays = [0, 1, 2] if listed is None else [0, 1, 2, 5]
            addresses = [context.make_array(signature.args[k])(context, builder, args[k]).data for k in arrays]
            numbers = list(_cgutils.unpack_tuple(builder, args[3], len(place._fields)))
            for k, array in enumerate((addresses[0], addresses[1], addresses[1], addresses[2])):
                numbers[k] = builder.gep(array, [numbers[k]])
            done = builder.append_basic_block("done")
            # One piece of code for each number of columns: with the number fixed, sums stay in registers.
            switch = builder.switch(numbers[-1], done)
            for count in range(1, most + 1):
                block = builder.append_basic_block(f"count{count}")
                switch.add_case(ir.Constant(_INT, count), block)
                builder.position_at_end(block)
                write(builder, place(*numbers), args[4], count, *addresses[3:])
                builder.branch(done)
            builder.position_at_end(done)
            return context.get_dummy_value()

        tuple_type = cast(Any, types).UniTuple(types.int64, len(place._fields))
        return types.void(x, weights, y, tuple_type, types.float32, listed or types.none), code

    return tile


def _write_tile(registers: int, builder: Builder, tile: _Tile, floor: Value, columns: int) -> None:
    """y[c, o] = max(bias[o] + sum over k of x[k, c] * weights[k, o], floor), for 16 * registers outputs."""
    sums = [[_cgutils.alloca_once(builder, F32X16.vector) for _ in range(registers)] for _ in range(columns)]
    # sums[column][r] = the biases of its 16 outputs.
    for r in range(registers):
        bias = builder.load(register_at(builder, tile.bias, r * LANES32), align=F32X16.bytes)
        for column in sums:
            builder.store(bias, column[r])
    # sums[column][r] += x[k, column] * weights[k, 16 r ..], input by input: rounded product, then rounded sum.
    with _cgutils.for_range(builder, tile.inputs, intp=_INT) as channel:
        # Input k is lane k % 16 of block k // 16.
        block = builder.lshr(channel.index, ir.Constant(_INT, LANES32.bit_length() - 1))
        lane = builder.and_(channel.index, ir.Constant(_INT, LANES32 - 1))
        x = builder.gep(tile.x, [builder.add(builder.mul(block, tile.x_step), lane)])
        w = builder.gep(tile.weights, [builder.mul(channel.index, ir.Constant(_INT, registers * LANES32))])
        weights = [builder.load(register_at(builder, w, r * LANES32), align=F32X16.bytes) for r in range(registers)]
        # x[k, column] in all 16 lanes, times the weights of 16 outputs.
        for k, column in enumerate(sums):
            number = repeated(builder, builder.load(builder.gep(x, [ir.Constant(_INT, k * LANES32)])), LANES32)
            for r, total in enumerate(column):
                builder.store(builder.fadd(builder.load(total), builder.fmul(number, weights[r])), total)
    # y = max(sum, floor), a register at a time.
    least = repeated(builder, floor, LANES32)
    for r in range(registers):
        to = builder.gep(tile.y, [builder.mul(tile.y_step, ir.Constant(_INT, r))])
        for k, column in enumerate(sums):
            value = builder.load(column[r])
            value = builder.select(builder.fcmp_ordered(">", value, least), value, least)
            builder.store(value, register_at(builder, to, k * LANES32), align=F32X16.bytes)


def register_at(builder: Builder, at: Value, offset: int) -> Value:
    """The address of a register of numbers, `offset` numbers after `at`."""
    return builder.bitcast(builder.gep(at, [ir.Constant(_INT, offset)]), F32X16.vector.as_pointer())


_tile_narrow = tile_of(_Tile, LARGEST_TILE, partial(_write_tile, 1))
_tile_wide = tile_of(_Tile, LARGEST_TILE, partial(_write_tile, WIDE))


@njit
def multiply(x: Array, source: Blocks, columns: int, weights: Array, layer: Layer, y: Array, target: Blocks) -> None:
    """y = max(weights @ x + biases, floor) for columns that lie side by side.

    y[o, c] = max(bias[o] + sum over k of weights[k, o] * x[k, c], floor), k from 0 up. A floor of 0 is a ReLU.

    x, y: float32[*].  source, target: where in x and y the first column begins, and how far blocks lie apart.
    layer: (bias, at, inputs, blocks, registers, most, floor): where in `weights` the biases [16 * blocks] and, for each
    group of 16 * registers outputs, weights [inputs, 16 * registers] begin; a tile has at most `most` columns.
    """
    bias, at, inputs, blocks, registers, most, floor = layer
    (start, x_step), (to, y_step) = source, target
    group = LANES32 * registers
    # As few tiles as `most` allows, whose sizes differ by a column at most.
    tiles = (columns + most - 1) // most
    # The columns of a group of outputs one after another: its weights stay in the cache.
    for g in range(blocks // registers):
        for t in range(tiles):
            first = columns * t // tiles
            count = columns * (t + 1) // tiles - first
            x_at, y_at = start + first * LANES32, to + g * registers * y_step + first * LANES32
            # Where the tile begins in each array, and the steps: a _Tile.
            place = (x_at, bias + g * group, at + g * inputs * group, y_at, x_step, y_step, inputs, count)
            if registers == 1:
                _tile_narrow(x, weights, y, place, floor)
            else:
                _tile_wide(x, weights, y, place, floor)
