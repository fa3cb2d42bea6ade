"""SoG's Table 2: hands of the shipped network, and what their figures come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.errors import SettingError
from soglab.papers import sog_table2
from soglab.study import Options, StudyPoint


def test_each_opponent_has_its_points_at_both_budgets() -> None:
    keys = sog_table2.plan(Options(), print)
    assert {key["per_update"] for key in keys} == {1.0, 0.1}
    assert len({key["against"] for key in keys}) == 5 and {key["game"] for key in keys} == {"holdem(bets=random)"}
    assert len(sog_table2.plan(Options(seeds=2), print)) == 20


def test_it_is_about_one_network() -> None:
    with pytest.raises(SettingError, match="about one network"):
        sog_table2.plan(Options(runs=(Path("one"), Path("two"))), print)


def test_figures_are_in_thousandths_of_a_big_blind() -> None:
    """Of 100 chips, so that a chip a hand is 10 mbb/h; what LBR wins is in pairs of hands already."""
    key = next(key for key in sog_table2.plan(Options(), print) if key["against"] == "random")
    points = [StudyPoint(key, {"corrected": [1.0, 1.0, 3.0, 3.0], "raw": [5.0, 5.0, 5.0, 5.0]})]
    points += [StudyPoint({**key, "against": sog_table2.LBR}, {"corrected": [2.0, 2.0], "raw": None})]
    own, lbr = sog_table2.present(points).rows
    assert (own["mean"], own["raw_mean"], lbr["mean"], lbr["half"]) == (20.0, 50.0, 20.0, 0.0)
    assert own["half"] == pytest.approx(12.706205 * 10.0)  # two pairs, 10 and 30


def test_hands_are_played_corrected_and_measured() -> None:
    """Against an opponent that always folds, a big blind gets the small one; what LBR wins is its own kind of row."""
    keys = {key["against"]: {**key, "simulations": 1} for key in sog_table2.plan(Options(quick=True), print)}
    points = [StudyPoint(keys[name], sog_table2.compute(keys[name])) for name in ("always-fold", sog_table2.LBR)]
    assert sorted(points[0].result["raw"]) == [50.0, 100.0]
    fold, lbr = sog_table2.present(points).rows
    assert fold["raw_mean"] == 750.0 and fold["hands"] == 2
    assert lbr["hands"] == 2 and lbr["mean"] == pytest.approx(10 * points[1].result["corrected"][0])
