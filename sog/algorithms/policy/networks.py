"""Policy networks over infostates of games by histories, and what is read off them.

They are CVPNs with one infostate a player, so that checkpoints are those of every other algorithm. The first value
is of the player who acts, in utilities times the learner's `scale` (1 with R-NaD); the second is not used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from sog.arrays import Array, Bool, Float32, Float64, Int64
from sog.games.histories.rows import distinct_rows
from sog.nets.cvpn import CVPN, ILLEGAL

__all__ = [
    "SeenDecisions",
    "answers",
    "each_once",
    "infostates_once",
    "policies_in_parts",
    "policies_of",
    "seen",
    "visit_weights",
]


@dataclass(frozen=True, eq=False)
class SeenDecisions:
    """What a network sees at D decisions, each of the U different inputs once: many games meet the same infostates.

    x: float32[U, N + 2], inputs as a CVPN takes them.  legal: bool[U, A].  row: int64[D], which of them each decision's
    is.
    """

    x: Tensor
    legal: Tensor
    row: Tensor

    def __getitem__(self, decisions: Tensor) -> SeenDecisions:
        """What it sees at some of the decisions."""
        rows, row = torch.unique(self.row[decisions], return_inverse=True)
        return SeenDecisions(self.x[rows], self.legal[rows], row)


def seen(inputs: Float32, legal: Bool) -> SeenDecisions:
    """Of float32[D, N] and bool[D, A]; each player's one infostate has the range 1."""
    first, row = infostates_once(inputs, legal)
    x = np.ones((len(first), inputs.shape[1] + 2), dtype=np.float32)
    x[:, :-2] = inputs[first]
    return SeenDecisions(torch.from_numpy(x), torch.from_numpy(legal[first]), torch.from_numpy(row))


def infostates_once(inputs: Float32, legal: Bool) -> tuple[Int64, Int64]:
    """A decision at each of the U different infostates, int64[U], and which of them each decision is at, int64[D].

    inputs: float32[D, N].  legal: bool[D, A].
    """
    first, row = distinct_rows(inputs)
    # Equal inputs with other legal actions are different infostates.
    if (legal[first][row] != legal).any():  # an input that is the same at several infostates
        first, row = distinct_rows(np.concatenate((inputs, legal), axis=1, dtype=np.float32))
    return first, row


def visit_weights(seen: SeenDecisions, power: float) -> Float64:
    """float64[D]: each decision's weight, up to a factor, if an infostate's weight is its visits to this power."""
    # An infostate with n visits has n decisions of weight n^(power - 1) each: n^power in all.
    visits = torch.bincount(seen.row).double() ** (power - 1.0)
    weights: Float64 = visits[seen.row].numpy()
    return weights


def answers(network: CVPN, seen: SeenDecisions) -> tuple[Tensor, Tensor, Tensor]:
    """Values [D], logits [D, A] and log-probabilities [D, A], those of illegal actions 0 and very low."""
    values, logits = network.split(network(seen.x))
    # Illegal logits are 0 in what is learned from, so that they get no gradient, and far below in the softmax.
    raw = logits[:, 0].masked_fill(~seen.legal, 0.0)
    log_policy = torch.log_softmax(raw.masked_fill(~seen.legal, ILLEGAL), dim=-1)
    columns = torch.cat((values[:, :1], raw, log_policy), dim=1).index_select(0, seen.row)
    masked, log_masked = columns[:, 1:].chunk(2, dim=1)
    return columns[:, 0], masked, log_masked


def each_once(network: nn.Module, rows: Array, inputs: Callable[[Array], Float32] = lambda rows: rows) -> Tensor:
    """[D, *]: a network's output for D rows, each different one evaluated once: many games meet the same.

    inputs: what the network sees of rows.
    """
    first, row = distinct_rows(rows)
    outputs: Tensor = network(torch.from_numpy(inputs(rows[first])))
    return outputs.index_select(0, torch.from_numpy(row))


def policies_of(network: CVPN, inputs: Float32, legal: Bool) -> Float32:
    """float32[D, A]: the network's policy at infostates, where each has a legal action."""
    with torch.inference_mode():
        log_policy = answers(network, seen(inputs, legal))[2]
        policy: Float32 = log_policy.exp().numpy()
    return policy


def policies_in_parts(network: CVPN, inputs: Float32, legal: Bool) -> Float32:
    """`policies_of` at any number of infostates, this many at once that memory suffices."""
    parts = range(0, len(inputs), _AT_ONCE)
    return np.concatenate([policies_of(network, inputs[k : k + _AT_ONCE], legal[k : k + _AT_ONCE]) for k in parts])


_AT_ONCE: Final = 16_384
