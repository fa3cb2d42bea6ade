"""Finds the experiments, runs one, or prints its results so far; says where they are kept.

An experiment is a module of soglab.papers or soglab.checks that has a value EXPERIMENT, or a tuple EXPERIMENTS.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sog.cluster.placement import Placement
from sog.errors import SettingError
from soglab import checks, papers
from soglab.study import Experiment, Note, Options, Outcome, PointFile, carry_out, finished, planned, so_far, write


def experiments() -> list[Experiment]:
    """Every experiment, by paper and id."""
    return sorted(unique(_modules(papers, checks)), key=lambda experiment: (experiment.paper, experiment.id))


def _modules(*packages: ModuleType) -> Iterator[ModuleType]:
    """The modules of these packages' folders."""
    for package in packages:
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield import_module(module.name)


def unique(modules: Iterable[ModuleType]) -> list[Experiment]:
    """The experiments of these modules; SettingError, which names both files, where two have the same id."""
    files: dict[str, str | None] = {}
    out: list[Experiment] = []
    for module in modules:
        alone = [module.EXPERIMENT] if hasattr(module, "EXPERIMENT") else []
        for experiment in (*alone, *getattr(module, "EXPERIMENTS", ())):
            if experiment.id in files:
                both = f"{files[experiment.id]} and {module.__file__}"
                raise SettingError(f"two experiments are called {experiment.id}: in {both}")
            files[experiment.id] = module.__file__
            out.append(experiment)
    return out


@dataclass(frozen=True)
class Reproduced:
    """The results of one experiment, and the files with them: PNG and, last, CSV."""

    experiment: Experiment
    outcome: Outcome
    files: list[Path]


def find(name: str) -> Experiment:
    """The experiment with this id; SettingError for an unknown one."""
    known = {experiment.id: experiment for experiment in experiments()}
    if name not in known:
        raise SettingError(f"no experiment is called {name}; known: {', '.join(known)}")
    return known[name]


def folder_of(experiment: Experiment, out: Path, options: Options) -> Path:
    """Where its points, CSV and PNG lie; the quick version and the papers' rule have folders of their own."""
    return out / (experiment.id + "-paper" * options.paper + "-quick" * options.quick)


def listing(out: Path) -> list[dict[str, Any]]:
    """Every experiment as {id, paper, figure, minutes, what, results}.

    results: whether some were written with this --out, of whatever seeds and runs.
    """
    return [
        {name: value for name, value in vars(experiment).items() if name != "study"}
        | {"results": (folder_of(experiment, out, Options()) / f"{experiment.id}.csv").is_file()}
        for experiment in experiments()
    ]


class Reproduction:
    """One experiment about to be run: its plan is made, and what is finished has been read."""

    def __init__(self, experiment: Experiment, options: Options, out: Path, note: Note) -> None:
        """SettingError where an option has no use here or the folder cannot be used; `note`: what a plan has to say."""
        self.experiment = experiment
        self.keys = planned(experiment.id, experiment.study, options, note)
        self.folder = folder_of(experiment, out, options)
        self.points = PointFile(self.folder)
        if others := self.points.of_other_code(self.keys):
            note(f"{others} of {len(self.keys)} points were computed by other code; a new --out computes all anew")

    def run(self, placement: Placement, report: Callable[[int, str], None]) -> Reproduced:
        """Compute the points that are missing, and write the results."""
        outcome = carry_out(self.experiment.study, self.keys, self.points, placement, report)
        return Reproduced(self.experiment, outcome, write(outcome, self.folder, self.experiment.id))

    def so_far(self) -> Reproduced:
        """The results of the finished points; computes and writes nothing. SettingError where they are too few."""
        return Reproduced(self.experiment, so_far(self.experiment.study, self.keys, self.points), [])

    @property
    def done(self) -> int:
        """How many of `keys` are finished."""
        return len(finished(self.keys, self.points))
