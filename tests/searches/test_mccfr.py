"""Monte Carlo CFR: sampled regrets without bias, convergence, and runs that their seed alone decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sog.arrays import Float64
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.abstract import AbstractLeduc
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.monte_carlo import EXTERNAL, OUTCOME, VARIANTS, MonteCarlo
from sog.searches.cfr.rules import CFR
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry

KUHN = PublicTree(Kuhn()).list_all()
TREES = {
    "kuhn": KUHN,
    "leduc": PublicTree(Leduc()).list_all(),
    "goofspiel": PublicTree(Goofspiel(3, "random")).list_all(),
    "rps": PublicTree(RockPaperScissors()).list_all(),
    "abstract leduc": PublicTree(AbstractLeduc()).list_all(),  # infostates split where chance acts
}


def regrets(tree: Lookahead, p: int) -> Float64:
    """float64[*]: all of player p's."""
    return np.concatenate([tree.table(n, Entry.REGRET).ravel() for n in range(tree.size) if tree.nodes.actor[n] == p])


def with_random_policy(public: PublicTree, seed: int) -> Lookahead:
    """A tree whose POLICY row holds random legal policies."""
    rng = np.random.default_rng(seed)
    tree = exact.full_tree(public)
    weights = {n: uniform * rng.exponential(size=uniform.shape) for n, uniform in exact.uniform_policy(public).items()}
    exact.set_policy(tree, weights, Entry.REGRET)
    tree.normalise(Entry.REGRET, Entry.POLICY)
    tree.entries[Entry.REGRET] = 0.0
    return tree


def first_walks(tree: Lookahead, policies: Float64, variant: MonteCarlo) -> Iterator[None]:
    """One walk by these policies with nothing in the tree's sums, for each of many seeds."""
    for seed in range(4_000):
        tree.entries[:] = 0.0
        tree.entries[Entry.POLICY] = policies
        tree.iterations = 0
        replace(variant, seed=seed).iterate(tree, 1)
        yield


@pytest.mark.parametrize("name", ["kuhn", "goofspiel", "rps", "abstract leduc"])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_sampled_regrets_have_the_mean_of_cfrs(name: str, variant: MonteCarlo) -> None:
    """Player 0's after one walk, over many seeds, against those of one sweep; within five standard errors.

    Entries that hardly any walk met are left out.
    """
    tree = with_random_policy(TREES[name], 0)
    policies = tree.entries[Entry.POLICY].copy()
    tree.forward()
    tree.payoffs()
    tree.backward(CFR.steps(1, 1)[0])
    expected = regrets(tree, 0)
    found = np.array([regrets(tree, 0) for _ in first_walks(tree, policies, variant)])
    met = (found != 0).sum(axis=0) >= 100
    assert met.sum() > 2
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - expected) <= 5 * error + 1e-9)[met].all()
    assert (np.abs(expected) > 10 * error)[met].any()


def test_outcome_sampling_explores_in_six_tenths_of_its_choices() -> None:
    """Lanctot et al. 2009. Of three actions one that is never played is drawn with 0.6 / 3, and counts times 5.

    Its mean is right whatever the share, so that only single walks show it.
    """
    public = TREES["rps"]
    node0, node1 = public.decisions()
    policy, pays = exact.uniform_policy(public), np.zeros((2, 3))
    for a, b in product(range(2), range(3)):
        policy[node0][:, 0], policy[node1][:, 0] = np.eye(3)[a], np.eye(3)[b]
        pays[a, b] = abs(exact.measure_policy(public, policy).value)
    tree = exact.full_tree(public)
    exact.set_policy(tree, {node0: np.eye(3)[:, :1], node1: np.full((3, 1), 1 / 3)}, Entry.POLICY)
    policies = tree.entries[Entry.POLICY].copy()
    (n,) = (n for n in tree.decisions() if tree.actor(n) == 0)
    found = {round(abs(float(tree.table(n, Entry.REGRET)[1, 0])), 9) for _ in first_walks(tree, policies, OUTCOME)}
    drawn = {*(pays[0] / (0.4 + 0.6 / 3)), *(pays[1] / (0.6 / 3))}
    assert found - {0.0} == {round(float(each), 9) for each in drawn} - {0.0}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_policies_enter_the_average_by_their_players_own_reaches(variant: MonteCarlo) -> None:
    """Player 1's after one walk of player 0, over many seeds; each card is dealt to it in a third of them."""
    tree = with_random_policy(KUHN, 0)
    policies = tree.entries[Entry.POLICY].copy()
    tree.forward()
    places = [n for n in tree.decisions() if tree.actor(n) == 1]
    expected = np.array([tree.current_policy(n) * tree.ranges(n)[1] / 3.0 for n in places])
    draws = [[tree.policy_sum(n).copy() for n in places] for _ in first_walks(tree, policies, variant)]
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    assert (np.abs(np.mean(draws, axis=0) - expected) <= 5 * error + 1e-9).all()
    assert (expected > 10 * error).mean() > 0.8


@pytest.mark.parametrize(
    ("variant", "name", "iterations", "bound"),
    [
        (EXTERNAL, "kuhn", 20_000, 0.02),
        (OUTCOME, "kuhn", 50_000, 0.03),
        (EXTERNAL, "leduc", 20_000, 0.4),
        (OUTCOME, "leduc", 50_000, 1.0),
        (EXTERNAL, "goofspiel", 5_000, 0.01),
        (OUTCOME, "goofspiel", 20_000, 0.02),
    ],
    ids=lambda x: x.name if isinstance(x, MonteCarlo) else str(x),
)
def test_both_variants_converge(variant: MonteCarlo, name: str, iterations: int, bound: float) -> None:
    tree = exact.full_tree(TREES[name])
    measures = []
    for count in (iterations // 20, iterations - iterations // 20):
        variant.iterate(tree, count)
        tree.update_average_policy()
        measures.append(exact.measure(tree).exploitability)
    assert measures[1] <= bound
    assert measures[1] < measures[0] / 2


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_a_run_in_parts_is_the_same_run(variant: MonteCarlo) -> None:
    parts, whole, other = (exact.full_tree(KUHN) for _ in range(3))
    for count in (1, 4, 15):
        variant.iterate(parts, count)
        parts.update_average_policy()
        exact.measure(parts)
    variant.iterate(whole, 20)
    replace(variant, seed=1).iterate(other, 20)
    assert parts.iterations == whole.iterations == 20
    np.testing.assert_array_equal(parts.entries[Entry.REGRET], whole.entries[Entry.REGRET])
    assert (whole.entries[Entry.REGRET] != other.entries[Entry.REGRET]).any()


def test_illegal_actions_are_never_touched() -> None:
    public = TREES["goofspiel"]
    tree = exact.full_tree(public)
    for variant in VARIANTS:
        variant.iterate(tree, 200)
    for n, table in exact.current_policy_of(tree).items():
        moves = public.game.fan(public.states[n]).moves
        assert moves is not None
        assert (table[moves.edge.T < 0] == 0).all()
        np.testing.assert_allclose(table.sum(axis=0), (moves.edge.T >= 0).any(axis=0))
