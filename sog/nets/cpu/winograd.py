"""3 x 3 convolutions of boards in Numba kernels by Winograd's short filters: a third of the products; no network.

Lavin and Gray, "Fast algorithms for convolutional neural networks" (2015). A board is cut into tiles of 3 or 4 cells a
side. Each tile with the cells around it is spread into tile + 2 numbers a side, which the spread weights
multiply point by point, and gathered again. Polynomials are evaluated at 0, 1, -1, 2 (and -2), and infinity.

Planes lie in blocks of 16 channels with zeros around the board, float32[blocks, rows, columns, 16].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, cast

import numpy as np
from numba import types
from numba.core import cgutils

from sog.arrays import Array, Float64
from sog.nets.cpu.products import Layer, multiply
from sog.searches.kernels.compiler_types import Builder, Context, Instruction, Signature, TypingContext, Value, ir
from sog.searches.kernels.jit import njit
from sog.searches.kernels.registers import address as address_of
from sog.searches.kernels.registers import instruction, repeated
from sog.searches.kernels.vectors import F32X16, LANES32

__all__ = ["best_tile", "convolve", "spread_weights"]

# (height, width, rows, columns, step): see `convolve`.
Shape: TypeAlias = tuple[int, int, int, int, int]

_POINTS: Final = {3: (0.0, 1.0, -1.0, 2.0), 4: (0.0, 1.0, -1.0, 2.0, -2.0)}


def best_tile(cells: int) -> int:
    """The side, 3 or 4, of the tiles with the fewest points on a board with this many cells a side."""
    # Points along one side: tiles across the board times (side + 2).
    return min((3, 4), key=lambda side: -(-cells // side) * (side + 2))


def spread_weights(weights: Float64, rows: int, columns: int) -> Float64:
    """float64[O, I, 3, 3] as float64[O, I, rows + 2, columns + 2], for tiles of rows x columns cells.

    u = G w H^T for each output and input: G is the `_filter` of the rows, H that of the columns.
    """
    down, across = _filter(rows), _filter(columns)[:, :, None, None, None]
    w = weights.transpose(3, 2, 0, 1)  # sums in an order of our own: matrix products have the processor's
    half = across[:, 0] * w[0] + across[:, 1] * w[1] + across[:, 2] * w[2]
    parts = [down[:, k, None, None, None] * half[:, k] for k in range(3)]
    out: Float64 = (parts[0] + parts[1] + parts[2]).transpose(2, 3, 0, 1)
    return out


def _filter(side: int) -> Float64:
    """float64[side + 2, 3]: what spreads three weights.

    G[a, k] = a^k / (product over the other points b of (a - b)), k = 0, 1, 2; the last row, of infinity, is (0, 0, 1).
    """
    points = _POINTS[side]
    apart = [np.prod([a - other for other in points if other != a]) for a in points]
    rows = [[a**k / scale for k in range(3)] for a, scale in zip(points, apart, strict=True)]
    return np.array([*rows, [0.0, 0.0, 1.0]])


# --- one tile: LLVM code without loops, whose numbers stay in registers ---

_INT: Final = ir.IntType(64)


class _Code:
    """Writes LLVM code for registers."""

    def __init__(self, builder: Builder, context: Context) -> None:
        self.builder, self.context = builder, context

    def at(self, kind: types.Array, array: Value, index: Value) -> Value:
        """The address of an array's number."""
        return address_of(self.context, self.builder, kind, array, index)

    def step(
        self, address: Value, first: int, first_step: Value, second: int = 0, second_step: Value | None = None
    ) -> Value:
        """The address this many steps further on."""
        builder = self.builder
        offset = builder.mul(first_step, ir.Constant(_INT, first))
        if second_step is not None:
            offset = builder.add(offset, builder.mul(second_step, ir.Constant(_INT, second)))
        return builder.bitcast(builder.gep(address, [offset]), F32X16.vector.as_pointer())

    def load(self, address: Value) -> Value:
        return self.builder.load(address, align=F32X16.bytes)

    def store(self, value: Value, address: Value) -> None:
        self.builder.store(value, address, align=F32X16.bytes)

    def plus(self, a: Value, b: Value) -> Value:
        return self.builder.fadd(a, b)

    def minus(self, a: Value, b: Value) -> Value:
        return self.builder.fsub(a, b)

    def times(self, factor: float, a: Value) -> Value:
        """A small number times a register."""
        return self.builder.fmul(ir.Constant(F32X16.vector, [F32X16.element(factor)] * LANES32), a)

    def spread(self, cells: list[Value]) -> list[Value]:
        """Five cells as five points, or six as six."""
        # Point a: cells times the coefficients of the product of (x - b) over the other points b, lowest first, summed;
        # infinity: the same with the product over all points.
        plus, minus, times = self.plus, self.minus, self.times
        a, b, c, d, e = cells[:5]
        if len(cells) == 5:
            twice = times(2.0, b)
            # Points 0, 1, -1, 2: 2a - b - 2c + d for 0, and 2b - c - 2d + e for infinity.
            first, last = plus(times(2.0, minus(a, c)), minus(d, b)), plus(times(2.0, minus(b, d)), minus(e, c))
            return [first, minus(minus(d, c), twice), minus(plus(d, twice), times(3.0, c)), minus(d, b), last]
        f = cells[5]
        # Points 0, 1, -1, 2, -2: those of opposite sign share their even and odd parts.
        even, odd = minus(e, times(4.0, c)), minus(d, times(4.0, b))
        half, double = minus(e, c), times(2.0, minus(d, b))
        first = minus(plus(times(4.0, a), e), times(5.0, c))
        last = minus(plus(times(4.0, b), f), times(5.0, d))
        return [first, plus(even, odd), minus(even, odd), plus(half, double), minus(half, double), last]

    def gather(self, points: list[Value]) -> list[Value]:
        """Five points as three cells, or six as four."""
        # Cell k = sum over points a of a^k times its number; infinity's number counts in the last cell alone.
        plus, minus, times = self.plus, self.minus, self.times
        a, b, c, d, e = points[:5]
        near, odd = plus(b, c), minus(b, c)
        if len(points) == 5:
            return [plus(plus(a, near), d), plus(odd, times(2.0, d)), plus(plus(near, times(4.0, d)), e)]
        far, wide = plus(d, e), minus(d, e)
        last = plus(plus(odd, times(8.0, wide)), points[5])
        return [plus(plus(a, near), far), plus(odd, times(2.0, wide)), plus(near, times(4.0, far)), last]


def _turned(rows: list[list[Value]]) -> list[list[Value]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _spreading(rows: int, columns: int) -> Callable[..., Any]:
    """The instruction that spreads a tile's cells and those around it from x[at] on into points of y."""

    @instruction
    def spread(
        typing_context: TypingContext,
        x: types.Array,
        at: types.Integer,
        row_step: types.Integer,
        y: types.Array,
        to: types.Integer,
        step: types.Integer,
    ) -> Instruction:
        """y = B^T d B of Lavin and Gray, d the cells.  row_step: between rows of x.  step: between points of y."""

        def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
            write, lanes = _Code(builder, context), ir.Constant(_INT, LANES32)
            source, target = write.at(x, args[0], args[1]), write.at(y, args[3], args[4])
            along_rows = []
            # Along the rows, then down the columns of what came out: B^T d B.
            for i in range(rows + 2):
                cells = [write.load(write.step(source, i, args[2], j, lanes)) for j in range(columns + 2)]
                along_rows.append(write.spread(cells))
            for j, column in enumerate(_turned(along_rows)):
                for i, point in enumerate(write.spread(column)):
                    write.store(point, write.step(target, i * (columns + 2) + j, args[5]))
            return context.get_dummy_value()

        size = types.int64
        return types.void(x, size, size, y, size, size), code

    return spread


def _gathering(rows: int, columns: int) -> Callable[..., Any]:
    """The instruction that gathers points into a tile's cells, adds biases and, with `add`, y, and writes them."""

    @instruction
    def gather(
        typing_context: TypingContext,
        x: types.Array,
        weights: types.Array,
        y: types.Array,
        place: types.UniTuple,
        floor: types.Float,
    ) -> Instruction:
        """y = max(A^T m A + bias + y where `add` is set, floor), with m the points.

        place: at and step (of points in x), bias (in weights), to and row_step (in y), cells on the board, add.
        """

        def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
            write, lanes = _Code(builder, context), ir.Constant(_INT, LANES32)
            at, step, bias, to, row_step, down, across, add = cast(Any, cgutils).unpack_tuple(builder, args[3], 8)
            source, target = write.at(x, args[0], at), write.at(y, args[2], to)
            biases = write.load(write.step(write.at(weights, args[1], bias), 0, lanes))
            least, added = repeated(builder, args[4], LANES32), builder.icmp_signed("!=", add, ir.Constant(_INT, 0))
            down_columns = []
            # Down the columns, then along the rows of what came out: A^T m A.
            for j in range(columns + 2):
                points = [write.load(write.step(source, i * (columns + 2) + j, step)) for i in range(rows + 2)]
                down_columns.append(write.gather(points))
            for i, row in enumerate(_turned(down_columns)):
                # Tiles may reach over the board's edge: only its own cells are written, the zeros around it stay.
                inside = builder.icmp_signed("<", ir.Constant(_INT, i), down)
                for j, cell in enumerate(write.gather(row)):
                    on_board = builder.and_(inside, builder.icmp_signed("<", ir.Constant(_INT, j), across))
                    with builder.if_then(on_board):
                        cell_at = write.step(target, i, row_step, j, lanes)
                        held = builder.select(added, write.load(cell_at), F32X16.zeros)
                        total = write.plus(write.plus(cell, biases), held)
                        write.store(builder.select(builder.fcmp_ordered(">", total, least), total, least), cell_at)
            return context.get_dummy_value()

        return types.void(x, weights, y, cast(Any, types).UniTuple(types.int64, 8), types.float32), code

    return gather


_spread_33, _spread_34, _spread_43, _spread_44 = (_spreading(rows, columns) for rows in (3, 4) for columns in (3, 4))
_gather_33, _gather_34, _gather_43, _gather_44 = (_gathering(rows, columns) for rows in (3, 4) for columns in (3, 4))


# --- whole boards ---


@njit
def convolve(
    shape: Shape, scratch: tuple[Array, Array], boards: int, x: Array, weights: Array, layer: Layer, add: int, y: Array
) -> None:
    """y = layer(x) of this many boards, or max(y + layer(x), floor) with `add`; x and y are different arrays.

    layer(x)[o, cell] = max(bias[o] + sum over inputs and the 3 x 3 cells around it of weight * x, floor).

    shape: (height, width, rows, columns, step): the board's cells, its tiles', and how far boards lie apart in x and y.
    scratch: (spread, product), float32[*], room for points: [points, blocks * boards * tiles + 1, 16] of x and of y.
    layer: (bias, at, inputs, blocks, registers, most, floor): see products.multiply; weights [points, groups, inputs,
    16 * registers] from `at` on, biases [16 * blocks] at `bias`, and zeros as many at the beginning of `weights`.
    """
    height, width, rows, columns, step = shape
    spread, product = scratch
    bias, at, inputs, blocks, registers, most, floor = layer
    # The board is covered by down x across tiles.
    down, across = (height + rows - 1) // rows, (width + columns - 1) // columns
    tiles, points = down * across, (rows + 2) * (columns + 2)
    # In floats: one row and one column of zeros before and behind the tiles.
    row_step = (across * columns + 2) * LANES32
    plane, of_tile_row = (down * rows + 2) * row_step, rows * row_step
    # Columns of the products: every tile of every board.
    in_blocks, count = (inputs + LANES32 - 1) // LANES32, boards * tiles
    # In `spread` and `product`: from a point to the next, blocks of all tiles in between.
    from_point, to_point = (count * in_blocks + 1) * LANES32, (count * blocks + 1) * LANES32  # no multiples of a page
    # 1. Spread: tiles overlap by two cells, and begin in the zeros before the board.
    for b in range(boards):
        for block in range(in_blocks):
            for tile in range(tiles):
                at_tile = b * step + block * plane + tile // across * of_tile_row + tile % across * columns * LANES32
                to = (block * count + b * tiles + tile) * LANES32
                if rows == 3:
                    if columns == 3:
                        _spread_33(x, at_tile, row_step, spread, to, from_point)
                    else:
                        _spread_34(x, at_tile, row_step, spread, to, from_point)
                elif columns == 3:
                    _spread_43(x, at_tile, row_step, spread, to, from_point)
                else:
                    _spread_44(x, at_tile, row_step, spread, to, from_point)
    # 2. For each point a product of weights with all tiles of all boards. Its biases are the zeros at the beginning of
    # `weights`; the floor comes after gathering.
    no_floor = np.float32(-np.inf)
    for p in range(points):
        # The weights of point p, without biases and without a floor.
        part = (0, at + p * inputs * blocks * LANES32, inputs, blocks, registers, most, no_floor)
        source, target = (p * from_point, count * LANES32), (p * to_point, count * LANES32)
        multiply(spread, source, count, weights, part, product, target)
    # 3. Gather into the board's cells, with biases, the floor and, with `add`, y.
    for b in range(boards):
        for block in range(blocks):
            for tile in range(tiles):
                r, c = tile // across, tile % across
                at_tile = (block * count + b * tiles + tile) * LANES32
                to = b * step + block * plane + row_step + r * of_tile_row + (c * columns + 1) * LANES32
                # How many of the tile's cells are on the board, down and across.
                on_board = height - r * rows, width - c * columns
                place = (at_tile, to_point, bias + block * LANES32, to, row_step, on_board[0], on_board[1], add)
                if rows == 3:
                    if columns == 3:
                        _gather_33(product, weights, y, place, floor)
                    else:
                        _gather_34(product, weights, y, place, floor)
                elif columns == 3:
                    _gather_43(product, weights, y, place, floor)
                else:
                    _gather_44(product, weights, y, place, floor)
