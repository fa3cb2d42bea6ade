"""The critic of whole histories: its targets beside a slow reference, no bias, and R-NaD that learns from it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sog.algorithms.policy.action_critic import ActionCritic, CriticRates, action_targets
from sog.algorithms.policy.agent import network_policy, policy_exploitability
from sog.algorithms.policy.learners import Update
from sog.algorithms.policy.loop import play_and_learn, policy_learner, train_policy
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.policy.rnad import RnadLearner
from sog.algorithms.policy.settings import ActionCriticSettings, PpoSettings, RnadSettings
from sog.algorithms.policy.trajectories import Trajectories, sample
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game, make_history_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import policy_shape
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint
from sog.training.run import Run, Until
from sog.training.state import pack
from tests.policies import played

KUHN = "kuhn_poker"
SMALL = ActionCriticSettings(KUHN, 32, 2, 3e-3)


def slow_targets(
    t: Trajectories, estimates: np.ndarray, policy: np.ndarray, ratio: np.ndarray, rates: tuple[float, float, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Game by game from the definition: who acts next gets or pays what follows."""
    eta, mixing, heaviest = rates
    values, actions, goals = np.zeros(len(t)), estimates - eta * ratio, np.zeros(len(t))
    for g in range(len(t.utility)):
        after, viewer = float(t.utility[g]), 0
        for d in reversed(np.flatnonzero(t.game == g)):
            me, a = t.actor[d], t.action[d]
            goals[d] = after if me == viewer else -after
            error = goals[d] - estimates[d, a]
            values[d] = policy[d] @ (estimates[d] - eta * ratio[d])
            values[d] += mixing * min(1.0, policy[d, a] / t.policy[d, a]) * error
            actions[d, a] += min(heaviest, 1.0 / t.policy[d, a]) * error
            after, viewer = values[d], me
    return values, actions, goals


@pytest.mark.parametrize("rates", [(0.3, 0.95, 0.0), (0.0, 1.0, math.inf), (0.7, 0.0, 2.0)])
def test_targets_are_the_slow_references(rates: tuple[float, float, float]) -> None:
    """Off policy, with random estimates and regularisation."""
    t, _ = played("leduc_poker", 30)
    rng = np.random.default_rng(1)
    logits = np.where(t.legal, rng.normal(size=t.policy.shape), -np.inf)
    policy = (np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)).astype(np.float32)
    ratio = np.where(t.legal, rng.normal(size=t.policy.shape), 0.0).astype(np.float32)
    estimates = rng.normal(size=t.policy.shape).astype(np.float32)
    found = action_targets(t, estimates, policy, ratio, CriticRates(*rates))
    for one, other in zip(found, slow_targets(t, estimates, policy, ratio, rates), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_corrected_estimates_have_no_bias_whatever_the_critic_says() -> None:
    """With mixing and a heaviest weight of infinity, the first decision's mean value is the game's for the policy."""
    t, network = played(KUHN, 10_000)
    wrong = np.random.default_rng(0).normal(size=3)[None, : t.policy.shape[1]].repeat(len(t), axis=0)
    estimates = np.where(t.legal, wrong, 0.0).astype(np.float32)
    values, q, _ = action_targets(t, estimates, t.policy, np.zeros_like(t.policy), CriticRates(0.0, 1.0, math.inf))
    public = PublicTree(make_game(KUHN)).list_all()
    value = exact.measure_policy(public, network_policy(public, network)).value
    first = np.arange(len(t)) < 10_000
    by_actions = (q[first] * t.policy[first]).sum(axis=1)
    assert abs(values[first].mean() - value) < 4 * values[first].std() / 100
    assert abs(by_actions.mean() - value) < 4 * by_actions.std() / 100


def test_the_critic_learns_what_actions_are_worth() -> None:
    """In Kuhn poker, at the last decisions of games, it learns what the action taken there leads to: no chance is left.

    Untrained it answers 0 everywhere, so that its errors are the utilities.
    """
    game, (_, network) = make_history_game(KUHN), played(KUHN, 1)
    critic, errors = ActionCritic(replace(SMALL, heaviest=0.0), 1.0, 0), []
    for step in range(200):
        t = sample(game, network, 128, np.random.default_rng(step))
        _, actions = critic.learn(t, t.policy, np.zeros_like(t.policy), 0.0)
        last = np.array([np.flatnonzero(t.game == g)[-1] for g in range(128)])
        found = actions[last, t.action[last]] * (1.0 - 2.0 * t.actor[last])
        errors.append(float(np.abs(found - t.utility).mean()))
    assert errors[0] > 1.0 and np.mean(errors[-10:]) < 0.15


def test_the_policy_moves_as_the_critic_says() -> None:
    """An untrained critic that is not corrected holds all actions equal: nothing moves. V-trace moves it at once."""
    game = make_history_game(KUHN)
    moved = {}
    for critic in (None, replace(SMALL, heaviest=0.0), SMALL):
        learner = policy_learner(RnadSettings(critic=critic), CVPN(policy_shape(game, 16, 1), 0), 0)
        updates: list[Update] = []
        play_and_learn(game, learner, 64, 1, 0, updates.append)
        (update,) = updates
        moved[critic] = float(np.abs(update.new() - update.old).max())
    assert moved.pop(replace(SMALL, heaviest=0.0)) == 0.0 and min(moved.values()) > 1e-5


def test_kuhn_is_learned_from_a_critic() -> None:
    """The uniform policy's exploitability is 0.458."""
    settings = RnadSettings(short=20, shorts=10**6, learning_rate=3e-3, target_rate=0.05, critic=SMALL)
    game, public = make_history_game(KUHN), PublicTree(make_game(KUHN)).list_all()
    learner = policy_learner(settings, CVPN(policy_shape(game, 32, 2), 0), 0)
    play_and_learn(game, learner, 64, 900, 0)
    assert policy_exploitability(public, learner.best) < 0.1


def test_a_resumed_run_with_a_critic_is_the_uninterrupted_one(tmp_path: Path) -> None:
    """To the bit, the critic's weights and optimiser among the rest; another learner's state is refused."""
    run = Run(KUHN, algorithm="rnad")
    shape = policy_shape(make_history_game(KUHN), 16, 1)
    settings = PolicySettings(RnadSettings(critic=SMALL), shape, 16, 15, 40)
    train_policy(run, settings, tmp_path / "whole", Until(rounds=3))
    for rounds in (1, 3):
        train_policy(run, settings, tmp_path / "parts", Until(rounds=rounds), resume=True)
    whole, parts = (
        pack(checkpoint.load_state(tmp_path / name / "checkpoint")["learner"])[1] for name in ("whole", "parts")
    )
    assert whole.keys() == parts.keys() and any("critic" in key for key in whole)
    for key, array in whole.items():
        assert array.tobytes() == parts[key].tobytes(), key
    plain = policy_learner(RnadSettings(), CVPN(shape, 0), 0)
    with pytest.raises(CheckpointError, match="damaged"):
        policy_learner(RnadSettings(critic=SMALL), CVPN(shape, 0), 0).restore(plain.state())


def test_settings_that_make_no_sense_are_refused() -> None:
    wrongs = {"critic_width": 0, "critic_depth": 0, "critic_rate": 0.0, "critic_mixing": 1.1, "heaviest": -0.1}
    for name, value in wrongs.items():
        with pytest.raises(SettingError):
            replace(SMALL, **{name: value})  # type: ignore[arg-type]


def test_rare_infostates_weigh_by_their_visits_to_a_power() -> None:
    """In a step's loss: with power 0 every infostate met counts the same, with 1 every decision."""
    game = make_history_game("leduc_poker")
    losses = {}
    for power in (0.0, 0.5, 1.0):
        learner = RnadLearner(CVPN(policy_shape(game, 16, 1), 3), RnadSettings(visit_power=power))
        updates: list[Update] = []
        play_and_learn(game, learner, 256, 1, 0, updates.append)
        (update,) = updates
        losses[power] = update.value_loss
    t = update.played
    rows = np.unique(np.column_stack((t.actor, t.inputs)), axis=0, return_inverse=True)[1]
    visits = np.bincount(rows)[rows]
    squares = t.utility[t.game] ** 2  # an untrained network's values are 0, and so are its log ratios
    for power, found in losses.items():
        weights = visits ** (power - 1.0)
        wanted = sum(np.average(squares[t.actor == p], weights=weights[t.actor == p]) for p in (0, 1))
        assert found == pytest.approx(wanted, rel=1e-4)


def test_rare_infostates_weigh_by_their_visits_in_ppo_too() -> None:
    """The value loss of one step in one part, whose untrained network's values are 0; at 1 it is the plain mean."""
    game = make_history_game("leduc_poker")
    losses = {}
    for power in (0.0, 0.5, 1.0):
        settings = PpoSettings(visit_power=power, epochs=1, minibatches=1, mixing=1.0)
        learner = policy_learner(settings, CVPN(policy_shape(game, 16, 1), 3), 0)
        updates: list[Update] = []
        play_and_learn(game, learner, 256, 1, 0, updates.append)
        (update,) = updates
        losses[power] = update.value_loss
    t = update.played
    rows = np.unique(t.inputs, axis=0, return_inverse=True)[1]
    visits = np.bincount(rows)[rows]
    for power, found in losses.items():
        wanted = np.average(t.utility[t.game] ** 2, weights=visits ** (power - 1.0))
        assert found == pytest.approx(wanted, rel=1e-4)
    assert abs(losses[0.0] - losses[1.0]) > 0.05 * losses[1.0]
