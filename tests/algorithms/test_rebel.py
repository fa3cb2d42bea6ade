"""ReBeL at test time: safe search plays the equilibrium in expectation, unsafe search does not (section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from sog.algorithms import rebel
from sog.algorithms.rebel.actor import Generating, RebelActing
from sog.algorithms.rebel.agent import (
    Profile,
    ProfileSolve,
    RebelAgent,
    RebelSettings,
    sample_iterations,
    start_position,
)
from sog.algorithms.rebel.measure import measure_rebel
from sog.algorithms.rebel.playthroughs import (
    HELD_BYTES,
    held_at_once,
    mean_exploitability,
    mean_policy,
    sampled_policy,
)
from sog.arrays import Float64
from sog.games.catalog import make_game
from sog.measure.listed import listed
from sog.nets.inference import network_evaluator
from sog.nets.values import value_evaluator
from sog.searches.cfr import exact
from sog.searches.cfr.rules import Rule
from sog.searches.depth_limited.settings import REBEL_FP, SOLVERS, Solver, SolveSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training.checkpoint import load_network
from sog.training.shipped import find_checkpoint

RPS = PublicTree(make_game("rps")).list_all()
DICE = PublicTree(make_game("liars_dice(numdice=1,dice_sides=2)")).list_all()
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


def test_only_iterations_that_are_made_are_played() -> None:
    drawn = sample_iterations(SolveSettings(updates=12, warm=3), 2000, np.random.default_rng(0))
    assert set(drawn.tolist()) == {4, 5, 6}


@pytest.mark.parametrize("drawn", [1, 4])
def test_play_training_and_measuring_take_the_drawn_iteration(drawn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All three draw by sample_iterations, and what is played is that iteration's."""
    for module in (rebel.agent, rebel.actor, rebel.playthroughs):
        monkeypatch.setattr(module, "sample_iterations", lambda settings, count, rng: np.full(count, drawn))
    playing = ProfileSolve(DICE, [start_position(DICE)], [np.array([drawn])], RebelSettings(ONE_PLY.solve))
    run(playing, ORACLE)
    [[profile]] = playing.profiles
    np.testing.assert_array_equal(RebelAgent(DICE, 0, ONE_PLY, ORACLE).policy(0), profile.policies[0])
    measured = sampled_policy(DICE, ONE_PLY, ORACLE, 2, np.random.default_rng(0))
    np.testing.assert_allclose(measured.policy[0], profile.policies[0], atol=1e-12)
    generating = Generating(DICE, [(start_position(DICE), 3)], RebelActing(ONE_PLY.solve), np.random.default_rng(0))
    assert generating.leaving == {drawn: [0, 0, 0]}


def uneven(requests: Sequence[Beliefs], pairs: bool) -> list[Evaluations]:
    """Values that differ from leaf to leaf and from slot to slot, or from pair to pair of slots."""
    slots = [beliefs.public.game.num_slots for beliefs in requests]
    places = [np.arange(zero * one if pairs else zero + one) for zero, one in slots]
    values = [np.cos(2.0 * at + 3.0 * beliefs.nodes[:, None]) for at, beliefs in zip(places, requests, strict=True)]
    return [Evaluations(x, np.zeros((len(x), 1, 1))) for x in values]


def ranges_at(leaf: int, profile: Profile) -> list[Float64]:
    """Both players' ranges at a public node by a profile's policies from the root on."""
    ranges = [own.copy() for own in DICE.game.root_ranges()]
    for above, below in pairwise(DICE.path(leaf)):
        ranges[DICE.actor(above)] *= profile.policies[above][list(DICE.children(above)).index(below)]
    return ranges


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_beliefs_are_of_mean_ranges_where_the_solver_values_leaves_at_them(solver: Solver) -> None:
    """FP, FLOP and both forms of CFR-AVE hand on means over the iterations, CFR-D its current ranges.

    In CFR player 0's turn is the first of an iteration: what player 1 meets begins with player 0's second policy.
    """
    settings = RebelSettings(SolveSettings(solver, updates=12))
    weights, count = settings.solve.weights, settings.solve.iterations
    playing = ProfileSolve(DICE, [start_position(DICE)], [np.arange(1, count + 1)], settings)
    run(playing, lambda requests: uneven(requests, settings.solve.pairs))
    ahead = (int(isinstance(solver.rule, Rule)), 0)
    moved = 0.0
    for leaf in playing.profiles[0][0].beliefs:
        reaches = [ranges_at(leaf, profile) for profile in playing.profiles[0]]
        for t in range(1, count + 1):
            now, mean = reaches[t - 1], []
            for p in (0, 1):
                met = [weights[s] * reaches[s + ahead[p]][p] for s in range(t - ahead[p])]
                mean.append(np.sum(met, axis=0) if met else now[p])
            handed, held = mean if solver.average else now, playing.profiles[0][t - 1].held[leaf]
            expected = DICE.ranges_by_slot(leaf, (handed[0], handed[1]))
            np.testing.assert_allclose(playing.profiles[0][t - 1].beliefs[leaf], expected, atol=1e-12)
            assert t == 1 or held == (handed[0].any(), handed[1].any())
            moved = max(moved, np.abs(expected - DICE.ranges_by_slot(leaf, (now[0], now[1]))).max())
    assert (moved > 0.1) == solver.average


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_games_in_training_go_on_with_the_beliefs_that_play_hands_on(solver: Solver) -> None:
    settings = RebelSettings(SolveSettings(solver, updates=8))
    playing = ProfileSolve(DICE, [start_position(DICE)], [np.arange(1, 5)], settings)
    run(playing, lambda requests: uneven(requests, settings.solve.pairs))
    for t, profile in enumerate(playing.profiles[0], start=1):
        acting, rng = RebelActing(settings.solve), np.random.default_rng(t)
        solving = Generating(DICE, [(start_position(DICE), 20)], acting, rng)
        solving.leaving = {t: [0] * 20}
        run(solving, lambda requests: uneven(requests, settings.solve.pairs))
        assert solving.leaves
        for position in solving.leaves:
            np.testing.assert_array_equal(position.ranges, profile.beliefs[position.node])


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


def test_both_measures_are_in_the_games_unit() -> None:
    """Leduc's is a thousandth of a chip: the mean policy's is exact, the sampled one's is that of the same draws."""
    settings, folder = RebelSettings(SolveSettings(updates=4)), find_checkpoint("leduc_poker")
    game, network, _ = load_network(folder)
    public, evaluator = listed(game), value_evaluator(network, False, False)
    found = measure_rebel(folder, settings, 2, 0, lambda done: None)
    assert found.mean == pytest.approx(1000.0 * mean_exploitability(public, settings, evaluator), rel=1e-6)
    played = sampled_policy(public, settings, evaluator, 2, np.random.default_rng(0))
    assert found.sampled == pytest.approx(1000.0 * exact.measure_policy(public, played.policy).exploitability, rel=1e-6)
