"""The training loop: rounds of self-play beside learning, checkpoints, curves (PoG, Algorithm 2 and B.6).

Schedules count rounds and steps, never seconds, so that a run can be stopped anywhere, resumed and
still be the same run. While the workers play round k with the weights of round k, the learner learns from
the rows of the rounds before.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from sog.cluster.where import Where
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.games.symmetries import Symmetry
from sog.nets.cvpn import CVPN
from sog.nets.device import find_device
from sog.search.simd.compiling import working_time
from sog.train import checkpoint
from sog.train.beginning import continued
from sog.train.curve import Point, blank_point, read_curve, write_curve
from sog.train.files import shown
from sog.train.learner import Learner
from sog.train.lock import held
from sog.train.packing import window_for
from sog.train.replay import ReplayWindow
from sog.train.settings import PLAIN, TrainSettings, Variant
from sog.train.symmetries import turned
from sog.train.workers import Crew, hire

if TYPE_CHECKING:
    from sog.train.policy_gradient.settings import PolicySettings

__all__ = [
    "DAMAGE",
    "SAVE_SECONDS",
    "SAVE_SHARE",
    "Hooks",
    "Measure",
    "Run",
    "Until",
    "asked_to_stop",
    "describe",
    "is_snapshot",
    "is_to_resume",
    "train",
]

# Exploitability (or another number to plot) of a network, in the game's reporting unit.
Measure = Callable[[CVPN], float]


@dataclass(frozen=True)
class Run:
    """Which training run: with its settings and the program's version this decides every number in it (workers: 1).

    preset, algorithm, variant: the names of its settings.  seed: of every draw.  rounds: False for a run without
    rounds (sog.train.stream), whose numbers also depend on time.  begins: the checkpoint with whose network it begins;
    "" for a network drawn by the seed.
    """

    game: str
    preset: str = "demo"
    seed: int = 0
    workers: int = 1
    algorithm: str = "sog"
    variant: Variant = PLAIN
    rounds: bool = True
    begins: str = ""

    @property
    def name(self) -> str:
        algorithm = f"{self.algorithm} {self.variant}".strip()
        kind = "" if self.rounds else " without rounds"
        return f"{self.game} {algorithm} {self.preset} seed {self.seed} workers {self.workers}{kind}"


@dataclass(frozen=True)
class Hooks:
    """What the loop tells others.

    measure: every `measure_every` rounds.  report(point, rounds in all): after each.  note: what a person should know.
    """

    measure: Measure | None = None
    measure_every: int = 10
    report: Callable[[Point, int], None] = lambda point, total: None
    note: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Until:
    """When a run stops: at its settings' rounds, or sooner, after `minutes` or at `rounds` in all.

    minutes: by the clock, without the time in which kernels are compiled, as after an installation.  processor: or
    once this process has used so many minutes of a processor for the run, over all resumes.
    """

    minutes: float | None = None
    rounds: int | None = None
    processor: float | None = None


@dataclass
class _Progress:
    """Where a run stands.

    symmetries: those that rows are learned by, none where they are learned as they are.  processor: seconds that this
    process has used, over all resumes.
    """

    learner: Learner
    replay: ReplayWindow
    points: list[Point]
    symmetries: tuple[Symmetry, ...] = ()
    round: int = 0
    seconds: float = 0.0
    processor: float = 0.0


def train(
    run: Run,
    settings: TrainSettings,
    out: Path,
    until: Until | None = None,
    resume: bool = False,
    hooks: Hooks | None = None,
    device: str = "cpu",
    where: Where | None = None,
) -> Point:
    """Train in folder `out` until the run is over; returns the last point.

    Writes out/checkpoint, out/snapshots/N (networks after rounds 0, 1, 2, 4, 8, ...) and out/curve.csv.
    device: where the learner's network lies; self-play stays on the CPU.  where: its workers play, by default
    processes of this machine; the run is the same.
    Raises CheckpointError where `out` holds a run and `resume` is False, or another run than this, where another
    process trains there, or where it cannot be written to, and SettingError where there is no such device.
    """
    until, hooks, on = until or Until(), hooks or Hooks(), find_device(device)
    with held(out, hooks.note):
        progress = _begin(run, settings, out, resume, hooks, on)
        hired = hire(run.game, settings, run.seed, run.workers, where)
        _play_on(run, settings, out, progress, until, hooks, hired)
    return progress.points[-1] if progress.points else blank_point()


def _play_on(
    run: Run,
    settings: TrainSettings,
    out: Path,
    progress: _Progress,
    until: Until,
    hooks: Hooks,
    hired: AbstractContextManager[Crew],
) -> None:
    """Rounds until the run is over, and its last checkpoint."""
    total = settings.rounds if until.rounds is None else until.rounds
    clock = working_time() - progress.seconds
    deadline = math.inf if until.minutes is None else working_time() + 60.0 * until.minutes
    used = time.process_time() - progress.processor
    most = math.inf if until.processor is None else 60.0 * until.processor
    next_save = time.monotonic() + SAVE_SECONDS
    with hired as crew, asked_to_stop() as stop:
        if progress.round == 0:
            _snapshot(run, settings, out, progress)
        while progress.round < total and working_time() < deadline and progress.processor < most and not stop:
            point = _round(run, progress, crew, clock)
            point = _measured(point, progress.learner.kept, hooks, total)
            progress.points.append(point)
            progress.seconds = working_time() - clock
            progress.processor = time.process_time() - used
            hooks.report(point, total)
            if is_snapshot(progress.round):
                _snapshot(run, settings, out, progress)
            if time.monotonic() > next_save:
                next_save = _save(run, settings, out, progress)
    _save(run, settings, out, progress)


_CURVE = "curve.csv"
SAVE_SECONDS = 20.0  # between checkpoints, at least: what a kill may cost
SAVE_SHARE = 0.05  # of the time, at most, goes into writing them


def _round(run: Run, progress: _Progress, crew: Crew, clock: float) -> Point:
    """Self-play of one round beside the learning from the rounds before."""
    learner, replay = progress.learner, progress.replay
    crew.start(checkpoint.network_bytes(learner.kept), progress.round)
    value, policy = _learn(run, progress)
    harvests = crew.harvest()
    for harvest in harvests:
        replay.add(harvest.rows)
    progress.round += 1
    return Point(
        progress.round,
        (working_time() - clock) / 60.0,
        learner.steps,
        replay.added,
        sum(h.games for h in harvests),
        sum(h.searches for h in harvests),
        sum(h.queries for h in harvests),
        value,
        policy,
        math.nan,
    )


def _learn(run: Run, progress: _Progress) -> tuple[float, float]:
    """The gradient steps that the rows so far allow; the mean losses."""
    learner, replay = progress.learner, progress.replay
    rng = np.random.default_rng((run.seed, 2**20, progress.round))
    count = learner.allowed(replay.added) - learner.steps
    batch = learner.settings.batch
    found = [learner.step(turned(replay.sample(rng, batch), progress.symmetries, rng)) for _ in range(count)]
    if not found:
        return math.nan, math.nan
    return float(np.mean([x.value for x in found])), float(np.mean([x.policy for x in found]))


def _measured(point: Point, network: CVPN, hooks: Hooks, total: int) -> Point:
    if hooks.measure is None or (point.round % hooks.measure_every and point.round not in (1, total)):
        return point
    return Point(**{**asdict(point), "measured": hooks.measure(network)})


def _begin(
    run: Run, settings: TrainSettings, out: Path, resume: bool, hooks: Hooks, device: torch.device
) -> _Progress:
    """A fresh run, or the one in `out` where it stopped; no network is made before the name of the run is compared."""
    folder = out / "checkpoint"
    if not is_to_resume(run, settings, out, resume, hooks.note):
        return _first(run, settings, device)
    _, network, _ = checkpoint.load_network(folder, run.game)
    progress = _fresh(run, network.to(device), settings)
    try:
        _restore(progress, checkpoint.load_state(folder))
    except DAMAGE as error:
        raise CheckpointError(f"{shown(folder)}: the training state is damaged") from error
    return progress


def is_to_resume(
    run: Run, settings: TrainSettings | PolicySettings, out: Path, resume: bool, note: Callable[[str], None]
) -> bool:
    """Whether `out` holds this run; CheckpointError where it holds another, or one that is not to be resumed."""
    folder = out / "checkpoint"
    if (out / _CURVE).is_dir():
        raise CheckpointError(f"{shown(out / _CURVE)} is a folder, where the learning curve is to be written")
    if not checkpoint.is_begun(folder):
        if resume:
            note(f"{shown(out)} holds no training run yet: a new one begins there")
        return False
    if not resume:
        raise CheckpointError(f"{out} holds a training run already; go on with --resume or choose another --out")
    meta = checkpoint.load_meta(folder)
    if meta.run != run.name:
        raise CheckpointError(f"{out} holds the run '{meta.run}', not '{run.name}'")
    if meta.settings.get("made_of", repr(settings)) != repr(settings):
        note(f"preset {run.preset} has changed since {out} was last saved: the run goes on with the new one")
    if meta.shape != settings.shape:
        raise CheckpointError(f"{out}: its network is not of the shape that preset {run.preset} has now")
    return True


def _first(run: Run, settings: TrainSettings, device: torch.device) -> _Progress:
    """A run before its first round."""
    if not run.begins:
        return _fresh(run, CVPN(settings.shape, run.seed).to(device), settings)
    network, steps, rows = continued(Path(run.begins), run.game, settings)
    progress = _fresh(run, network.to(device), settings)
    progress.learner.steps, progress.replay.added = steps, rows
    return progress


# What reading a damaged training state may raise.
DAMAGE: Final = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RuntimeError)


def _fresh(run: Run, network: CVPN, settings: TrainSettings) -> _Progress:
    symmetries = make_game(run.game).symmetries if settings.learner.symmetries else ()
    window = window_for(settings.shape, settings.replay, settings.window)
    return _Progress(Learner(network, settings.learner), window, [], symmetries)


def _restore(progress: _Progress, state: checkpoint.State) -> None:
    """Take up what `_save` wrote; any kind of error where it did not."""
    progress.learner.restore(state["learner"])
    progress.replay.restore(state["replay"])
    progress.points, progress.round, progress.seconds = read_curve(state)
    progress.processor = float(state.get("processor", 0.0))  # checkpoints of before lack it
    if not 0.0 <= progress.processor < 2**31:
        raise ValueError("processor")


def _save(run: Run, settings: TrainSettings, out: Path, progress: _Progress) -> float:
    """Write the checkpoint and the curve; the time when the next one is due."""
    started = time.monotonic()
    state: checkpoint.State = {
        "learner": progress.learner.state(),
        "replay": progress.replay.state(),
        "points": [list(asdict(point).values()) for point in progress.points],
        "round": progress.round,
        "seconds": progress.seconds,
        "processor": progress.processor,
    }
    network, steps, said = progress.learner.kept, progress.learner.steps, _said(run, settings, progress)
    checkpoint.save(out / "checkpoint", network, run.game, run.name, steps, said, state)
    write_curve(out / _CURVE, progress.points)
    now = time.monotonic()
    return now + max(SAVE_SECONDS, (now - started) / SAVE_SHARE)


def _snapshot(run: Run, settings: TrainSettings, out: Path, progress: _Progress) -> None:
    """Keep the network of this round for the learning curve by search budget."""
    folder = out / "snapshots" / f"{progress.round:06d}"
    said = _said(run, settings, progress)
    checkpoint.save(folder, progress.learner.kept, run.game, run.name, progress.learner.steps, said)


def _said(run: Run, settings: TrainSettings, progress: _Progress) -> dict[str, Any]:
    """What a checkpoint says of its run so far.  minutes: of training."""
    return {**describe(run, settings), "round": progress.round, "minutes": progress.seconds / 60.0}


def is_snapshot(number: int) -> bool:
    """Whether the network after this round is kept for good."""
    return number & (number - 1) == 0 or number % 200 == 0


def describe(run: Run, settings: TrainSettings) -> dict[str, Any]:
    """What a checkpoint says of its run; made_of: every setting that the preset stood for."""
    return {**asdict(run), "made_of": repr(settings)}


@contextmanager
def asked_to_stop() -> Iterator[list[int]]:
    """A list that SIGTERM makes true, so that the round in hand is finished and saved."""
    asked: list[int] = []
    try:
        before = signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    except ValueError as error:  # not in the main thread
        raise SettingError("training must run in the main thread") from error
    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, before)
