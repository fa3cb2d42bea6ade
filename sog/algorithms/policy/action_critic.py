"""A critic of whole histories: what each action there is worth, by expected SARSA(lambda); it changes no policy.

It knows both hands, which who acts does not, and says what the actions are worth that were not taken. A policy that
learns from it is not moved by outcome / probability, whose noise is largest where an action is rare (Fan and Farina,
arXiv 2605.19235, use such a critic for PPO).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from sog.algorithms.policy.networks import each_once
from sog.algorithms.policy.settings import ActionCriticSettings
from sog.algorithms.policy.trajectories import Trajectories
from sog.arrays import Float32, Float64, Int32
from sog.games.catalog import make_history_game
from sog.nets.perceptron import Perceptron
from sog.searches.kernels.jit import njit
from sog.training.learner import memory_of, restore_memory

__all__ = ["ActionCritic", "CriticRates", "action_targets"]


class ActionCritic:
    """Estimates, in units of the game's largest reward, for the player who acts."""

    def __init__(self, settings: ActionCriticSettings, scale: float, seed: int) -> None:
        """scale: what a utility of 1 counts as a reward."""
        self.settings, self.game = settings, make_history_game(settings.game)
        self.unit = scale * self.game.u_max
        widths = (self.game.num_critic_inputs, *(settings.critic_width,) * settings.critic_depth, self.game.num_actions)
        self.network = Perceptron(widths, seed)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=settings.critic_rate, fused=True)

    def learn(self, played: Trajectories, policy: Float32, log_ratio: Float32, eta: float) -> tuple[Float64, Float64]:
        """Value games as `action_targets` does, by what it knew before them, and learn from them.

        Returns targets of values, float64[D], and the value of each action, float64[D, A].
        """
        outputs = each_once(self.network, played.states, self.game.critic_inputs)
        estimates: Float32 = outputs.detach().mul(self.unit).numpy()
        rates = CriticRates(eta, self.settings.critic_mixing, self.settings.heaviest)
        valued = action_targets(played, estimates, policy, log_ratio, rates, self.unit / self.game.u_max)
        goals = torch.from_numpy((valued.goals / self.unit).astype(np.float32))
        taken = torch.from_numpy(played.action.astype(np.int64))[:, None]
        self.optimiser.zero_grad()
        ((outputs.gather(1, taken)[:, 0] - goals) ** 2).mean().backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return valued.values, valued.actions

    def state(self) -> dict[str, Any]:
        return {"weights": self.network.weights(), "optimiser": memory_of(self.optimiser)}

    def restore(self, state: dict[str, Any]) -> None:
        self.network.restore(state["weights"])
        restore_memory(self.optimiser, state["optimiser"])


class ActionTargets(NamedTuple):
    """What games say of their decisions, for the player who acts.

    values: float64[D], of the history.  actions: float64[D, A], of each action.  goals: float64[D], what followed the
    action taken: the critic's target for it.
    """

    values: Float64
    actions: Float64
    goals: Float64


class CriticRates(NamedTuple):
    """eta: of the pay for leaving the regularisation policy.  mixing, heaviest: see `ActionCriticSettings`."""

    eta: float
    mixing: float
    heaviest: float


def action_targets(
    played: Trajectories,
    estimates: Float32,
    policy: Float32,
    log_ratio: Float32,
    rates: CriticRates,
    scale: float = 1.0,
) -> ActionTargets:
    """Value every decision backwards from the ends of the games.

    estimates: float32[D, A], the critic's, without what the decision itself costs.  policy: float32[D, A], to be
    valued.  log_ratio: float32[D, A], log(policy / regularisation policy), 0 where illegal: who acts pays eta times it
    for its action and the other gets it.  scale: what a utility of 1 counts.
    """
    out = ActionTargets(np.zeros(len(played)), np.zeros(policy.shape), np.zeros(len(played)))
    moments = _CriticMoments(played.game, played.actor, played.action, played.policy, estimates, policy, log_ratio)
    _backwards(moments, rates, scale * played.utility, out)
    return out


class _CriticMoments(NamedTuple):
    """The columns of trajectories that are read, and `action_targets`'s arguments of the same names."""

    games: Int32
    actors: Int32
    actions: Int32
    behaviour: Float32
    estimates: Float32
    policy: Float32
    log_ratio: Float32


@njit
def _backwards(moments: _CriticMoments, rates: CriticRates, following: Float64, out: ActionTargets) -> None:
    """Expected SARSA(lambda), backwards; see `action_targets`. For who acts, with G what followed the action taken:

    w[a] = estimate[a] - eta * log_ratio[a],  error = G - estimate[taken],  goal of the critic: G,
    q[a] = w[a] + [a taken] * min(heaviest, 1 / behaviour[a]) * error,
    v = sum over a of policy[a] * w[a] + lambda * min(1, policy / behaviour) * error: the G of the
    decision above, as its player sees it.
    following: float64[B], what player 0 gets from each game's state on; the utility at its end.
    """
    policy, behaviour, estimates = moments.policy, moments.behaviour, moments.estimates
    for d in range(len(moments.games) - 1, -1, -1):
        g, action = moments.games[d], moments.actions[d]
        # Values for who acts; `following` is player 0's.
        side = 1.0 - 2.0 * moments.actors[d]
        value = 0.0
        for a in range(policy.shape[1]):
            worth = estimates[d, a] - rates.eta * moments.log_ratio[d, a]
            value += policy[d, a] * worth
            out.actions[d, a] = worth
        goal = side * following[g]
        error = goal - estimates[d, action]
        out.goals[d] = goal
        # Without bias at heaviest = infinity: in the mean over the action taken the error counts once.
        out.actions[d, action] += min(rates.heaviest, 1.0 / behaviour[d, action]) * error
        out.values[d] = value + rates.mixing * min(1.0, policy[d, action] / behaviour[d, action]) * error
        following[g] = side * out.values[d]
