"""Learning curves of training runs, from their curve.csv, as pictures; it reads, and nothing else."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Final

from sog.errors import SettingError, SogError
from sog.files import open_regular, read_bounded
from sog.games.catalog import make_game
from sog.pictures.charts import Curve, curve_chart
from sog.training.curve import CURVE
from sog.web.offers import RunFolder

__all__ = ["Rows", "pictures_of_runs", "read_curve"]

# The points of a curve, each by the columns' names.
Rows = list[dict[str, float]]

_LARGEST: Final = 50_000_000  # bytes
_DRAWN: Final = 1_000  # points of a curve


def read_curve(run: RunFolder) -> Rows:
    """The points of a run's curve. SettingError where there is none, or it is none."""
    try:
        with open_regular(run.folder / CURVE, _LARGEST) as (file, size):
            text = read_bounded(file, size).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        return [{name: float(x) for name, x in row.items()} for row in rows]
    except (OSError, ValueError, TypeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it is damaged"
        raise SettingError(f"{run.name}: {CURVE} cannot be read: {why}") from error


def pictures_of_runs(runs: Sequence[tuple[RunFolder, Rows]]) -> list[tuple[str, str]]:
    """(heading, SVG) of losses, exploitability, rows and games of one run, or of two in the same pictures."""
    several = len(runs) > 1
    losses = [
        Curve(f"{name.replace('_', ' ')}{f', {run.name}' if several else ''}", _points(rows, name))
        for run, rows in runs
        for name in ("value_loss", "policy_loss")
    ]
    out = [("Losses", curve_chart("losses over time", losses, ("minutes", "loss"), log=True))]
    measured = [Curve(run.name, points) for run, rows in runs if (points := _points(rows, "measured"))]
    if measured:
        units = dict.fromkeys(_unit(run) for run, _ in runs)
        chart = curve_chart("exploitability over time", measured, ("minutes", ", ".join(units)), log=True)
        out.append(("Exploitability", chart))
    for name, title in (
        ("rows", "Training rows so far"),
        ("games", "Games of each round"),
        ("searches", "Searches of each round"),
    ):
        curves = [Curve(run.name, points) for run, rows in runs if (points := _points(rows, name))]
        if curves:
            out.append((title, curve_chart(f"{title.lower()} over time", curves, ("minutes", name))))
    return out


def _points(rows: Rows, name: str) -> list[tuple[float, float]]:
    """A column over minutes, without what was not measured; of long curves every k-th point and the last."""
    found = [(row["minutes"], row[name]) for row in rows if name in row and "minutes" in row]
    found = [point for point in found if all(map(math.isfinite, point))]
    every = math.ceil(len(found) / _DRAWN) or 1
    return found[::every] + (found[-1:] if (len(found) - 1) % every else [])


def _unit(run: RunFolder) -> str:
    """The unit that a run's exploitability is measured in."""
    try:
        return make_game(run.game).unit.name if run.game else "exploitability"
    except SogError:
        return "exploitability"
