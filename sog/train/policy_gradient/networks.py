"""Policy networks over infostates of games by histories, and what is read off them; it knows no learner.

They are CVPNs with one infostate a player, so that checkpoints are those of every other algorithm. The first value
is of the player who acts, in units of utility; the second is not used.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Tensor

from sog.arrays import Bool, Float32
from sog.games.histories.base import HistoryGame
from sog.nets.cvpn import CVPN, NetworkShape

__all__ = ["answers", "policies_of", "policy_shape", "tensor_of"]

NEVER: Final = -1e9  # the logit of an illegal action; finite, since 0 * inf is NaN


def policy_shape(game: HistoryGame, width: int, depth: int) -> NetworkShape:
    """The shape of a policy network for the game."""
    return NetworkShape(game.num_inputs, (1, 1), game.num_actions, width, depth)


def tensor_of(inputs: Float32) -> Tensor:
    """float32[D, N + 2]: inputs as a CVPN takes them, with the range 1 of each player's one infostate."""
    x = np.ones((len(inputs), inputs.shape[1] + 2), dtype=np.float32)
    x[:, :-2] = inputs
    return torch.from_numpy(x)


def answers(network: CVPN, x: Tensor, legal: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Values [D], logits [D, A] and log-probabilities [D, A], those of illegal actions 0 and very low."""
    values, logits = network.split(network(x))
    raw = logits[:, 0].masked_fill(~legal, 0.0)
    return values[:, 0], raw, torch.log_softmax(raw.masked_fill(~legal, NEVER), dim=-1)


def policies_of(network: CVPN, inputs: Float32, legal: Bool) -> Float32:
    """float32[D, A]: the network's policy at infostates, where each has a legal action."""
    with torch.inference_mode():
        log_policy = answers(network, tensor_of(inputs), torch.from_numpy(legal))[2]
        policy: Float32 = log_policy.exp().numpy()
    return policy
