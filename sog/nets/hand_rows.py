"""The network over hold'em's hands on one core: its weights as the Numba kernels read them, and its outputs by row."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float32
from sog.games.holdem.cards import HANDS
from sog.nets.cpu import hand_layers
from sog.nets.cpu.dense import registers_here
from sog.nets.hand_inputs import Seen, outputs_of
from sog.nets.network import Network
from sog.nets.packed_layers import PackedLayers, linear, linear_layers, table_of
from sog.searches.kernels.vectors import padded
from sog.searches.leaves.evaluator import Wanted

__all__ = ["HandRows"]


class HandRows:
    """The outputs of a network over hands by Numba, with a copy of its weights.

    A belief's outputs are the same bits whatever it is joined with.
    """

    def __init__(self, network: Network) -> None:
        self.shape = network.shape
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


def _packed(network: Network) -> hand_layers.Hands:
    """The network's layers with widths padded to whole registers; a padded output is 0, and its weights are."""
    shape, weights = network.shape, network.arrays()
    value, policy = linear(weights, "body.value_last"), linear(weights, "body.policy_last")
    # One layer with the outputs of both.
    last_layer = np.concatenate((value[0], policy[0])), np.concatenate((value[1], policy[1]))
    context_layers = [*linear_layers(weights, "body.context"), linear(weights, "body.added")]
    narrow, wide = shape.width, padded(shape.width)
    # The context sees both summaries, each padded, then the features and the player.
    places = np.concatenate([np.arange(narrow), wide + np.arange(narrow), 2 * wide + np.arange(shape.features + 1)])
    parts = [
        PackedLayers.of(linear_layers(weights, "body.first")),
        PackedLayers.of(context_layers, places, 2 * wide + shape.features + 1),
        PackedLayers.of(linear_layers(weights, "body.second"), inputs=wide),
        PackedLayers.of([last_layer], inputs=wide),
    ]
    widths, depths = table_of(parts)
    most = int(widths.max())
    one, two = np.zeros((2, hand_layers.ROWS * most), dtype=np.float32)
    first, context, second, last = (part.weights for part in parts)
    seen: Float32 = np.zeros(2 * HANDS * wide, dtype=np.float32)
    asked: Float32 = np.zeros((2, 4 * wide + 2 * most), dtype=np.float32)
    return hand_layers.Hands(first, context, second, last, widths, depths, registers_here(), seen, one, two, asked)
