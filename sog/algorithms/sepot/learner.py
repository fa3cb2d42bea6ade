"""SePoT's training (Algorithm 1): a policy learner, and beside it transformations and the critic of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from sog.algorithms.policy.learners import LearnsPolicy, PolicyLearner, Update
from sog.algorithms.policy.networks import policies_of
from sog.algorithms.policy.rnad import RnadSettings
from sog.algorithms.policy.trajectories import Trajectories, sample
from sog.algorithms.policy.vtrace import Clips
from sog.algorithms.sepot.critic import CriticLearner, profiles
from sog.algorithms.sepot.trained_critic import kept_arrays, kept_transformations
from sog.algorithms.sepot.transformations import Identity, LearnedTransformations, Transformations, Weighted
from sog.arrays import Array
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_history_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import NetworkShape

__all__ = ["TRANSFORMATIONS", "SepotLearner", "SepotSettings", "transformations_of"]

_EXPLORED: Final = 1  # sets its generators apart from the actor's, (seed, step)
TRANSFORMATIONS: Final = ("learned", "predefined", "identity")


@dataclass(frozen=True)
class SepotSettings:
    """SePoT's, with Table 2's values as defaults; `policy` is that of the policy learner.

    game: the game string.  transformations: learned, predefined (Goofspiel's 22) or the identity alone.
    count: F, how many transformations are learned, the identity included.
    step: k, how far a transformation moves a policy; the paper does not say.  critic_rate: the critic's learning rate.
    critic_rho, critic_c: the largest importance weights of the critic's V-trace.
    exploring: the critic learns from as many games of its own in place of the policy's (ours): the kept policy plays
    them, but a share of each game's moves is uniform, and that share is drawn uniformly for each game. A search
    deviates from the policy, so its leaves are histories that the policy hardly plays.
    critic_target_rate: how far the kept critic moves towards the learning one at each step (ours); 1 keeps the latter.
    """

    game: str
    policy: LearnsPolicy = field(default_factory=RnadSettings)
    transformations: str = "learned"
    count: int = 10
    step: float = 0.5
    critic_rate: float = 3e-4
    critic_rho: float = float("inf")
    critic_c: float = 1.0
    exploring: bool = False
    critic_target_rate: float = 1.0

    @property
    def networks_beside(self) -> int:
        """The critic and the transformations."""
        return 2

    def __post_init__(self) -> None:
        if self.transformations not in TRANSFORMATIONS:
            known = ", ".join(TRANSFORMATIONS)
            raise SettingError(f"no transformations are called {self.transformations}; known: {known}")
        if self.count < 2 or not self.step > 0 or not self.critic_rate > 0:
            raise SettingError("SePoT needs two transformations or more, and a step and learning rate above 0")
        if not 0.0 < self.critic_target_rate <= 1.0:
            raise SettingError(f"critic_target_rate is a share above 0, not {self.critic_target_rate}")

    def make(self, network: CVPN, seed: int) -> SepotLearner:
        """The learner of this network."""
        return SepotLearner(self.policy.make(network, seed), self, seed)


class SepotLearner:
    """Learns as the policy learner it has; the critic values what that keeps, `best`, and its transformations."""

    def __init__(self, policy: PolicyLearner, settings: SepotSettings, seed: int) -> None:
        self.policy, self.settings, self.seed = policy, settings, seed
        self.game = make_history_game(settings.game)
        shape = policy.network.shape
        widths = (shape.width,) * shape.depth
        self.transformations: Transformations = _made(self.game, settings, widths, seed)
        which = profiles(self.transformations.count)
        learning, following = settings.critic_rate, settings.critic_target_rate
        self.critic = CriticLearner(self.game, which, widths, learning, following, seed + 2)

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
        return kept_arrays(self.critic.best, self.critic.which, self.transformations.weights())

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


def transformations_of(settings: SepotSettings, shape: NetworkShape, kept: Mapping[str, Array]) -> Transformations:
    """Those of a finished run, by the arrays of its checkpoint's second file. CheckpointError where they do not fit.

    shape: of its policy network.
    """
    made = _made(make_history_game(settings.game), settings, (shape.width,) * shape.depth, 0)
    if isinstance(made, LearnedTransformations):
        made.network.restore(kept_transformations(kept), "network of transformations")
    return made


def _made(game: Any, settings: SepotSettings, widths: tuple[int, ...], seed: int) -> Transformations:
    if settings.transformations == "identity":
        return Identity()
    if settings.transformations == "predefined":
        return Weighted(game)
    return LearnedTransformations(game, widths, settings.count, settings.step, seed + 3)  # 1 and 2 are the critics'
