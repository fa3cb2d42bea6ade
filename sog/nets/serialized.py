"""A network's weights as bytes in safetensors format, and a network of them."""

from __future__ import annotations

import safetensors
import safetensors.numpy

from sog.errors import CheckpointError
from sog.files import Header
from sog.nets.network import COUNT, Network, StoredNetwork, sizes_of
from sog.nets.shape import NetworkShape

__all__ = ["check_weights", "network_bytes", "network_of"]


def network_bytes(network: Network) -> bytes:
    """The weights in safetensors format, for files and for worker processes."""
    return safetensors.numpy.save(dict(network.arrays()))


def network_of(shape: NetworkShape, content: bytes) -> StoredNetwork:
    """A network with these weights; raises CheckpointError where they do not fit the shape."""
    try:
        weights = safetensors.numpy.load(content)
    except (safetensors.SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError("the network's file is damaged") from error
    check_weights(shape, {name: (_DTYPES.get(str(weight.dtype), ""), weight.shape) for name, weight in weights.items()})
    return StoredNetwork(shape, weights)


def check_weights(shape: NetworkShape, header: Header) -> None:
    """CheckpointError unless these are the weights of a network of this shape, which a damaged file may state."""
    try:
        # Each layer has a tensor at least, so a file of few tensors cannot state a network of a billion layers.
        if shape.depth <= len(header):
            wanted = {name: ("I64" if name.endswith(COUNT) else "F32", size) for name, size in sizes_of(shape).items()}
            if header == wanted:
                return
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise CheckpointError("the checkpoint states a shape that no network has") from error
    raise CheckpointError("the network's weights are not of the shape that the checkpoint states")


_DTYPES = {"float32": "F32", "int64": "I64"}
