"""PoG Table 6: the whole grid, settings that reach the learner, and the best of them beside the paper's figure."""

from __future__ import annotations

import pytest

from sog.games.rules.kuhn import Kuhn
from sog.searches.tree.public_tree import PublicTree
from soglab.baselines.reinforcement import A2CSettings, SelfPlay
from soglab.papers import pog_table6
from soglab.study import Options, StudyPoint


def test_the_grid_is_the_papers() -> None:
    keys = pog_table6.plan(Options(), print)
    assert len(keys) == 2 * 3 * 2 * 5 * 3
    assert len({str(key) for key in keys}) == len(keys)
    assert {key["episodes"] for key in pog_table6.plan(Options(full=True), print)} == {600_000}
    assert len(pog_table6.plan(Options(seeds=2), print)) == 2 * len(keys)


def test_settings_reach_both_players_learners() -> None:
    chosen = A2CSettings(hidden=(8, 4), actor_rate=2e-4, critic_rate=3e-3, critic_updates=2)
    run = SelfPlay(PublicTree(Kuhn()).list_all(), "a2c", 0, a2c=chosen)
    run.train(100)
    for agent in run.agents:
        shapes = [tuple(weights.shape) for weights in agent.policy_logits_network.parameters()]
        assert shapes[1] == (8,) and shapes[3] == (4,)
        assert agent._pi_optimizer.param_groups[0]["lr"] == 2e-4
        assert agent._critic_optimizer.param_groups[0]["lr"] == 3e-3
        updates = [next(iter(o.state.values()))["step"] for o in (agent._critic_optimizer, agent._pi_optimizer)]
        assert updates[1] >= 1 and updates[0] // 2 == updates[1]


def test_settings_of_a_key_decide_the_run() -> None:
    plain, other = (key for key in pog_table6.plan(Options(quick=True), print)[:4] if key["critic_rate"] == 1e-2)
    found = [pog_table6.compute({**key, "episodes": 300}) for key in (plain, plain, other)]
    assert found[0] == found[1] != found[2]
    assert found[0]["trained"] == list(range(0, 301, 30))


def test_the_best_by_the_last_fifth_stands_beside_the_papers_figure() -> None:
    keys = [key for key in pog_table6.plan(Options(seeds=2), print) if key["game"] == "leduc_poker"]
    first, twin = (key for key in keys if {**key, "seed": 0} == {**keys[0], "seed": 0})
    best_early = [1000.0] * 5 + [1.0] * 4 + [900.0, 900.0]
    points = [
        StudyPoint(first, {"trained": list(range(11)), "mbb_per_hand": [1000.0] * 9 + [300.0, 100.0]}),
        StudyPoint(twin, {"trained": list(range(11)), "mbb_per_hand": [1000.0] * 9 + [500.0, 300.0]}),
        StudyPoint(keys[1], {"trained": list(range(11)), "mbb_per_hand": best_early}),
    ]
    outcome = pog_table6.present(points)
    (row,) = outcome.beside
    assert row.what.startswith("leduc_poker, best of 2 settings: rates 0.001 and 0.01, 32, 4 critic updates")
    assert (row.paper, row.ours) == ("78", "300 (200 .. 400) mbb/h")
    assert [line["mbb_per_hand"] for line in outcome.rows] == pytest.approx([200.0, 400.0, 900.0])
