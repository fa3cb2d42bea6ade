"""The picture of a run's learning curve."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from sog.cli.train_watch import draw_curve
from sog.training.curve import CURVE, PICTURE, Point, write_curve


def test_rounds_without_a_step_leave_no_hole_in_the_losses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every second round there is no loss: its points are joined, and each has a marker."""
    losses = [math.nan, 0.5, math.nan, 0.25, math.nan]
    write_curve(tmp_path / CURVE, [Point(k, float(k), value_loss=y, policy_loss=y) for k, y in enumerate(losses)])
    drawn: list[Figure] = []
    save = Figure.savefig

    def kept(figure: Figure, path: Path, dpi: int) -> None:
        drawn.append(figure)
        save(figure, path, dpi=dpi)

    monkeypatch.setattr(Figure, "savefig", kept)
    draw_curve(tmp_path, "kuhn_poker", "mbb/h", "search")
    (figure,) = drawn
    assert (tmp_path / PICTURE).read_bytes().startswith(b"\x89PNG")
    for line in figure.axes[0].lines:
        assert line.get_xydata().tolist() == [[1.0, 0.5], [3.0, 0.25]] and line.get_marker() == "."
