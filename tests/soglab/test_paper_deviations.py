"""What each deviation from the papers' search is worth: one change at a time, beside the papers' and ours."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from matplotlib.figure import Figure

from sog.errors import CheckpointError
from sog.play.resolver import ResolveSettings, paper_settings, pog_settings
from sog.searches.gtcfr.settings import Budget
from sog.training.shipped import find_checkpoint
from soglab.papers import paper_deviations
from soglab.papers.paper_deviations import OURS, OURS_MORE, PAPERS, SETTINGS
from soglab.study import Options, StudyPoint

BUDGET = Budget(100, 1.0)


def differences(one: ResolveSettings, other: ResolveSettings) -> set[str]:
    """The names of the settings that differ, those of the search included."""
    found = {f.name for f in fields(one) if getattr(one, f.name) != getattr(other, f.name)} - {"search"}
    mine, others = one.search, other.search
    return found | {f.name for f in fields(mine) if getattr(mine, f.name) != getattr(others, f.name)}


def test_one_change_at_a_time_and_together_they_are_ours() -> None:
    papers, ours = paper_settings(BUDGET), SETTINGS[OURS](BUDGET)
    assert SETTINGS[PAPERS](BUDGET) == papers and ours == ResolveSettings(BUDGET)
    changed = {name: differences(make(BUDGET), papers) for name, make in SETTINGS.items()}
    together = (PAPERS, OURS, OURS_MORE, "PoG, both: sog(paper=pog)")
    single = {name: found for name, found in changed.items() if name not in together}
    assert differences(SETTINGS[OURS_MORE](BUDGET), ours) == {"every_decision"}
    assert all(len(found) == 1 for found in single.values())
    tried = set().union(*single.values())
    # The first tree's children are all there where information is hidden; see the experiment's docstring.
    assert differences(ours, papers) - {"whole_root"} <= tried
    for name, found in single.items():
        (setting,) = found
        if setting in differences(ours, papers):
            made = SETTINGS[name](BUDGET)
            values = [getattr(x if hasattr(x, setting) else x.search, setting) for x in (made, ours)]
            assert values[0] == values[1]
    assert differences(pog_settings(BUDGET), papers) == {"alpha", "select_average"}
    assert replace(pog_settings(BUDGET), alpha=0.5, search=papers.search) == papers


def test_a_small_run_prints_every_setting_and_draws_it() -> None:
    keys = paper_deviations.plan(Options(quick=True), print)
    assert [key["setting"] for key in keys] == list(SETTINGS) and {key["simulations"] for key in keys} == {10}
    assert len(paper_deviations.plan(Options(full=True), print)) == 4 * 10 * len(SETTINGS) + 3 * 2
    results = [50.0, 25.0, *[100.0] * (len(SETTINGS) - 2)]
    points = [StudyPoint(key, {"mbb_per_hand": x}) for key, x in zip(keys, results, strict=True)]
    outcome = paper_deviations.present(points)
    assert [row.ours for row in outcome.beside][:3] == [
        "50 mbb/h",
        "25 mbb/h, -50% (-25)",
        "100 mbb/h, +100% (+50)",
    ]
    for draw in outcome.pictures.values():
        draw(Figure())


def test_deviations_change_what_is_measured() -> None:
    keys = {key["setting"]: key for key in paper_deviations.plan(Options(quick=True), print)}
    first, second = (paper_deviations.compute(keys[name])["mbb_per_hand"] for name in (PAPERS, OURS))
    assert 0 < second < first


def test_a_network_of_another_game_is_refused() -> None:
    other = find_checkpoint("tic_tac_toe")
    with pytest.raises(CheckpointError, match="is about leduc_poker"):
        paper_deviations.plan(Options(runs=(other,)), print)


def test_settings_are_compared_seed_by_seed_whatever_is_finished() -> None:
    """Points end in any order, so `--so-far` may have other seeds of one setting than of another."""
    keys = {(key["setting"], key["seed"]): key for key in paper_deviations.plan(Options(), print)}
    name = next(name for name in SETTINGS if name != PAPERS)
    mbb = {(PAPERS, 0): 90.0, (PAPERS, 1): 50.0, (PAPERS, 2): 40.0, (name, 1): 49.0, (name, 2): 39.0}
    points = [StudyPoint(keys[at], {"mbb_per_hand": x}) for at, x in mbb.items()]
    assert [row.ours for row in paper_deviations.present(points).beside][1] == "44 (39 .. 49) mbb/h, -2% (-1 ± 0)"
    alone = paper_deviations.present(points[3:]).beside
    assert [row.ours for row in alone] == ["44 (39 .. 49) mbb/h"]
