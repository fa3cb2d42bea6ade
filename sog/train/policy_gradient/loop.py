"""The training loop of policy learners: play, learn, keep; checkpoints as every algorithm's.

Actor and learner take turns in one process, since both need the newest network. Each learner step's games have a
generator of their own, (seed, step), so that a run that was stopped anywhere and resumed is the same run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from sog.arrays import Array
from sog.errors import CheckpointError, SettingError
from sog.games.histories.base import HistoryGame
from sog.games.histories.catalog import make_history_game
from sog.nets.cvpn import CVPN
from sog.search.simd.compiling import working_time
from sog.train import checkpoint
from sog.train.curve import Point, blank_point, read_curve, write_curve
from sog.train.files import shown
from sog.train.lock import held
from sog.train.loop import (
    DAMAGE,
    SAVE_SECONDS,
    SAVE_SHARE,
    Hooks,
    Run,
    Until,
    asked_to_stop,
    is_snapshot,
    is_to_resume,
)
from sog.train.policy_gradient.learners import PolicyLearner, Update
from sog.train.policy_gradient.settings import PolicySettings
from sog.train.policy_gradient.trajectories import sample

__all__ = ["play_and_learn", "train_policy"]


@dataclass
class _Progress:
    """Where a run stands.  decisions: seen so far."""

    learner: PolicyLearner
    points: list[Point]
    round: int = 0
    decisions: int = 0
    seconds: float = 0.0


def train_policy(
    run: Run,
    settings: PolicySettings,
    out: Path,
    until: Until | None = None,
    resume: bool = False,
    hooks: Hooks | None = None,
    device: str = "cpu",
) -> Point:
    """Train in folder `out` until the run is over; returns the last point. Files and errors as of `sog.train.loop`.

    Raises SettingError for more than one worker or another device than the CPU: small networks gain nothing there.
    """
    if run.workers != 1 or device != "cpu":
        raise SettingError(f"{run.algorithm} learns in one process, on the CPU: leave out --device and --workers")
    until, hooks = until or Until(), hooks or Hooks()
    total = settings.rounds if until.rounds is None else until.rounds
    with held(out, hooks.note), threadpool_limits(1), asked_to_stop() as stop:
        torch.set_num_threads(1)
        game = make_history_game(run.game)
        progress = _begin(run, settings, out, resume, hooks)
        clock = working_time() - progress.seconds
        deadline = math.inf if until.minutes is None else working_time() + 60.0 * until.minutes
        next_save = time.monotonic() + SAVE_SECONDS
        if progress.round == 0:
            _save(run, settings, out / "snapshots" / "000000", progress)
        while progress.round < total and working_time() < deadline and not stop:
            point = _round(game, run, settings, progress, clock)
            measuring = working_time()
            progress.points.append(_measured(point, progress.learner.best, hooks, total))
            clock += working_time() - measuring  # what measuring takes is no training
            progress.seconds = working_time() - clock
            hooks.report(progress.points[-1], total)
            if is_snapshot(progress.round):
                _save(run, settings, out / "snapshots" / f"{progress.round:06d}", progress)
            if time.monotonic() > next_save:
                next_save = _save_all(run, settings, out, progress)
        _save_all(run, settings, out, progress)
    return progress.points[-1] if progress.points else blank_point()


def play_and_learn(
    game: HistoryGame,
    learner: PolicyLearner,
    games: int,
    steps: int,
    seed: int,
    after: Callable[[Update], None] = lambda update: None,
) -> list[Update]:
    """So many learner steps, each on `games` games that its network plays; `after` gets each of them in turn."""
    found = []
    for _ in range(steps):
        played = sample(game, learner.network, games, np.random.default_rng((seed, learner.steps)))
        update = learner.learn(played)
        after(update)
        found.append(update)
    return found


def _round(game: HistoryGame, run: Run, settings: PolicySettings, progress: _Progress, clock: float) -> Point:
    learner = progress.learner
    losses: list[tuple[float, float]] = []

    def note(update: Update) -> None:
        losses.append((update.value_loss, update.policy_loss))
        progress.decisions += len(update.played)

    play_and_learn(game, learner, settings.games, settings.steps, run.seed, note)
    progress.round += 1
    minutes = (working_time() - clock) / 60.0
    value, policy = np.mean(losses, axis=0).tolist()
    games = settings.games * settings.steps
    return Point(progress.round, minutes, learner.steps, progress.decisions, games, 0, 0, value, policy, math.nan)


def _measured(point: Point, network: CVPN, hooks: Hooks, total: int) -> Point:
    if hooks.measure is None or (point.round % hooks.measure_every and point.round not in (1, total)):
        return point
    return replace(point, measured=hooks.measure(network))


def _begin(run: Run, settings: PolicySettings, out: Path, resume: bool, hooks: Hooks) -> _Progress:
    """A fresh run, or the one in `out` where it stopped; no network is made before the name of the run is compared."""
    going_on = is_to_resume(run, settings, out, resume, hooks.note)
    progress = _Progress(settings.learning.make(CVPN(settings.shape, run.seed), run.seed), [])
    if going_on:
        _restore(progress, out / "checkpoint", run.game)
    return progress


def _restore(progress: _Progress, folder: Path, game: str) -> None:
    """Take up what `_save_all` wrote; CheckpointError where the networks are not those that the state makes."""
    _, network, meta = checkpoint.load_network(folder, game)
    state, learner = checkpoint.load_state(folder), progress.learner
    try:
        learner.restore(state["learner"])
        progress.points, progress.round, progress.seconds = read_curve(state)
        progress.decisions = int(state["decisions"])
        if not 0 <= progress.decisions < 2**62:
            raise ValueError("decisions")
    except DAMAGE as error:
        raise CheckpointError(f"{shown(folder)}: the training state is damaged") from error
    same = learner.steps == meta.step and checkpoint.network_bytes(learner.best) == checkpoint.network_bytes(network)
    kept = checkpoint.load_critic(folder) if "critic" in meta.files else None
    if not (same and _equal(learner.beside(), kept)):
        raise CheckpointError(f"{shown(folder)}: the training state is another network's")


def _equal(one: dict[str, Array] | None, two: dict[str, Array] | None) -> bool:
    if one is None or two is None:
        return one is two
    return set(one) == set(two) and all(np.array_equal(one[name], two[name]) for name in one)


def _save_all(run: Run, settings: PolicySettings, out: Path, progress: _Progress) -> float:
    """Write the checkpoint and the curve; the time when the next one is due."""
    started = time.monotonic()
    state = {
        "learner": progress.learner.state(),
        "points": [list(asdict(point).values()) for point in progress.points],
        "round": progress.round,
        "decisions": progress.decisions,
        "seconds": progress.seconds,
    }
    _save(run, settings, out / "checkpoint", progress, state)
    write_curve(out / "curve.csv", progress.points)
    now = time.monotonic()
    return now + max(SAVE_SECONDS, (now - started) / SAVE_SHARE)


def _save(
    run: Run, settings: PolicySettings, folder: Path, progress: _Progress, state: dict[str, Any] | None = None
) -> None:
    """The network that is kept, and with it the state of the run where it is given."""
    said = {
        **asdict(run), "made_of": repr(settings), "round": progress.round, "minutes": progress.seconds / 60.0
    }
    learner = progress.learner
    checkpoint.save(folder, learner.best, run.game, run.name, learner.steps, said, state, learner.beside())
