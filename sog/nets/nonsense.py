"""Whether a network's answers are numbers at all: one question to it by NumPy, when it is loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from sog.arrays import Array
from sog.errors import CheckpointError
from sog.nets.network import Network
from sog.nets.packed_layers import linear, linear_layers

__all__ = ["answer_to_ones", "refuse_nonsense"]

_EPS = 1e-5  # of normalisation


def refuse_nonsense(network: Network) -> None:
    """Raise CheckpointError where the network answers a NaN or infinite number to one question, inputs that are all 1.

    Weights may be finite and their products not. Networks over hands and stations read cards and places among their
    inputs, and are not asked.
    """
    with np.errstate(all="ignore"):
        if network.shape.kind not in ("hands", "stations") and not np.isfinite(answer_to_ones(network)).all():
            raise CheckpointError("the network answers values that are not finite; its weights may be broken")


def answer_to_ones(network: Network) -> Array:
    """What its last layers give for inputs that are all 1: of a resnet the mover's value, then the logits."""
    shape, weights = network.shape, {name.removeprefix("body."): array for name, array in network.arrays().items()}
    if shape.kind == "resnet":
        return _resnet(weights, np.ones(shape.planes, dtype=np.float32), shape.depth)
    return _layered(network.arrays(), np.ones(shape.seen, dtype=np.float32), shape.depth)


def _layered(weights: Mapping[str, Array], x: Array, depth: int) -> Array:
    """Linear layers, with normalisation and GELU where the network has them, else with ReLU."""
    for weight, bias in linear_layers(weights, "body"):
        x = np.maximum(weight @ x + bias, 0)
    for k in range(depth if "body.layer0.weight" in weights else 0):
        x = _linear(weights, f"body.layer{k}", x)
        scale, shift = linear(weights, f"body.layer{k}_norm")
        x = scale * (x - x.mean()) / np.sqrt(x.var() + _EPS) + shift
        # Not by SciPy, whose import takes a tenth of a second of every process that loads a network.
        x = 0.5 * x * (1 + np.array([math.erf(each) for each in x / np.sqrt(2)], dtype=x.dtype))
    return _linear(weights, "head", x)


def _resnet(weights: Mapping[str, Array], x: Array, depth: int) -> Array:
    """x: planes [C, H, W]."""
    x = np.maximum(_convolved(weights, "entry", x), 0)
    for k in range(depth):
        inner = np.maximum(_convolved(weights, f"blocks.{k}.first", x), 0)
        x = np.maximum(x + _convolved(weights, f"blocks.{k}.second", inner), 0)
    value = np.maximum(_convolved(weights, "value.layer", x), 0).ravel()
    outputs = [np.tanh(_linear(weights, "value.value_last", np.maximum(_linear(weights, "value.hidden", value), 0)))]
    x = np.maximum(_convolved(weights, "policy.layer", x), 0)
    cells = "policy.cells_last.weight" in weights
    if cells:
        weight, bias = linear(weights, "policy.cells_last")
        # Cell by cell: an action's number is cell * planes + plane.
        outputs.append((np.tensordot(x, weight[:, :, 0, 0], (0, 1)) + bias).ravel())
    if "policy.rest_last.weight" in weights:
        outputs.append(_linear(weights, "policy.rest_last", x.mean(axis=(1, 2)) if cells else x.ravel()))
    return np.concatenate(outputs)


def _linear(weights: Mapping[str, Array], name: str, x: Array) -> Array:
    weight, bias = linear(weights, name)
    out: Array = weight @ x + bias
    return out


def _convolved(weights: Mapping[str, Array], name: str, x: Array) -> Array:
    """A convolution with batch normalisation: planes [C, H, W] as [O, H, W]."""
    weight, (scale, shift) = weights[f"{name}.conv.weight"], linear(weights, f"{name}.norm")
    side = weight.shape[2]
    around = np.pad(x, ((0, 0), *((side // 2, side // 2),) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(around, (side, side), axis=(1, 2))
    out = np.tensordot(weight, windows, ((1, 2, 3), (0, 3, 4))) - weights[f"{name}.norm.running_mean"][:, None, None]
    deviation = np.sqrt(weights[f"{name}.norm.running_var"] + _EPS)
    normalised: Array = out * (scale / deviation)[:, None, None] + shift[:, None, None]
    return normalised
