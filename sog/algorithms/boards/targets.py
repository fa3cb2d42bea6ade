"""Policy targets from a finished search of a position.

Completed values and the improved policy are Gumbel AlphaZero's (Danihelka et al., ICLR 2022, section 4 and appendix D):
moves that the search has not opened get the mixed value instead of a share of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError

__all__ = [
    "RootStatistics",
    "TargetSettings",
    "completed_values",
    "divergence",
    "improved_logits",
    "policy_target",
    "softmax",
]


class RootStatistics(NamedTuple):
    """What a search says of its root, a legal action each; values are the mover's, as shares of the largest utility.

    logits: float64[A], of the network's policy.  shares: float64[A], the search's own policy (GT-CFR's average policy,
    MCTS's visits).  visits: float64[A].  values: float64[A], NaN where the action was not opened.  value: the root's.
    """

    logits: Float64
    shares: Float64
    visits: Float64
    values: Float64
    value: float


@dataclass(frozen=True)
class TargetSettings:
    """What a policy target holds.

    completed: softmax(logits / T + sigma(completed values)) instead of the search's own policy. sigma is
    (c_visit + the most visits of an action) * c_scale * value, where a loss is 0 and a win 1.
    c_visit: a constant of sigma, see `completed`.  c_scale: the factor of sigma, see `completed`.
    target_temperature: T of `completed`. With a T above 1 a network that has learned its own targets has logits of
    sigma * T / (T - 1); with 1 every round adds sigma again, and the best move becomes the only one, however small its
    lead.
    """

    completed: bool = True
    c_visit: float = 50.0
    c_scale: float = 1.0
    target_temperature: float = 1.0

    def __post_init__(self) -> None:
        if not (self.c_visit >= 0.0 and self.c_scale > 0.0):
            raise SettingError(f"c_visit is at least 0 and c_scale above 0, not {self.c_visit} and {self.c_scale}")
        if not self.target_temperature > 0.0:
            raise SettingError(f"a target's target_temperature must be positive, not {self.target_temperature}")


def policy_target(root: RootStatistics, settings: TargetSettings) -> Float64:
    """float64[A]: the policy that a row of this position holds."""
    if settings.completed:
        return softmax(improved_logits(root, settings))
    target: Float64 = root.shares / root.shares.sum()
    return target


def improved_logits(root: RootStatistics, settings: TargetSettings) -> Float64:
    """float64[A]: the network's logits and sigma(completed values), of which the softmax is the improved policy.

    logits / T + (c_visit + max over b of N[b]) * c_scale * (1 + v[a]) / 2, v[a] in [-1, 1].
    """
    scale = (settings.c_visit + root.visits.max()) * settings.c_scale
    improved: Float64 = root.logits / settings.target_temperature + scale * 0.5 * (1.0 + completed_values(root))
    return improved


def completed_values(root: RootStatistics) -> Float64:
    """float64[A]: each action's value where it was opened, elsewhere the mixed value (appendix D).

    The mixed value is (v + N q) / (1 + N): N visits in all, q the mean of the known values by the network's policy. v
    is the root's value by the search, which is better than the network's and known for a tree that was kept.
    """
    known = ~np.isnan(root.values)
    if known.all():
        return root.values
    prior, visits = softmax(root.logits), root.visits.sum()
    mixed = root.value
    # Weighed by the prior, not by visits, which already follow values.
    if known.any() and prior[known].sum() > 0.0:
        mean = (prior[known] * root.values[known]).sum() / prior[known].sum()
        mixed = (root.value + visits * mean) / (1.0 + visits)
    return np.where(known, root.values, mixed)


def softmax(logits: Float64) -> Float64:
    """float64[A]: probabilities in proportion to exp(logits)."""
    weights = np.exp(logits - logits.max())
    probabilities: Float64 = weights / weights.sum()
    return probabilities


def divergence(target: Float64, logits: Float64) -> float:
    """KL of the target from the network's policy, nats: how much the search surprised the network."""
    shifted = logits - logits.max()
    log_prior = shifted - np.log(np.exp(shifted).sum())
    positive = target > 0.0
    return max(0.0, float((target[positive] * (np.log(target[positive]) - log_prior[positive])).sum()))
