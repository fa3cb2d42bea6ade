"""The weights of any network as arrays that a checkpoint keeps, and a network that follows another's weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from sog.arrays import Array
from sog.errors import CheckpointError

__all__ = ["arrays_of", "follow", "restore_weights", "weights_of"]


def arrays_of(network: nn.Module) -> dict[str, Array]:
    """The weights by name, which change as the network learns."""
    return {name: weight.detach().cpu().contiguous().numpy() for name, weight in network.state_dict().items()}


def weights_of(network: nn.Module) -> dict[str, Array]:
    """Copies of the weights by name."""
    return {name: array.copy() for name, array in arrays_of(network).items()}


def restore_weights(network: nn.Module, saved: Mapping[str, Array], whose: str) -> None:
    """Put back what `weights_of` gave; CheckpointError, which says whose they are, where they are another network's."""
    try:
        network.load_state_dict({name: torch.from_numpy(weight.copy()) for name, weight in saved.items()})
    except (RuntimeError, AttributeError, TypeError) as error:
        raise CheckpointError(f"the checkpoint's {whose} belongs to another network") from error


def follow(slow: nn.Module, network: nn.Module, rate: float) -> None:
    """Move each weight of `slow`, and what its normalisation has seen, towards the network's by this share."""
    with torch.no_grad():
        for own, wanted in zip(slow.state_dict().values(), network.state_dict().values(), strict=True):
            # slow += rate * (network - slow); counts of batches are copied.
            if own.is_floating_point():
                own.lerp_(wanted, rate)
            else:
                own.copy_(wanted)
