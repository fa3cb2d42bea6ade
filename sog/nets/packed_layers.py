"""Linear layers as Numba kernels read them: biases and weights in a row, widths padded to whole registers.

For networks whose layers are shared by hands (hand_rows.py) or stations (station_rows.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from sog.arrays import Array, Float32, Int64
from sog.nets.cpu.dense import layer, packed, registers_here
from sog.searches.kernels.vectors import padded

__all__ = ["Linear", "PackedLayers", "linear", "linear_layers", "table_of", "through"]

# A layer's weights [N, K] and biases [N].
Linear: TypeAlias = tuple[Array, Array]


class PackedLayers(NamedTuple):
    """Layers one after the other, a padded output is 0 before its ReLU.

    weights: float32[*], layers as `dense.packed` makes them for this processor.  widths: of inputs and outputs.
    """

    weights: Float32
    widths: list[int]

    @classmethod
    def of(cls, layers: Sequence[Linear], places: Int64 | None = None, inputs: int = 0) -> PackedLayers:
        """places, inputs: where the first layer's inputs lie in a row, and how long that is; by default in order."""
        flat: list[Array] = [np.zeros(0, dtype=np.float32)]
        widths: list[int] = []
        for weight, bias in layers:
            count = weight.shape[1]
            at = places if places is not None and not widths else np.arange(count)
            rows = widths[-1] if widths else (inputs or count)
            block = np.zeros((1 + rows, padded(len(bias))), dtype=np.float32)
            # The bias lies in the row before the weights.
            block[0, : len(bias)], block[1 + at, : len(bias)] = bias, weight.T
            flat.append(packed(block, registers_here()))
            widths = [*(widths or [rows]), block.shape[1]]
        return cls(np.concatenate(flat), widths)


def through(layers: PackedLayers, x: Float32, floor: float, outputs: int) -> Float32:
    """float32[B, outputs]: rows x, float32[B, K], through layers with max(y, floor) after each; 0 is a ReLU.

    Not by NumPy's products, whose last bits depend on the processor.
    """
    at, registers, count = 0, registers_here(), len(x)
    for width, out in pairwise(layers.widths):
        y = np.empty((count, out), dtype=np.float32)
        place = at, count, width, out
        layer(np.ascontiguousarray(x).reshape(-1), layers.weights, place, np.float32(floor), registers, y.reshape(-1))
        at, x = at + out * (1 + width), y
    return x[:, :outputs]


def linear(weights: Mapping[str, Array], name: str) -> Linear:
    """The linear layer of this name among a network's weights."""
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def linear_layers(weights: Mapping[str, Array], part: str) -> list[Linear]:
    """The linear layers that are numbered in a part of a network, in their order."""
    numbered = re.compile(re.escape(part) + r"\.(\d+)\.weight")
    numbers = sorted(int(match[1]) for match in map(numbered.fullmatch, weights) if match)
    return [linear(weights, f"{part}.{number}") for number in numbers]


def table_of(parts: Sequence[PackedLayers]) -> tuple[Int64, Int64]:
    """int64[P, *]: a row of widths for each part, zeros behind them.  int64[P]: how many layers each has."""
    widths = np.zeros((len(parts), max(len(part.widths) for part in parts)), dtype=np.int64)
    for row, part in zip(widths, parts, strict=True):
        row[: len(part.widths)] = part.widths
    return widths, np.array([max(0, len(part.widths) - 1) for part in parts], dtype=np.int64)
