"""Deep Q-learning (Mnih et al. 2015) as an agent for OpenSpiel's reinforcement learning environment.

OpenSpiel's own for PyTorch needs a package that OpenSpiel does not bring; this one has the same parts: a replay
buffer, a target network, and epsilon-greedy play with epsilon falling in a straight line.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from open_spiel.python.rl_agent import AbstractAgent, StepOutput

from sog.arrays import Bool, Float32, Float64

__all__ = ["DQN", "DQNSettings"]

_ILLEGAL: Final = -1e30


@dataclass(frozen=True)
class DQNSettings:
    """The settings of deep Q-learning.

    hidden: width of each hidden layer.  capacity: transitions in the replay buffer.
    learn_every, target_every: steps of the agent between updates and between copies to the target network.
    epsilon_steps: steps over which epsilon falls from 1 to epsilon_last.
    """

    hidden: tuple[int, ...] = (64,)
    learning_rate: float = 1e-3
    capacity: int = 10_000
    batch: int = 64
    learn_every: int = 10
    target_every: int = 1_000
    epsilon_steps: int = 50_000
    epsilon_last: float = 0.1


class DQN(AbstractAgent):  # type: ignore[misc]  # OpenSpiel has no types
    """One player's agent. Its draws, weights and updates depend on its seed and on what it is shown alone."""

    def __init__(self, player: int, inputs: int, actions: int, settings: DQNSettings, seed: int) -> None:
        """inputs: length of the information state tensor.  actions: how many identities of actions there are."""
        self.player, self.settings, self._steps = player, settings, 0
        self._rng = np.random.default_rng(seed)
        self._network = _network(inputs, actions, settings.hidden, seed)
        self._target = copy.deepcopy(self._network)
        self._optimiser = torch.optim.Adam(self._network.parameters(), settings.learning_rate)
        self._replay = _Replay(settings.capacity, inputs, actions)
        self._latest: tuple[Float32, int] | None = None  # the last own turn's infostate and action

    def step(self, time_step: Any, is_evaluation: bool = False) -> Any:
        """Act where it is this player's turn, and learn unless evaluated.

        Returns OpenSpiel's StepOutput, probs float64[actions]: greedy where evaluated, epsilon-greedy otherwise;
        None after an episode.
        """
        mine = time_step.observations
        infostate = np.asarray(mine["info_state"][self.player], dtype=np.float32)
        if is_evaluation:
            return _drawn(self._probabilities(infostate, mine["legal_actions"][self.player], 0.0), None)
        legal = [] if time_step.last() else mine["legal_actions"][self.player]
        if self._latest is not None:
            self._replay.add(*self._latest, float(time_step.rewards[self.player]), infostate, legal)
        if time_step.last():
            self._latest = None
            return None
        output = _drawn(self._probabilities(infostate, legal, self._epsilon()), self._rng)
        self._latest = infostate, output.action
        self._steps += 1
        if self._steps % self.settings.learn_every == 0 and self._replay.count >= self.settings.batch:
            self._learn()
        if self._steps % self.settings.target_every == 0:
            self._target.load_state_dict(self._network.state_dict())
        return output

    def _epsilon(self) -> float:
        left = max(0.0, 1.0 - self._steps / self.settings.epsilon_steps)
        return self.settings.epsilon_last + (1.0 - self.settings.epsilon_last) * left

    def _probabilities(self, infostate: Float32, legal: list[int], epsilon: float) -> Float64:
        """float64[actions]: epsilon spread over the legal actions, the rest on the best of them."""
        with torch.inference_mode():
            values = self._network(torch.from_numpy(infostate)).numpy()
        probs = np.zeros(len(values))
        probs[legal] = epsilon / len(legal)
        probs[legal[int(values[legal].argmax())]] += 1.0 - epsilon
        return probs

    def _learn(self) -> None:
        """One step of Adam on the squared error against reward + max over legal actions of the target network."""
        infostates, actions, rewards, after, legal = self._replay.sample(self.settings.batch, self._rng)
        with torch.no_grad():
            best = self._target(after).masked_fill(~legal, _ILLEGAL).max(dim=1).values
            goal = rewards + torch.where(legal.any(dim=1), best, 0.0)
        values = self._network(infostates).gather(1, actions[:, None])[:, 0]
        loss = torch.nn.functional.mse_loss(values, goal)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()


class _Replay:
    """The latest transitions; `legal` is all False after the end of an episode."""

    def __init__(self, capacity: int, inputs: int, actions: int) -> None:
        self.count, self._next = 0, 0
        self._infostates: Float32 = np.zeros((capacity, inputs), dtype=np.float32)
        self._after: Float32 = np.zeros((capacity, inputs), dtype=np.float32)
        self._actions = np.zeros(capacity, dtype=np.int64)
        self._rewards: Float32 = np.zeros(capacity, dtype=np.float32)
        self._legal: Bool = np.zeros((capacity, actions), dtype=np.bool_)

    def add(self, infostate: Float32, action: int, reward: float, after: Float32, legal: list[int]) -> None:
        """Keep a transition, over the oldest where the buffer is full."""
        k = self._next
        self._infostates[k], self._actions[k], self._rewards[k], self._after[k] = infostate, action, reward, after
        self._legal[k] = False
        self._legal[k, legal] = True
        self.count, self._next = max(self.count, k + 1), (k + 1) % len(self._actions)

    def sample(self, batch: int, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        """Infostates [B, inputs], actions [B], rewards [B], next infostates [B, inputs], legal [B, actions]."""
        rows = rng.integers(self.count, size=batch)
        columns = (self._infostates, self._actions, self._rewards, self._after, self._legal)
        return tuple(torch.from_numpy(column[rows]) for column in columns)


def _drawn(probs: Float64, rng: np.random.Generator | None) -> Any:
    """StepOutput with an action drawn from probs, or the most probable one without a generator."""
    action = int(probs.argmax() if rng is None else rng.choice(len(probs), p=probs))
    return StepOutput(action=action, probs=probs)


def _network(inputs: int, actions: int, hidden: tuple[int, ...], seed: int) -> torch.nn.Sequential:
    """Linear layers with ReLU between them, [inputs] to [actions]; PyTorch's global generator is left as it was."""
    layers: list[torch.nn.Module] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for width in hidden:
            layers += [torch.nn.Linear(inputs, width), torch.nn.ReLU()]
            inputs = width
        return torch.nn.Sequential(*layers, torch.nn.Linear(inputs, actions))
