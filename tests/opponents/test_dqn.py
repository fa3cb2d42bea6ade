"""DQN: values of a two-step task, what is legal, the replay buffer, seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from open_spiel.python.rl_environment import StepType, TimeStep

from soglab.baselines.dqn import DQN, DQNSettings, _Replay

FIRST, SECOND, NOWHERE = [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]
SETTINGS = DQNSettings(
    hidden=(16,), learning_rate=0.03, capacity=200, batch=32, learn_every=1, target_every=20, epsilon_steps=100
)


def shown(infostate: list[float], legal: list[int], reward: float, kind: Any) -> TimeStep:
    """What player 0 sees."""
    observations = {"info_state": [infostate, None], "legal_actions": [legal, []], "current_player": 0}
    return TimeStep(observations=observations, rewards=[reward, -reward], discounts=[1.0, 1.0], step_type=kind)


def episode(agent: DQN) -> None:
    """Action 0 ends the first turn with 0.5; action 1 leads to a second, where only action 0 is legal and loses 1."""
    if agent.step(shown(FIRST, [0, 1], 0.0, StepType.FIRST)).action == 0:
        agent.step(shown(NOWHERE, [], 0.5, StepType.LAST))
        return
    assert agent.step(shown(SECOND, [0], 0.0, StepType.MID)).action == 0
    agent.step(shown(NOWHERE, [], -1.0, StepType.LAST))


def values(agent: DQN, infostate: list[float]) -> list[float]:
    with torch.inference_mode():
        return [float(x) for x in agent._network(torch.tensor(infostate))]


@pytest.fixture(scope="module")
def trained() -> DQN:
    agent = DQN(0, inputs=2, actions=2, settings=SETTINGS, seed=0)
    for _ in range(150):
        episode(agent)
    return agent


def test_values_of_a_task_of_two_turns(trained: DQN) -> None:
    first, second = values(trained, FIRST), values(trained, SECOND)
    assert first == pytest.approx([0.5, -1.0], abs=0.1)
    assert second[0] == pytest.approx(-1.0, abs=0.1)


def test_play_is_greedy_where_evaluated_and_legal_always(trained: DQN) -> None:
    greedy = trained.step(shown(FIRST, [0, 1], 0.0, StepType.FIRST), is_evaluation=True)
    assert greedy.action == 0
    assert greedy.probs.tolist() == [1.0, 0.0]
    only = trained.step(shown(FIRST, [1], 0.0, StepType.FIRST), is_evaluation=True)
    assert only.probs.tolist() == [0.0, 1.0]


def test_epsilon_falls_in_a_straight_line() -> None:
    agent = DQN(0, inputs=2, actions=2, settings=SETTINGS, seed=0)
    assert agent._epsilon() == 1.0
    agent._steps = 50
    assert agent._epsilon() == pytest.approx(0.55)
    agent._steps = 10_000
    assert agent._epsilon() == pytest.approx(0.1)
    probs = agent._probabilities(np.array(FIRST, dtype=np.float32), [0, 1], 0.1)
    assert sorted(probs) == pytest.approx([0.05, 0.95])


def test_the_seed_decides() -> None:
    def after(seed: int) -> list[float]:
        agent = DQN(0, inputs=2, actions=2, settings=SETTINGS, seed=seed)
        for _ in range(30):
            episode(agent)
        return values(agent, FIRST)

    assert after(1) == after(1)
    assert after(1) != after(2)


def test_the_replay_buffer_keeps_the_latest() -> None:
    replay = _Replay(capacity=3, inputs=1, actions=2)
    for k in range(5):
        replay.add(np.array([k], dtype=np.float32), k % 2, float(k), np.array([k + 1], dtype=np.float32), [k % 2])
    infostates, actions, rewards, after, legal = replay.sample(100, np.random.default_rng(0))
    assert set(rewards.tolist()) == {2.0, 3.0, 4.0}
    assert (infostates[:, 0] == rewards).all() and (after[:, 0] == rewards + 1).all()
    assert (actions == rewards.long() % 2).all()
    assert (legal.int().argmax(dim=1) == actions).all() and (legal.sum(dim=1) == 1).all()
