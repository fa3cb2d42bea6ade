"""Numba kernels that evaluate a small MLP on one core, from a belief's features to its values.

A tile is up to six rows times 16 or 64 outputs, whose sums stay in registers from the first product to the last, so
that each load of weights feeds six products. The weights of a tile's outputs lie together (see `packed`). With AVX-512,
inputs that are 0 in all rows of a tile are left out: they add nothing, and behind a ReLU about half of them are, where
the rows of a tile are alike. Sums are made in the order of the inputs: a row's answer does not depend on what it is
batched with.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from numba.core import cgutils

from sog.arrays import Array, Float32, Float64, Int32, Int64
from sog.nets.cpu.products import register_at, tile_of
from sog.searches.kernels.compiler_types import Builder, Value, ir
from sog.searches.kernels.jit import fused
from sog.searches.kernels.registers import declared, repeated
from sog.searches.kernels.vectors import F32X16, LANES32
from sog.searches.leaves.pairing import Pairing, expectation, value_unit

ROWS: Final = 6  # of a tile, at most
LISTED_ROWS: Final = 5  # where inputs are listed, which leaves registers for what is loaded ahead
WIDE: Final = 4  # registers of outputs in a wide tile
LANES: Final = LANES32  # widths are padded to a multiple of it with zero weights, which leaves tiles without remainders
CHUNK: Final = 256  # rows go through the network this many at a time, which keeps them in the cache

_INT: Final = ir.IntType(64)


class Mlp(NamedTuple):
    """A network as kernels take it, with room to compute in.

    hidden: float32[*], each layer but the last as `packed` makes it.  head: float32[*], the last layer, so made.
    widths: int64[L + 1], padded.  crossed: int64[C], features that are also multiplied with the ranges.
    slots0: player 0's slots.  matchups: it answers with a matchup matrix.  registers: see `registers_here`.
    x: float32[CHUNK, widths[0]], zero where nothing is written.  first, second: float32[*], scratch for CHUNK rows of
    the widest layer.  mass: float64[S0 + S1], scratch.  listed: int32[*], scratch for the inputs of the widest layer.
    """

    hidden: Float32
    head: Float32
    widths: Int64
    crossed: Int64
    slots0: int
    matchups: bool
    registers: int
    x: Float32
    first: Float32
    second: Float32
    mass: Float64
    listed: Int32


@cache
def registers_here() -> int:
    """Registers of outputs that a tile has side by side on this processor; answers do not depend on it.

    32 registers of 16 numbers hold the sums of six rows times four (AVX-512); 16 registers of 8 (AVX2) those of one.
    """
    return WIDE if llvm.get_host_cpu_features().get("avx512f") else 1


def packed(layer: Float32, registers: int) -> Float32:
    """A layer as kernels read it: its biases, then the weights of each tile's outputs, input by input.

    layer: float32[1 + K, N], the biases before the weights, padded.  registers: of a wide tile, see `registers_here`.
    Returns float32[N + K * N]: the biases [N], [K, 16 * registers] for each wide tile, [K, 16] for each narrow one.
    """
    bias, weights = layer[0], layer[1:]
    wide, out = LANES * registers, len(bias)
    edges = [*range(0, out - out % wide, wide), *range(out - out % wide, out, LANES), out]
    return np.concatenate([bias, *(weights[:, j:end].ravel() for j, end in pairwise(edges))])


class _RowTile(NamedTuple):
    """A tile's place in the arrays; LLVM's values in the code that makes it.

    x, bias, weights, y: its first row's, or first output's.  width: inputs, and how far the rows of x lie apart.
    out: how far the rows of y lie apart.  inputs: how many are summed.  rows: 1 to ROWS.
    """

    x: Value
    bias: Value
    weights: Value
    y: Value
    width: Value
    out: Value
    inputs: Value
    rows: Value


def _write_tile(
    registers: int, builder: Builder, tile: _RowTile, floor: Value, rows: int, listed: Value | None = None
) -> None:
    """y[r, j] = max(bias[j] + sum over k of x[r, k] * weights[k, j], floor), for 16 * registers outputs.

    listed: the address of the numbers k of the inputs that are summed, int32; without it they are the first ones.
    """
    lanes = [r * LANES for r in range(registers)]
    # sums[row][r] = the biases of its 16 outputs.
    sums = [[cast(Any, cgutils).alloca_once(builder, F32X16.vector) for _ in lanes] for _ in range(rows)]
    for r, lane in enumerate(lanes):
        bias = builder.load(register_at(builder, tile.bias, lane), align=F32X16.bytes)
        for row in sums:
            builder.store(bias, row[r])
    # sums[row][r] += x[row, k] * weights[k, 16 r ..], input by input, rounded once where the processor can.
    fused_sum = declared(builder, f"llvm.fmuladd.{F32X16.suffix}", F32X16.vector, [F32X16.vector] * 3)
    with cast(Any, cgutils).for_range(builder, tile.inputs, intp=_INT) as turn:
        k = builder.zext(builder.load(builder.gep(listed, [turn.index])), _INT) if listed else turn.index
        w = builder.gep(tile.weights, [builder.mul(k, ir.Constant(_INT, registers * LANES))])
        weights = [builder.load(register_at(builder, w, lane), align=F32X16.bytes) for lane in lanes]
        for number, row in enumerate(sums):
            at = builder.add(builder.mul(tile.width, ir.Constant(_INT, number)), k)
            x = repeated(builder, builder.load(builder.gep(tile.x, [at])), LANES)
            for r, total in enumerate(row):
                builder.store(builder.call(fused_sum, [x, weights[r], builder.load(total)]), total)
    # y = max(sum, floor), a register at a time; what is not a number stays so.
    least = repeated(builder, floor, LANES)
    for number, row in enumerate(sums):
        y = builder.gep(tile.y, [builder.mul(tile.out, ir.Constant(_INT, number))])
        for r, lane in enumerate(lanes):
            value = builder.load(row[r])
            value = builder.select(builder.fcmp_ordered(">", least, value), least, value)
            builder.store(value, register_at(builder, y, lane), align=F32X16.bytes)


_narrow_tile = tile_of(_RowTile, ROWS, partial(_write_tile, 1))
_wide_tile = tile_of(_RowTile, ROWS, partial(_write_tile, WIDE))


@fused
def evaluate(
    mlp: tuple[Any, ...],
    pairs: tuple[Any, ...],
    features: Array,
    nodes: Array,
    ranges: Array,
    values: Array,
    logits: Array,
) -> None:
    """Answer beliefs: values, float64[B, S0 + S1], in utilities and logits, float64[B, S * A].

    (y, logits) = layers(encode(features, ranges)): values = value unit * y, or `expectation` of y as a matchup matrix.

    Either may be float64[B, 0], where the network's last layer lacks that part.
    mlp: an Mlp, and pairs: a Pairing, as plain tuples, whose types Numba finds 0.5 microseconds sooner a call.
    features: float32[B, F].  nodes: int32[B], public nodes.  ranges: float64[B, S0 + S1].
    """
    network, pairing = Mlp(*mlp), Pairing(*pairs)
    slots0, width = network.slots0, network.widths[-1]
    matchups = network.matchups and values.shape[1] > 0
    # Outputs of a row: S0 * S1 utilities by pair or S0 + S1 values, then the logits.
    heads = slots0 * (values.shape[1] - slots0) if matchups else values.shape[1]
    for start in range(0, len(ranges), CHUNK):
        count = min(CHUNK, len(ranges) - start)
        encode(features[start : start + count], ranges[start : start + count], slots0, network.crossed, network.x)
        # Layers write to `first` and `second` in turn; which one has the outputs depends on how many there are.
        last = _mlp(network.x, count, network)
        out = network.first if last == 0 else network.second
        for r in range(count):
            b = start + r
            row = out[r * width : (r + 1) * width]
            for k in range(logits.shape[1]):
                logits[b, k] = row[heads + k]
            # Utilities of pairs become values by both players' posteriors; values are in value units.
            if matchups:
                expectation(pairing, nodes[b], ranges[b], slots0, row, network.mass, values[b])
            else:
                unit = value_unit(pairing, nodes[b])
                for k in range(heads):
                    values[b, k] = row[k] * unit


@fused
def encode(features: Array, ranges: Array, slots0: int, crossed: Array, x: Array) -> None:
    """Write float32[B, F] features, float64[B, S0 + S1] ranges times their slots and the crossed products.

    x[r] = [features, p, feature c * p for each crossed c], with p = ranges times the player's number of slots: float32.
    """
    width, start = ranges.shape[1], features.shape[1]
    for r in range(len(ranges)):
        for k in range(start):
            x[r, k] = features[r, k]
        # A uniform range becomes ones, however many slots there are.
        for k in range(width):
            x[r, start + k] = ranges[r, k] * (slots0 if k < slots0 else width - slots0)
        # Products that a first layer of sums could not make by itself.
        for c in range(len(crossed)):
            feature, at = features[r, crossed[c]], start + width * (c + 1)
            for k in range(width):
                x[r, at + k] = feature * x[r, start + k]


@fused
def _mlp(x: Array, count: int, network: Mlp) -> int:
    """Run the first `count` rows of x, float32[*, widths[0]], through all layers; ReLU between them.

    y = W_L relu(... relu(W_1 x + b_1) ...) + b_L, row by row.

    Returns which of `first` and `second` (0, 1) holds the outputs, row by row.
    """
    at, last, source, registers = 0, len(network.widths) - 2, x.reshape(-1), network.registers
    for k in range(last + 1):
        width, out = network.widths[k], network.widths[k + 1]
        # No layer may write where it reads: even layers write to `first`, odd ones to `second`.
        target = network.first if k % 2 == 0 else network.second
        if k < last:
            place, floor, weights = (at, count, width, out), np.float32(0.0), network.hidden
        else:
            place, floor, weights = (0, count, width, out), -np.float32(np.inf), network.head
        # Lists of inputs cost more than they save where 16 registers of 8 hold the sums (AVX2).
        if registers > 1:
            sparse_layer(source, weights, place, floor, registers, network.listed, target)
        else:
            layer(source, weights, place, floor, registers, target)
        at += out * (1 + width)
        source = target
    return last % 2


@fused
def layer(x: Array, weights: Array, place: tuple[int, int, int, int], floor: float, registers: int, y: Array) -> None:
    """One layer of `count` rows: x float32[count, width] and y float32[count, out] as they lie in memory.

    y[r, j] = max(bias[j] + sum over k of x[r, k] * weights[k, j], floor), k from 0 up. A floor of 0 is a ReLU.

    place: (at, count, width, out); the layer as `packed` made it with these registers begins at weights[at].
    registers: of outputs in a wide tile, 1 or WIDE, on which the bits do not depend.
    """
    at, count, width, out = place
    # As few tiles of rows as possible, whose sizes differ by a row at most.
    tiles = (count + ROWS - 1) // ROWS
    j = 0
    while j < out:
        # What is left at the end and no wide tile goes a register at a time.
        wide = registers > 1 and j + WIDE * LANES <= out
        # All rows for these outputs: their weights stay in the cache.
        for t in range(tiles):
            r = count * t // tiles
            rows = count * (t + 1) // tiles - r
            # A _RowTile: where its rows, biases, weights and outputs begin, and how many there are.
            tile = (r * width, at + j, at + out + j * width, r * out + j, width, out, width, rows)
            if wide:
                _wide_tile(x, weights, y, tile, floor)
            else:
                _narrow_tile(x, weights, y, tile, floor)
        j += LANES * (WIDE if wide else 1)


@fused
def sparse_layer(
    x: Array, weights: Array, place: tuple[int, int, int, int], floor: float, registers: int, listed: Array, y: Array
) -> None:
    """`layer`, with the same bits, without the inputs that are 0 in all rows of a tile.

    A product with 0 leaves a sum as it is, since all weights are finite.  listed: int32[>= width], scratch.
    """
    at, count, width, out = place
    tiles = (count + LISTED_ROWS - 1) // LISTED_ROWS
    for t in range(tiles):
        r = count * t // tiles
        rows = count * (t + 1) // tiles - r
        active = _list_inputs(x, r * width, rows, width, listed)
        # All outputs of these rows: one list for them.
        j = 0
        while j < out:
            tile = (r * width, at + j, at + out + j * width, r * out + j, width, out, active, rows)
            if registers > 1 and j + WIDE * LANES <= out:
                _wide_tile(x, weights, y, tile, floor, listed)
                j += LANES * WIDE
            else:
                _narrow_tile(x, weights, y, tile, floor, listed)
                j += LANES


@fused
def _list_inputs(x: Array, start: int, rows: int, width: int, listed: Array) -> int:
    """List the inputs of rows at x[start], x[start + width], ... that are not 0 in all of them; how many they are."""
    for k in range(width):
        listed[k] = 0
    # 1 where some row is not 0; what is not a number is not 0.
    for r in range(rows):
        row = x[start + r * width : start + (r + 1) * width]
        for k in range(width):
            listed[k] |= row[k] != 0
    # The list never overtakes what is still read.
    active = 0
    for k in range(width):
        met = listed[k]
        listed[active] = k
        active += met
    return active
