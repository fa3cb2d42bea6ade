"""Reinforcement learning in self-play, one agent a player: tabular Q-learning, DQN and A2C (PoG, C.4.2).

Episodes are played in OpenSpiel's environment; Q-learning and A2C are OpenSpiel's. What the agents would play
together is read off as a policy of our public tree, so that our best responses measure it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
import torch
from open_spiel.python.algorithms.tabular_qlearner import QLearner
from open_spiel.python.pytorch.policy_gradient import PolicyGradient
from open_spiel.python.rl_agent_policy import JointRLAgentPolicy
from open_spiel.python.rl_environment import ChanceEventSampler, Environment

from sog.play.openspiel_states import states_of_infostates
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree
from soglab.baselines.dqn import DQN, DQNSettings

__all__ = ["AGENTS", "STEP_SIZE", "A2CSettings", "AgentName", "SelfPlay"]

AgentName: TypeAlias = Literal["q-learning", "dqn", "a2c"]
AGENTS: Final[tuple[AgentName, ...]] = get_args(AgentName)

STEP_SIZE: Final = 0.1  # one of PoG, Table 6. Q-learning explores at OpenSpiel's constant rate, 0.2


@dataclass(frozen=True)
class A2CSettings:
    """What PoG, Table 6, sweeps over for A2C. hidden: width of each hidden layer, which actor and critic share.

    critic_updates: of the critic for one of the actor, each from at least 16 decisions.
    """

    hidden: tuple[int, ...] = (64,)
    actor_rate: float = 1e-3
    critic_rate: float = 1e-2
    critic_updates: int = 4


# OpenSpiel adds cost * entropy to a loss that it makes small: a negative cost is what rewards entropy.
_ENTROPY_COST: Final = -0.01


class SelfPlay:
    """Two agents of one kind that learn from playing each other; decided by the seed alone."""

    def __init__(
        self,
        public: PublicTree,
        agent: AgentName,
        seed: int,
        dqn: DQNSettings | None = None,
        a2c: A2CSettings | None = None,
    ) -> None:
        """public: the listed game.  dqn, a2c: None for the defaults. GameError where OpenSpiel lacks the game."""
        self.public = public
        self._turns = list(states_of_infostates(public))
        self._draws = _Draws(seed)
        with self._draws.used():
            name = public.game.name
            self._environment = Environment(name, chance_event_sampler=ChanceEventSampler(seed))
            inputs = self._environment.observation_spec()["info_state"][0]
            actions = self._environment.action_spec()["num_actions"]
            self.agents: list[Any] = []
            for p in (0, 1):
                if agent == "q-learning":
                    self.agents.append(QLearner(p, actions, step_size=STEP_SIZE))
                elif agent == "dqn":
                    self.agents.append(DQN(p, inputs, actions, dqn or DQNSettings(), 2 * seed + p))
                else:
                    self.agents.append(_a2c(p, inputs, actions, a2c or A2CSettings()))

    def train(self, episodes: int) -> None:
        """Play and learn from this many more episodes."""
        with self._draws.used():
            for _ in range(episodes):
                time_step = self._environment.reset()
                while not time_step.last():
                    actor = self.agents[time_step.observations["current_player"]]
                    time_step = self._environment.step([actor.step(time_step).action])
                for agent in self.agents:
                    agent.step(time_step)

    def policy(self) -> exact.Policy:
        """What both agents play without exploring; uniform at infostates that cannot be held. It changes no agent."""
        joint = JointRLAgentPolicy(self._environment.game, dict(enumerate(self.agents)), use_observation=False)
        policy = exact.uniform_policy(self.public)
        with _Draws(0).used():  # OpenSpiel's agents draw an action even where only its probability is needed
            for node, i, state in self._turns:
                probabilities = joint.action_probabilities(state)
                policy[node][:, i] = [probabilities.get(a, 0.0) for a in self.public.actions(node).tolist()]
        return policy


def _a2c(player: int, inputs: int, actions: int, settings: A2CSettings) -> Any:
    return PolicyGradient(
        player,
        inputs,
        actions,
        loss_str="a2c",
        hidden_layers_sizes=settings.hidden,
        pi_learning_rate=settings.actor_rate,
        critic_learning_rate=settings.critic_rate,
        num_critic_before_pi=settings.critic_updates,
        entropy_cost=_ENTROPY_COST,
        optimizer_str="adam",
    )


class _Draws:
    """NumPy's and PyTorch's global generators as one run uses them: OpenSpiel's agents have none of their own."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._numpy: Any = None
        self._torch: torch.Tensor | None = None

    @contextmanager
    def used(self) -> Iterator[None]:
        """Continue where this run left them; afterwards they are as they were."""
        before = np.random.get_state()  # noqa: NPY002
        with torch.random.fork_rng(devices=[]):
            if self._torch is None:
                np.random.seed(self._seed)  # noqa: NPY002
                torch.manual_seed(self._seed)
            else:
                np.random.set_state(self._numpy)  # noqa: NPY002
                torch.set_rng_state(self._torch)
            try:
                yield
            finally:
                self._numpy, self._torch = np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
                np.random.set_state(before)  # noqa: NPY002
