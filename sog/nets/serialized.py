"""A network's weights as bytes in safetensors format, and a network of them."""

from __future__ import annotations

from typing import Final

import safetensors
import safetensors.torch
import torch

from sog.errors import CheckpointError
from sog.files import Header
from sog.nets.cvpn import CVPN
from sog.nets.shape import NetworkShape

__all__ = ["check_weights", "network_bytes", "network_of", "without_weights"]

_DTYPES: Final = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64"}


def network_bytes(network: CVPN) -> bytes:
    """The weights in safetensors format, for files and for worker processes."""
    weights = {name: weight.detach().cpu().contiguous() for name, weight in network.state_dict().items()}
    return safetensors.torch.save(weights)


def network_of(shape: NetworkShape, content: bytes) -> CVPN:
    """A network with these weights on the CPU; raises CheckpointError where they do not fit the shape."""
    try:
        weights = safetensors.torch.load(content)
    except (safetensors.SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError("the network's file is damaged") from error
    network = without_weights(shape, len(weights))
    check_weights(network, {name: (_dtype(weight), tuple(weight.shape)) for name, weight in weights.items()})
    network.load_state_dict(weights, assign=True)
    return network


def without_weights(shape: NetworkShape, tensors: int) -> CVPN:
    """A network of this shape without memory for its weights, since a damaged file may state any shape."""
    try:
        # Each layer has a tensor at least, so a file of few tensors cannot state a network of a billion layers.
        if shape.depth <= tensors:
            with torch.device("meta"):
                return CVPN(shape)
    except (TypeError, ValueError, IndexError, RuntimeError, OverflowError) as error:
        raise CheckpointError("the checkpoint states a shape that no network has") from error
    raise CheckpointError("the network's weights are not of the shape that the checkpoint states")


def check_weights(network: CVPN, header: Header) -> None:
    if header != {name: (_dtype(weight), tuple(weight.shape)) for name, weight in network.state_dict().items()}:
        raise CheckpointError("the network's weights are not of the shape that the checkpoint states")


def _dtype(weight: torch.Tensor) -> str:
    return _DTYPES.get(weight.dtype, str(weight.dtype))
