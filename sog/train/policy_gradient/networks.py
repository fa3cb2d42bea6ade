"""Policy networks over infostates of games by histories, and what is read off them; it knows no learner.

They are CVPNs with one infostate a player, so that checkpoints are those of every other algorithm. The first value
is of the player who acts, in units of utility; the second is not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

from sog.arrays import Bool, Float32
from sog.games.histories.base import HistoryGame
from sog.games.histories.rows import distinct_rows
from sog.nets.cvpn import CVPN, NetworkShape

__all__ = ["Seen", "answers", "policies_of", "policy_shape", "seen"]

NEVER: Final = -1e9  # the logit of an illegal action; finite, since 0 * inf is NaN


def policy_shape(game: HistoryGame, width: int, depth: int) -> NetworkShape:
    """The shape of a policy network for the game."""
    return NetworkShape(game.num_inputs, (1, 1), game.num_actions, width, depth)


@dataclass(frozen=True, eq=False)
class Seen:
    """What a network sees at D decisions, each of the U different inputs once: many games meet the same infostates.

    x: float32[U, N + 2], inputs as a CVPN takes them.  row: int64[D], which of them each decision's is.
    """

    x: Tensor
    row: Tensor

    def __getitem__(self, decisions: Tensor) -> Seen:
        """What it sees at some of the decisions."""
        kept, row = torch.unique(self.row[decisions], return_inverse=True)
        return Seen(self.x[kept], row)


def seen(inputs: Float32) -> Seen:
    """Of float32[D, N]; each player's one infostate has the range 1."""
    first, row = distinct_rows(inputs)
    x = np.ones((len(first), inputs.shape[1] + 2), dtype=np.float32)
    x[:, :-2] = inputs[first]
    return Seen(torch.from_numpy(x), torch.from_numpy(row))


def answers(network: CVPN, seen: Seen, legal: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Values [D], logits [D, A] and log-probabilities [D, A], those of illegal actions 0 and very low."""
    found = network(seen.x).index_select(0, seen.row)
    values, logits = network.split(found)
    raw = logits[:, 0].masked_fill(~legal, 0.0)
    return values[:, 0], raw, torch.log_softmax(raw.masked_fill(~legal, NEVER), dim=-1)


def policies_of(network: CVPN, inputs: Float32, legal: Bool) -> Float32:
    """float32[D, A]: the network's policy at infostates, where each has a legal action."""
    with torch.inference_mode():
        log_policy = answers(network, seen(inputs), torch.from_numpy(legal))[2]
        policy: Float32 = log_policy.exp().numpy()
    return policy
