"""The fit of exact values: targets are those of the game, learning lowers the error, every configuration runs."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.catalog import make_game
from sog.searches.tree.public_tree import PublicTree
from soglab.papers.value_fit import SolvedBeliefs, configurations, fit, solve


@pytest.fixture(scope="module")
def solved() -> SolvedBeliefs:
    return solve(PublicTree(make_game("leduc_poker")).list_all(), 60, np.random.default_rng(0), iterations=50)


def test_targets_are_zero_sum_and_policies(solved: SolvedBeliefs) -> None:
    beliefs, rows = solved.beliefs, solved.targets
    assert len(beliefs.nodes) == len(rows) == 60
    for b, node in enumerate(beliefs.nodes):
        state, game = beliefs.public.states[node], beliefs.public.game
        at = [game.slot(state, p) + 6 * p for p in (0, 1)]
        ranges, weights = beliefs.ranges[b], game.weights(state).dense()
        cfv0 = rows.values[b, at[0]] * (weights @ ranges[at[1]])
        cfv1 = rows.values[b, at[1]] * (ranges[at[0]] @ weights)
        assert abs(cfv0 @ ranges[at[0]] + cfv1 @ ranges[at[1]]) < 1e-5
    trained = rows.policy_mask > 0
    np.testing.assert_allclose(rows.policies.sum(axis=2)[trained], 1.0, atol=1e-5)
    assert not rows.policies[~rows.legal].any() and trained.any()


def test_learning_lowers_the_error(solved: SolvedBeliefs) -> None:
    plain = next(configurations(60))
    before, after = fit(plain, solved, solved, 0), fit(plain, solved, solved, 60)
    assert after.error < before.error / 2 and after.weighted < before.weighted / 2 and after.kl < before.kl


def test_every_configuration_runs(solved: SolvedBeliefs) -> None:
    names = [c.name for c in configurations(2) if np.isfinite(fit(c, solved, solved, 4).error)]
    assert len(names) == len(set(names)) > 10
