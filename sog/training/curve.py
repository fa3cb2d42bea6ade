"""How far a run is, in training states, and its learning curve, a point a round, as curve.csv."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.arrays import Float64
from sog.errors import CheckpointError
from sog.files import open_regular, read_bounded, replace_file, shown
from sog.training.state import State

__all__ = ["CURVE", "PICTURE", "Columns", "Point", "TrainingRecord", "read_curve", "read_record", "write_curve"]

CURVE: Final = "curve.csv"  # in a run's folder
PICTURE: Final = "curve.png"  # of it, beside it
_LARGEST: Final = 50_000_000  # bytes of a curve that is read

# A curve by columns: float64[rounds] by the name of a field of Point; NaN where nothing was measured.
Columns = dict[str, Float64]


@dataclass(frozen=True)
class Point:
    """One line of the learning curve; a blank one before the first round.

    minutes: of training, over resumes.  steps, rows: in all so far.  games, searches, queries: of this round.
    measured: NaN where it was not measured. A run that ends within a round measures its last network there.
    """

    round: int = 0
    minutes: float = 0.0
    steps: int = 0
    rows: int = 0
    games: int = 0
    searches: int = 0
    queries: int = 0
    value_loss: float = math.nan
    policy_loss: float = math.nan
    measured: float = math.nan


@dataclass
class TrainingRecord:
    """How far a run is.  points: one for each round so far.  round: how many.

    seconds: of training, over all resumes, without measuring and without compiling.  processor: seconds of a processor
    that the run's first process used meanwhile, compiling included.
    """

    points: list[Point] = field(default_factory=list)
    round: int = 0
    seconds: float = 0.0
    processor: float = 0.0

    @property
    def last(self) -> Point:
        """The curve's last point; a blank one before the first."""
        return self.points[-1] if self.points else Point()

    def sum_of(self, name: str) -> int:
        """The sum of a column of counts over all points."""
        return sum(getattr(point, name) for point in self.points)

    def state(self) -> State:
        """Its part of a training state."""
        rows = [list(asdict(point).values()) for point in self.points]
        return {"points": rows, "round": self.round, "seconds": self.seconds, "processor": self.processor}


def read_record(state: State) -> TrainingRecord:
    """What `TrainingRecord.state` wrote; one of `sog.training.run.DAMAGE` where it did not."""
    kinds: list[Callable[[Any], Any]] = [float if part.type == "float" else _whole for part in fields(Point)]
    points = [Point(*(kind(x) for kind, x in zip(kinds, row, strict=True))) for row in state["points"]]
    seconds = float(state["seconds"]), float(state["processor"])
    record = TrainingRecord(points, int(state["round"]), *seconds)
    if not 0 <= record.round < 2**31 or not all(0.0 <= each < 2**31 for each in seconds):
        raise ValueError("round")
    return record


def _whole(number: Any) -> int:
    """A count of a curve's point; ValueError for other text."""
    if not 0 <= int(number) < 2**62:
        raise ValueError("point")
    return int(number)


def write_curve(path: Path, points: list[Point]) -> None:
    """The learning curve as CSV, in place of an older one in one step; CheckpointError where it cannot be written."""
    # Written in memory first: the file is replaced in one step.
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([f.name for f in fields(Point)])
    for point in points:
        writer.writerow([str(x) if isinstance(x, int) else f"{x:.6g}" for x in asdict(point).values()])
    try:
        replace_file(path, text.getvalue().encode())
    except OSError as error:
        raise CheckpointError(f"{shown(path)}: the learning curve cannot be written: {error.strerror}") from error


def read_curve(folder: Path, run: str) -> Columns:
    """The learning curve in a run's folder. CheckpointError, by the name `run`, where none is or it is damaged."""
    try:
        with open_regular(folder / CURVE, _LARGEST) as (file, size):
            names, *rows = csv.reader(io.StringIO(read_bounded(file, size).decode()))
        if names != [each.name for each in fields(Point)]:
            raise ValueError("columns")
        table = np.array([[float(x) for x in row] for row in rows], dtype=np.float64).reshape(len(rows), len(names))
    except (OSError, ValueError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it is damaged"
        raise CheckpointError(f"{run}: {CURVE} cannot be read: {why}") from error
    return dict(zip(names, table.T, strict=True))
