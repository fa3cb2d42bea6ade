"""The description of a training run: what decides it, what it reports, when it stops."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

import numpy as np

from sog.errors import CheckpointError, SettingError, check_whole, check_words
from sog.files import shown
from sog.memory import gigabytes
from sog.nets.network import Network
from sog.play.tally import RoundSoFar
from sog.searches.leaves.evaluator import Dropped
from sog.training import checkpoint
from sog.training.curve import CURVE, PICTURE, Point, TrainingRecord
from sog.training.memory import free_for_window
from sog.training.settings import DEFAULT, RunSettings, TrainSettings, algorithm_text

__all__ = [
    "DAMAGE",
    "WINDOW_BYTES",
    "Hooks",
    "Measure",
    "Run",
    "Stops",
    "Until",
    "as_begun",
    "describe",
    "end_of",
    "is_to_resume",
    "stop_on_signals",
    "window_bytes",
    "with_known_head",
]

T = TypeVar("T")

# Exploitability (or another number to plot) of a network, in the game's reporting unit.
Measure = Callable[[Network], float]


@dataclass(frozen=True)
class Run:
    """Which training run: with its settings and the program's version this decides every number (with one worker).

    preset: the name of its settings.  seed: of every draw.  algorithm: an algorithm string, such as sog or
    rebel(solver=fp); what it sets is changed in the preset.  rounds: False for a run without rounds (training/stream),
    whose numbers also depend on time.  begins: the checkpoint with whose network it begins; "" for a network drawn by
    the seed.
    """

    game: str
    preset: str = "demo"
    seed: int = 0
    workers: int = 1
    algorithm: str = DEFAULT
    rounds: bool = True
    begins: str = ""

    def __post_init__(self) -> None:
        for name in ("game", "preset", "algorithm"):
            check_words(f"a run's {name}", getattr(self, name))
        check_whole("workers", self.workers, 1)
        check_whole("seed", self.seed, 0)
        object.__setattr__(self, "workers", int(self.workers))  # a NumPy number is neither JSON nor PyTorch's seed
        object.__setattr__(self, "seed", int(self.seed))

    @property
    def name(self) -> str:
        kind = "" if self.rounds else " without rounds"
        return f"{self.game} {self.algorithm} {self.preset} seed {self.seed} workers {self.workers}{kind}"


@dataclass(frozen=True)
class Hooks:
    """What the loop reports.

    measure: every `measure_every` rounds.  report(point, rounds in all): after each.  playing: how far the current
    round is, about once a second.  note: what a person should know.
    """

    measure: Measure | None = None
    measure_every: int = 10
    report: Callable[[Point, int], None] = lambda point, total: None
    note: Callable[[str], None] = lambda text: None
    playing: Callable[[RoundSoFar], None] = lambda done: None

    def __post_init__(self) -> None:
        check_whole("measure_every", self.measure_every, 1)


@dataclass(frozen=True)
class Until:
    """When a run stops: at `rounds` in all, in place of its settings', or sooner, after `minutes`.

    rounds: 0 for a run that is only begun.
    minutes: by the clock, without the time in which kernels are compiled, as after an installation.  processor: or
    once this process has used this many minutes of a processor for the run, over all resumes, without measuring and
    with what compiling takes.
    """

    minutes: float | None = None
    rounds: int | None = None
    processor: float | None = None

    def __post_init__(self) -> None:
        if self.rounds is not None:
            check_whole("rounds", self.rounds, 0)
        for name, minutes in (("minutes", self.minutes), ("processor minutes", self.processor)):
            number = isinstance(minutes, int | float | np.number) and not isinstance(minutes, bool)
            if minutes is not None and not (number and minutes > 0):
                raise SettingError(f"{name} are a number above 0, not {minutes!r}")

    def total(self, settings: RunSettings) -> int:
        """The run's length in rounds."""
        return settings.rounds if self.rounds is None else self.rounds


WINDOW_BYTES: Final = "window_bytes"  # where a checkpoint says how many bytes its replay window may take

# What reading a damaged training state may raise.
DAMAGE: Final = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RuntimeError)


def describe(run: Run, settings: RunSettings, record: TrainingRecord) -> dict[str, Any]:
    """What a checkpoint says of its run.  made_of: every setting that the preset stood for.  minutes: of training.

    processor_minutes: of those, that the run's first process used; with one worker it is the only one.
    begins: the end of that folder's name alone: where it lies on this machine is private.
    """
    progress = {
        "round": record.round,
        "minutes": record.seconds / 60.0,
        "processor_minutes": record.processor / 60.0,
    }
    return {**asdict(run), "begins": end_of(run.begins), "made_of": repr(settings), **progress}


def _name_in(stored: Mapping[str, Any]) -> str:
    """A run's name, by what its checkpoint says of it; "" where that is not enough."""
    names = ("game", "preset", "seed", "workers")
    if not all(name in stored for name in names):
        return ""
    named_by = {name: stored[name] for name in (*names, "rounds") if name in stored}
    return Run(**named_by, algorithm=algorithm_text(stored)).name


def end_of(checkpoint: str) -> str:
    """The last two parts of a checkpoint's folder, by which a run remembers what it began with."""
    return "/".join(Path(checkpoint).parts[-2:])


def is_to_resume(run: Run, settings: RunSettings, out: Path, resume: bool, note: Callable[[str], None]) -> bool:
    """Whether `out` holds this run; CheckpointError where it holds another, or one that is not to be resumed."""
    folder = out / "checkpoint"
    if (out / CURVE).is_dir():
        raise CheckpointError(f"{shown(out / CURVE)} is a folder, where the learning curve is to be written")
    if folder.is_symlink():
        raise CheckpointError(f"{shown(folder)}: is a link to another folder; nothing was written")
    if not checkpoint.is_begun(folder):
        # A run writes its checkpoint before its curve, so that a curve without one is somebody else's.
        for name in (CURVE, PICTURE):
            if os.path.lexists(out / name):
                raise CheckpointError(f"{shown(out / name)} is of no training run here: choose another --out")
        # What a run writes before its first checkpoint is a snapshot of the untrained network.
        begun = [checkpoint.load_meta(path).run for path in (out / "snapshots").glob("*") if checkpoint.is_begun(path)]
        if others := sorted({name for name in begun if name != run.name}):
            raise CheckpointError(f"{shown(out)} holds the run '{others[0]}', not '{run.name}'")
        if resume:
            note(f"{shown(out)} holds no training run yet: a new one begins there")
        return False
    if not resume:
        remedy = "continue it with --resume or choose another --out"
        raise CheckpointError(f"{shown(out)} holds a training run already; {remedy}")
    meta = checkpoint.load_meta(folder)
    # Another number of workers is another name, and no other run.
    if meta.run != run.name:
        if _name_in({**meta.settings, "workers": run.workers}) != run.name:
            raise CheckpointError(f"{shown(out)} holds the run '{meta.run}', not '{run.name}'")
        before = int(meta.settings["workers"])
        if before != run.workers:
            was = f"{before} worker{'s' * (before > 1)}"
            note(f"the run had {was} and continues with {run.workers}: it is no longer the run that {was} would make")
        _rename(out, run.name)
    began = str(meta.settings.get("begins", ""))
    if run.begins and end_of(run.begins) != began:
        raise CheckpointError(f"{shown(out)} began with {began or 'a new network'}, not with {end_of(run.begins)}")
    if not _parts_of(meta.settings.get("made_of", "")) <= _parts_of(repr(settings)):
        note(f"preset {run.preset} has changed since {shown(out)} was last saved: the run continues with the new one")
    # Learning rates may change in a run; the network's shape cannot.
    if meta.shape != settings.shape:
        raise CheckpointError(f"{shown(out)}: its network is not of the shape that preset {run.preset} has now")
    return True


def _parts_of(made_of: str) -> set[str]:
    """Each setting with its value: one that a later version has besides, with what it did before, is no change."""
    return {part.rstrip(")") for part in re.split(r", (?=\w+=)", made_of) if part}


def _rename(out: Path, name: str) -> None:
    """Give the run in `out` another name, in its snapshots too, of which a later one may take the place of each."""
    for folder in (*sorted((out / "snapshots").glob("*")), out / "checkpoint"):
        if checkpoint.is_begun(folder):
            checkpoint.rename_run(folder, name)


def with_known_head(run: Run, settings: TrainSettings, out: Path) -> TrainSettings:
    """The settings with the head of the network that the run continues or begins with.

    That is a residual network's value planes, of which networks of presets before 26 November 2026 have one, and
    whether there are logits for the game's legal pairs alone, as in large games since 28 November 2026. A run keeps
    its network's, whatever a preset has now.
    """
    shape, begun = settings.shape, checkpoint.is_begun(out / "checkpoint")
    if not (shape.kind == "resnet" or shape.legal_pairs) or shape.game or not (run.begins or begun):
        return settings
    known = checkpoint.load_meta(out / "checkpoint" if begun else Path(run.begins)).shape
    if shape.kind != "resnet":
        return settings if known.legal_pairs else replace(settings, shape=replace(shape, legal_pairs=()))
    if known.kind != "resnet":
        return settings
    return replace(settings, shape=replace(shape, value_planes=known.value_planes))


def window_bytes(settings: TrainSettings, out: Path, note: Callable[[str], None], copies: int = 0) -> int:
    """The bytes that the replay window of the run in `out` may take: as set, as the run began, or half of what is free.

    Chosen when the run begins, with a note, and kept in its checkpoints, since it may decide which rows are learned
    from.  copies: of the window, which a save makes in memory beside it.
    """
    folder = out / "checkpoint"
    if settings.replay_bytes:
        return settings.replay_bytes
    if checkpoint.is_begun(folder):
        begun = checkpoint.load_meta(folder).settings.get(WINDOW_BYTES)
        if type(begun) is int and begun > 0:
            return begun
    most = max(1, free_for_window(out) // (1 + copies))
    fits = f"as many of them as fit in {gigabytes(most)}, which replay_bytes sets"
    note(f"the replay window has room for the newest {settings.replay:,} rows, or {fits}")
    return most


def as_begun(run: Run, out: Path) -> Run:
    """The run with what the one in `out` says that it began with, where there is one."""
    folder = out / "checkpoint"
    if not checkpoint.is_begun(folder):
        return run
    return replace(run, begins=str(checkpoint.load_meta(folder).settings.get("begins", "")))


class Stops:
    """Whether SIGTERM or Ctrl-C has asked a run to end: then it is true.  came: the signals."""

    def __init__(self) -> None:
        self.came: list[int] = []
        self._droppable = False

    def __bool__(self) -> bool:
        return bool(self.came)

    def note(self, number: int, frame: FrameType | None) -> None:
        """Note a signal. Work that may be dropped is dropped at once."""
        self.came.append(number)
        if self._droppable:
            self._droppable = False  # once: a second signal must not stop what cleans up after the first
            raise Dropped

    def dropping(self, work: Callable[[], T]) -> T | None:
        """The work's result; None where a signal came, or the work raised Dropped itself: nothing of it counts then."""
        # The inner block ends where no signal raises any more, so that a late one is caught as well.
        try:
            try:
                self._droppable = True
                return None if self else work()
            finally:
                self._droppable = False
        except Dropped:
            return None


@contextmanager
def stop_on_signals() -> Iterator[Stops]:
    """What SIGTERM and Ctrl-C make true, so that the run is saved; the first signal then takes effect.

    Raises SettingError outside the main thread, which alone hears signals.
    """
    stops, before = Stops(), {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number, handler in before.items():
            if handler != signal.SIG_IGN:  # as under nohup
                signal.signal(number, stops.note)
    except ValueError as error:  # not in the main thread
        raise SettingError("training must run in the main thread") from error
    try:
        yield stops
    finally:
        # The signal is raised again once the run is saved: the process ends by it, as its sender expects.
        for number, handler in before.items():
            signal.signal(number, handler)
        if stops:
            signal.raise_signal(stops.came[0])
