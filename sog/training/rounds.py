"""Rounds until a run is over: the clock, measuring, snapshots and checkpoints; it knows neither learner nor games.

Schedules count rounds and steps, never seconds, so that a run can be stopped anywhere, resumed and still be the same
run.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from sog.nets.cvpn import CVPN
from sog.searches.kernels.compiling import working_time
from sog.training.curve import CURVE, Point, Record, write_curve
from sog.training.run import Hooks, Until, stop_on_sigterm

__all__ = [
    "SAVE_SECONDS",
    "SAVE_SHARE",
    "Clock",
    "Rounds",
    "is_due",
    "is_snapshot",
    "next_save",
    "play_rounds",
    "snapshot",
]

SAVE_SECONDS: Final = 20.0  # between checkpoints, at least: what a kill may cost
SAVE_SHARE: Final = 0.05  # of the time, at most, goes into writing them


class Rounds(Protocol):
    """A run, seen between two rounds."""

    @property
    def record(self) -> Record: ...

    @property
    def network(self) -> CVPN:
        """What is kept, measured and played with."""

    def play_round(self) -> Point:
        """One round more; its point of the curve, without minutes and measure."""

    def keep(self, folder: Path, whole: bool) -> None:
        """Write the network as a checkpoint; whole: and all that the run needs to go on."""


def play_rounds(run: Rounds, out: Path, total: int, until: Until, hooks: Hooks) -> Point:
    """Play until there are `total` rounds or `until` says stop, keeping the run in `out`; the curve's last point."""
    record, clock = run.record, Clock(run.record)
    deadline = math.inf if until.minutes is None else working_time() + 60.0 * until.minutes
    most = math.inf if until.processor is None else 60.0 * until.processor
    due = next_save(0.0)
    with stop_on_sigterm() as stop:
        if record.round == 0:
            run.keep(snapshot(out, 0), False)
        while record.round < total and working_time() < deadline and record.processor < most and not stop:
            point = run.play_round()
            record.round = point.round
            clock.read()
            point = replace(point, minutes=record.seconds / 60.0, measured=_measured(run, hooks, total))
            clock.leave_out()
            record.points.append(point)
            hooks.report(point, total)
            if is_snapshot(record.round):
                run.keep(snapshot(out, record.round), False)
            if time.monotonic() > due:
                due = _save(run, out)
        if record.points and math.isnan(record.last.measured) and hooks.measure is not None and not stop:
            record.points[-1] = replace(record.last, measured=hooks.measure(run.network))  # time was up in between
            clock.leave_out()
        _save(run, out)
    return record.last


class Clock:
    """Keeps a record's seconds, which go on from those it holds."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.leave_out()

    def read(self) -> None:
        """Count the time until now."""
        # What another process compiled while nobody counted is taken off only now.
        self.record.seconds = max(self.record.seconds, working_time() - self._started)
        self.record.processor = time.process_time() - self._used

    def leave_out(self) -> None:
        """Count none of the time since `read`: what measuring takes is no training."""
        self._started = working_time() - self.record.seconds
        self._used = time.process_time() - self.record.processor


def _measured(run: Rounds, hooks: Hooks, total: int) -> float:
    return hooks.measure(run.network) if hooks.measure and is_due(hooks, run.record.round, total) else math.nan


def _save(run: Rounds, out: Path) -> float:
    """Write the checkpoint and the curve; the time when the next one is due."""
    started = time.monotonic()
    run.keep(out / "checkpoint", True)
    write_curve(out / CURVE, run.record.points)
    return next_save(time.monotonic() - started)


def next_save(took: float) -> float:
    """When the checkpoint after one that took so many seconds is due."""
    return time.monotonic() + max(SAVE_SECONDS, took / SAVE_SHARE)


def is_due(hooks: Hooks, number: int, total: int) -> bool:
    """Whether the network is to be measured after this round."""
    return hooks.measure is not None and (number in (1, total) or number % hooks.measure_every == 0)


def is_snapshot(number: int) -> bool:
    """Whether the network after this round is kept for good."""
    return number & (number - 1) == 0 or number % 200 == 0


def snapshot(out: Path, number: int) -> Path:
    """Where a run in `out` keeps the network of a round."""
    return out / "snapshots" / f"{number:06d}"
