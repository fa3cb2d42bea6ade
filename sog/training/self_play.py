"""Rounds of self-play beside learning (PoG, Algorithm 2 and B.6), the training of every algorithm that searches.

While the workers play round k with the weights of round k, the learner learns from the rows of the rounds before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from sog.cluster.placement import Placement
from sog.errors import CheckpointError
from sog.files import shown
from sog.games.catalog import make_game
from sog.games.symmetries import Symmetry
from sog.nets.cvpn import CVPN, module_of
from sog.nets.device import find_device
from sog.nets.network import Network, network_on
from sog.nets.serialized import network_bytes, network_of
from sog.nets.shape import same_weights
from sog.searches.kernels.compiling import working_time
from sog.training import checkpoint
from sog.training.curve import Point, TrainingRecord, read_record
from sog.training.learner import Learner
from sog.training.lock import held
from sog.training.loop import RoundWatch, play_rounds
from sog.training.packing import unpack
from sog.training.replay import ReplayWindow
from sog.training.round_size import RoundSize, read_round_size
from sog.training.run import (
    DAMAGE,
    WINDOW_BYTES,
    Hooks,
    Run,
    Until,
    as_begun,
    describe,
    is_to_resume,
    window_bytes,
    with_known_head,
)
from sog.training.settings import TrainSettings
from sog.training.state import State
from sog.training.symmetries import turned
from sog.training.workers import Workers, hire

__all__ = ["train"]


def train(
    run: Run,
    settings: TrainSettings,
    out: Path,
    until: Until | None = None,
    resume: bool = False,
    hooks: Hooks | None = None,
    device: str = "cpu",
    placement: Placement | None = None,
) -> Point:
    """Train in folder `out` until the run is over; returns the last point.

    Writes out/checkpoint, out/snapshots/N (networks after rounds 0, 1, 2, 4, 8, ... and each 200th) and out/curve.csv.
    device: where the learner's network lies; self-play stays on the CPU.  placement: where its workers play, by
    default processes of this machine; it changes no number of the run.
    Raises CheckpointError where `out` holds a run and `resume` is False, or another run than this, where another
    process trains there, or where it cannot be written to, and SettingError where there is no such device.
    """
    until, hooks, on = until or Until(), hooks or Hooks(), find_device(device)
    with held(out, hooks.note):
        settings = with_known_head(run, settings, out)
        resumed = is_to_resume(run, settings, out, resume, hooks.note)
        most_bytes = window_bytes(settings, out, hooks.note)
        rows, growth = settings.replay, settings.window
        window = ReplayWindow(settings.shape, rows, out / "checkpoint", growth, most_bytes, settings.halved_at)
        with closing(window):
            learning = _resumed(run, settings, window, on, out) if resumed else _first(run, settings, window, on)
            if run.begins and not resumed:
                hooks.note(_schedules(learning.learner))
            with hire(run.game, settings, run.seed, run.workers, placement) as crew:
                rounds = SelfPlayRounds(as_begun(run, out), settings, learning, crew, hooks.note)
                return play_rounds(rounds, out, until.total(settings), until, hooks)


@dataclass(frozen=True)
class _Begun:
    """A round that is not over.  weights: it is played with.  losses: of each learning step taken so far."""

    weights: bytes
    losses: list[tuple[float, float]] = field(default_factory=list)

    def state(self) -> State:
        """Its part of a training state; before the first learning step the weights are the kept network's."""
        weights = {"weights": np.frombuffer(self.weights, dtype=np.uint8)} if self.losses else {}
        return {**weights, "losses": self.losses}


@dataclass
class _Learning:
    """A run's learner, window and record.

    size: of rounds.  symmetries: those that rows are turned by, if any.  begun: the current round; None between two.
    """

    learner: Learner
    replay: ReplayWindow
    size: RoundSize
    symmetries: tuple[Symmetry, ...] = ()
    record: TrainingRecord = field(default_factory=TrainingRecord)
    begun: _Begun | None = None


@dataclass(frozen=True)
class SelfPlayRounds:
    """A run as `play_rounds` sees it."""

    run: Run
    settings: TrainSettings
    learning: _Learning
    crew: Workers
    note: Callable[[str], None] = lambda text: None

    @property
    def record(self) -> TrainingRecord:
        return self.learning.record

    @property
    def network(self) -> CVPN:
        return self.learning.learner.averaged

    def play_round(self, watch: RoundWatch) -> Point | None:
        """Self-play of one round beside the learning from the rounds before.

        A round that is dropped is played again when the run is resumed, and is then the same round; the learning so
        far is kept.
        """
        started, learning, number = working_time(), self.learning, self.record.round
        learner, replay = learning.learner, learning.replay
        # Workers play with the weights before this round's steps, while the learner learns from earlier rounds' rows:
        # nothing depends on which of them ends first.
        begun = learning.begun = learning.begun or _Begun(network_bytes(learner.averaged))

        def start() -> bool:
            self.crew.start(begun.weights, number, learning.size.games)
            return True

        # A large network takes seconds to reach the workers' processes.
        if watch.dropping(start) is None:
            return None
        # 2^20 keeps the learner's draws apart from every worker's (seed, worker, round).
        if not _learn(learning, (self.run.seed, 2**20, number), begun.losses, watch):
            return None
        harvests = self.crew.harvest(watch)
        if harvests is None:
            return None
        learning.begun = None
        for harvest in harvests:
            replay.add(harvest.rows)
        learning.size.measure(working_time() - started, self.note)
        values, policies = zip(*begun.losses, strict=True) if begun.losses else ([math.nan], [math.nan])
        return Point(
            round=number + 1,
            steps=learner.steps,
            rows=replay.added,
            games=sum(h.games for h in harvests),
            searches=sum(h.searches for h in harvests),
            queries=sum(h.queries for h in harvests),
            value_loss=float(np.mean(values)),
            policy_loss=float(np.mean(policies)),
        )

    def keep(self, folder: Path, whole: bool) -> bool:
        run, learner, replay, begun = self.run, self.learning.learner, self.learning.replay, self.learning.begun
        description = {**describe(run, self.settings, self.record), WINDOW_BYTES: replay.most_bytes}
        state: State | None = None
        if whole:
            state = {"learner": learner.state(), "replay": replay.state(), **self.record.state()}
            if not self.settings.games:
                state["round_size"] = self.learning.size.state()
            if begun is not None:
                state["begun"] = begun.state()
        checkpoint.save(folder, learner.averaged, run.game, run.name, learner.steps, description, state)
        if whole:
            replay.saved()
        return True

    def finish(self, folder: Path) -> None:
        # Workers that still play a dropped round would take processors from the last save.
        self.crew.end()
        self.keep(folder, True)


def _learn(
    learning: _Learning, seed: tuple[int, int, int], losses: list[tuple[float, float]], watch: RoundWatch
) -> bool:
    """The gradient steps that the rows so far allow; False where `watch` ended them.

    losses: of each step of this round, to which those of these steps are added.
    """
    learner, replay = learning.learner, learning.replay
    rng = np.random.default_rng(seed)
    # A run that begins with a trained network counts that one's rows, of which the window has none.
    count = learner.allowed(replay.added) - learner.steps + len(losses) if len(replay) else 0
    batch, shape = learner.settings.batch, replay.shape
    for k in range(count):
        rows = turned(unpack(shape, replay.sample(rng, batch)), learning.symmetries, rng)
        # Steps that were taken before the round was dropped: their draws are made again, and the next are then the
        # same.
        if k < len(losses):
            continue
        step_losses = learner.step(rows)
        losses.append((step_losses.value, step_losses.policy))
        if watch.pause():
            return False
    return True


def _resumed(run: Run, settings: TrainSettings, window: ReplayWindow, device: torch.device, out: Path) -> _Learning:
    """The run in `out` where it stopped; CheckpointError where what it needs is damaged."""
    folder = out / "checkpoint"
    # The kept network; where that is an average, restoring the learner puts the last step's in its place.
    _, network, _ = checkpoint.load_network(folder, run.game)
    fresh, state = _fresh(run, module_of(network).to(device), settings, window), checkpoint.load_state(folder)
    try:
        fresh.learner.restore(state["learner"])
        fresh.replay.restore(state["replay"])
        begun = _read_begun(state["begun"], network) if "begun" in state else None
        size = fresh.size if settings.games or "round_size" not in state else read_round_size(state["round_size"])
        return replace(fresh, size=size, record=read_record(state), begun=begun)
    except DAMAGE as error:
        raise CheckpointError(f"{shown(folder)}: the training state is damaged") from error


def _read_begun(state: State, network: Network) -> _Begun:
    """What `_Begun.state` wrote beside this network; one of DAMAGE where it did not."""
    weights = state["weights"].tobytes() if "weights" in state else network_bytes(network)
    network_of(network.shape, weights)
    return _Begun(weights, [(float(value), float(policy)) for value, policy in state["losses"]])


def _first(run: Run, settings: TrainSettings, window: ReplayWindow, device: torch.device) -> _Learning:
    """A run before its first round."""
    if not run.begins:
        return _fresh(run, CVPN(settings.shape, run.seed).to(device), settings, window)
    network, steps, rows = continued(Path(run.begins), run.game, settings)
    learning = _fresh(run, module_of(network).to(device), settings, window)
    # Steps and rows count on, so that learning rate, window and back-pressure continue as if nothing had ended.
    learning.learner.steps = steps
    learning.replay.count_from(rows)
    return learning


def _schedules(learner: Learner) -> str:
    """Where a run that begins with a trained network is in the schedules."""
    rate = f"learning rate {learner.settings.rate_of(learner.steps):.2g}"
    return f"training continues at the network's step {learner.steps:,}, {rate}; learning_rate and decay_steps set it"


def _fresh(run: Run, network: CVPN, settings: TrainSettings, window: ReplayWindow) -> _Learning:
    """An empty window and a learner that has learned nothing yet."""
    symmetries = make_game(run.game).symmetries if settings.learner.symmetries else ()
    return _Learning(Learner(network, settings.learner), window, RoundSize.of(settings.games), symmetries)


def continued(folder: Path, game: str, settings: TrainSettings) -> tuple[Network, int, int]:
    """The checkpoint's network, the steps it was trained for, and the rows that such a learner sees in this many steps.

    Learning rate and window continue from there; the window's rows and the optimiser's memory are not in a checkpoint
    that ships, so both begin empty. Raises CheckpointError where the network is of another game or shape; one over
    stations may be of another map.
    """
    every_map = settings.shape.kind == "stations"
    _, network, meta = checkpoint.load_network(folder, None if every_map else game)
    if not same_weights(meta.shape, settings.shape):
        raise CheckpointError(f"{shown(folder)}: its network is not of the shape that this run trains")
    # The inverse of Learner.allowed: the fewest rows that allow these steps.
    rows = math.ceil(meta.step * settings.learner.batch / settings.learner.updates_per_example)
    return network_on(network, make_game(game)), meta.step, rows
