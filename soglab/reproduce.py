"""Runs an experiment of the table, or says what it came to so far; knows where its results are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sog.cluster.where import Where
from sog.errors import SettingError
from soglab.study import (
    Note,
    Options,
    Outcome,
    PointFile,
    carry_out,
    finished,
    planned,
    so_far,
    write,
)
from soglab.table import EXPERIMENTS, Experiment


@dataclass(frozen=True)
class Reproduced:
    """What one experiment came to, and the files with it: PNG and, last, CSV."""

    experiment: Experiment
    outcome: Outcome
    files: list[Path]


def find(name: str) -> Experiment:
    """The experiment with this id; SettingError where there is none."""
    for experiment in EXPERIMENTS:
        if experiment.id == name:
            return experiment
    known = ", ".join(experiment.id for experiment in EXPERIMENTS)
    raise SettingError(f"no experiment is called {name}; known: {known}")


def folder_of(experiment: Experiment, out: Path, options: Options) -> Path:
    """Where its points, CSV and PNG lie; the quick version and the papers' rule have folders of their own."""
    return out / (experiment.id + "-paper" * options.paper + "-quick" * options.quick)


def has_results(experiment: Experiment, out: Path) -> bool:
    """Whether results were written with this --out, of whatever seeds and runs."""
    return (folder_of(experiment, out, Options()) / f"{experiment.id}.csv").is_file()


def listing(out: Path) -> list[dict[str, Any]]:
    """Every experiment as {id, paper, figure, minutes, what, results}."""
    return [
        {
            "id": experiment.id,
            "paper": experiment.paper,
            "figure": experiment.figure,
            "minutes": experiment.minutes,
            "what": experiment.what,
            "results": has_results(experiment, out),
        }
        for experiment in EXPERIMENTS
    ]


class Reproduction:
    """One experiment about to be run: its plan is made, and what is finished has been read."""

    def __init__(self, experiment: Experiment, options: Options, out: Path, note: Note) -> None:
        """SettingError where an option has no use here or the folder cannot be used; `note`: what a plan has to say."""
        self.experiment = experiment
        self.keys = planned(experiment.id, experiment.study, options, note)
        self.folder = folder_of(experiment, out, options)
        self.points = PointFile(self.folder)

    def run(self, where: Where, report: Callable[[int, str], None]) -> Reproduced:
        """Compute the points that are missing, and write the results."""
        outcome = carry_out(self.experiment.study, self.keys, self.points, where, report)
        return Reproduced(self.experiment, outcome, write(outcome, self.folder, self.experiment.id))

    def so_far(self) -> Reproduced:
        """What the finished points come to; computes and writes nothing. SettingError where they are too few."""
        return Reproduced(self.experiment, so_far(self.experiment.study, self.keys, self.points), [])

    @property
    def done(self) -> int:
        """How many of `keys` are finished."""
        return len(finished(self.keys, self.points))
