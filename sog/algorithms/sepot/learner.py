"""SePoT's training (Algorithm 1): a policy learner, and beside it transformations and the critic of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np

from sog.algorithms.policy.learners import PolicyLearner, Update
from sog.algorithms.policy.loop import policy_learner, train_policy
from sog.algorithms.policy.networks import policies_of
from sog.algorithms.policy.settings import LearnsPolicy
from sog.algorithms.policy.trajectories import Trajectories, sample
from sog.algorithms.policy.vtrace import Clips
from sog.algorithms.sepot.critic import CriticLearner, profiles
from sog.algorithms.sepot.presets import SepotSettings
from sog.algorithms.sepot.trained_critic import critic_file, stored_transformations
from sog.algorithms.sepot.transformations import Identity, LearnedTransformations, Transformations, Weighted
from sog.arrays import Array
from sog.errors import CheckpointError
from sog.games.catalog import make_history_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import NetworkShape

__all__ = ["SepotLearner", "sepot_learner", "train_sepot", "transformations_of"]

_EXPLORED: Final = 1  # sets its generators apart from the actor's, (seed, step)


class SepotLearner:
    """Learns as the policy learner it has; the critic values what that keeps, `best`, and its transformations."""

    def __init__(self, policy: PolicyLearner, settings: SepotSettings, seed: int) -> None:
        self.policy, self.settings, self.seed = policy, settings, seed
        self.game = make_history_game(settings.game)
        shape = policy.network.shape
        widths = (shape.width,) * shape.depth
        self.transformations: Transformations = _made(self.game, settings, widths, seed)
        pairs = profiles(self.transformations.count)
        learning, following = settings.critic_rate, settings.critic_target_rate
        self.critic = CriticLearner(self.game, pairs, widths, learning, following, seed + 2)

    @property
    def network(self) -> CVPN:
        return self.policy.network

    @property
    def steps(self) -> int:
        return self.policy.steps

    @property
    def best(self) -> CVPN:
        return self.policy.best

    def learn(self, played: Trajectories) -> Update:
        """A step of the policy, then of the transformations, then of the critic (Algorithm 1, lines 4 to 10)."""
        # Lines 4 to 6: the policies before and after the step. Their difference is what transformations learn.
        update = self.policy.learn(played)
        self.transformations.learn(update)
        valued = self._explored(len(played.utility)) if self.settings.exploring else played
        # Of the kept policy, which is what a search will play on with.
        transformed = self.transformations.of(valued, policies_of(self.best, valued.inputs, valued.legal))
        self.critic.learn(valued, transformed, Clips(self.settings.critic_rho, self.settings.critic_c))
        return update

    def _explored(self, count: int) -> Trajectories:
        """The critic's own games of a step: the kept policy's, with another share of uniform moves in each."""
        rng = np.random.default_rng((self.seed, self.steps, _EXPLORED))
        return sample(self.game, self.best, count, rng, explored=rng.random(count))

    def critic_arrays(self) -> dict[str, Array]:
        """What a checkpoint keeps beside the policy network."""
        return critic_file(self.critic.best, self.critic.pairs, self.transformations.weights())

    def state(self) -> dict[str, Any]:
        return {
            "policy": self.policy.state(),
            "transformations": self.transformations.state(),
            "critic": self.critic.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        try:
            self.policy.restore(state["policy"])
            self.transformations.restore(state["transformations"])
            self.critic.restore(state["critic"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError("the checkpoint's learner is damaged") from error


def transformations_of(settings: SepotSettings, shape: NetworkShape, arrays: Mapping[str, Array]) -> Transformations:
    """Those of a finished run, by the arrays of its checkpoint's second file. CheckpointError where they do not fit.

    shape: of its policy network.
    """
    made = _made(make_history_game(settings.game), settings, (shape.width,) * shape.depth, 0)
    if isinstance(made, LearnedTransformations):
        made.network.restore(stored_transformations(arrays), "network of transformations")
    return made


def _made(game: Any, settings: SepotSettings, widths: tuple[int, ...], seed: int) -> Transformations:
    if settings.transformations == "identity":
        return Identity()
    if settings.transformations == "predefined":
        return Weighted(game)
    return LearnedTransformations(game, widths, settings.count, settings.step, seed + 3)  # 1 and 2 are the critics'


def sepot_learner(settings: LearnsPolicy, network: CVPN, seed: int) -> PolicyLearner:
    """The learner of this network, by SePoT's settings or those of a policy learner alone."""
    if not isinstance(settings, SepotSettings):
        return policy_learner(settings, network, seed)
    return SepotLearner(policy_learner(settings.policy, network, seed), settings, seed)


# Training, as of `train_policy`.
train_sepot: Final = partial(train_policy, make=sepot_learner)
