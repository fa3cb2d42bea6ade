"""What every reproduced experiment shares: its points, computed on all cores and kept on disk, then CSV and PNG.

An experiment has a study: a plan of points, a function that computes one point and depends on its key alone, and a
presentation of the finished points. A point that is done is one line of points.jsonl, so that a study can be stopped
at any moment and loses only the points in hand.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from threadpoolctl import threadpool_limits

import sog
import soglab
from sog.cluster.executor import compute
from sog.cluster.placement import Placement, executor
from sog.errors import SettingError
from sog.files import append_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_T = TypeVar("_T")
_Group = TypeVar("_Group")

# Objects of JSON: what decides a point, and what was found there.
Key: TypeAlias = dict[str, Any]
Result: TypeAlias = dict[str, Any]
# Takes one line for the person who waits.
Note: TypeAlias = Callable[[str], None]
Draw: TypeAlias = "Callable[[Figure], object]"

POINTS: Final = "points.jsonl"


@dataclass(frozen=True)
class Options:
    """The options of an experiment.

    quick: a small version of it, to see that it works.  full: also its most expensive points.
    seeds: how many of whatever the experiment averages over; None for its default.  runs: folders of training runs.
    paper: the papers' rule instead of our best.  minutes: of one core for each training run; None for its default.
    """

    quick: bool = False
    full: bool = False
    seeds: int | None = None
    runs: tuple[Path, ...] = ()
    paper: bool = False
    minutes: float | None = None

    def num_seeds(self, usual: int) -> int:
        """How many seeds: those asked for, else one of a small version and otherwise the usual number."""
        return self.seeds or (1 if self.quick else usual)


@dataclass(frozen=True)
class StudyPoint:
    """A finished point."""

    key: Key
    result: Result

    @property
    def row(self) -> dict[str, Any]:
        """Key and result as one row of a table."""
        return {**self.key, **self.result}

    def curve(self, measure: str = "exploitability") -> dict[int, float]:
        """A measure by the number of iterations, which JSON has as text."""
        return {int(count): y for count, y in self.result[measure].items()}


@dataclass(frozen=True)
class Beside:
    """One figure as the paper gives it and as we find it.  paper: "" where its text gives none."""

    what: str
    paper: str
    ours: str


@dataclass(frozen=True)
class Outcome:
    """What an experiment has to show.

    rows: of the CSV.  pictures: by file name without its ending.  beside: what is printed.
    failed: whether a check found a fault; `sog reproduce` then ends with exit code 1.
    """

    rows: Sequence[Mapping[str, Any]]
    pictures: Mapping[str, Draw] = field(default_factory=dict)
    beside: Sequence[Beside] = ()
    failed: bool = False


def _values(key: Key) -> str:
    """A point by all values of its key."""
    return ", ".join(f"{value}" for value in key.values())


@dataclass(frozen=True)
class Study:
    """How an experiment is carried out; its functions are at the top of a module, so that processes find them.

    plan: the keys of all points.  compute: one point's result.  present: the finished points in the plan's order.
    takes: which of "full", "seeds", "runs", "paper" and "minutes" it has a use for.  alone: one point at a time, for
    timings.  describe: what progress calls a point; by default all values of its key.  stage: a point is computed once
    all points of lower stages are done.
    """

    plan: Callable[[Options, Note], list[Key]]
    compute: Callable[[Key], Result]
    present: Callable[[list[StudyPoint]], Outcome]
    takes: tuple[str, ...] = ()
    alone: bool = False
    describe: Callable[[Key], str] = _values
    stage: Callable[[Key], int] = lambda key: 0


@dataclass(frozen=True)
class Experiment:
    """One figure or table remade: the value EXPERIMENT of its module, or one of EXPERIMENTS.

    paper: its short name.  figure: the figure, table or section.  minutes: on two cores, about.
    what: what is run, in one line.
    """

    id: str
    paper: str
    figure: str
    minutes: float
    what: str
    study: Study


def one_run(options: Options) -> str | None:
    """The folder of the only --run, None without; SettingError where several are named."""
    if len(options.runs) > 1:
        raise SettingError("this experiment is about one network: name one --run")
    return str(options.runs[0]) if options.runs else None


def planned(name: str, study: Study, options: Options, note: Note) -> list[Key]:
    """The keys of all points; SettingError where an option has no use here or the plan cannot be made.

    note: takes the plan's notes once the plan is made; one that is refused raises its error and gives no notes.
    """
    _check_options(name, study, options)
    notes: list[str] = []
    keys = study.plan(options, notes.append)
    if len({_name(key) for key in keys}) < len(keys):
        raise SettingError(f"{name}: a --run is named twice, and would be counted twice")
    for line in notes:
        note(line)
    return keys


def _check_options(name: str, study: Study, options: Options) -> None:
    """SettingError where an option is given that the study has no use for, or two that exclude each other."""
    given = {
        "full": options.full,
        "seeds": options.seeds is not None,
        "runs": options.runs,
        "paper": options.paper,
        "minutes": options.minutes is not None,
    }
    for option, value in given.items():
        if value and option not in study.takes:
            raise SettingError(f"{name} takes no --{option.removesuffix('s') if option == 'runs' else option}")
    if len({run.resolve() for run in options.runs}) < len(options.runs):
        raise SettingError(f"{name}: a --run is named twice, and would be counted twice")
    if options.quick and options.full:
        raise SettingError("--quick is a small version and --full a larger one: choose one")


@cache
def code_id() -> str:
    """Names the code of this program: 12 digits of a hash of every file of both packages."""
    digest = hashlib.sha256()
    for package in (sog, soglab):
        for path in sorted(Path(str(package.__file__)).parent.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class PointFile:
    """The finished points of one experiment: points.jsonl in its folder, a line each.

    Points of another version of this program are left in the file and not used. Those of other code of this version
    are used, since few changes change a figure, and counted (`of_other_code`).
    """

    def __init__(self, folder: Path) -> None:
        """Read what is there, if anything. SettingError where it holds files but no points."""
        self.path = folder / POINTS
        try:
            if folder.exists() and not self.path.exists() and any(folder.iterdir()):
                raise SettingError(f"{folder} holds other files; choose another --out")
            text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        except UnicodeDecodeError as error:
            raise SettingError(f"{self.path} is no text, and cannot be used for results") from error
        except OSError as error:
            raise SettingError(f"{folder} cannot be used for results: {error.strerror}") from error
        self._results: dict[str, Result] = {}
        self._codes: dict[str, str] = {}
        for name, result, code in _read(text):
            self._results[name], self._codes[name] = result, code

    def make_folder(self) -> None:
        """Make the folder that points are kept in; SettingError where that cannot be."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(f"{self.path.parent} cannot be used for results: {error.strerror}") from error

    def get(self, key: Key) -> Result | None:
        """The result of a finished point, None for one that is not finished."""
        return self._results.get(_name(key))

    def of_other_code(self, keys: Sequence[Key]) -> int:
        """How many of these points are finished and were computed by other code than that of today."""
        return sum(self._codes.get(_name(key), code_id()) != code_id() for key in keys)

    def add(self, key: Key, result: Result) -> None:
        """Keep a finished point. ValueError where the result holds NaN or infinity, which JSON lacks."""
        entry = {"key": key, "result": result, "version": sog.__version__, "code": code_id()}
        line = json.dumps(entry, allow_nan=False)
        append_line(self.path, line)
        self._results[_name(key)], self._codes[_name(key)] = json.loads(line)["result"], code_id()


def _name(key: Key) -> str:
    return json.dumps(key, sort_keys=True, allow_nan=False)


def _read(text: str) -> Iterator[tuple[str, Result, str]]:
    """Name, result and code of the points of this version.

    A line that a kill cut short is skipped and its point computed again. Points of before December 2026 name no code.
    """
    for line in text.splitlines():
        try:
            entry = json.loads(line)
            if entry["version"] == sog.__version__:
                yield _name(entry["key"]), entry["result"], entry.get("code", "")
        except (ValueError, KeyError, TypeError):
            continue


def carry_out(
    study: Study, keys: Sequence[Key], points: PointFile, placement: Placement, report: Callable[[int, str], None]
) -> Outcome:
    """Compute the points that are not there yet, as many at a time as there are processes, and present them all.

    report: called with how many are done and which was the latest.
    """
    points.make_folder()
    waiting = [key for key in keys if points.get(key) is None]
    done = len(keys) - len(waiting)
    report(done, "")
    for stage in sorted({study.stage(key) for key in waiting}):
        ready = [key for key in waiting if study.stage(key) == stage]
        for key, result in _computed(study, ready, Placement("local", 1) if study.alone else placement):
            points.add(key, result)
            done += 1
            report(done, study.describe(key))
    return study.present(finished(keys, points))


def so_far(study: Study, keys: Sequence[Key], points: PointFile) -> Outcome:
    """The results of the finished points; SettingError where they are too few to be presented."""
    computed = finished(keys, points)
    if not computed:
        raise SettingError("no point is finished yet")
    try:
        return study.present(computed)
    except (ArithmeticError, LookupError, ValueError) as error:
        raise SettingError(f"{len(computed)} of {len(keys)} points are finished, too few to be presented") from error


def finished(keys: Sequence[Key], points: PointFile) -> list[StudyPoint]:
    """The points of a plan that are done, in its order."""
    return [StudyPoint(key, result) for key in keys if (result := points.get(key)) is not None]


def grouped(items: Iterable[_T], group: Callable[[_T], _Group]) -> dict[_Group, list[_T]]:
    """The items by group, groups in order of first sight."""
    out: dict[_Group, list[_T]] = {}
    for item in items:
        out.setdefault(group(item), []).append(item)
    return out


def by_key(points: Iterable[StudyPoint], *names: str) -> dict[tuple[Any, ...], list[StudyPoint]]:
    """The points whose keys agree in `names`, by the values of those."""
    return grouped(points, lambda point: tuple(point.key[name] for name in names))


def totals(points: Iterable[StudyPoint], *names: str) -> Iterator[dict[str, Any]]:
    """A row for each group of points whose keys agree in `names`: those, and the group's results added up."""
    for values, own in by_key(points, *names).items():
        summed = {name: sum(point.result[name] for point in own) for name in own[0].result}
        yield dict(zip(names, values, strict=True)) | summed


def _computed(study: Study, keys: Sequence[Key], placement: Placement) -> Iterator[tuple[Key, Result]]:
    """Points as they are done, in any order."""
    if not keys or placement == Placement("local", 1):
        with threadpool_limits(1):
            yield from ((key, study.compute(key)) for key in keys)
        return
    if placement.kind == "local":
        placement = replace(placement, places=min(placement.places, len(keys)))
    with executor(placement) as workers:
        yield from compute(workers, study.compute, keys)


def write(outcome: Outcome, folder: Path, name: str) -> list[Path]:
    """Write the pictures as PNG and, last, the rows as NAME.csv; the files written."""
    from matplotlib.figure import Figure  # here, since processes that compute points need none

    files = []
    for title, draw in outcome.pictures.items():
        figure = Figure(figsize=(9.0, 5.5), layout="constrained")
        draw(figure)
        files.append(folder / f"{title}.png")
        figure.savefig(files[-1], dpi=130)
    files.append(folder / f"{name}.csv")
    whole = folder / f".{name}.csv"
    with whole.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _columns(outcome.rows), lineterminator="\n")
        writer.writeheader()
        writer.writerows(outcome.rows)
    whole.replace(files[-1])
    return files


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Every column that a row has, in order of first sight."""
    return list(dict.fromkeys(name for row in rows for name in row))
