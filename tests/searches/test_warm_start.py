"""Warm starts: an equilibrium stays one, uniform policies cost what they weigh, sums are as if policies were played."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sog.algorithms.rebel.agent import start_position
from sog.arrays import Float64
from sog.games.catalog import make_game
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR, DCFR, LINEAR_CFR, Rule
from sog.searches.depth_limited.settings import CFR_D, REBEL_FLOP, REBEL_FP, Solver, SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.depth_limited.warm_start import played_before, prior_policy
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, zero_answer, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Kind

PUBLIC = PublicTree(make_game("liars_dice(numdice=1,dice_sides=3)")).list_all()
EQUILIBRIUM = exact.policy_of(exact.solve(PUBLIC, DCFR, 2000))


def tell(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """An evaluator whose priors are the equilibrium's and whose values are 0."""
    return [_told(beliefs) for beliefs in requests]


def _told(beliefs: Beliefs) -> Evaluations:
    out = zero_answer(beliefs)
    for b, s in enumerate(int(node) for node in beliefs.nodes):
        if s in EQUILIBRIUM:
            at, actions = PUBLIC.slots_of(s, PUBLIC.actor(s)), PUBLIC.actions(s)
            out.logits[b, at[:, None], actions[None, :]] = np.log(EQUILIBRIUM[s].T + 1e-12)
    return out


def solved(settings: SolveSettings, ask: Evaluator = tell) -> Subgames:
    """The whole game, or its first plies, after a solve."""
    start = start_position(PUBLIC)
    games = Subgames(PUBLIC, [(start.node, start.ranges)], settings.depth)
    run(solve(games, settings), ask)
    return games


def exploitability(settings: SolveSettings, ask: Evaluator = tell) -> float:
    """Of the average policy of a solve of the whole game."""
    return exact.measure_policy(PUBLIC, exact.policy_of(solved(settings, ask=ask).tree)).exploitability


@pytest.mark.parametrize("solver", [CFR_D, REBEL_FP, REBEL_FLOP], ids=lambda solver: solver.name)
def test_an_equilibrium_stays_one(solver: Solver) -> None:
    """One iteration after 15: linear averages hold 15/17 of the equilibrium, plain ones 15/16; cold it is far off."""
    warm = exploitability(SolveSettings(solver, depth=0, updates=32, warm=15))
    cold = exploitability(SolveSettings(solver, depth=0, updates=32))
    assert exact.measure_policy(PUBLIC, EQUILIBRIUM).exploitability < 1e-4
    assert warm < 0.1 * cold


def test_uniform_policies_cost_no_more_than_their_weight() -> None:
    """15 iterations have (15 / T)^2 of a linear average, which fades."""
    uniform = exact.measure_policy(PUBLIC, exact.uniform_policy(PUBLIC)).exploitability
    for total in (64, 256, 512):
        cold = exploitability(SolveSettings(depth=0, updates=2 * total), zero_evaluator)
        warm = exploitability(SolveSettings(depth=0, updates=2 * total, warm=15), zero_evaluator)
        assert warm < cold + 2 * uniform * (15 / total) ** 2


def test_the_sums_are_those_of_playing_the_priors() -> None:
    """Where a choice ends the game, a best response below it is none: plain CFR with the policies held fixed."""
    begun: list[Float64] = []
    start, settings = start_position(PUBLIC), SolveSettings(depth=0, updates=12, warm=5, hold=0.0)
    games = Subgames(PUBLIC, [(start.node, start.ranges)], 0)
    run(solve(games, settings, lambda t: begun.append(games.tree.entries.copy())), tell)
    tree = Lookahead(PUBLIC, 0, PUBLIC.ranges_of_slots(0, start.ranges)).expand_all()
    exact.set_policy(tree, games_policy(), Entry.AVERAGE_POLICY)
    for step in LINEAR_CFR.steps(1, 5):
        tree.entries[Entry.POLICY] = tree.entries[Entry.AVERAGE_POLICY]
        tree.forward()
        tree.payoffs()
        tree.backward(step)
    ending = [n for n in tree.decisions() if _ends(tree, n)]
    assert len(begun) == 1 and len(ending) > 3
    for row, nodes in ((Entry.REGRET, ending), (Entry.POLICY_SUM, list(tree.decisions()))):
        for n in nodes:
            block = tree.block(n)
            np.testing.assert_allclose(begun[0][row, games.tree.block(n)], tree.entries[row, block], atol=1e-9)


def games_policy() -> exact.Policy:
    """The priors as a search takes them from `tell`."""
    answers = {s: tell([Beliefs(PUBLIC, np.array([s], dtype=np.int32), np.zeros((1, 6)))])[0] for s in EQUILIBRIUM}
    return {s: prior_policy(PUBLIC, s, answer.logits[0]) for s, answer in answers.items()}


def _ends(tree: Lookahead, n: int) -> bool:
    first = int(tree.nodes.child0[n])
    children = tree.child.node[first : first + int(tree.nodes.edges[n])]
    return bool((tree.nodes.kind[children] == Kind.ENDED).all())


@pytest.mark.parametrize("rule", [CFR, LINEAR_CFR, DCFR], ids=lambda rule: rule.name)
def test_regrets_of_iterations_played_before(rule: Rule) -> None:
    gained, lost = played_before(rule.steps(1, 3))
    expected = {"cfr": (3.0, 3.0), "lcfr": (1.5, 1.5), "dcfr": (None, 0.875)}[rule.name]
    assert lost == pytest.approx(expected[1]) and (expected[0] is None or gained == pytest.approx(expected[0]))


def test_root_values_of_a_warm_start_are_the_games() -> None:
    value = exact.measure_policy(PUBLIC, EQUILIBRIUM).value
    games = solved(SolveSettings(depth=0, updates=64, warm=15))
    ranges = PUBLIC.ranges_of_slots(0, start_position(PUBLIC).ranges)
    assert float(games.root_values(0)[0] @ ranges[0]) == pytest.approx(value, abs=2e-3)


def test_priors_are_policies_over_legal_actions() -> None:
    logits = np.random.default_rng(0).normal(size=(max(PUBLIC.game.num_slots), PUBLIC.game.num_actions))
    for s in EQUILIBRIUM:
        policy = prior_policy(PUBLIC, s, logits)
        np.testing.assert_allclose(policy.sum(axis=0), 1.0)
        assert (policy[PUBLIC.legal(s) == 0] == 0).all()
