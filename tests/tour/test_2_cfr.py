"""Tour, 2 of 6. Counterfactual regret minimisation on a whole game: average policies, best responses, exploitability.

Next: test_3_gtcfr.py. The sweeps are sog/searches/cfr/sweeps.py, the rules sog/searches/cfr/rules.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import sog
from sog.searches.cfr import exact
from sog.searches.cfr.rules import CFR, DCFR
from sog.searches.tree.whole import whole_tree

KUHN = whole_tree(sog.make_game("kuhn_poker"))


def test_regret_matching_plays_in_proportion_to_positive_regret() -> None:
    """One iteration of CFR from the uniform policy: the average is still uniform, the next policy is not."""
    tree = exact.solve(KUHN, CFR, 1)
    np.testing.assert_allclose(exact.policy_of(tree)[0], 0.5)
    assert not np.allclose(exact.current_policy_of(tree)[0], 0.5)


def test_average_policies_converge_to_an_equilibrium() -> None:
    """Its value for player 0 is -1/18, whatever the rule; DCFR gets there faster than CFR."""
    found = {rule.name: exact.measure(exact.solve(KUHN, rule, 500)) for rule in (CFR, DCFR)}
    assert found["dcfr"].value == pytest.approx(-1 / 18, abs=1e-4)
    assert found["dcfr"].exploitability < found["cfr"].exploitability < 0.02


def test_exploitability_is_what_best_responses_win() -> None:
    """Against the uniform policy of Kuhn poker they win 11/24 chips a hand; against an equilibrium nothing."""
    uniform = exact.measure_policy(KUHN, exact.uniform_policy(KUHN))
    assert uniform.exploitability == pytest.approx(11 / 24)
    solved = exact.measure_policy(KUHN, exact.policy_of(exact.solve(KUHN, DCFR, 1000)))
    assert 0 <= solved.exploitability < 1e-3


def test_the_equilibrium_bluffs() -> None:
    """Player 0 bets the jack a third as often as the king, and never the queen."""
    policy = sog.solve("kuhn_poker", algorithm="dcfr", iterations=2000).policy[0]
    jack, queen, king = policy[1]  # the probability of a bet
    assert jack == pytest.approx(king / 3, abs=0.01) and queen == pytest.approx(0.0, abs=0.01)
