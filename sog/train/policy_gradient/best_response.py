"""A learned best response: PPO against a frozen policy; its mean over both seats bounds exploitability below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sog.games.histories.base import HistoryGame
from sog.nets.cvpn import CVPN
from sog.train.policy_gradient.networks import policy_shape
from sog.train.policy_gradient.ppo import PpoSettings
from sog.train.policy_gradient.trajectories import sample

__all__ = ["LearnedResponse", "ResponseSettings", "learn_response"]


@dataclass(frozen=True)
class ResponseSettings:
    """How a response is learned and measured. steps: of PPO, on `games` games each.  measured: games of its measure,
    played as many at a time.

    width, depth: of its network.
    """

    steps: int = 1_000
    games: int = 2_048
    measured: int = 100_000
    width: int = 256
    depth: int = 2


@dataclass(frozen=True)
class LearnedResponse:
    """What a response wins of the frozen policy a game, in utilities.  interval: half of the 95% interval."""

    mean: float
    interval: float


def learn_response(
    game: HistoryGame,
    frozen: CVPN,
    seat: int,
    settings: ResponseSettings,
    seed: int = 0,
    report: Callable[[int], None] = lambda step: None,
) -> LearnedResponse:
    """Learn to play `seat` against the frozen policy network, and measure what was learned on fresh games."""
    network = CVPN(policy_shape(game, settings.width, settings.depth), seed)
    ppo = PpoSettings(learning_rate=1e-3, anneal=settings.steps, least=0.05, entropy=0.002, scale=1.0 / game.u_max)
    learner = ppo.make(network, seed)
    against = (1 - seat, frozen)
    for step in range(settings.steps):
        played = sample(game, learner.network, settings.games, np.random.default_rng((seed, seat, step)), against)
        learner.learn(played.of(seat))
        report(step + 1)
    fresh = np.random.default_rng((seed, seat, settings.steps, 1))
    parts = [min(settings.games, settings.measured - done) for done in range(0, settings.measured, settings.games)]
    utility = np.concatenate([sample(game, learner.best, part, fresh, against).utility for part in parts])
    won = (1 - 2 * seat) * utility
    return LearnedResponse(float(won.mean()), float(1.96 * won.std() / np.sqrt(len(won))))
