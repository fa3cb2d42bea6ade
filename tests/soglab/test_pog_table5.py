"""PoG Table 5: the plan, one point, and how the figures stand beside the paper's."""

from __future__ import annotations

from soglab.baselines.ismcts import FINAL_POLICIES
from soglab.papers import pog_table5
from soglab.study import Options, StudyPoint


def test_the_plan_has_the_whole_table_for_every_seed() -> None:
    assert len(pog_table5.plan(Options(), print)) == 4 * 7 * 5
    assert len(pog_table5.plan(Options(seeds=3), print)) == 4 * 7 * 3
    assert {key["simulations"] for key in pog_table5.plan(Options(quick=True), print)} == {10, 100, 1_000}


def test_a_point_is_decided_by_its_key() -> None:
    key = {"game": "leduc_poker", "simulations": 10, "c": 13.0, "seed": 1}
    found = pog_table5.compute(key)
    assert tuple(found) == FINAL_POLICIES
    assert all(1_000 < mbb < 4_000 for mbb in found.values())
    assert found == pog_table5.compute(key)
    assert found != pog_table5.compute({**key, "seed": 2})


def test_figures_stand_beside_the_papers() -> None:
    """Two seeds 100 apart about the paper's mvd, far from its mvis, and equal in mval: no noise to go by."""
    keys = [{"game": "leduc_poker", "simulations": 10_000, "c": 13.0, "seed": seed} for seed in (0, 1)]
    results = [{"mvd": 461.0, "mvis": 900.0, "mval": 470.0}, {"mvd": 561.0, "mvis": 902.0, "mval": 470.0}]
    outcome = pog_table5.present([StudyPoint(*both) for both in zip(keys, results, strict=True)])
    mvd, mvis, mval, lowest, near = outcome.beside
    assert (mvd.what, mvd.paper, mvd.ours) == ("10,000 sims, C 13, mvd", "511", "511 mbb/h (deviation 71)")
    assert (mvis.paper, mvis.ours) == ("465", "901 mbb/h (deviation 1)")
    assert (mval.paper, mval.ours) == ("470", "470 mbb/h (deviation 0)")
    assert lowest.paper.startswith("465 (") and lowest.ours.startswith("470 (")
    assert near.ours == "1 of 2 figures"
    assert [row["paper"] for row in outcome.rows] == [511, 465, 470]
