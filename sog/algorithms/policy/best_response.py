"""A learned best response: PPO against a frozen policy; its mean over both seats bounds exploitability below."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sog.algorithms.policy.ppo import PpoLearner
from sog.algorithms.policy.settings import PpoSettings, ResponseSettings
from sog.algorithms.policy.trajectories import sample
from sog.arrays import Float64
from sog.games.histories.base import HistoryGame
from sog.nets.cvpn import CVPN, module_of
from sog.nets.network import Network
from sog.nets.shape import policy_shape

__all__ = ["learn_response"]


def learn_response(
    game: HistoryGame,
    frozen: Network,
    seat: int,
    settings: ResponseSettings,
    seed: int = 0,
    report: Callable[[int], None] = lambda step: None,
) -> Float64:
    """Learn to play `seat` against the frozen policy network; float64[G]: the utilities it then wins in fresh games."""
    network = CVPN(policy_shape(game, settings.width, settings.depth), seed)
    # Little entropy, as a best response is pure; the utility is scaled so that settings fit every game.
    ppo = PpoSettings(learning_rate=1e-3, anneal=settings.steps, least=0.05, entropy=0.002, scale=1.0 / game.u_max)
    learner = PpoLearner(network, ppo, seed)
    against = (1 - seat, module_of(frozen))
    for step in range(settings.steps):
        played = sample(game, learner.network, settings.games, np.random.default_rng((seed, seat, step)), against)
        # The frozen player's decisions teach nothing.
        learner.learn(played.of(seat))
        report(step + 1)
    # Games that nothing was learned from, so that the mean is without bias.
    fresh = np.random.default_rng((seed, seat, settings.steps, 1))
    parts = [min(settings.games, settings.measured - done) for done in range(0, settings.measured, settings.games)]
    utility = np.concatenate([sample(game, learner.best, part, fresh, against).utility for part in parts])
    won: Float64 = (1 - 2 * seat) * utility.astype(np.float64)
    return won
