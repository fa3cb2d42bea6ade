"""The network over Scotland Yard's stations on one core: values by Numba, logits by PyTorch, by row.

A search asks for a leaf's values at every update and for its logits once, when it is opened.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import torch

from sog.arrays import Float32
from sog.games.scotland_yard.station_inputs import CONTEXT, station_inputs
from sog.nets.cpu import station_layers
from sog.nets.cpu.dense import registers_here
from sog.nets.packed_layers import PackedLayers, linear_layers, table_of
from sog.nets.shape import NetworkShape
from sog.nets.stations import StationNetwork
from sog.searches.kernels.vectors import padded
from sog.searches.leaves.evaluator import Wanted

__all__ = ["StationRows"]


class StationRows:
    """The outputs of a network over stations, with a copy of its weights.

    A belief's values are the same bits whatever it is joined with.
    """

    def __init__(self, network: StationNetwork) -> None:
        self.shape: NetworkShape = network.shape
        self.network, self.plain = deepcopy(network), tuple(_packed(network))

    def __call__(self, x: Float32, wanted: Wanted) -> Float32:
        """float32[B, N + 1 + P] of encoded beliefs float32[B, D], or the part of it that is wanted."""
        parts = []
        if wanted is not Wanted.POLICIES:
            values: Float32 = np.zeros((len(x), self.shape.num_values), dtype=np.float32)
            known = station_inputs(x, self.network.game)[0]
            station_layers.evaluate(self.plain, tuple(known), values)
            parts.append(values)
        if wanted is not Wanted.VALUES:
            with torch.inference_mode():
                parts.append(self.network.part(torch.from_numpy(x), Wanted.POLICIES).numpy())
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _packed(network: StationNetwork) -> station_layers.Stations:
    """The network's layers with widths padded to whole registers; a padded output is 0, and its weights are."""
    each, narrow, wide = PackedLayers.of(linear_layers(network.each)), network.shape.width, padded(network.shape.width)
    # The context sees both summaries, each padded, what is public, and the sum over detectives, padded.
    chasing = linear_layers(network.each)[-1].out_features
    places = np.concatenate([np.arange(narrow), wide + np.arange(narrow), 2 * wide + np.arange(CONTEXT + chasing)])
    parts = [
        PackedLayers.of(linear_layers(network.first)),
        each,
        PackedLayers.of(linear_layers(network.context), places, 2 * wide + CONTEXT + each.widths[-1]),
        PackedLayers.of(linear_layers(network.second), inputs=wide),
        PackedLayers.of([network.value_last], inputs=wide),
    ]
    widths, depths = table_of(parts)
    # Room for a row of each station, or each detective, that is as wide as the widest layer.
    most, rows = int(widths.max()), max(network.shape.slots[0], network.game.rules.detectives)
    seen, one, two = np.zeros((3, rows * most), dtype=np.float32)
    asked, added = np.zeros(int(widths[2, 0]), dtype=np.float32), np.zeros(wide, dtype=np.float32)
    first, _, context, second, last = (part.weights for part in parts)
    weights = first, each.weights, context, second, last
    return station_layers.Stations(*weights, widths, depths, registers_here(), seen, one, two, asked, added)
