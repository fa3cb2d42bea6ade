"""A residual network's weights laid out for the kernels of residual.py; it evaluates nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np

from sog.arrays import Array, Float32, Float64, Int64
from sog.nets.cpu import residual
from sog.nets.cpu.products import LARGEST_TILE, WIDE
from sog.nets.cpu.winograd import best_tile, spread_weights
from sog.nets.network import Network
from sog.nets.packed_layers import linear
from sog.searches.kernels.vectors import LANES32, aligned, padded

__all__ = ["Tiles", "packed_network", "tiles_here"]

_EPS: Final = 1e-5  # of batch normalisation

# The largest tile of products in registers of outputs and in columns, which answers do not depend on: 32 registers of
# 16 numbers hold the sums of 24 (AVX-512); 16 registers of 8 (AVX2) do best with those of 6.
Tiles = tuple[int, int]
_LARGE: Final[Tiles] = WIDE, LARGEST_TILE
_SMALL: Final[Tiles] = 1, 6
_COLUMNS: Final = 32  # of products at a time, about: enough for the tiles, and few enough for the cache


def tiles_here() -> Tiles:
    """What suits this processor."""
    return _LARGE if llvm.get_host_cpu_features().get("avx512f") else _SMALL


def packed_network(network: Network, tiles: Tiles) -> residual.PackedResNet:
    """A copy of a resnet's weights, batch normalisation folded in, with room for the kernels to compute in."""
    shape = network.shape
    channels, height, width = shape.planes
    # In double precision, in which weights are folded and spread.
    weights = {name.removeprefix("body."): weight.astype(np.float64) for name, weight in network.arrays().items()}
    packing = _Packing(tiles[0], best_tile(height), best_tile(width), shape.width)
    packing.layer(weights, "entry")
    for block in range(shape.depth):
        packing.layer(weights, f"blocks.{block}.first")
        packing.layer(weights, f"blocks.{block}.second")
    packing.layer(weights, "policy.layer")
    if shape.policy_planes:
        packing.convolution(*linear(weights, "policy.cells_last"), relu=False)
    packing.layer(weights, "value.layer")
    # A layer over all cells has its inputs in the order in which kernels flatten a board: block, cell, lane.
    if "policy.rest_last.weight" in weights:
        weight, bias = linear(weights, "policy.rest_last")
        by_row = weight.T if shape.policy_planes else _by_block(weight.T, height * width)
        packing.linear(residual.REST, by_row, bias)
    weight, bias = linear(weights, "value.hidden")
    by_cell = weight.T if shape.value_planes == 1 else _by_block(weight.T, height * width)
    packing.linear(residual.HIDDEN, by_cell, bias)
    weight, bias = linear(weights, "value.value_last")
    packing.dot(residual.VALUE, weight[0], bias)
    return packing.network(channels, (height, width), shape.policy_planes, tiles[1])


def _by_block(rows: Float64, cells: int) -> Float64:
    """Weights [channels * cells, N] of a layer over all cells, as [blocks, cells, 16, N]."""
    channels, outputs = len(rows) // cells, rows.shape[1]
    out = np.zeros((padded(channels), cells, outputs))
    out[:channels] = rows.reshape(channels, cells, outputs)
    # Channels lie 16 to a block: [blocks, 16, cells, N] to [blocks, cells, 16, N].
    split = out.reshape(-1, LANES32, cells, outputs).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(split).reshape(-1, outputs)


class _Packing:
    """Weights so far, and where each layer's begin; zeros first, in place of the biases of products without any.

    convolutions, lines: see residual.PackedResNet.  widest: the most inputs, and outputs, of a linear layer.
    """

    def __init__(self, registers: int, rows: int, columns: int, width: int) -> None:
        self.registers, self.rows, self.columns = registers, rows, columns
        self.flat: list[Float32] = []
        self.size = 0
        self.convolutions: list[list[int]] = []
        self.taps: list[int] = []
        self.lines: Int64 = np.zeros((3, 3), dtype=np.int64)
        self.widest = [0, 0]
        # Row of zeros: a product without biases reads its biases here.
        self._append(np.zeros(padded(width)))

    def network(self, planes: int, board: tuple[int, int], policy_planes: int, most: int) -> residual.PackedResNet:
        """All of it, with room to compute in."""
        height, width = board
        down, across = -(-height // self.rows), -(-width // self.columns)
        outputs = max(line[residual.BLOCKS] for line in self.convolutions)
        blocks = max(padded(planes) // LANES32, outputs)
        # Zeros around whole tiles: the last ones may reach over the board's edge.
        step = blocks * (down * self.rows + 2) * (across * self.columns + 2) * LANES32
        # A product's columns are tiles: about _COLUMNS of them, at least one board's.
        boards = max(1, _COLUMNS // (down * across))
        points, columns = (self.rows + 2) * (self.columns + 2) * LANES32, boards * down * across
        sizes = residual.ResidualSizes(
            planes, height, width, self.rows, self.columns, step, boards, most, policy_planes
        )
        weights = aligned(self.size)
        np.concatenate(self.flat, out=weights)
        return residual.PackedResNet(
            weights,
            np.array(self.convolutions, dtype=np.int64),
            self.lines,
            self.taps[-3 if policy_planes else -2],
            sizes,
            aligned(boards * step),
            aligned(boards * step),
            aligned(points * (blocks * columns + 1)),
            aligned(points * (outputs * columns + 1)),
            aligned(padded(self.widest[0])),
            aligned(padded(self.widest[1])),
        )

    def layer(self, weights: Mapping[str, Float64], name: str) -> None:
        """Append a convolution with its normalisation folded in."""
        norm = f"{name}.norm"
        gamma, beta = linear(weights, norm)
        # gamma (w x - mean) / sqrt(var + eps) + beta = (w * scale) x + (beta - mean * scale).
        scale = gamma / np.sqrt(weights[f"{norm}.running_var"] + _EPS)
        bias = beta - weights[f"{norm}.running_mean"] * scale
        folded = weights[f"{name}.conv.weight"] * scale[:, None, None, None]
        self.convolution(folded, bias, relu=True)  # a block's second: after its sum

    def convolution(self, weight: Float64, bias: Float64, relu: bool) -> None:
        """Append a convolution with its biases."""
        outputs, inputs, taps, _ = weight.shape
        # 3 x 3: one matrix for each point of winograd.py. 1 x 1: one matrix, the weights themselves.
        if taps == 3:
            weight = spread_weights(weight, self.rows, self.columns)
        blocks = padded(outputs) // LANES32
        # Groups of several registers only where they divide the blocks.
        registers = self.registers if blocks % self.registers == 0 else 1
        groups = blocks // registers
        start = self.size
        self._append(_filled(bias, blocks * LANES32))
        self.convolutions.append([start, self.size, inputs, blocks, registers, int(relu)])
        self.taps.append(taps)
        whole = np.zeros((blocks * LANES32, inputs, weight.shape[2] * weight.shape[3]))
        whole[:outputs] = weight.reshape(outputs, inputs, -1)
        # From [groups, outputs of a group, inputs, points] to the order in which `multiply` reads them for each point.
        by_point = whole.reshape(groups, registers * LANES32, inputs, -1).transpose(3, 0, 2, 1)
        self._append(by_point)

    def linear(self, row: int, weight: Float64, bias: Float64) -> None:
        """Append a linear layer's biases and weights [inputs, outputs]."""
        inputs, outputs = weight.shape
        width = padded(outputs)
        self.lines[row] = self.size, inputs, width // LANES32
        self.widest = [max(self.widest[0], inputs), max(self.widest[1], width)]
        self._append(_filled(bias, width))
        whole = np.zeros((inputs, width))
        whole[:, :outputs] = weight
        self._append(whole)

    def dot(self, row: int, weight: Float64, bias: Float64) -> None:
        """Append a linear layer of one output: its bias, and the weights from the next register on."""
        self.lines[row] = self.size, padded(len(weight)), 1
        self._append(_filled(bias, LANES32))
        self._append(_filled(weight, padded(len(weight))))

    def _append(self, weights: Array) -> None:
        self.flat.append(np.ascontiguousarray(weights, dtype=np.float32).ravel())
        self.size += weights.size


def _filled(numbers: Float64, count: int) -> Float64:
    """The numbers, then zeros."""
    out = np.zeros(count)
    out[: len(numbers)] = numbers
    return out
