"""The inference benchmark measures every row or says why not."""

from __future__ import annotations

import json

import pytest

from sog.cli.app import main
from sog.nets.serving.resident import Residence
from soglab.scale.inference import TimedNetwork, bench_inference

SMALL = (TimedNetwork("kuhn_poker", 1, 16), TimedNetwork("connect_four", 1, 8, "resnet"))


def test_every_row_is_measured() -> None:
    residences = [Residence(mode=mode) for mode in ("eager", "compiled")] + [Residence(precision="bf16")]
    told: list[str] = []
    rows = list(bench_inference(SMALL, residences, (1, 8), seconds=0.01, report=lambda done, note: told.append(note)))
    assert len(rows) == len(told) == 12
    assert {(row.network, row.mode) for row in rows} == {
        (name, mode) for name in ("1x16 kuhn_poker", "residual 1x8 connect_four") for mode in ("eager", "compiled")
    }
    for row in rows:
        assert not row.why, row
        assert row.rows_per_second and row.p95_ms and row.rows_per_second > 0 and row.p95_ms > 0


def test_rows_that_cannot_run_say_why() -> None:
    rows = list(bench_inference(SMALL[:1], [Residence()], (1, 4096), seconds=1e-9, limit=1e-9))
    assert rows[0].rows_per_second and rows[1].rows_per_second is None and "more than --limit" in rows[1].why


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["bench", "inference", "--network", "3x256", "--mode", "eager", "--batch", "2", "--seconds", "0.01"]
    assert main([*line, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row.keys() == {"network", "device", "precision", "mode", "batch", "rows_per_second", "p95_ms", "why"}
    assert row["network"] == "3x256 leduc_poker" and row["batch"] == 2 and row["rows_per_second"] > 0
    assert main(line) == 0 and "rows/s" in capsys.readouterr().out
    assert main(["bench", "inference", "--network", "9x9"]) == 2
