"""What a finished critic says of histories, and how it lies in a checkpoint; it learns nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from sog.algorithms.sepot.critic import profiles
from sog.arrays import Array, Float64, Int32, Int64
from sog.errors import CheckpointError
from sog.games.histories.base import HistoryGame
from sog.nets.perceptron import Perceptron, network_from

__all__ = ["HistoryCritic", "critic_file", "critic_from", "stored_transformations"]

_PROFILES, _CRITIC, _TRANSFORMATIONS = "profiles", "critic.", "transformations."
_MOST = 1_000  # transformations
_CHUNK = 16_384  # histories that go through the network at once


class HistoryCritic:
    """See `sog.algorithms.sepot.search.Critic`."""

    def __init__(self, game: HistoryGame, network: Perceptron, pairs: Int64) -> None:
        """pairs: int64[Q, 2], the profiles of its outputs."""
        self.game, self.network, self.pairs = game, network, pairs
        self.count = int(pairs.max()) + 1

    def values(self, states: Int32, chooser: int) -> Float64:
        # Profiles in which the other player plays the policy itself.
        other = self.pairs[:, 1 - chooser] == 0
        return self.under_profiles(states)[:, other]

    def under_profiles(self, states: Int32) -> Float64:
        """float64[H, Q]: player 0's utilities under each profile."""
        parts = []
        with torch.inference_mode():
            for k in range(0, len(states), _CHUNK):
                x = torch.from_numpy(self.game.critic_inputs(states[k : k + _CHUNK]))
                parts.append(self.network(x).numpy())
        utilities: Float64 = self.game.u_max * np.concatenate(parts).astype(np.float64)
        return utilities


def stored_transformations(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The weights of learned transformations in a checkpoint's second file; none where they were not learned."""
    prefix = _TRANSFORMATIONS
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def critic_file(network: Perceptron, pairs: Int64, transformations: Mapping[str, Array]) -> dict[str, Array]:
    """What a checkpoint keeps beside the policy network, by name."""
    critic = {_CRITIC + name: weight for name, weight in network.weights().items()}
    return {
        _PROFILES: pairs,
        **critic,
        **{_TRANSFORMATIONS + name: weight for name, weight in transformations.items()},
    }


def critic_from(game: HistoryGame, arrays: Mapping[str, Array]) -> HistoryCritic:
    """The critic of a checkpoint; CheckpointError where the arrays are damaged or another game's."""
    pairs = arrays.get(_PROFILES)
    if pairs is None or pairs.dtype != np.int64 or pairs.ndim != 2 or not len(pairs) or len(pairs) > _MOST**2:
        raise CheckpointError("the critic's file is damaged")
    count = int(pairs.max()) + 1
    if not 0 < count <= _MOST or not np.array_equal(pairs, profiles(count)):
        raise CheckpointError("the critic's file is damaged")
    weights = {name.removeprefix(_CRITIC): array for name, array in arrays.items() if name.startswith(_CRITIC)}
    return HistoryCritic(game, network_from(weights, game.num_critic_inputs, len(pairs)), pairs)
