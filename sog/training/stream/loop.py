"""A run without rounds: its actors, window and learner work side by side, and a supervisor keeps them at work.

It ends when as many games are played as its settings' rounds hold. Its curve has a point for each round's worth of
games, so that the curves of both kinds of run can be compared. No two runs are alike: which weights a game is played
with depends on time.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from sog.cluster.executor import WorkLost
from sog.cluster.placement import Placement, executor
from sog.errors import CheckpointError, SettingError
from sog.files import shown
from sog.nets.device import find_device
from sog.nets.network import Network
from sog.nets.serialized import network_bytes, network_of
from sog.nets.serving.client import serving
from sog.nets.serving.resident import Residence
from sog.training import checkpoint
from sog.training.curve import Point, TrainingRecord, read_record
from sog.training.lock import held
from sog.training.loop import RoundWatch, play_rounds
from sog.training.run import (
    DAMAGE,
    WINDOW_BYTES,
    Hooks,
    Run,
    Until,
    describe,
    is_to_resume,
    window_bytes,
    with_known_head,
)
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

    actors: Placement
    learner: str = "cpu"
    evaluator: Residence | None = None


@dataclass(frozen=True)
class StreamHooks(Hooks):
    """What a run without rounds reports. look: about every second and at the end, with the run's supervisor."""

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
        settings = with_known_head(run, settings, out)
        resumed = is_to_resume(run, settings, out, resume, hooks.note)
        most_bytes = window_bytes(settings, out, hooks.note, _COPIES)
        with _supervised(run, settings, out, resumed, hooks, placed, most_bytes) as rounds:
            return play_rounds(rounds, out, until.total(settings), until, hooks)


@contextmanager
def _supervised(
    run: Run,
    settings: TrainSettings,
    out: Path,
    resumed: bool,
    hooks: StreamHooks,
    placed: Placed,
    most_bytes: int,
) -> Iterator[StreamRounds]:
    """The run with its processes; they end with it."""
    with ExitStack() as stack, executor(placed.actors) as there:
        served = placed.evaluator
        evaluator = None if served is None else stack.enter_context(serving(settings.shape, served))
        rounds = StreamRounds(run, settings, out / "checkpoint", resumed, hooks, most_bytes)
        name = f"{socket.gethostname()}:{out.resolve()}"
        bounded = replace(settings, replay_bytes=most_bytes)
        start = Start(name, run.game, bounded, run.seed, run.workers, placed.learner, rounds.load, evaluator)
        rounds.supervisor = Supervisor(there, start, rounds.totals)
        yield rounds


_LOOK = 1.0  # seconds
_LAST_SAVES = 3  # tries to save at the end
_COPIES = 3  # of the replay window while it is saved: its rows in order, as they are sent, and as they are written


class StreamRounds:
    """A run without rounds as `play_rounds` sees it: a round is a fixed number of games.

    supervisor: of its processes, from whom learner and window are asked what is kept.
    """

    supervisor: Supervisor

    def __init__(
        self, run: Run, settings: TrainSettings, folder: Path, resumed: bool, hooks: StreamHooks, most_bytes: int
    ) -> None:
        """A new run, or the one whose checkpoint is in `folder`; CheckpointError where that is damaged.

        most_bytes: that its replay window may take.
        """
        self.run, self.settings, self.folder, self.hooks, self.most_bytes = run, settings, folder, hooks, most_bytes
        self.record, self.totals = TrainingRecord(), Totals()
        self._next_look = 0.0
        if not resumed:
            return
        state = checkpoint.load_state(self.folder)
        try:
            self.record = read_record(state)
            self.totals = totals_from(state["totals"])
        except DAMAGE as error:
            raise CheckpointError(f"{shown(self.folder)}: the training state is damaged") from error

    def load(self) -> tuple[State, State] | None:
        """Learner's and replay's states of the latest checkpoint; None before the first."""
        if not checkpoint.is_begun(self.folder):
            return None
        state = checkpoint.load_state(self.folder)
        network = checkpoint.load_network(self.folder, self.run.game)[1]
        content = np.frombuffer(network_bytes(network), dtype=np.uint8)
        return {"learner": state["learner"], "network": content}, state["replay"]

    def play_round(self, watch: RoundWatch) -> Point | None:
        """Keep the processes at work until a round's games more are played; nothing waits for a round to end."""
        size = (self.settings.games or 1) * self.run.workers
        # What a block brings beyond a round counts for the next; not where earlier rounds had other numbers of workers.
        games = self.record.sum_of("games")
        beyond = games - self.record.round * size
        games += size - (beyond if 0 <= beyond < size else 0)
        while self.totals.games < games:
            self.supervisor.turn()
            if time.monotonic() > self._next_look:
                self.hooks.look(self.supervisor)
                self._next_look = time.monotonic() + _LOOK
            if watch.pause():
                return None
        return self._point()

    def _point(self) -> Point:
        """The point of the curve after the games so far."""
        totals, record = self.totals, self.record
        return Point(
            round=record.round + 1,
            steps=totals.steps,
            rows=totals.rows,
            value_loss=totals.value,
            policy_loss=totals.policy,
            # This round's counts: the totals less the earlier points'.
            **{name: max(0, getattr(totals, name) - record.sum_of(name)) for name in ("games", "searches", "queries")},
        )

    @property
    def network(self) -> Network | None:
        """The learner's network; None where the learner has just died."""
        return self._newest()[1]

    def _newest(self) -> tuple[int, Network | None]:
        """The learner's steps and its network after them."""
        try:
            steps, content = self.supervisor.learner.call("weights").result()
        except WorkLost:
            return 0, None
        return steps, network_of(self.settings.shape, content)

    def keep(self, folder: Path, whole: bool) -> bool:
        """False, with a note, where learner or replay window have died."""
        # Whole: learner and window of one moment. Otherwise the network alone, for a snapshot.
        if whole:
            written = self._save()
            if not written:
                self.hooks.note("nothing was saved: the learner or the replay window died, and is being started again")
            return written
        if self.record.round == 0:  # its processes have only begun to start
            return False
        steps, network = self._newest()
        if network is not None:
            self._write(folder, network, steps)
        return network is not None

    def finish(self, folder: Path) -> None:
        """From the latest checkpoint on where learner or window have just died; CheckpointError if they die again."""
        self.hooks.look(self.supervisor)
        for _ in range(_LAST_SAVES):
            if self._save():
                return
            self.hooks.note("the learner or replay window died at the end; what followed the last checkpoint is lost")
            self.supervisor.replace_dead()
        raise CheckpointError(f"{shown(self.folder)}: the run's end is not kept: its learner or replay dies each time")

    def _save(self) -> bool:
        """Write the checkpoint whole; False where learner or replay are dead."""
        try:
            learner, replay = self.supervisor.states()
        except WorkLost:
            return False
        network = network_of(self.settings.shape, learner["network"].tobytes())
        # Steps and rows as in the states that are written, not as reported since.
        totals = replace(self.totals, steps=steps_of(learner), rows=int(replay["window"]["added"]))
        state = {
            "learner": learner["learner"],
            "replay": replay,
            "totals": asdict(totals),
            **self.record.state(),
        }
        self._write(self.folder, network, totals.steps, state)
        return True

    def _write(self, folder: Path, network: Network, steps: int, state: State | None = None) -> None:
        run = self.run
        description = {**describe(run, self.settings, self.record), WINDOW_BYTES: self.most_bytes}
        checkpoint.save(folder, network, run.game, run.name, steps, description, state)
