"""The learning curve: a point a round, in training states and as curve.csv; it knows no loop."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sog.errors import CheckpointError
from sog.train.checkpoint import State
from sog.train.files import replace_file, shown

__all__ = ["Point", "blank_point", "read_curve", "write_curve"]


@dataclass(frozen=True)
class Point:
    """One line of the learning curve. measured: NaN where it was not measured.  minutes: of training, over resumes."""

    round: int
    minutes: float
    steps: int
    rows: int
    games: int
    searches: int
    queries: int
    value_loss: float
    policy_loss: float
    measured: float


def blank_point() -> Point:
    """That of a run without rounds yet."""
    return Point(0, 0.0, 0, 0, 0, 0, 0, math.nan, math.nan, math.nan)


def read_curve(state: State) -> tuple[list[Point], int, float]:
    """The points, the round and the seconds of training in a training state; one of DAMAGE where they are none."""
    kinds: list[Callable[[Any], Any]] = [float if field.type == "float" else _whole for field in fields(Point)]
    points = [Point(*(kind(x) for kind, x in zip(kinds, row, strict=True))) for row in state["points"]]
    number, seconds = int(state["round"]), float(state["seconds"])
    if not 0 <= number < 2**31 or not 0.0 <= seconds < 2**31:
        raise ValueError("round")
    return points, number, seconds


def _whole(number: Any) -> int:
    """A count of a curve's point, which is written as a float there."""
    if not 0 <= int(number) < 2**62:
        raise ValueError("point")
    return int(number)


def write_curve(path: Path, points: list[Point]) -> None:
    """The learning curve as CSV, in place of an older one in one step; CheckpointError where it cannot be written."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([f.name for f in fields(Point)])
    writer.writerows([f"{x:.6g}" for x in asdict(point).values()] for point in points)
    try:
        replace_file(path, text.getvalue().encode())
    except OSError as error:
        raise CheckpointError(f"{shown(path)}: the learning curve cannot be written: {error.strerror}") from error
