"""Targets from whole games: two-player V-trace (R-NaD, DeepNash) and lambda-returns (GAE); kernels without networks.

Decisions come in the order of time, so that one pass from the last to the first meets every game backwards.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.algorithms.policy.trajectories import Trajectories
from sog.arrays import Array, Float32, Float64, Int32
from sog.searches.kernels.jit import njit

__all__ = ["Clips", "advantages", "two_player_vtrace"]

# What a game carries backwards for each player: utility corrected by the ratios of the opponent's and chance's turns
# since the own next one, the same uncorrected, the next own value, its target, and the product of those ratios.
_CARRIED: Final = 5


class Clips(NamedTuple):
    """The largest importance ratios: rho weighs what is learned at a decision, c how far it is carried backwards."""

    rho: float
    c: float


def two_player_vtrace(
    played: Trajectories,
    values: Float32,
    policy: Float32,
    log_ratio: Float32,
    eta: float,
    clips: Clips,
    scale: float = 1.0,
) -> tuple[Float64, Float64]:
    """Targets of the values, float64[D], and estimated values of every action, float64[D, A], of who acts.

    values: float32[D].  policy: float32[D, A], to be valued.  log_ratio: float32[D, A], log(policy / regularisation
    policy), 0 where illegal: the player who acts pays eta * log_ratio of its action, the other gets it.
    scale: what a utility of 1 counts.  DeepNash (Science 2022), supplement.
    """
    targets, action_values = np.zeros(len(played)), np.zeros(policy.shape)
    carried = np.zeros((len(played.utility), 2, _CARRIED))
    carried[:, 0, 0] = carried[:, 0, 1] = scale * played.utility
    carried[:, 1, 0] = carried[:, 1, 1] = -scale * played.utility
    carried[:, :, 4] = 1.0
    moments = _Moments(played.game, played.actor, played.action, played.policy, values, policy, log_ratio)
    _vtrace(moments, eta, clips, carried, targets, action_values)
    return targets, action_values


class _Moments(NamedTuple):
    """What V-trace reads: the columns of trajectories that it needs, and its arguments of the same names."""

    games: Int32
    actors: Int32
    actions: Int32
    behaviour: Float32
    values: Float32
    policy: Float32
    log_ratio: Float32


@njit
def _vtrace(moments: _Moments, eta: float, clips: Clips, carried: Array, targets: Array, action_values: Array) -> None:
    """See `two_player_vtrace`. With ratio = policy / behaviour of the action taken, x the product of ratios since the
    player's own next decision (whose value is V', its target T'), and R the rewards since, R* the same with ratios:

    target = v + min(rho, ratio * x) * (R - eta * kl + V' - v) + min(c, ratio * x) * (T' - V'),
    q[a] = v - eta * log_ratio[a] + [a taken] * (R* + x * T' - v) / behaviour[a],
    kl = sum over a of policy[a] * log_ratio[a], what the decision costs who acts and pays the other.
    """
    games, policy, behaviour, log_ratio = moments.games, moments.policy, moments.behaviour, moments.log_ratio
    for d in range(len(games) - 1, -1, -1):
        me, action, v = moments.actors[d], moments.actions[d], float(moments.values[d])
        own, other = carried[games[d], me], carried[games[d], 1 - me]
        # The regularisation's cost in the mean over the policy's actions, not that of the action taken: less noise.
        kl = 0.0
        for a in range(policy.shape[1]):
            kl += policy[d, a] * log_ratio[d, a]
        ratio = policy[d, action] / behaviour[d, action]
        weight = ratio * own[4]
        delta = own[1] - eta * kl + own[2] - v
        target = v + min(clips.rho, weight) * delta + min(clips.c, weight) * (own[3] - own[2])
        for a in range(policy.shape[1]):
            action_values[d, a] = v - eta * log_ratio[d, a]
        action_values[d, action] += (own[0] + own[4] * own[3] - v) / behaviour[d, action]
        targets[d] = target
        # From here back this decision is the player's next one.
        own[0] = own[1] = 0.0
        own[2], own[3], own[4] = v, target, 1.0
        # To the opponent it is a turn on the way: paid kl, and weighed by the ratio of what was done.
        other[0] = eta * kl + ratio * other[0]
        other[1] += eta * kl
        other[4] *= ratio


def advantages(played: Trajectories, values: Float32, mixing: float, scale: float = 1.0) -> Float64:
    """float64[D]: generalised advantages of what was done, over each player's own decisions; no discount.

    values: float32[D].  mixing: lambda.  scale: what a utility of 1 counts.  The return of a decision is its value
    plus its advantage.
    """
    out = np.zeros(len(played))
    following = np.zeros((len(played.utility), 2, 2))  # a game's next value of each player, and advantage there
    following[:, 0, 0], following[:, 1, 0] = scale * played.utility, -scale * played.utility
    _advantages(played.game, played.actor, values, mixing, following, out)
    return out


@njit
def _advantages(games: Int32, actors: Int32, values: Float32, mixing: float, following: Float64, out: Float64) -> None:
    """A[d] = V' - V[d] + lambda * A', with V' and A' of the same player's next decision; at the end its utility, 0."""
    for d in range(len(games) - 1, -1, -1):
        after = following[games[d], actors[d]]
        out[d] = after[0] - values[d] + mixing * after[1]
        after[0], after[1] = values[d], out[d]
