"""Where rounds of self-play run: in this process, or in others by an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import numpy as np
import torch

from sog.cluster.executor import Executor, Pending, WorkLost
from sog.cluster.where import Where, executor
from sog.errors import SogError
from sog.games.catalog import make_game
from sog.nets.inference import network_evaluator
from sog.nets.one_core import one_core
from sog.nets.serialized import network_of
from sog.searches.kernels.compiling import WATCH
from sog.searches.leaves.evaluator import Droppable
from sog.training.rounds import RoundWatch
from sog.training.settings import Actor, Harvest, TrainSettings

__all__ = ["LocalWorkers", "RemoteWorkers", "Workers", "hire", "make_actor", "play_round"]

_LOOK: Final = 0.5  # seconds between two looks at the clock while workers play


class Workers(Protocol):
    """Starts a round with given weights and later hands back what it brought in, in a fixed order."""

    def start(self, weights: bytes, round_number: int) -> None:
        """Begin a round; nothing is returned before `harvest`."""

    def harvest(self, watch: RoundWatch) -> list[Harvest] | None:
        """What each worker brought in; None where `watch` ended the round before that. Then nothing is to follow."""


@contextmanager
def hire(game: str, settings: TrainSettings, seed: int, workers: int, where: Where | None = None) -> Iterator[Workers]:
    """A crew of this many workers; one worker of this machine is this very process.

    where: by default processes of this machine. What each worker plays is the same to the bit wherever it plays, on
    processors of one kind.
    """
    where = where or Where("local", workers)
    with one_core():
        if workers == 1 and where.kind == "local":
            yield LocalWorkers(game, settings, seed)
            return
        with executor(where) as there:
            yield RemoteWorkers(there, game, settings, seed, workers)


def play_round(
    actor: Actor,
    settings: TrainSettings,
    seed: int,
    worker: int,
    weights: bytes,
    number: int,
    over: Callable[[], bool] | None = None,
) -> Harvest:
    """One worker's share of a round; its generator comes from (seed, worker, round). Dropped once it is `over`."""
    evaluator = network_evaluator(network_of(settings.shape, weights))
    if over is not None:
        evaluator = Droppable(evaluator, over)
    return actor.round(settings.games, evaluator, np.random.default_rng((seed, worker, number)), number)


def make_actor(game: str, settings: TrainSettings) -> Actor:
    """The settings' own kind of actor."""
    return settings.acting.make(make_game(game), settings.shape)


class LocalWorkers:
    """One worker in this process: the round is played when its harvest is requested."""

    def __init__(self, game: str, settings: TrainSettings, seed: int) -> None:
        self.actor, self.settings, self.seed = make_actor(game, settings), settings, seed
        self.waiting: tuple[bytes, int] = (b"", 0)

    def start(self, weights: bytes, round_number: int) -> None:
        self.waiting = weights, round_number

    def harvest(self, watch: RoundWatch) -> list[Harvest] | None:
        harvest = watch.dropping(
            lambda: play_round(self.actor, self.settings, self.seed, 0, *self.waiting, over=watch.over)
        )
        return None if harvest is None else [harvest]


class RemoteWorkers:
    """Workers in processes of their own.  players: by worker."""

    def __init__(self, there: Executor, game: str, settings: TrainSettings, seed: int, workers: int) -> None:
        self.there = there
        self.players = [there.start(_Player, game, settings, seed, worker) for worker in range(workers)]
        self.waiting: list[Pending] = []
        self.compiling = 0.0  # seconds of the worker that has compiled longest
        self.compiled = False  # whether a round has been played: what compiling takes is known only after it

    def start(self, weights: bytes, round_number: int) -> None:
        shared = self.there.share(weights)
        self.waiting = [player.call("play", shared, round_number) for player in self.players]

    def harvest(self, watch: RoundWatch) -> list[Harvest] | None:
        over = watch.over if self.compiled else watch.stopped
        answers: dict[int, tuple[Harvest, float]] = {}
        while len(answers) < len(self.waiting):
            left = [pending for worker, pending in enumerate(self.waiting) if worker not in answers]
            for pending in self.there.wait(left, _LOOK):
                worker = self.waiting.index(pending)
                answers[worker] = _answer(worker, pending)
            if len(answers) < len(self.waiting) and over():
                return None
        self.compiled = True
        # Workers compile side by side: the clock leaves out what the longest of them took.
        longest = max(self.compiling, *(compiling for _, compiling in answers.values()))
        WATCH.add(longest - self.compiling)
        self.compiling = longest
        # In the order of workers, not of arrival: the window's order must not depend on time.
        return [answers[worker][0] for worker in range(len(self.waiting))]


def _answer(worker: int, pending: Pending) -> tuple[Harvest, float]:
    """A worker's harvest and the seconds that it has compiled; SogError with its number where there is none."""
    try:
        answer: tuple[Harvest, float] = pending.result()
    except WorkLost as error:
        raise SogError(f"self-play worker {worker} died; resume from the last checkpoint") from error
    except SogError as error:
        raise SogError(f"self-play worker {worker}: {error}") from error
    return answer


class _Player:
    """One worker, in a process of its own."""

    def __init__(self, game: str, settings: TrainSettings, seed: int, worker: int) -> None:
        torch.set_num_threads(1)
        self.actor, self.settings, self.seed, self.worker = make_actor(game, settings), settings, seed, worker

    def play(self, weights: bytes, number: int) -> tuple[Harvest, float]:
        """A round, and the seconds that this process has compiled kernels so far."""
        return play_round(self.actor, self.settings, self.seed, self.worker, weights, number), WATCH.seconds()
