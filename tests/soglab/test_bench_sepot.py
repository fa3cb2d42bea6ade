"""`sog bench sepot`: rows by the size of subgames, whose parts are all of the time."""

from __future__ import annotations

import json

import pytest

from sog.algorithms.sepot.search import SepotSearchSettings
from sog.cli.app import main
from soglab.bench.sepot_search import PARTS, bench_sepot

GOOF = "goofspiel(imp_info=True,num_cards=5,points_order=descending)"


def test_rows_are_by_size_and_their_shares_are_of_all_the_time() -> None:
    said: list[str] = []
    settings = SepotSearchSettings(iterations=20, most=1_500)
    rows = list(bench_sepot((GOOF,), 4, settings, lambda done, name: said.append(name)))
    assert said == [GOOF]
    small, *others, left = rows
    assert (small.above, small.most) == (0, 1_000) and 0 < small.histories <= 1_000
    assert all(1_000 < row.histories <= 10_000 for row in others)
    assert left.most == left.histories == 0  # states with more than 1,500 histories, which nothing is made of
    for row in rows:
        assert set(row.shares) == set(PARTS) and sum(row.shares.values()) == pytest.approx(1.0)
        assert row.milliseconds > 0.0 and row.megabytes > 0.0 and row.searches > 0
    assert small.shares["CFR+"] > 0.0 == left.shares["CFR+"]


def test_the_command_prints_rows(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["bench", "sepot", "kuhn_poker", "--played", "2", "--updates", "5"]
    assert main([*line, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows and all(row["game"] == "kuhn_poker" for row in rows)
    assert main(line) == 0 and "CFR+" in capsys.readouterr().out
    assert main(["bench", "sepot", "chess"]) == 2
