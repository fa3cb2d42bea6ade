"""Policy targets: completed values and the improved policy against numbers worked out by hand, and what they keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.algorithms.boards.targets import (
    RootStatistics,
    TargetSettings,
    completed_values,
    divergence,
    improved_logits,
    policy_target,
)
from sog.errors import SettingError

# Three actions with priors 1/2, 1/4, 1/4; the third was not opened.
FOUND = RootStatistics(
    logits=np.log([0.5, 0.25, 0.25]),
    shares=np.array([0.8, 0.2, 0.0]),
    visits=np.array([6.0, 3.0, 0.0]),
    values=np.array([0.4, -0.2, np.nan]),
    value=0.1,
)


def test_an_unopened_action_gets_the_mixed_value() -> None:
    # The known values by the prior: (0.5 * 0.4 + 0.25 * -0.2) / 0.75 = 0.2; mixed (0.1 + 9 * 0.2) / 10 = 0.19.
    assert completed_values(FOUND) == pytest.approx([0.4, -0.2, 0.19])
    assert completed_values(FOUND._replace(values=np.full(3, np.nan))) == pytest.approx([0.1, 0.1, 0.1])


def test_the_improved_policy_by_hand() -> None:
    settings = TargetSettings(c_visit=4.0, c_scale=0.2)  # (4 + 6) * 0.2 = 2 for a win over a loss
    logits = [math.log(0.5) + 2 * 0.7, math.log(0.25) + 2 * 0.4, math.log(0.25) + 2 * 0.595]
    assert improved_logits(FOUND, settings) == pytest.approx(logits)
    weights = [0.5 * math.exp(1.4), 0.25 * math.exp(0.8), 0.25 * math.exp(1.19)]
    assert policy_target(FOUND, settings) == pytest.approx([w / sum(weights) for w in weights])


def test_the_searchs_own_policy() -> None:
    own = TargetSettings(completed=False)
    assert policy_target(FOUND, own) == pytest.approx([0.8, 0.2, 0.0])


@pytest.mark.parametrize(("temperature", "known"), [(1.5, True), (1.0, False)])
def test_a_target_temperature_bounds_what_learning_ones_own_targets_comes_to(temperature: float, known: bool) -> None:
    """With T above 1 the fixed point of learning targets again and again is the policy of sigma * T / (T - 1)."""
    settings = TargetSettings(c_visit=4.0, c_scale=0.2, target_temperature=temperature)
    values = np.array([0.1, 0.05, 0.0])
    found = RootStatistics(np.zeros(3), np.full(3, 1 / 3), np.full(3, 6.0), values, 0.05)
    for _ in range(200):
        found = found._replace(logits=np.log(policy_target(found, settings)))
    bounded = np.exp(3.0 * values)  # (4 + 6) * 0.2 = 2 for a win over a loss, so sigma = values; T / (T - 1) = 3
    expected = bounded / bounded.sum() if known else [1.0, 0.0, 0.0]
    assert policy_target(found, settings) == pytest.approx(expected, abs=1e-3)


@given(st.integers(0, 10_000), st.integers(2, 9), st.floats(0.01, 2.0))
def test_targets_sum_to_one_and_keep_every_legal_move(seed: int, actions: int, c_scale: float) -> None:
    rng = np.random.default_rng(seed)
    opened = rng.random(actions) < 0.5
    visits = np.where(opened, rng.integers(1, 60, size=actions), 0).astype(np.float64)
    values = np.where(opened, rng.uniform(-1, 1, size=actions), np.nan)
    found = RootStatistics(
        rng.normal(size=actions), np.full(actions, 1 / actions), visits, values, float(rng.uniform(-1, 1))
    )
    target = policy_target(found, TargetSettings(c_scale=c_scale))
    assert target.sum() == pytest.approx(1.0)
    assert (target > 0).all()
    best = int(np.argmax(completed_values(found)))
    prior = np.exp(found.logits) / np.exp(found.logits).sum()
    assert target[best] >= prior[best] - 1e-12


def test_divergence_is_the_kl_from_the_networks_policy() -> None:
    logits = np.log([0.5, 0.5])
    assert divergence(np.array([0.5, 0.5]), logits) == pytest.approx(0.0)
    assert divergence(np.array([1.0, 0.0]), logits + 3.0) == pytest.approx(math.log(2))


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"c_scale": 0.0}, {"c_visit": -1.0}, {"target_temperature": 0.0}):
        with pytest.raises(SettingError):
            TargetSettings(**wrong)
