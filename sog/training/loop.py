"""The one training loop: rounds until a run is over, with its clock, measures, snapshots and checkpoints.

It plays three kinds of rounds: self-play beside learning (self_play.py), policy learning
(algorithms/policy/loop.py), and in a run without rounds (stream/loop.py) as many games as a round would have. Schedules
count rounds and steps, never seconds, so that a run can be stopped anywhere, resumed and still be the same run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol, TypeVar

from sog.nets.network import Network
from sog.play.tally import RoundSoFar
from sog.searches.kernels.compiling import working_time
from sog.training.curve import CURVE, Point, TrainingRecord, write_curve
from sog.training.run import Hooks, Stops, Until, stop_on_signals

__all__ = [
    "GRACE_SECONDS",
    "SAVE_SECONDS",
    "SAVE_SHARE",
    "RoundWatch",
    "Rounds",
    "TrainingClock",
    "is_due",
    "is_snapshot",
    "next_save",
    "play_rounds",
    "snapshot",
]

T = TypeVar("T")

GRACE_SECONDS: Final = 10.0  # after the time is up, in which a round may end; then it is dropped
SAVE_SECONDS: Final = 20.0  # between checkpoints, at least: what a kill may cost
SHOW_SECONDS: Final = 1.0  # between two looks at how far a round is
SAVE_SHARE: Final = 0.05  # of the time, at most, goes into writing them


class Rounds(Protocol):
    """A run, seen between two rounds."""

    @property
    def record(self) -> TrainingRecord: ...

    @property
    def network(self) -> Network | None:
        """The network that is kept, measured and played with; None where the process that has it has just died."""

    def play_round(self, watch: RoundWatch) -> Point | None:
        """Play one round; its point of the curve, without minutes and measure.

        None where `watch` ended it in its middle. What was played of it then counts for nothing or is kept.
        """

    def keep(self, folder: Path, whole: bool) -> bool:
        """Write the network as a checkpoint; whole: with all that the run needs to continue. False if not written."""

    def finish(self, folder: Path) -> None:
        """Write the run's last checkpoint whole; CheckpointError where that cannot be done."""


class RoundWatch(Protocol):
    """What a round asks while it is being played."""

    def pause(self) -> bool:
        """Count the time and save where that is due; True: the round ends now. Called where the run can be saved."""

    def over(self) -> bool:
        """Whether the current work is to be dropped, since the run must end."""

    def stopped(self) -> bool:
        """Whether the run must end because of a signal."""

    def show(self, done: Callable[[], RoundSoFar]) -> None:
        """Have it shown how far the round is, about once a second."""

    def dropping(self, work: Callable[[], T]) -> T | None:
        """The result of work that may be dropped at any moment; None where it was, by a signal or by Dropped."""


def play_rounds(run: Rounds, out: Path, total: int, until: Until, hooks: Hooks) -> Point:
    """Play until there are `total` rounds or `until` says stop, keeping the run in `out`; the curve's last point."""
    record, clock, saves = run.record, TrainingClock(run.record), _Saves(run, out)
    with stop_on_signals() as stops:
        watch = _Watch(stops, clock, saves, until, hooks)
        # The untrained network too: every measure of progress needs its start.
        if record.round == 0:
            run.keep(snapshot(out, 0), False)
        # The order: time up to here, measure (not counted), point, snapshot, checkpoint. A kill costs what came since
        # the last.
        while record.round < total and not watch.time_is_up():
            point = run.play_round(watch)
            clock.read()
            if point is None:
                break
            record.round = point.round
            due = is_due(hooks, record.round, total)
            point = replace(
                point, minutes=record.seconds / 60.0, measured=_measure(run, hooks, stops) if due else math.nan
            )
            clock.leave_out()
            record.points.append(point)
            hooks.report(point, total)
            if is_snapshot(record.round):
                run.keep(snapshot(out, record.round), False)
            saves.save_where_due()
        # A run that stopped between two measures ends with one, unless it must end at once.
        if record.points and math.isnan(record.last.measured):
            record.points[-1] = replace(record.last, measured=_measure(run, hooks, stops))
            clock.leave_out()
        # Checkpoint before curve, as everywhere: see _Saves.
        run.finish(out / "checkpoint")
        write_curve(out / CURVE, record.points)
    return record.last


class _Watch:
    """Reads the clock and hears the signals for a round."""

    def __init__(self, stops: Stops, clock: TrainingClock, saves: _Saves, until: Until, hooks: Hooks) -> None:
        self._hooks, self._shown = hooks, 0.0
        self._stops, self._clock, self._saves = stops, clock, saves
        self._deadline = math.inf if until.minutes is None else working_time() + 60.0 * until.minutes
        self._most = math.inf if until.processor is None else 60.0 * until.processor

    def time_is_up(self) -> bool:
        """Whether no further round is to begin."""
        used = self._clock.record.processor
        return bool(self._stops) or working_time() >= self._deadline or used >= self._most

    def pause(self) -> bool:
        self._clock.read()
        self._saves.save_where_due()
        return self.over()

    def over(self) -> bool:
        # Searches ask this each time they want leaves evaluated: clocks are read only where there is a limit.
        late = -math.inf if self._deadline == math.inf else working_time() - self._deadline
        if self._most < math.inf:
            late = max(late, self._clock.processor() - self._most)
        return bool(self._stops) or late >= GRACE_SECONDS

    def stopped(self) -> bool:
        return bool(self._stops)

    def show(self, done: Callable[[], RoundSoFar]) -> None:
        if time.monotonic() >= self._shown + SHOW_SECONDS:
            self._shown = time.monotonic()
            self._hooks.playing(done())

    def dropping(self, work: Callable[[], T]) -> T | None:
        return self._stops.dropping(work)


class _Saves:
    """When a run was last saved: every 20 seconds at most, and for a small share of the time."""

    def __init__(self, run: Rounds, out: Path) -> None:
        self._run, self._out, self._due = run, out, next_save(0.0)

    def save_where_due(self) -> None:
        """Write the checkpoint, and then the curve: a curve without a checkpoint would be no run's."""
        if time.monotonic() <= self._due:
            return
        # A save that takes long is followed by a longer pause: SAVE_SHARE of the time at most.
        started = time.monotonic()
        if self._run.keep(self._out / "checkpoint", True):
            write_curve(self._out / CURVE, self._run.record.points)
        self._due = next_save(time.monotonic() - started)


class TrainingClock:
    """Adds to a record's seconds."""

    def __init__(self, record: TrainingRecord) -> None:
        self.record = record
        self.leave_out()

    def read(self) -> None:
        """Count the time until now."""
        # Compiling of other processes is reported late: without the maximum the time could run backwards.
        self.record.seconds = max(self.record.seconds, working_time() - self._started)
        self.record.processor = self.processor()

    def processor(self) -> float:
        """Seconds of a processor that the run has used, up to now."""
        return time.process_time() - self._used

    def leave_out(self) -> None:
        """Count none of the time since `read`: the time that measuring takes is not training time."""
        self._started = working_time() - self.record.seconds
        self._used = time.process_time() - self.record.processor


def _measure(run: Rounds, hooks: Hooks, stops: Stops) -> float:
    """The measure of the network now; NaN where nothing measures, there is no network, or a signal came meanwhile."""
    measure, network = hooks.measure, None if hooks.measure is None else run.network
    if measure is None or network is None:
        return math.nan
    measured = stops.dropping(lambda: measure(network))
    return math.nan if measured is None else measured


def next_save(took: float) -> float:
    """When the checkpoint after one that took this many seconds is due."""
    return time.monotonic() + max(SAVE_SECONDS, took / SAVE_SHARE)


def is_due(hooks: Hooks, number: int, total: int) -> bool:
    """Whether the network is to be measured after this round."""
    return hooks.measure is not None and (number in (1, total) or number % hooks.measure_every == 0)


def is_snapshot(number: int) -> bool:
    """Whether the network after this round is saved as a snapshot, which is never deleted."""
    # Powers of two show the beginning in detail, the 200th ones the rest at a bounded cost.
    return number & (number - 1) == 0 or number % 200 == 0


def snapshot(out: Path, number: int) -> Path:
    """Where a run in `out` keeps the network of a round."""
    return out / "snapshots" / f"{number:06d}"
