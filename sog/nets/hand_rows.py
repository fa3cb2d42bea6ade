"""The network over hold'em's hands on one core: its weights as the Numba kernels read them, and its outputs by row."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from sog.arrays import Float32
from sog.games.holdem.cards import HANDS
from sog.nets.cpu import hand_layers
from sog.nets.cpu.dense import registers_here
from sog.nets.hands import HandNetwork, Seen, outputs_of
from sog.nets.packed_layers import PackedLayers, linear_layers, table_of
from sog.nets.shape import NetworkShape
from sog.searches.kernels.vectors import padded
from sog.searches.leaves.evaluator import Wanted

__all__ = ["HandRows"]


class HandRows:
    """The outputs of a network over hands by Numba, with a copy of its weights.

    A belief's outputs are the same bits whatever it is joined with.
    """

    def __init__(self, network: HandNetwork) -> None:
        self.shape: NetworkShape = network.shape
        self.plain = tuple(_packed(network))

    def __call__(self, x: Float32, wanted: Wanted) -> Float32:
        """float32[B, 2652 + 1326 * A] of encoded beliefs float32[B, D], or the part of it that is wanted."""
        seen = Seen.of(self.shape, x)
        count = len(seen.rows)
        values = np.zeros((count, 2, 0 if wanted is Wanted.POLICIES else HANDS), dtype=np.float32)
        logits = np.zeros((count, 0 if wanted is Wanted.VALUES else HANDS, self.shape.actions), dtype=np.float32)
        hand_layers.evaluate(self.plain, seen.hands, seen.shares, seen.features, seen.actors, values, logits)
        values *= seen.left[:, None, None]
        out: Float32 = np.zeros((len(x), outputs_of(self.shape, wanted)), dtype=np.float32)
        heads = values.shape[1] * values.shape[2]
        out[seen.rows, :heads] = values.reshape(count, heads)
        out[seen.rows, heads:] = logits.reshape(count, out.shape[1] - heads)
        return out


def _packed(network: HandNetwork) -> hand_layers.Hands:
    """The network's layers with widths padded to whole registers; a padded output is 0, and its weights are."""
    shape = network.shape
    narrow, wide = shape.width, padded(shape.width)
    # The context sees both summaries, each padded, then the features and the player.
    places = np.concatenate([np.arange(narrow), wide + np.arange(narrow), 2 * wide + np.arange(shape.features + 1)])
    parts = [
        PackedLayers.of(linear_layers(network.first)),
        PackedLayers.of([*linear_layers(network.context), network.added], places, 2 * wide + shape.features + 1),
        PackedLayers.of(linear_layers(network.second), inputs=wide),
        PackedLayers.of([_together(network.value_last, network.policy_last)], inputs=wide),
    ]
    widths, depths = table_of(parts)
    most = int(widths.max())
    one, two = np.zeros((2, hand_layers.ROWS * most), dtype=np.float32)
    first, context, second, last = (part.weights for part in parts)
    seen: Float32 = np.zeros(2 * HANDS * wide, dtype=np.float32)
    asked: Float32 = np.zeros((2, 4 * wide + 2 * most), dtype=np.float32)
    return hand_layers.Hands(first, context, second, last, widths, depths, registers_here(), seen, one, two, asked)


def _together(one: nn.Linear, two: nn.Linear) -> nn.Linear:
    """A layer with the outputs of both."""
    out = nn.Linear(one.in_features, one.out_features + two.out_features)
    with torch.no_grad():
        out.weight.copy_(torch.cat((one.weight, two.weight)))
        out.bias.copy_(torch.cat((one.bias, two.bias)))
    return out
