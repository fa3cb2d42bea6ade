"""A run without rounds from its first row to its last checkpoint; the supervisor keeps it going meanwhile.

A run goes on until as many games are played as its settings' rounds hold. Its curve has a point for each such number
of games, so that the curves of both kinds of run can be laid side by side. No two runs are alike: which weights a game
is played with depends on time.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from sog.cluster.executor import WorkLost
from sog.cluster.where import Where, executor
from sog.errors import CheckpointError, SettingError
from sog.files import shown
from sog.nets.cvpn import CVPN
from sog.nets.device import find_device
from sog.nets.serialized import network_bytes, network_of
from sog.nets.serving.client import serving
from sog.nets.serving.resident import Residence
from sog.searches.kernels.compiling import working_time
from sog.training import checkpoint
from sog.training.curve import CURVE, Point, Record, read_record, write_curve
from sog.training.lock import held
from sog.training.rounds import Clock, is_due, is_snapshot, next_save, snapshot
from sog.training.run import DAMAGE, Hooks, Run, Until, describe, is_to_resume, stop_on_sigterm, with_value_planes
from sog.training.settings import TrainSettings
from sog.training.state import State
from sog.training.stream.parts import steps_of
from sog.training.stream.supervisor import Start, Supervisor, Totals, totals_from

__all__ = ["Placed", "StreamHooks", "train_stream"]


@dataclass(frozen=True)
class Placed:
    """Where the parts of a run are.

    actors: where they play.  learner: its device.  evaluator: where an evaluator process answers all actors, which are
    then processes of this machine; None where each actor answers itself.
    """

    actors: Where
    learner: str = "cpu"
    evaluator: Residence | None = None


@dataclass(frozen=True)
class StreamHooks(Hooks):
    """What a run without rounds reports. look: every second or so and at the end, with whoever keeps it going."""

    look: Callable[[Supervisor], None] = lambda supervisor: None


def train_stream(
    run: Run,
    settings: TrainSettings,
    out: Path,
    until: Until,
    resume: bool,
    hooks: StreamHooks,
    placed: Placed,
) -> Point:
    """Train in folder `out` with `run.workers` actors; the last point of the curve. Raises as `train` does."""
    find_device(placed.learner)
    if run.begins:
        raise SettingError("a run without rounds begins with a network of its own, not with a checkpoint's")
    if placed.evaluator is not None and placed.actors.kind != "local":
        raise SettingError("an evaluator process answers processes of its own machine only: --cluster local:N")
    if placed.evaluator is not None and settings.shape.matchups:
        raise SettingError("an evaluator process (--serve) answers by infostate, and this solver reads values by pair")
    if until.processor is not None:
        raise SettingError("minutes of a processor are counted in runs of one process; this one has several")
    with held(out, hooks.note):
        settings = with_value_planes(run, settings, out)
        journal = _Journal(run, settings, out, is_to_resume(run, settings, out, resume, hooks.note))
        _play_on(journal, until, hooks, placed)
        return journal.record.last


def _play_on(journal: _Journal, until: Until, hooks: StreamHooks, placed: Placed) -> None:
    """Until the run is over, and its last checkpoint."""
    run, settings, record = journal.run, journal.settings, journal.record
    total = until.total(settings)
    games_a_round = settings.games * run.workers
    clock = Clock(record)
    deadline = math.inf if until.minutes is None else working_time() + 60.0 * until.minutes
    with ExitStack() as stack, executor(placed.actors) as there, stop_on_sigterm() as stop:
        served = placed.evaluator
        evaluator = None if served is None else stack.enter_context(serving(settings.shape, served))
        name = f"{socket.gethostname()}:{journal.out.resolve()}"
        start = Start(name, run.game, settings, run.seed, run.workers, placed.learner, journal.load, evaluator)
        supervisor = Supervisor(there, start, journal.totals)
        save_due, next_look = next_save(0.0), 0.0
        while record.round < total and working_time() < deadline and not stop:
            supervisor.turn()
            now = time.monotonic()
            clock.read()
            while journal.totals.games >= (record.round + 1) * games_a_round:
                point = journal.next_point(supervisor, hooks, total)
                clock.leave_out()
                hooks.report(point, total)
            if now > next_look:
                hooks.look(supervisor)
                next_look = now + _LOOK
            if now > save_due:
                save_due = next_save(journal.save_or_say(supervisor, hooks))
        hooks.look(supervisor)
        if not stop:
            journal.measure_last(supervisor, hooks)
        journal.save_last(supervisor, hooks)


_LOOK = 1.0  # seconds
_LAST_SAVES = 3  # tries to save at the end


class _Journal:
    """What a run keeps on disk: its checkpoint, its snapshots and its curve."""

    def __init__(self, run: Run, settings: TrainSettings, out: Path, resume: bool) -> None:
        """A new run, or the one in `out` where that is to be resumed; CheckpointError where it is damaged."""
        self.run, self.settings, self.out = run, settings, out
        self.folder = out / "checkpoint"
        self.record, self.totals = Record(), Totals()
        if not resume:
            return
        state = checkpoint.load_state(self.folder)
        try:
            self.record = read_record(state)
            self.totals = totals_from(state["totals"])
        except DAMAGE as error:
            raise CheckpointError(f"{shown(self.folder)}: the training state is damaged") from error

    def load(self) -> tuple[State, State] | None:
        """Learner's and replay's states of the latest checkpoint; None where there is none."""
        if not checkpoint.is_begun(self.folder):
            return None
        state = checkpoint.load_state(self.folder)
        network = checkpoint.load_network(self.folder, self.run.game)[1]
        content = np.frombuffer(network_bytes(network), dtype=np.uint8)
        return {"learner": state["learner"], "network": content}, state["replay"]

    def next_point(self, supervisor: Supervisor, hooks: Hooks, total: int) -> Point:
        """The point of a round's worth of games more, measured where it is due."""
        totals, record = self.totals, self.record
        record.round += 1
        point = Point(
            round=record.round,
            minutes=record.seconds / 60.0,
            steps=totals.steps,
            rows=totals.rows,
            value_loss=totals.value,
            policy_loss=totals.policy,
            **{name: max(0, getattr(totals, name) - record.sum_of(name)) for name in ("games", "searches", "queries")},
        )
        due, kept = is_due(hooks, record.round, total), is_snapshot(record.round)
        if due or kept:
            steps, network = self._network(supervisor)
            if network is not None:  # the learner has died otherwise: nothing is measured or kept in this round
                if kept:
                    self._keep(snapshot(self.out, record.round), network, steps)
                if due and hooks.measure is not None:
                    point = replace(point, measured=hooks.measure(network))
        record.points.append(point)
        return point

    def measure_last(self, supervisor: Supervisor, hooks: Hooks) -> None:
        """Measure the network that a run ends with, where time was up between two measurements."""
        points = self.record.points
        if points and math.isnan(points[-1].measured) and hooks.measure is not None:
            _, network = self._network(supervisor)
            if network is not None:
                points[-1] = replace(points[-1], measured=hooks.measure(network))

    def _network(self, supervisor: Supervisor) -> tuple[int, CVPN | None]:
        """The learner's steps and its network after them; no network where the learner has just died."""
        try:
            steps, content = supervisor.learner.call("weights").result()
        except WorkLost:
            return 0, None
        return steps, network_of(self.settings.shape, content)

    def save(self, supervisor: Supervisor) -> float | None:
        """Write the curve and the checkpoint; the seconds it took, None where the learner or replay is dead."""
        started = time.monotonic()
        try:
            learner, replay = supervisor.states()
        except WorkLost:
            return None
        network = network_of(self.settings.shape, learner["network"].tobytes())
        totals = replace(self.totals, steps=steps_of(learner), rows=int(replay["window"]["added"]))
        state = {
            "learner": learner["learner"],
            "replay": replay,
            "totals": asdict(totals),
            **self.record.state(),
        }
        self._keep(self.folder, network, totals.steps, state)
        write_curve(self.out / CURVE, self.record.points)  # after it: a curve without a checkpoint is no run's
        return time.monotonic() - started

    def save_or_say(self, supervisor: Supervisor, hooks: Hooks) -> float:
        """Save where learner and replay live, and say so where not; the seconds it took."""
        took = self.save(supervisor)
        if took is None:
            hooks.note("nothing was saved: the learner or the replay window has died, and is being started again")
        return took or 0.0

    def save_last(self, supervisor: Supervisor, hooks: Hooks) -> None:
        """Save at the end of the run, from the latest checkpoint on where learner or replay have just died.

        Raises CheckpointError where they die again and again.
        """
        for _ in range(_LAST_SAVES):
            if self.save(supervisor) is not None:
                return
            hooks.note("the learner or the replay window died at the end; what followed the last checkpoint is lost")
            supervisor.replace_dead()
        raise CheckpointError(f"{shown(self.folder)}: the run's end is not kept: its learner or replay dies each time")

    def _keep(self, folder: Path, network: CVPN, steps: int, state: State | None = None) -> None:
        run = self.run
        description = describe(run, self.settings, self.record)
        checkpoint.save(folder, network, run.game, run.name, steps, description, state)
