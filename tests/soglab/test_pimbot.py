"""PimBot's ablation and benchmark: small versions from end to end, and figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sog.cluster.placement import Placement
from sog.errors import GameError
from sog.measure.intervals import share_interval, wilson
from soglab.bench.pimbot import bench_pimbot
from soglab.papers import pimbot_ablation as ablation
from soglab.study import Options, PointFile, StudyPoint, carry_out, write


def silent(line: str) -> None:
    """Takes a plan's notes."""


def test_every_variant_is_a_player_of_its_own() -> None:
    found = {repr({**changes}) for changes in ablation.VARIANTS.values()}
    assert len(found) == len(ablation.VARIANTS) and len(found) >= 10
    keys = ablation.plan(Options(seeds=3), silent)
    assert len(keys) == 3 * (len(ablation.VARIANTS) + len(ablation.PLAYERS))


def test_a_small_version_from_end_to_end(tmp_path: Path) -> None:
    keys = [key | {"simulations": 20, "deals": 1} for key in ablation.plan(Options(quick=True), silent)]
    points = PointFile(tmp_path / "results")
    few = [key for key in keys if key["against"] in (ablation.ITSELF, "IS-MCTS", "separate trees")]
    study = ablation.EXPERIMENT.study
    outcome = carry_out(study, few, points, Placement("local", 1), lambda done, what: None)
    assert [row["games"] for row in outcome.rows] == [2, 2, 2]
    assert len(write(outcome, tmp_path / "results", "pimbot-ablation")) == 2
    assert ablation.compute(few[0]) == points.get(few[0])


def test_shares_are_of_games_and_intervals_of_deals() -> None:
    """Two batches: 3 of 4 games won as Mr X and 1 of 4 as the detectives; the deals' shares are 1/2, 1/2, 1, 0."""
    counts = np.zeros((3, 2, 5), dtype=int)
    counts[0] = [[1, 2, 0, 0, 0], [4, 4, 2, 0, 0]]
    wins = ([[1, 0], [1, 0]], [[1, 1], [0, 0]])
    points = [
        StudyPoint({"against": ablation.ITSELF, "batch": k}, {"wins": own, "counts": counts.tolist()})
        for k, own in enumerate(wins)
    ]
    outcome = ablation.present(points)
    (row,) = outcome.rows
    assert (row["pooled"], row["as_x"], row["as_detectives"]) == (0.5, 0.75, 0.25)
    deals = [(1.0, 2), (1.0, 2), (2.0, 2), (0.0, 2)]
    assert (row["pooled_low"], row["pooled_high"]) == share_interval(deals)
    assert (row["as_x_low"], row["as_x_high"]) == wilson(3, 4)
    assert [line.ours for line in outcome.beside][1:2] == ["0.250, 0.500, 0.000, -, -"]
    assert outcome.beside[1].paper == "0.196, 0.671, 0.540, 0.384, 0.196"


def test_the_benchmark_has_a_row_for_each_side_and_for_playouts() -> None:
    rows = list(bench_pimbot(["scotland_yard(map=glasses)"], 50, 1, lambda done, what: None))
    assert len(rows) == 3 and all(row.per_second > 0.0 and 0.0 <= row.escapes <= 1.0 for row in rows)
    with pytest.raises(GameError, match="scotland_yard"):
        list(bench_pimbot(["kuhn_poker"], 50, 1, lambda done, what: None))
