"""Learning curves of training runs, from their curve.csv, as pictures; it reads, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from sog.errors import SogError
from sog.games.catalog import make_game
from sog.pictures.charts import Curve, curve_chart
from sog.pictures.svg import SvgPicture
from sog.training.curve import Columns
from sog.web.offers import RunFolder

__all__ = ["pictures_of_runs"]

_DRAWN: Final = 1_000  # points of a curve


def pictures_of_runs(runs: Sequence[tuple[RunFolder, Columns]]) -> dict[str, SvgPicture]:
    """Losses, exploitability, rows and games of one run, or of two in the same pictures, by their headings."""
    several = len(runs) > 1
    losses = [
        Curve(f"{name.replace('_', ' ')}{f', {run.name}' if several else ''}", _points(curve, name))
        for run, curve in runs
        for name in ("value_loss", "policy_loss")
    ]
    out = {"Losses": curve_chart("losses over time", losses, ("minutes", "loss"), log=True)}
    measured = [Curve(run.name, points) for run, curve in runs if (points := _points(curve, "measured"))]
    if measured:
        units = dict.fromkeys(_unit(run) for run, _ in runs)
        axes = ("minutes", ", ".join(units))
        out["Exploitability"] = curve_chart("exploitability over time", measured, axes, log=True)
    for name, title in (
        ("rows", "Training rows so far"),
        ("games", "Games of each round"),
        ("searches", "Searches of each round"),
    ):
        curves = [Curve(run.name, points) for run, curve in runs if (points := _points(curve, name))]
        if curves:
            out[title] = curve_chart(f"{title.lower()} over time", curves, ("minutes", name))
    return out


def _points(curve: Columns, name: str) -> list[tuple[float, float]]:
    """A column over minutes, without what was not measured; of long curves every k-th point and the last."""
    if not {name, "minutes"} <= curve.keys():
        return []
    found = list(zip(*(curve[each].tolist() for each in ("minutes", name)), strict=True))
    found = [point for point in found if all(map(math.isfinite, point))]
    every = math.ceil(len(found) / _DRAWN) or 1
    return found[::every] + (found[-1:] if (len(found) - 1) % every else [])


def _unit(run: RunFolder) -> str:
    """The unit that a run's exploitability is measured in."""
    try:
        return make_game(run.game).unit.name if run.game else "exploitability"
    except SogError:
        return "exploitability"
