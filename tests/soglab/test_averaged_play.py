"""Averaged policies: the plan, the average beside one computed by hand, and what is printed."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from sog.measure.exploitability import agent_policy
from sog.measure.listed import listed
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from soglab.papers import averaged_play
from soglab.papers.averaged_play import COUNTS, averaged_seeds
from soglab.study import Options, StudyPoint

SETTINGS = ResolveSettings(Budget(3, 1.0))


def test_both_agents_average_as_many_policies() -> None:
    keys = averaged_play.plan(Options(), print)
    assert [(key["player"], key["most"]) for key in keys] == [("sog", 1024), ("rebel", 1024)] * 2
    assert len({key["network"] for key in keys}) == 4


def test_the_average_of_one_seed_is_its_policy() -> None:
    (one,) = averaged_seeds("kuhn_poker", SETTINGS, zero_evaluator, [1])
    public = listed("kuhn_poker")
    policy = agent_policy(public, SETTINGS, zero_evaluator, 0)
    assert one == pytest.approx(exact.measure_policy(public, policy).exploitability, abs=1e-9)


def test_a_seed_counts_as_much_as_its_own_actions_lead_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kuhn poker: player 0's second decision follows a pass of its own."""
    public = listed("kuhn_poker")
    rng = np.random.default_rng(0)
    passes = rng.uniform(size=(2, len(list(public.decisions())), 3))
    policies = [dict(zip(public.decisions(), np.stack([p, 1.0 - p], axis=1), strict=True)) for p in passes]
    first, second = (node for node in public.decisions() if public.actor(node) == 0)
    reach = np.stack([policy[first][0] for policy in policies])
    whole = {node: np.mean([policy[node] for policy in policies], axis=0) for node in policies[0]}
    whole[second] = np.sum(reach[:, None] * [policy[second] for policy in policies], axis=0) / reach.sum(axis=0)
    monkeypatch.setattr(averaged_play, "agent_policy", lambda *args: policies[args[-1]])
    *_, two = averaged_seeds("kuhn_poker", SETTINGS, zero_evaluator, [1, 2])
    assert two == pytest.approx(exact.measure_policy(public, whole).exploitability, abs=1e-9)


def test_what_is_printed_and_drawn() -> None:
    curve = {str(count): 0.1 / count for count in COUNTS}
    keys = averaged_play.plan(Options(), print)
    outcome = averaged_play.present([StudyPoint(key, {"exploitability": curve, "seconds": 60.0}) for key in keys])
    assert outcome.beside[1].what == "liars_dice(numdice=1,dice_sides=4), ReBeL, 1,024 updates"
    assert outcome.beside[1].ours.endswith("256: 0.0004, 1,024: 0.0001; 60 s")
    for draw in outcome.pictures.values():
        draw(Figure())
