"""A network as its shape and its weights by name: what checkpoints hold, evaluators read and learners begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol, TypeAlias

import numpy as np

from sog.arrays import Array
from sog.errors import CheckpointError
from sog.games.base import Game
from sog.games.holdem.hand_inputs import WIDTH as HAND
from sog.games.scotland_yard.rules import TICKETS
from sog.games.scotland_yard.station_inputs import AROUND, CONTEXT, DETECTIVE
from sog.games.scotland_yard.station_inputs import WIDTH as STATION
from sog.nets.shape import NetworkShape, shape_on

__all__ = ["COUNT", "Network", "Sizes", "StoredNetwork", "network_on", "refuse_broken", "sizes_of", "untrained"]

# By a weight's name: its array's sizes.
Sizes: TypeAlias = dict[str, tuple[int, ...]]

COUNT: Final = "num_batches_tracked"  # how names of int64 end; all others are float32
FEW: Final = 32  # channels before a resnet's linear policy; AlphaGo Zero has 2


class Network(Protocol):
    """A network of any kind: one in memory or a module of PyTorch."""

    @property
    def shape(self) -> NetworkShape: ...

    def arrays(self) -> Mapping[str, Array]:
        """The weights by name."""
        ...


@dataclass(frozen=True, eq=False)
class StoredNetwork:
    """A network that only answers."""

    shape: NetworkShape
    weights: Mapping[str, Array]

    def arrays(self) -> Mapping[str, Array]:
        return self.weights


def network_on(network: Network, game: Game) -> Network:
    """The network as it plays another game: one over stations reads that game's map, with the same weights."""
    shape = shape_on(network.shape, game)
    return network if shape == network.shape else StoredNetwork(shape, network.arrays())


def untrained(shape: NetworkShape) -> StoredNetwork:
    """A network that answers 0 everywhere, as one does that has learned nothing."""
    weights: dict[str, Array] = {}
    for name, size in sizes_of(shape).items():
        kind = np.int64 if name.endswith(COUNT) else np.float32
        # Normalisation is the identity.
        weights[name] = np.full(size, name.endswith(("norm.weight", "running_var")), dtype=kind)
    return StoredNetwork(shape, weights)


def refuse_broken(network: Network) -> None:
    """Raise CheckpointError where a weight is NaN or infinite."""
    for name, weight in network.arrays().items():
        if not np.isfinite(weight).all():
            raise CheckpointError(f"the network has a NaN or infinite weight in {name}")


def sizes_of(shape: NetworkShape) -> Sizes:
    """The sizes of all weights of a network of this shape, as the modules of sog.nets.cvpn name them."""
    return _SIZES[shape.kind](shape)


def _linear(name: str, *widths: int, step: int = 2, first: int = 0) -> Sizes:
    """Linear layers of these widths, numbered `first`, `first + step`, ...; of one layer the name itself is its."""
    out: Sizes = {}
    for k, (inputs, outputs) in enumerate(pairwise(widths)):
        layer = f"{name}.{first + step * k}" if step else name
        out |= {f"{layer}.weight": (outputs, inputs), f"{layer}.bias": (outputs,)}
    return out


def _mlp(shape: NetworkShape) -> Sizes:
    hidden = (shape.width,) * shape.depth
    return _linear("body", shape.seen, *hidden) | _linear("head", shape.width, shape.head, step=0)


def _gelu(shape: NetworkShape) -> Sizes:
    out = _linear("head", shape.width, shape.head, step=0)
    for k in range(shape.depth):
        out |= _linear(f"body.layer{k}", shape.width if k else shape.seen, shape.width, step=0)
        out |= {f"body.layer{k}_norm.{part}": (shape.width,) for part in ("weight", "bias")}
    return out


def _convolution(name: str, inputs: int, outputs: int, side: int) -> Sizes:
    """A convolution with batch normalisation."""
    norm = {f"{name}.norm.{part}": (outputs,) for part in ("weight", "bias", "running_mean", "running_var")}
    return {f"{name}.conv.weight": (outputs, inputs, side, side), **norm, f"{name}.norm.{COUNT}": ()}


def _cells(name: str, inputs: int, outputs: int) -> Sizes:
    """A convolution of single cells, with biases."""
    return {f"{name}.weight": (outputs, inputs, 1, 1), f"{name}.bias": (outputs,)}


def _resnet(shape: NetworkShape) -> Sizes:
    (planes, height, width), w, policy = shape.planes, shape.width, shape.policy_planes
    out = _convolution("body.entry", planes, w, 3)
    for k in range(shape.depth):
        out |= _convolution(f"body.blocks.{k}.first", w, w, 3) | _convolution(f"body.blocks.{k}.second", w, w, 3)
    out |= _convolution("body.policy.layer", w, w if policy else FEW, 3 if policy else 1)
    if policy:
        out |= _cells("body.policy.cells_last", w, policy)
    if without := shape.actions - policy * height * width:
        out |= _linear("body.policy.rest_last", w if policy else FEW * height * width, without, step=0)
    out |= _convolution("body.value.layer", w, shape.value_planes, 1)
    out |= _linear("body.value.hidden", shape.value_planes * height * width, w, step=0)
    out |= _linear("body.value.value_last", w, 1, step=0)
    return out | (_cells("body.ownership_last", w, 1) if shape.ownership else {})


def _hands(shape: NetworkShape) -> Sizes:
    w, layers = shape.width, (shape.width,) * shape.depth
    out = _linear("body.first", HAND, *layers) | _linear("body.context", 2 * w + shape.features + 1, 2 * w)
    out |= _linear("body.added", 2 * w, w, step=0) | _linear("body.second", *layers, first=1)
    return out | _linear("body.value_last", w, 1, step=0) | _linear("body.policy_last", w, shape.actions, step=0)


def _stations(shape: NetworkShape) -> Sizes:
    w, layers, each = shape.width, (shape.width,) * shape.depth, shape.width // 2 + 1
    out = _linear("body.first", STATION, *layers) | _linear("body.each", DETECTIVE, each)
    out |= _linear("body.context", 2 * w + CONTEXT + each, w, w) | _linear("body.second", w, *layers, first=1)
    out |= _linear("body.enter", STATION + AROUND, w, w) | _linear("body.stay", STATION + AROUND, w, step=0)
    for name in ("leave", "chase"):
        out |= _linear(f"body.{name}", w, w, step=0) | _linear(f"body.{name}_last", w, 1, step=0)
    return out | _linear("body.value_last", w, 1, step=0) | {"body.by.weight": (w, len(TICKETS))}


_SIZES: Final = {"mlp": _mlp, "gelu": _gelu, "resnet": _resnet, "hands": _hands, "stations": _stations}
