"""Turn spots of hold'em: the composed measure against the whole listed tree's, and rivers solved anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sog.agents.uniform import UniformAgent
from sog.algorithms.student.algorithm import Student
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.games.holdem.cards import disjoint_mass
from sog.games.holdem.game import Holdem
from sog.measure.endgame import (
    SAFE,
    UNSAFE,
    EndgameMeasure,
    EndgamePolicy,
    TurnPolicy,
    is_turn_spot,
    played_by,
    searched_turn,
    solved_turn,
    turn_tree,
)
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.play.agent import Agent, SearchAgent
from sog.play.resolver import ResolveSettings, paper_settings
from sog.play.turn_chain import public_state
from sog.searches.cfr import exact
from sog.searches.gtcfr.settings import Budget
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree

# Two turn ends with betting left where a raise is possible, every hand.
SMALL = "holdem(board=3s7hTdKs,pot=2000,stacks=1500,bets=0.5,raises=allin)"
TINY = 'holdem(board=2s2h7d9c,pot=1000,stacks=600,bets=allin,range0="AA,KQ,76s,QhJh",range1="JJ,AQo,T9s,44")'
SETTINGS = ResolveSettings(Budget(4, 0.5))


def game(text: str) -> Holdem:
    found = make_game(text)
    assert is_turn_spot(found)
    return found


@cache
def whole(text: str) -> PublicTree:
    return PublicTree(game(text)).list_all()


def by_listing(text: str, policy: EndgamePolicy) -> exact.Measure:
    """The same policy measured on the listed tree."""
    public = whole(text)
    return exact.measure_policy(public, {n: policy.solver.policy(public_state(public, n)) for n in public.decisions()})


def agrees(measure: EndgameMeasure, listed: exact.Measure) -> bool:
    close = pytest.approx((listed.value, *listed.best), rel=1e-4, abs=0.02)
    return bool((measure.value, *measure.best) == close)


@pytest.mark.parametrize("how", [SAFE, UNSAFE])
@pytest.mark.parametrize("text", [TINY, SMALL])
def test_the_composed_measure_is_the_listed_trees(text: str, how: str) -> None:
    turn = searched_turn(game(text), lambda public, p: SearchAgent(public, p, SETTINGS, zero_evaluator, 0))
    policy = EndgamePolicy(game(text))
    policy.solve_rivers(turn, how, 20)
    measure = policy.measure()
    assert agrees(measure, by_listing(text, policy))
    assert measure.exploitability > 0 and -measure.best[1] < measure.best[0]
    state, policies = next(iter(turn.policies.items()))
    live = disjoint_mass(game(text).root_ranges()[1]) > 0
    np.testing.assert_allclose(policy.solver.policy(state)[:, live], policies[:, live], atol=1e-6)


def searching(public: PublicTree, player: int) -> SearchAgent:
    return SearchAgent(public, player, SETTINGS, zero_evaluator, 0)


@pytest.mark.parametrize("agent", [UniformAgent, searching])
def test_an_agent_that_plays_rivers_too(agent: Callable[[PublicTree, int], Agent]) -> None:
    public = whole(TINY)
    agents = [agent(public, p) for p in (0, 1)]
    policy = EndgamePolicy(game(TINY))
    policy.play(played_by(agents))
    listed = exact.measure_policy(public, {n: p for agent in agents for n, p in agent.policies()})
    assert agrees(policy.measure(), listed)


def test_turn_searches_are_those_of_play() -> None:
    """The first searches begin no chain, so that they are the same whatever else is listed in the tree."""
    turn = searched_turn(game(TINY), lambda public, p: SearchAgent(public, p, SETTINGS, zero_evaluator, 3))
    public = turn_tree(game(TINY))
    assert len(turn.policies) == len(list(public.decisions()))
    agent = SearchAgent(public, 0, SETTINGS, zero_evaluator, 3)
    assert np.array_equal(agent.policy(0), turn.policies[public_state(public, 0)])


def test_purified_play_is_what_is_measured_on_the_turn() -> None:
    """The searches are the same; of their policies the likeliest action alone is played."""

    def played(purify: float) -> TurnPolicy:
        settings = replace(SETTINGS, purify=purify)
        return searched_turn(game(TINY), lambda public, p: SearchAgent(public, p, settings, zero_evaluator, 3))

    average, pure = played(0.0).policies, played(1.0).policies
    assert average.keys() == pure.keys() and any(not np.array_equal(average[s], pure[s]) for s in pure)
    for state, policy in pure.items():
        likeliest = average[state] == average[state].max(axis=0)
        assert np.allclose(policy, likeliest / likeliest.sum(axis=0))


def test_opponents_decisions_are_searched_where_papers_do() -> None:
    settings = paper_settings(Budget(4, 0.5))
    turn = searched_turn(game(SMALL), lambda public, p: SearchAgent(public, p, settings, zero_evaluator, 0))
    assert turn.bounds is not None
    for bounds in turn.bounds:
        assert bounds.own.any(axis=1).all() and bounds.other.any(axis=1).all()


def test_rivers_solved_anew_below_a_solved_turn_are_hardly_exploitable() -> None:
    """Safe and unsafe, from the full solution's turn, ranges and values; and both worse below a turn played blindly."""
    rules = game(SMALL)
    solver = HoldemSolver(rules, states=[rules.root()])
    solver.iterate(300)
    turn = solved_turn(solver)
    public = turn_tree(rules)
    blind = TurnPolicy({public_state(public, n): public.legal(n) / len(public.actions(n)) for n in public.decisions()})
    found = {}
    for how in (SAFE, UNSAFE):
        policy = EndgamePolicy(rules)
        policy.solve_rivers(turn, how, 150)
        found[how] = policy.measure().exploitability
    assert max(found.values()) < 0.01 * rules.spot.pot
    policy = EndgamePolicy(rules)
    policy.solve_rivers(blind, UNSAFE, 150)
    assert policy.measure().exploitability > 10 * max(found.values())
    with pytest.raises(SettingError, match="there are none"):
        policy.solve_rivers(blind, SAFE, 1)


def test_training_measures_a_turn_spot_with_rivers_solved_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """An untrained network's figure, in utilities: above what the whole solution leaves, below what a player has.

    Of searches at (100, 1), in whose place are small ones here.
    """
    rules, asked = game(TINY), list[tuple[int, float]]()

    def small(simulations: int, per_update: float) -> Budget:
        asked.append((simulations, per_update))
        return SETTINGS.budget

    monkeypatch.setattr("sog.algorithms.student.algorithm.Budget", small)
    found = Student().measure(PublicTree(rules), CVPN(shape_for(rules, 8, 1)), "demo")
    assert 0 < found < rules.u_max and asked[-1] == (100, 1.0)


def test_exploitability_is_the_mean_of_both_best_responses() -> None:
    found = EndgameMeasure(0.5, (30.0, 10.0), 2000.0, (0.0, 0.0))
    assert (found.exploitability, found.of_pot) == (20.0, 0.01)
