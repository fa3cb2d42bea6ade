"""Where rounds of self-play run: in this process, or in others by an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import numpy as np
import torch

from sog.arrays import Int64
from sog.cluster.executor import Executor, Pending, WorkLost
from sog.cluster.placement import Placement, executor
from sog.errors import SogError
from sog.games.catalog import make_game
from sog.nets.inference import network_evaluator
from sog.nets.one_core import one_core
from sog.nets.serialized import network_of
from sog.nets.shape import NetworkShape
from sog.play.tally import PLAYED, RoundSoFar, SharedTallies
from sog.searches.kernels.compiling import WATCH, working_time
from sog.searches.leaves.evaluator import Droppable
from sog.training.loop import RoundWatch
from sog.training.memory import weights as count_weights
from sog.training.settings import Actor, Harvest, TrainSettings

__all__ = ["LocalWorkers", "RemoteWorkers", "Workers", "hire", "make_actor", "play_round"]

_LOOK: Final = 0.5  # seconds between two looks at the clock while workers play
_CALL: Final = 2e11  # multiplications in one call of a network: two seconds of a core


class Workers(Protocol):
    """Starts a round with given weights and later returns its training rows, in a fixed order of workers."""

    def start(self, weights: bytes, round_number: int, games: int | None = None) -> None:
        """Begin a round of this many games a worker, by default the settings'; nothing is returned before `harvest`."""

    def harvest(self, watch: RoundWatch) -> list[Harvest] | None:
        """Each worker's harvest; None where `watch` ended the round before that, after which no round is started."""

    def end(self) -> None:
        """End at once what is still being played; no round is started after it."""


@contextmanager
def hire(
    game: str, settings: TrainSettings, seed: int, workers: int, placement: Placement | None = None
) -> Iterator[Workers]:
    """This many workers; a single worker on this machine is this process itself.

    placement: by default processes of this machine. What each worker plays is the same to the bit wherever it plays,
    on processors of one kind.
    """
    placement = placement or Placement("local", workers)
    with one_core():
        if workers == 1 and placement.kind == "local":
            yield LocalWorkers(game, settings, seed)
            return
        tallies = SharedTallies(workers)
        try:
            with executor(placement) as there:
                yield RemoteWorkers(there, game, settings, seed, workers, tallies)
        finally:
            tallies.close()


def play_round(
    actor: Actor,
    settings: TrainSettings,
    seed: int,
    worker: int,
    weights: bytes,
    number: int,
    games: int | None = None,
    over: Callable[[], bool] | None = None,
) -> Harvest:
    """One worker's share of a round; its generator comes from (seed, worker, round). Dropped once it is `over`.

    games: by default the settings'.
    """
    PLAYED.begin()
    evaluator = network_evaluator(network_of(settings.shape, weights))
    if over is not None:
        evaluator = Droppable(evaluator, over, _rows_a_call(settings.shape))
    games = settings.games if games is None else games
    return actor.round(games, evaluator, np.random.default_rng((seed, worker, number)), number)


def _rows_a_call(shape: NetworkShape) -> int:
    """How many beliefs one call of a network answers, so that it takes about two seconds at most.

    A residual network multiplies each weight once for each cell.
    """
    _, height, width = shape.planes or (1, 1, 1)
    return max(1, int(_CALL / (count_weights(shape) * height * width)))


def make_actor(game: str, settings: TrainSettings) -> Actor:
    """The settings' own kind of actor."""
    return settings.acting.make(make_game(game), settings.shape)


class LocalWorkers:
    """One worker in this process: the round is played when its harvest is requested."""

    def __init__(self, game: str, settings: TrainSettings, seed: int) -> None:
        self.actor, self.settings, self.seed = make_actor(game, settings), settings, seed
        self.waiting: tuple[bytes, int, int] = (b"", 0, 0)

    def start(self, weights: bytes, round_number: int, games: int | None = None) -> None:
        self.waiting = weights, round_number, self.settings.games if games is None else games

    def harvest(self, watch: RoundWatch) -> list[Harvest] | None:
        begun = working_time()

        def over() -> bool:
            watch.show(lambda: _so_far(PLAYED.counts, self.waiting[2], begun))
            return watch.over()

        harvest = watch.dropping(lambda: play_round(self.actor, self.settings, self.seed, 0, *self.waiting, over))
        return None if harvest is None else [harvest]

    def end(self) -> None:
        """Nothing is being played between two calls."""


def _so_far(counts: Int64, games: int, begun: float) -> RoundSoFar:
    """How far a round is that has this many games and began at this working time."""
    return RoundSoFar(int(counts[0]), games, int(counts[1]), int(counts[2]), working_time() - begun)


class RemoteWorkers:
    """Workers in processes of their own.  players: by worker.  tallies: where those of this machine count."""

    def __init__(
        self, there: Executor, game: str, settings: TrainSettings, seed: int, workers: int, tallies: SharedTallies
    ) -> None:
        self.there, self.settings, self.tallies = there, settings, tallies
        made = game, settings, seed, tallies.address
        self.players = [there.start(_Player, *made, worker) for worker in range(workers)]
        self.waiting: list[Pending] = []
        self.games, self.begun = 0, 0.0  # of the current round: games a worker, and when it began
        self.compiling = 0.0  # seconds of the worker that has compiled longest
        self.compiled = False  # whether a round has been played: what compiling takes is known only after it

    def start(self, weights: bytes, round_number: int, games: int | None = None) -> None:
        shared, self.games = self.there.share(weights), self.settings.games if games is None else games
        self.tallies.begin()
        self.begun = working_time()
        self.waiting = [player.call("play", shared, round_number, self.games) for player in self.players]

    def harvest(self, watch: RoundWatch) -> list[Harvest] | None:
        answers: dict[int, tuple[Harvest, float]] = {}
        while len(answers) < len(self.waiting):
            left = [pending for worker, pending in enumerate(self.waiting) if worker not in answers]
            for pending in self.there.wait(left, _LOOK):
                worker = self.waiting.index(pending)
                answers[worker] = _answer(worker, pending)
            self._leave_out(self.tallies.compiling())
            watch.show(lambda: _so_far(self.tallies.total(), self.games * len(self.players), self.begun))
            # Until workers have answered or counted, nobody knows how long they have compiled: no time is over then.
            over = watch.over if self.compiled or self.tallies.compiling() is not None else watch.stopped
            if len(answers) < len(self.waiting) and over():
                return None
        self.compiled = True
        self._leave_out(max(compiling for _, compiling in answers.values()))
        # In the order of workers, not of arrival: the window's order must not depend on time.
        return [answers[worker][0] for worker in range(len(self.waiting))]

    def end(self) -> None:
        for player in self.players:
            player.end()

    def _leave_out(self, longest: float | None) -> None:
        """Workers compile side by side: the clock leaves out what the longest of them took."""
        if longest is not None and longest > self.compiling:
            WATCH.add(longest - self.compiling)
            self.compiling = longest


def _answer(worker: int, pending: Pending) -> tuple[Harvest, float]:
    """A worker's harvest and the seconds that it has compiled; SogError with its number where it failed."""
    try:
        answer: tuple[Harvest, float] = pending.result()
    except WorkLost as error:
        raise SogError(f"self-play worker {worker} died; resume from the last checkpoint") from error
    except SogError as error:
        raise SogError(f"self-play worker {worker}: {error}") from error
    return answer


class _Player:
    """One worker, in a process of its own."""

    def __init__(self, game: str, settings: TrainSettings, seed: int, tallies: str, worker: int) -> None:
        torch.set_num_threads(1)
        PLAYED.place(tallies, worker)
        PLAYED.watch_compiling()
        self.actor, self.settings, self.seed, self.worker = make_actor(game, settings), settings, seed, worker

    def play(self, weights: bytes, number: int, games: int) -> tuple[Harvest, float]:
        """A round, and the seconds that this process has compiled kernels so far."""
        harvest = play_round(self.actor, self.settings, self.seed, self.worker, weights, number, games)
        return harvest, WATCH.seconds()
