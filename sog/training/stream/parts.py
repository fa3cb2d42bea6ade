"""The three kinds of process of a run without rounds: actors, the replay window and the learner."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from sog.arrays import Int64
from sog.errors import CheckpointError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN, module_of
from sog.nets.inference import network_evaluator
from sog.nets.serialized import network_bytes, network_of
from sog.nets.serving.client import ServedEvaluator
from sog.searches.kernels.compiling import WATCH
from sog.searches.leaves.evaluator import Clock, Timed
from sog.training.learner import Learner
from sog.training.packing import PackedRows, join_packed, unpack
from sog.training.replay import ReplayWindow
from sog.training.settings import Harvest, TrainSettings
from sog.training.state import State
from sog.training.symmetries import turned
from sog.training.workers import make_actor

__all__ = ["ActorPart", "LearnerPart", "LearnerSteps", "ReplayPart", "RowBlock", "Taken"]


@dataclass(frozen=True)
class RowBlock:
    """What an actor ships at once.

    version: the learner's steps when its weights were made.  seconds: that it took, of them `network` in the network.
    compiling: seconds that its process has compiled kernels so far.  machine: where it was played.
    """

    harvest: Harvest
    version: int
    seconds: float
    network: float
    compiling: float
    machine: str


@dataclass(frozen=True)
class Taken:
    """What the replay window says of a block that it took in.

    added: rows ever.  held: rows now.  version: the mean of all rows in it.  rows: of the block.  block: without them.
    """

    added: int
    held: int
    version: float
    rows: int
    block: RowBlock


@dataclass(frozen=True)
class LearnerSteps:
    """steps: of the learner in all.  value, policy: mean losses of the latest."""

    steps: int
    value: float
    policy: float


class ActorPart:
    """An actor. incarnation: counts all actors that the run ever started, so that none repeats another's games.

    evaluator: the name of an evaluator process of this machine that answers it, whatever weights it is given.
    """

    def __init__(
        self, game: str, settings: TrainSettings, seed: int, actor: int, incarnation: int, evaluator: str = ""
    ) -> None:
        torch.set_num_threads(1)
        self.actor, self.settings, self.seed = make_actor(game, settings), settings, (seed, actor, incarnation)
        self.clock, self.blocks = Clock(), 0
        if evaluator:
            self.evaluator = Timed(ServedEvaluator(evaluator, settings.shape), self.clock)

    def play(self, weights: bytes, version: int, games: int, number: int) -> RowBlock:
        """A block: this many games with these weights.

        weights: empty where it has them, or an evaluator process does.  version: the learner's steps that made them.
        number: of the round that the run is in, which schedules count.
        """
        if weights:
            self.evaluator = Timed(network_evaluator(network_of(self.settings.shape, weights)), self.clock)
        started, compiled, before = time.perf_counter(), WATCH.seconds(), self.clock.seconds
        # (seed, actor, incarnation, block): no two blocks of a run share draws, also after a death.
        rng = np.random.default_rng((*self.seed, self.blocks))
        harvest = self.actor.round(games, self.evaluator, rng, number)
        self.blocks += 1
        seconds = time.perf_counter() - started - (WATCH.seconds() - compiled)
        network = self.clock.seconds - before
        return RowBlock(harvest, version, seconds, network, WATCH.seconds(), socket.gethostname())


class ReplayPart:
    """The replay window, with the version of the weights that each row was played with."""

    def __init__(self, settings: TrainSettings, state: State | None = None) -> None:
        """An empty one, or one with a state that another gave; raises CheckpointError for a state that does not fit."""
        rows, growth, most_bytes = settings.replay, settings.window, settings.replay_bytes or None
        self.window = ReplayWindow(settings.shape, rows, None, growth, most_bytes, settings.halved_at)
        self.batch = settings.learner.batch
        self.versions: Int64 = np.zeros(self.window.capacity, dtype=np.int64)
        if state is not None:
            self.window.restore(state["window"])
            held = len(self.window)  # what fits, of a window that was larger
            self.versions[self._places(held)] = state["versions"][len(state["versions"]) - held :]

    def _places(self, count: int) -> Int64:
        """Where the newest rows lie."""
        return np.arange(self.window.added - count, self.window.added) % self.window.capacity

    def add(self, block: RowBlock) -> Taken:
        """Take in a block."""
        harvest, window = block.harvest, self.window
        window.add(harvest.rows)
        # The ring of versions has the window's numbers.
        self.versions[self._places(min(len(harvest.rows), window.capacity))] = block.version
        mean = float(self.versions[self._places(len(window))].mean()) if len(window) else 0.0
        # The rows stay here; the supervisor needs the counts only.
        bare = replace(block, harvest=replace(harvest, rows=join_packed([])))
        return Taken(window.added, len(window), mean, len(harvest.rows), bare)

    def sample(self, steps: int, seed: tuple[int, ...]) -> list[PackedRows]:
        """Batches for this many steps of the learner."""
        rng = np.random.default_rng(seed)
        return [self.window.sample(rng, self.batch) for _ in range(steps)]

    def state(self) -> State:
        """What a checkpoint keeps."""
        return {"window": self.window.state(), "versions": self.versions[self._places(len(self.window))]}


class LearnerPart:
    """The learner with its network."""

    def __init__(self, game: str, settings: TrainSettings, seed: int, device: str, state: State | None = None) -> None:
        """A fresh one, or one with a state that another gave; raises CheckpointError for a state that does not fit."""
        torch.set_num_threads(1)
        self.shape = settings.shape
        self.symmetries, self.seed = make_game(game).symmetries if settings.learner.symmetries else (), seed
        if state is None:
            network = CVPN(settings.shape, seed)
        else:
            network = module_of(network_of(settings.shape, np.asarray(state["network"], dtype=np.uint8).tobytes()))
        self.learner = Learner(network.to(torch.device(device)), settings.learner)
        if state is not None:
            self.learner.restore(state["learner"])

    def learn(self, batches: list[PackedRows]) -> LearnerSteps:
        """A step on each batch."""
        # By the steps taken: a learner that replaces a dead one draws what that one would have.
        rng = np.random.default_rng((self.seed, 2**21, self.learner.steps))
        step_losses = [self.learner.step(turned(unpack(self.shape, rows), self.symmetries, rng)) for rows in batches]
        value, policy = (float(np.mean([getattr(x, name) for x in step_losses])) for name in ("value", "policy"))
        return LearnerSteps(self.learner.steps, value, policy)

    def weights(self) -> tuple[int, bytes]:
        """The steps taken, and the network after them."""
        return self.learner.steps, network_bytes(self.learner.averaged)

    def state(self) -> State:
        """What a checkpoint keeps."""
        network: Any = np.frombuffer(network_bytes(self.learner.averaged), dtype=np.uint8)
        return {"learner": self.learner.state(), "network": network}


def steps_of(state: State) -> int:
    """The learner's steps in its state; raises CheckpointError where it says none."""
    try:
        return int(state["learner"]["steps"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError("the checkpoint's learner is damaged") from error
