"""Where the time of a training minute goes: of one process that does everything, and of a learner with its workers.

In one process every part can be timed. With workers the learner's own parts are timed, and of the workers only the
processor time is known: what they do is what the one process does besides learning.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Annotated, Final

from sog.algorithms.boards.actor import BoardActor
from sog.algorithms.boards.game import QuerySolve
from sog.algorithms.student.presets import sog_preset
from sog.algorithms.student.queries import Solving
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.play.selfplay import SelfPlayGame
from sog.searches.leaves.evaluator import Evaluator
from sog.training import checkpoint, workers
from sog.training.curve import Point
from sog.training.learner import Learner
from sog.training.replay import ReplayWindow
from sog.training.run import Run
from soglab.bench.form import Benchmark, Column, Report
from soglab.bench.search import GROWTH, NETWORK, SWEEPS, watching_searches
from soglab.bench.stopwatch import Place, Stopwatch, replaced
from soglab.runs import train_watched

SELF_PLAY, QUERIES = "self-play", "query solves"
LEARNER, REPLAY, ROWS, SAVING, WAITING = "learner", "replay window", "training rows", "checkpoints", "waiting"

_LEARNER_PLACES: Final[tuple[Place, ...]] = (
    (Learner, "step", LEARNER, False),
    (ReplayWindow, "sample", REPLAY, False),
    (ReplayWindow, "add", REPLAY, False),
    (checkpoint, "save", SAVING, False),
)
_ACTOR_PLACES: Final[tuple[Place, ...]] = (
    (SelfPlayGame, "steps", SELF_PLAY, True),
    (Solving, "steps", QUERIES, True),
    (Solving, "row", ROWS, False),
    (QuerySolve, "steps", QUERIES, True),
    (BoardActor, "rows_of", ROWS, False),
)


@dataclass(frozen=True)
class TrainingPart:
    """One part of a profile.

    who: the one process or the learner, in wall time; or all workers together, in processor time.
    seconds: of a minute.  share: of that minute, for workers of a minute of each.
    """

    who: Annotated[str, Column("process", once=True)]
    part: Annotated[str, Column("part")]
    seconds: Annotated[float, Column("seconds", ".1f")]
    share: Annotated[float, Column("share", ".0%")]


TRAINING_MINUTE: Final = Benchmark("training", "seconds", "{game}: one training minute")


# Takes the seconds that a run has been watched for, after each round.
Watched = Callable[[float], None]


def profile_training(game: str, preset: str, seconds: float, crew: int, report: Report) -> Iterator[TrainingPart]:
    """Two runs from scratch of `seconds` each, to the end of a round; start-up and first round do not count.

    report: called after each round with the seconds that both have been watched for, and which it is.
    """
    yield from profile_one_process(game, preset, seconds, lambda at: report(int(at), "one process"))
    yield from profile_learner(game, preset, seconds, crew, lambda at: report(int(seconds + at), f"{crew} workers"))


def profile_one_process(
    game: str, preset: str, seconds: float, watched: Watched = lambda at: None
) -> list[TrainingPart]:
    """A run whose one worker is this process."""
    watch = Stopwatch()

    def timed_evaluator(network: CVPN) -> Evaluator:
        evaluator: Evaluator = watch.timed(NETWORK, network_evaluator(network))
        return evaluator

    def profile() -> list[TrainingPart]:
        times = {f"{job}: {part}": t for job in (SELF_PLAY, QUERIES) for part, t in _of_job(watch, job).items()}
        times |= {part: watch.seconds(part) for part in (NETWORK, ROWS, LEARNER, REPLAY, SAVING)}
        return _parts("one process", times, watch.total())

    places = (*_LEARNER_PLACES, *_ACTOR_PLACES)
    with replaced(workers, "network_evaluator", timed_evaluator), watching_searches(watch, places):
        return _watch(Run(game, preset, 0, 1), seconds, watch.restart, profile, watched)


def _of_job(watch: Stopwatch, job: str) -> dict[str, float]:
    parts = {"sweeps": sum(watch.seconds(part, job) for part in SWEEPS), GROWTH: watch.seconds(GROWTH, job)}
    return {**parts, "Python": watch.whole(job) - sum(parts.values())}


def profile_learner(
    game: str, preset: str, seconds: float, crew: int, watched: Watched = lambda at: None
) -> list[TrainingPart]:
    """A run with `crew` worker processes beside the learner."""
    watch = Stopwatch()
    before: list[float | None] = [None]

    def begin() -> None:
        watch.restart()
        before[0] = processor_seconds()

    def profile() -> list[TrainingPart]:
        times = {part: watch.seconds(part) for part in (LEARNER, REPLAY, SAVING, WAITING)}
        total, now = watch.total(), processor_seconds()
        parts = _parts(f"learner of {crew} workers", times, total)
        if now is not None and before[0] is not None:
            share = (now - before[0]) / total
            parts.append(TrainingPart(f"{crew} workers", "processor time", 60.0 * share, share / crew))
        return parts

    places: tuple[Place, ...] = (*_LEARNER_PLACES, (workers.RemoteWorkers, "harvest", WAITING, False))
    with watch.watching(places):
        return _watch(Run(game, preset, 0, crew), seconds, begin, profile, watched)


def _parts(who: str, times: dict[str, float], total: float) -> list[TrainingPart]:
    """Parts of `total` seconds, with what is left over."""
    times = {**times, "other": total - sum(times.values())}
    return [TrainingPart(who, part, 60.0 * t / total, t / total) for part, t in times.items()]


def _watch(
    run: Run, seconds: float, begin: Callable[[], None], profile: Callable[[], list[TrainingPart]], watched: Watched
) -> list[TrainingPart]:
    """Train from scratch: `begin` comes after the first round, and `profile` after the round that ends the time."""
    parts: list[TrainingPart] = []
    begun = 0.0

    def report(point: Point) -> bool:
        nonlocal begun
        if not begun:
            begun = monotonic()
            begin()
            return False
        at = monotonic() - begun
        watched(min(at, seconds))
        if at >= seconds or point.round == settings.rounds:
            parts.extend(profile())
        return bool(parts)

    settings = sog_preset(make_game(run.game), run.preset)
    with tempfile.TemporaryDirectory() as folder:
        train_watched(run, settings, Path(folder), report)
    return parts


def processor_seconds() -> float | None:
    """What the worker processes have used so far; None where the system does not say (other than Linux)."""
    ticks = 0
    for process in multiprocessing.active_children():
        try:
            columns = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        ticks += int(columns[11]) + int(columns[12])
    return ticks / os.sysconf("SC_CLK_TCK")
