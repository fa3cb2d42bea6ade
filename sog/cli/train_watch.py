"""What `sog train` shows of a run while it continues: exploitability, the progress bar's note, TensorBoard."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sog.cli.event_log import EventLog
from sog.cli.frame import Report, say

if TYPE_CHECKING:
    from sog.algorithms.base import Rules
    from sog.nets.cvpn import CVPN
    from sog.training.curve import Point
    from sog.training.run import Hooks, Run
    from sog.training.stream.loop import StreamHooks
    from sog.training.stream.supervisor import Supervisor

__all__ = ["Watch"]

# Games with more public states than this are trained without measuring exploitability on the way.
_MEASURED_STATES = 20_000
_EVERY = 10  # rounds, between two measures


class Watch:
    """Measures exploitability on small games, and reports it to the progress bar and TensorBoard."""

    def __init__(self, game: Rules, folder: Path, bar: Report, run: Run, begun: int = 0) -> None:
        """begun: rounds that were done before."""
        from sog.algorithms.table import read

        self.game, self.folder, self.bar, self.run = game, folder, bar, run
        self.algorithm = read(run.algorithm)
        self.latest: float | None = None
        self.round = begun
        self.public: Any = None
        self.log: EventLog | None = None

    def hooks(self) -> Hooks:
        """What a run in rounds calls."""
        from sog.training.run import Hooks

        return Hooks(self.measure, _EVERY, self.report, say)

    def streamed(self) -> StreamHooks:
        """What a run without rounds calls."""
        from sog.training.stream.loop import StreamHooks

        return StreamHooks(self.measure, _EVERY, self.report, say, self.look)

    def measure(self, network: CVPN) -> float:
        """Exploitability of what the algorithm is measured by while it trains; NaN for a game too large."""
        from sog.games.histories.catalog import public_face
        from sog.searches.tree.whole import listed_tree

        if self.public is None:
            face = public_face(self.game)
            self.public = (face is not None and listed_tree(face)) or False
        if not self.public or self.public.size > _MEASURED_STATES:
            return math.nan
        found = self.algorithm.measure(self.public, network, self.run.preset)
        self.latest = found * self.game.unit.per_utility
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
        figures = {name: getattr(point, name) for name in ("value_loss", "policy_loss", "rows", "measured")}
        self._add(point.steps, {name: value for name, value in figures.items() if not math.isnan(value)})

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
        """To TensorBoard."""
        if self.log is None:
            self.log = EventLog(self.folder / "tensorboard", say)
        self.log.add(step, figures)

    def close(self) -> None:
        if self.log is not None:
            self.log.close()
