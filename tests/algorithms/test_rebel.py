"""ReBeL at test time: safe search plays the equilibrium in expectation, unsafe search does not (section 6)."""

from __future__ import annotations

import numpy as np
import pytest

from sog.algorithms.rebel.agent import RebelAgent, RebelSettings, sample_iterations
from sog.algorithms.rebel.playthroughs import HELD_BYTES, held_at_once, mean_policy, sampled_policy
from sog.games.catalog import make_game
from sog.nets.inference import network_evaluator
from sog.searches.cfr import exact
from sog.searches.depth_limited.settings import REBEL_FP, SolveSettings
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training.checkpoint import load_network
from sog.training.shipped import find_checkpoint

RPS = PublicTree(make_game("rps")).list_all()
EQUILIBRIUM = np.array([0.4, 0.4, 0.2])
# One action deep: player 0 picks against solved leaves, then player 1 is searched with the beliefs passed down.
ONE_PLY = RebelSettings(SolveSettings(depth=1, updates=200))
ORACLE = exact.ExactEvaluator(60)


def test_safe_search_of_the_rps_variant_plays_the_equilibrium_in_expectation() -> None:
    played = sampled_policy(RPS, ONE_PLY, ORACLE, 400, np.random.default_rng(0))
    np.testing.assert_allclose(played.policy[0][:, 0], EQUILIBRIUM, atol=0.05)
    np.testing.assert_allclose(played.policy[1][:, 0], EQUILIBRIUM, atol=0.08)


def test_unsafe_search_of_the_rps_variant_gives_player_1_a_pure_answer() -> None:
    policy = mean_policy(RPS, ONE_PLY, ORACLE)
    np.testing.assert_allclose(policy[0][:, 0], EQUILIBRIUM, atol=0.05)
    assert policy[1].max() > 0.95
    assert exact.measure_policy(RPS, policy).exploitability > 0.3


def test_without_a_leaf_sampled_play_is_the_mean_policy_in_expectation() -> None:
    public = PublicTree(make_game("kuhn_poker")).list_all()
    settings = RebelSettings(SolveSettings(depth=0, updates=256))
    mean = mean_policy(public, settings, zero_evaluator)
    played = sampled_policy(public, settings, zero_evaluator, 600, np.random.default_rng(1))
    assert played.solves <= 3  # one subgame, solved once for each group of playthroughs
    assert exact.measure_policy(public, mean).exploitability < 0.01
    assert exact.measure_policy(public, played.policy).exploitability < 0.05
    for node in (0, 1):
        np.testing.assert_allclose(played.policy[node], mean[node], atol=0.08)


@pytest.mark.parametrize("settings", [ONE_PLY, RebelSettings(SolveSettings(depth=1, updates=20), safe=False)])
def test_an_agent_plays_a_policy_at_every_state_and_forgets_between_games(settings: RebelSettings) -> None:
    agents = [RebelAgent(RPS, 1, settings, ORACLE, seed=3) for _ in range(2)]
    for agent in agents:
        row = agent.policy(1)
        np.testing.assert_allclose(row.sum(axis=0), 1.0)
        np.testing.assert_array_equal(row, agent.policy(1))  # the same subgame, the same iteration
        agent.new_game()
    np.testing.assert_array_equal(agents[0].policy(1), agents[1].policy(1))


def test_iterations_are_drawn_by_their_weight_in_the_average() -> None:
    rng = np.random.default_rng(0)
    linear = sample_iterations(SolveSettings(updates=8), 20_000, rng)
    np.testing.assert_allclose(np.bincount(linear, minlength=5)[1:] / 20_000, [0.1, 0.2, 0.3, 0.4], atol=0.02)
    uniform = sample_iterations(SolveSettings(REBEL_FP, updates=8), 20_000, rng)
    np.testing.assert_allclose(np.bincount(uniform, minlength=5)[1:] / 20_000, 0.25, atol=0.02)


def test_the_shipped_network_plays_far_better_than_none() -> None:
    name = "liars_dice(numdice=1,dice_sides=4)"
    public = PublicTree(make_game(name)).list_all()
    _, network, _ = load_network(find_checkpoint(name, "rebel"), name)
    settings = RebelSettings(SolveSettings(updates=128))
    found = []
    for evaluator in (network_evaluator(network), zero_evaluator):
        played = sampled_policy(public, settings, evaluator, 96, np.random.default_rng(2))
        found.append(exact.measure_policy(public, played.policy).exploitability)
    assert found[0] < 0.06 < 0.3 < found[1]


def test_as_many_playthroughs_are_held_as_fit() -> None:
    small = exact.full_tree(RPS)
    assert held_at_once(small) == 1024
    large = exact.full_tree(PublicTree(make_game("liars_dice(numdice=1,dice_sides=5)")).list_all())
    large.counts.entries *= 1000
    assert held_at_once(large) == HELD_BYTES // (8 * int(large.counts.entries) + 200 * large.size) < 1024
