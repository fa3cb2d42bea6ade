"""The ablation: each variant changes one thing, runs are trained before they are measured, and go on after a stop."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from sog.cluster.placement import Placement
from sog.measure.intervals import wilson
from sog.training import curve
from sog.training.run import Hooks, Run, Until
from sog.training.self_play import train
from sog.training.settings import TrainSettings
from soglab.checks import connect_four_ablation as ablation
from soglab.checks.connect_four_ablation import MATCH, MISTAKES, RECIPE, TRAIN, VARIANTS, changed, stage
from soglab.study import Options, PointFile, StudyPoint, carry_out, write


def silent(line: str) -> None:
    """Takes a plan's notes."""


def test_each_variant_differs_from_the_recipe_and_from_the_others() -> None:
    names = list(VARIANTS)
    assert names[0] == RECIPE and len(names) >= 8
    assert len({repr(changed(name)) for name in names}) == len(names)


def test_every_run_is_trained_measured_and_met_by_the_recipe() -> None:
    keys = ablation.plan(Options(minutes=2.0), silent)
    runs = {(key["variant"], key["seed"]) for key in keys}
    assert len(runs) == 2 * len(VARIANTS)
    for what, times in ((TRAIN, 1), (MISTAKES, 6)):
        found = [(key["variant"], key["seed"]) for key in keys if key["what"] == what]
        assert set(found) == runs and len(found) == times * len(runs)
    assert {(key["variant"], key["seed"]) for key in keys if key["what"] == MATCH} == {
        run for run in runs if run[0] != RECIPE
    }
    assert [stage(key) for key in keys] == sorted(stage(key) for key in keys)
    assert all(key["minutes"] == 2.0 for key in keys)


def test_the_quick_version_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys = ablation.plan(Options(quick=True, minutes=0.001), silent)
    done: list[str] = []
    points = PointFile(tmp_path / "results")
    study = ablation.EXPERIMENT.study
    outcome = carry_out(study, keys, points, Placement("local", 1), lambda count, what: done.append(what))
    assert [row["variant"] for row in outcome.rows] == list(VARIANTS)[:2]
    assert outcome.rows[0]["elo"] == 0.0 and all(0.0 <= row["sog_share"] <= 1.0 for row in outcome.rows)
    assert len(write(outcome, tmp_path / "results", "connect-four-ablation")) == 2
    assert len(done) == 1 + len(keys)
    again = carry_out(study, keys, points, Placement("local", 1), lambda count, what: None)
    assert list(again.rows) == list(outcome.rows)
    result = ablation.compute(keys[0])  # a run that has had its time is not trained on
    assert result == points.get(keys[0])
    assert isinstance(StudyPoint(keys[0], result).row["rounds"], int)


def test_a_training_that_is_stopped_is_no_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run ends early only by SIGTERM, which takes effect when the round is saved; the study ends, too."""
    monkeypatch.chdir(tmp_path)
    came, sent = list[int](), list[int]()
    whole = train

    def kill_once(point: curve.Point, total: int) -> None:
        if not sent:  # a second one might come when nobody listens for it any more
            sent.append(signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)

    def stopped(run: Run, settings: TrainSettings, out: Path, until: Until, resume: bool) -> curve.Point:
        return whole(run, replace(settings, games=1), out, until, resume, Hooks(report=kill_once))

    monkeypatch.setattr(ablation, "train", stopped)
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        ablation.compute(ablation.plan(Options(minutes=600.0), silent)[0])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM]


def test_differences_are_those_of_the_same_seed() -> None:
    """Two seeds of the recipe lose value in 10% and 20% of moves, a variant's in 15% and 40%: +5 and +20 points."""
    few = {"positions": 4, "simulations": 8}
    points = []
    for name, shares in ((RECIPE, (10, 20)), (list(VARIANTS)[1], (15, 40))):
        for seed, lost in enumerate(shares):
            run = {"variant": name, "seed": seed}
            points.append(StudyPoint({"what": TRAIN, **run}, {"rounds": 1, "rows": 5, "steps": 1}))
            counts = {f"{of}_{what}": n for of in ("sog", "alphazero") for what, n in counted(lost)}
            points.append(StudyPoint({"what": MISTAKES, **run, "set": "End-Easy", **few}, counts))
    match = {"what": MATCH, "variant": list(VARIANTS)[1], "seed": 0}
    points.append(StudyPoint(match, {"wins": 3, "draws": 2, "losses": 3}))
    recipe, variant = ablation.present(points).rows
    assert variant["less_recipe"] == pytest.approx([0.05, 0.2]) and recipe["by_seed"] == [0.1, 0.2]
    assert "+5.0, +20.0 points" in ablation.present(points).beside[1].ours
    # 100 positions, whatever the number of seeds that play them; and the recipe's points may come last.
    assert (recipe["sog_low"], recipe["sog_high"]) == wilson(15.0, 100.0)
    assert ablation.present(points[::-1]).rows[0]["less_recipe"] == pytest.approx([0.2, 0.05])
    assert [row.what for row in ablation.present(points).beside] == [RECIPE, list(VARIANTS)[1]]
    lost = {"wins": 0, "draws": 0, "losses": 8}
    said = ablation.present([*points[:-1], replace(points[-1], result=lost)]).beside[-1]
    assert said.what == "virtual draws" and "bounds only" in said.ours


def counted(lost: int) -> list[tuple[str, int]]:
    return [("can_lose_value", 100), ("lose_value", lost)]
