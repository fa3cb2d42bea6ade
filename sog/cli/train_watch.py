"""What `sog train` shows of a run: exploitability, the progress bar's note, TensorBoard, and curve.png at the end."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sog.cli.event_log import EventLog
from sog.cli.frame import Report, say

if TYPE_CHECKING:
    from sog.algorithms.base import Rules
    from sog.nets.network import Network
    from sog.play.tally import RoundSoFar
    from sog.training.curve import Point
    from sog.training.run import Hooks, Run
    from sog.training.stream.loop import StreamHooks
    from sog.training.stream.supervisor import Supervisor

__all__ = ["Watch", "draw_curve"]

# Games with more public states than this are trained without measuring exploitability on the way.
_MEASURED_STATES = 20_000
_EVERY = 10  # rounds, between two measures
# Of a point of the curve, for TensorBoard.
_FIGURES = ("value_loss", "policy_loss", "measured", "rows", "games", "searches", "queries", "minutes")


class Watch:
    """Measures exploitability on small games, and reports it to the progress bar and TensorBoard."""

    def __init__(self, game: Rules, folder: Path, bar: Report, run: Run, begun: int = 0) -> None:
        """begun: rounds that were done before."""
        from sog.algorithms.table import read

        self.game, self.folder, self.bar, self.run = game, folder, bar, run
        self.algorithm = read(run.algorithm)
        self.latest: float | None = None
        self.round, self.minutes = begun, math.nan
        self.public: Any = None
        self.log: EventLog | None = None

    def hooks(self) -> Hooks:
        """What a run in rounds calls."""
        from sog.training.run import Hooks

        return Hooks(self.measure, _EVERY, self.report, say, self.playing)

    def streamed(self) -> StreamHooks:
        """What a run without rounds calls."""
        from sog.training.stream.loop import StreamHooks

        return StreamHooks(self.measure, _EVERY, self.report, say, look=self.look)

    def measure(self, network: Network) -> float:
        """Exploitability of what the algorithm is measured by while it trains; NaN for a game too large."""
        from sog.games.catalog import public_face
        from sog.searches.tree.whole import listed_tree

        if self.public is None:
            face = public_face(self.game)
            self.public = (face is not None and listed_tree(face)) or False
        if not self.public or self.public.size > _MEASURED_STATES:
            return math.nan
        self.latest = self.algorithm.measure(self.public, network, self.run.preset) * self.game.unit.per_utility
        figure = f"{self.latest:.4g} {self.game.unit.name}"
        say(f"exploitability of {self.algorithm.measure_is}: {figure}")
        return self.latest

    def report(self, point: Point, total: int) -> None:
        self.round = point.round
        note = f"{point.rows:,} rows"
        if not math.isnan(point.value_loss):  # of the first round, before anything is learned
            note += f", value loss {point.value_loss:.4f}"
        if self.latest is not None:
            note += f", exploitability {self.latest:.4g} {self.game.unit.name}"
        self.bar(point.round, note)
        figures = {name: float(getattr(point, name)) for name in _FIGURES}
        if point.minutes > self.minutes:  # not in the first round, whose beginning is not known after a resume
            took = 60.0 * (point.minutes - self.minutes)
            figures["searches a second"] = (point.searches + point.queries) / took
        self.minutes = point.minutes
        self._add(point.steps, {name: value for name, value in figures.items() if not math.isnan(value)})

    def playing(self, done: RoundSoFar) -> None:
        """How far the current round is."""
        self.bar(self.round, f"round {self.round + 1:,}: {done}")

    def look(self, supervisor: Supervisor) -> None:
        """How a run without rounds is doing, every second: all machines in one line, and in TensorBoard."""
        vitals = supervisor.vitals()
        rows, searches = (sum(rates[k] for rates in vitals.rates.values()) for k in (0, 1))
        machines = f" on {len(vitals.rates)} machines" if len(vitals.rates) > 1 else ""
        parts = [
            f"{rows:,.0f} rows/s, {searches:,.0f} searches/s{machines}",
            f"window {vitals.fill:.0%}",
            f"{vitals.samples_per_row:.1f} samples/row",
            f"weights {vitals.age:.0f} steps old",
            f"network {vitals.network_share:.0%}",
            f"{vitals.deaths} deaths",
        ]
        figures: dict[str, float] = {}
        if supervisor.start.evaluator is not None:
            served = supervisor.start.evaluator.counters()
            parts.append(f"batches of {served.mean_batch:.0f}, p95 {served.p95_ms:.2g} ms")
            figures |= {"cluster/mean_batch": served.mean_batch, "cluster/p95_ms": served.p95_ms}
        self.bar(self.round, ", ".join(parts))
        names = ("fill", "samples_per_row", "age", "network_share", "deaths", "lost_rows", "waiting_actors")
        figures |= {f"cluster/{name}": float(getattr(vitals, name)) for name in names}
        for machine, (rows, searches) in vitals.rates.items():
            figures |= {f"rows a second/{machine}": rows, f"searches a second/{machine}": searches}
        self._add(supervisor.totals.steps, figures)

    def _add(self, step: int, figures: dict[str, float]) -> None:
        """To TensorBoard, where that is installed."""
        if self.log is None and find_spec("tensorboard"):
            self.log = EventLog(self.folder / "tensorboard", say)
        if self.log is not None:
            self.log.add(step, figures)

    def close(self) -> None:
        if self.log is not None:
            self.log.close()


def draw_curve(folder: Path, game: str, unit: str, measure: str) -> None:
    """Draw curve.png from the run's curve.csv, if that has a point; says so where it cannot be written.

    unit: of exploitability.  measure: what was measured, in words.
    """
    from matplotlib.figure import Figure

    from sog.training.curve import CURVE, PICTURE

    with (folder / CURVE).open() as file:
        rows = [{name: float(x) for name, x in row.items()} for row in csv.DictReader(file)]
    if not rows:
        return
    measured = _points(rows, "measured")
    figure = Figure(figsize=(11.0 if measured else 6.0, 4.0), layout="constrained")
    panels = figure.subplots(1, 1 + bool(measured), squeeze=False)[0]
    for name in ("value_loss", "policy_loss"):
        points = _points(rows, name)
        panels[0].plot([x for x, _ in points], [y for _, y in points], marker=".", label=name.replace("_", " "))
    panels[0].set(xlabel="minutes", ylabel="loss", title=f"{game}: learning")
    if any(row[name] <= 0.0 for row in rows for name in ("value_loss", "policy_loss")):  # a policy learner's may be
        panels[0].set_yscale("symlog", linthresh=0.01)
    else:
        panels[0].set_yscale("log")
    panels[0].legend()
    if measured:
        panels[1].plot(*zip(*measured, strict=True), marker=".")
        panels[1].set(xlabel="minutes", ylabel=unit, yscale="log", title=f"exploitability of {measure}")
    try:
        figure.savefig(folder / PICTURE, dpi=120)
    except OSError as error:
        say(f"{folder / PICTURE} cannot be written: {error.strerror}")


def _points(rows: Sequence[Mapping[str, float]], name: str) -> list[tuple[float, float]]:
    """(minutes, figure) of the rounds that have this figure: a round without steps has no loss."""
    return [(row["minutes"], row[name]) for row in rows if not math.isnan(row[name])]
