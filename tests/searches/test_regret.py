"""The weights of each rule of the family, by its definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sog.errors import SettingError
from sog.searches.cfr.rules import CFR, CFR_PLUS, DCFR, LINEAR_CFR, PCFR_PLUS, RULES, SOG, Rule


@pytest.mark.parametrize(
    ("rule", "fourth"),
    [
        # (positive, negative, average, prediction) of iteration 4.
        (CFR, (1.0, 1.0, 1.0, 0.0)),
        (CFR_PLUS, (1.0, 0.0, 4.0, 0.0)),
        (LINEAR_CFR, (0.8, 0.8, 4.0, 0.0)),
        (DCFR, (8 / 9, 0.5, 16.0, 0.0)),
        (PCFR_PLUS, (1.0, 0.0, 16.0, 1.0)),
        (SOG, (1.0, 0.0, 4.0, 0.0)),
    ],
    ids=lambda x: x.name if isinstance(x, Rule) else "",
)
def test_weights(rule: Rule, fourth: tuple[float, ...]) -> None:
    np.testing.assert_allclose(rule.steps(4, 1), [fourth])


def test_powers_too_large_for_a_number_have_their_limits() -> None:
    large = Rule("large", alpha=150.0, beta=-150.0, gamma=20.0).steps(1, 2_000)
    assert np.isfinite(large).all() and (large[1:, 0] > 0.99).all() and (large[1:, 1] < 0.01).all()
    assert large[-1, 0] == 1.0 and large[-1, 1] == 0.0
    with pytest.raises(SettingError, match="gamma of the rule steep is a number from -20 to 20, not 150"):
        Rule("steep", gamma=150.0)


def test_only_the_papers_rule_is_simultaneous() -> None:
    assert [rule.name for rule in RULES if not rule.alternating] == ["sog"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_steps_may_be_asked_for_in_parts(rule: Rule) -> None:
    parts = [rule.steps(first, count) for first, count in ((1, 3), (4, 1), (5, 6))]
    np.testing.assert_array_equal(np.concatenate(parts), rule.steps(1, 10))


def test_linear_discounts_give_linear_weights() -> None:
    """Discounting by t / (t + 1) after each of T iterations leaves iteration t with weight t / (T + 1)."""
    kept, first = LINEAR_CFR.steps(1, 10)[:, 0], np.arange(1, 11)
    left = [np.prod(kept[t - 1 :]) for t in first]
    np.testing.assert_allclose(left, first / 11)


@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_a_delay_leaves_the_first_policies_out(gamma: float) -> None:
    rule = replace(CFR_PLUS, gamma=gamma, delay=2)
    late = replace(rule, delay=0).steps(1, 8)
    np.testing.assert_array_equal(rule.steps(1, 10)[:, 2], [0.0, 0.0, *late[:, 2]])
