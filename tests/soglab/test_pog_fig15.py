"""PoG Fig. 15: the plan, one short run, and how the figures stand beside the paper's."""

from __future__ import annotations

import pytest

from soglab.papers import pog_fig15
from soglab.study import Options, StudyPoint


def test_the_plan_has_every_agent_on_both_games() -> None:
    keys = pog_fig15.plan(Options(), print)
    assert len(keys) == 2 * 3 * 2
    assert [key["episodes"] for key in pog_fig15.plan(Options(full=True), print)] == [10 * k["episodes"] for k in keys]
    assert len(pog_fig15.plan(Options(seeds=5), print)) == 2 * 3 * 5


def test_a_short_run_begins_at_the_uniform_policy() -> None:
    """Q-learning's values are all 0 at first, so that its greedy policy is uniform: 11/24 of a chip."""
    found = pog_fig15.compute({"game": "kuhn_poker", "agent": "q-learning", "episodes": 200, "seed": 0})
    assert found["trained"] == list(range(0, 201, 10))
    assert found["mbb_per_hand"][0] == found["uniform"] == pytest.approx(1000 * 11 / 24)
    assert len(set(found["mbb_per_hand"])) > 3


def test_the_last_fifth_stands_beside_the_papers_figure() -> None:
    curve = [1000.0] * 17 + [300.0, 200.0, 100.0, 200.0]
    result = {"trained": list(range(21)), "mbb_per_hand": curve, "uniform": 500.0}
    other = {**result, "mbb_per_hand": [x + 100.0 for x in curve]}
    keys = [{"game": "leduc_poker", "agent": "a2c", "episodes": 20, "seed": seed} for seed in (0, 1)]
    outcome = pog_fig15.present([StudyPoint(keys[0], result), StudyPoint(keys[1], other)])
    (row,) = outcome.beside
    assert (row.paper, row.ours) == ("78", "250 (200 .. 300) mbb/h")
    assert row.what == "leduc_poker, a2c, last fifth of 20 episodes"
    assert len(outcome.rows) == 42
