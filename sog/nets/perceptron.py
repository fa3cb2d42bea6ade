"""Linear layers with ReLU: parts of larger networks, and plain networks for critics and transformations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from sog.arrays import Array
from sog.errors import CheckpointError
from sog.nets.weights import restore_weights, weights_of

__all__ = ["Perceptron", "network_from", "relu_layers"]

_MOST_LAYERS: Final = 1_000


def relu_layers(inputs: int, width: int, depth: int) -> nn.Sequential:
    """`depth` linear layers of `width`, each with a ReLU after it."""
    layers: list[nn.Module] = []
    for k in range(depth):
        layers += [nn.Linear(inputs if k == 0 else width, width), nn.ReLU()]
    return nn.Sequential(*layers)


class Perceptron(nn.Module):
    """Linear layers of these widths with ReLU between them; its weights alone say what it is."""

    def __init__(self, widths: Sequence[int], seed: int, last: float = 0.0) -> None:
        """He-uniform hidden weights, zero biases; the last layer's weights are uniform in [-last, last]."""
        super().__init__()
        self.widths = tuple(widths)
        with torch.random.fork_rng(devices=[]):
            made = [nn.Linear(a, b) for a, b in pairwise(widths)]
        self.layers = nn.ModuleList(made)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for k, layer in enumerate(made):
                bound = last if k == len(self.layers) - 1 else math.sqrt(6.0 / self.widths[k])
                layer.weight.uniform_(-bound, bound, generator=generator)
                layer.bias.zero_()

    def forward(self, x: Tensor) -> Tensor:
        for k, layer in enumerate(self.layers):
            x = layer(x if k == 0 else torch.relu(x))
        return x

    def weights(self) -> dict[str, Array]:
        """Copies of the weights by name."""
        return weights_of(self)

    def restore(self, saved: Mapping[str, Array], whose: str = "critic") -> None:
        """Put weights back; CheckpointError, which says whose they are, where they are another network's."""
        restore_weights(self, saved, whose)


def network_from(weights: Mapping[str, Array], inputs: int, outputs: int) -> Perceptron:
    """The network with these weights; CheckpointError unless it is one with this many inputs and outputs."""
    depth = len(weights) // 2
    names = [f"layers.{k}.{kind}" for k in range(depth) for kind in ("weight", "bias")]
    if not 0 < depth <= _MOST_LAYERS or set(names) != set(weights):
        raise CheckpointError("the critic's file is damaged")
    matrices = [weights[f"layers.{k}.weight"] for k in range(depth)]
    if any(m.ndim != 2 or m.dtype != np.float32 for m in matrices):
        raise CheckpointError("the critic's file is damaged")
    # The weights' shapes say the widths, which must chain from the game's inputs to the outputs.
    widths = [inputs, *(len(m) for m in matrices)]
    fits = all(m.shape == (b, a) for m, (a, b) in zip(matrices, pairwise(widths), strict=True))
    fits &= widths[-1] == outputs
    biases = [weights[f"layers.{k}.bias"] for k in range(depth)]
    fits &= all(x.shape == (n,) and x.dtype == np.float32 for x, n in zip(biases, widths[1:], strict=True))
    if not fits:
        raise CheckpointError("the critic is not one for this game")
    if not all(np.isfinite(x).all() for x in weights.values()):
        raise CheckpointError("the critic has a NaN or infinite weight")
    network = Perceptron(widths, 0)
    network.load_state_dict({name: torch.from_numpy(x.copy()) for name, x in weights.items()})
    return network
