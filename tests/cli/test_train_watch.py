"""The picture of a run's learning curve."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from sog.cli.train_watch import Watch, draw_curve
from sog.games.catalog import make_game
from sog.searches.tree.public_tree import PublicTree
from sog.training.curve import CURVE, PICTURE, Point, write_curve
from sog.training.run import Run


class Measured:
    """An algorithm whose networks all have one exploitability."""

    measure_is = "search"

    def measure(self, public: PublicTree, network: object, preset: str) -> float:
        return 0.05


def test_a_run_is_measured_in_the_games_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Leduc's is a thousandth of a chip."""
    watch = Watch(make_game("leduc_poker"), tmp_path, lambda done, note: None, Run("leduc_poker"))
    watch.algorithm = Measured()  # type: ignore[assignment]
    assert watch.measure(None) == watch.latest == 50.0  # type: ignore[arg-type]
    assert "50 mbb/h" in capsys.readouterr().err


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
