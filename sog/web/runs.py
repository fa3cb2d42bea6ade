"""Pages of training runs: learning curves from their curve.csv as pictures; it reads, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sog.errors import SettingError, SogError
from sog.games.catalog import make_game
from sog.pictures.charts import Curve, curve_chart
from sog.pictures.svg import SvgPicture
from sog.training.curve import Columns, read_curve
from sog.web.files import picture_answer
from sog.web.offers import Offers, RunFolder
from sog.web.pages import Pages

__all__ = ["RunPages", "pictures_of_runs"]

_DRAWN: Final = 1_000  # points of a curve


class RunPages:
    """What the addresses of runs answer."""

    def __init__(self, offers: Offers, pages: Pages) -> None:
        self.offers, self.pages = offers, pages

    def routes(self) -> list[Route]:
        """All addresses."""
        return [
            Route("/runs", self.runs),
            Route("/runs/{name}", self.run),
            Route("/runs/{name}/pictures/{file}", self.picture),
        ]

    async def runs(self, request: Request) -> Response:
        return HTMLResponse(self.pages.runs(list(self.offers.runs.values())))

    async def run(self, request: Request) -> Response:
        shown = self._named(request)
        others = [run for run in self.offers.runs.values() if run not in shown]
        return HTMLResponse(self.pages.run(shown, others, await run_in_threadpool(_curves_of, shown)))

    async def picture(self, request: Request) -> Response:
        return await picture_answer(request, partial(_curves_of, self._named(request)))

    def _named(self, request: Request) -> list[RunFolder]:
        """The run that an address names, and the one beside it."""
        beside = request.query_params.get("beside", "")
        return [self._run(name) for name in (request.path_params["name"], beside) if name]

    def _run(self, name: str) -> RunFolder:
        if name not in self.offers.runs:
            raise SettingError("there is no such run here: name its folder on the command line of `sog serve`")
        return self.offers.runs[name]


def _curves_of(runs: list[RunFolder]) -> dict[str, SvgPicture]:
    return pictures_of_runs([(run, read_curve(run.folder, run.name)) for run in runs])


def pictures_of_runs(runs: Sequence[tuple[RunFolder, Columns]]) -> dict[str, SvgPicture]:
    """Losses, exploitability, rows and games of one run, or of two in the same pictures, by their headings."""
    several = len(runs) > 1
    losses = [
        Curve(f"{name.replace('_', ' ')}{f', {run.name}' if several else ''}", _points(curve, name))
        for run, curve in runs
        for name in ("value_loss", "policy_loss")
    ]
    out = {"Losses": curve_chart("losses over time", losses, ("minutes", "loss"), log=True)}
    units = dict.fromkeys(_unit(run) for run, _ in runs)
    measured = [
        Curve(f"{run.name}, {_unit(run)}" if len(units) > 1 else run.name, points)
        for run, curve in runs
        if (points := _points(curve, "measured"))
    ]
    if measured:
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
    points = list(zip(*(curve[each].tolist() for each in ("minutes", name)), strict=True))
    points = [point for point in points if all(map(math.isfinite, point))]
    every = math.ceil(len(points) / _DRAWN) or 1
    return points[::every] + (points[-1:] if (len(points) - 1) % every else [])


def _unit(run: RunFolder) -> str:
    """The unit that a run's exploitability is measured in."""
    try:
        return make_game(run.game).unit.name if run.game else "exploitability"
    except SogError:
        return "exploitability"
