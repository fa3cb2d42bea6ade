"""Where rounds of self-play run: in this process, or in worker processes on all cores; they know no learner."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Protocol

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from sog.errors import SogError
from sog.games.catalog import make_game
from sog.nets.inference import network_evaluator
from sog.search.simd.compiling import WATCH
from sog.train.checkpoint import network_of
from sog.train.leash import leashed
from sog.train.settings import Actor, Harvest, TrainSettings

__all__ = ["Crew", "LocalCrew", "ProcessCrew", "hire", "make_actor", "play_round"]

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Crew(Protocol):
    """Starts a round with given weights and later hands back what it brought in, in a fixed order."""

    def start(self, weights: bytes, round_number: int) -> None: ...

    def harvest(self) -> list[Harvest]: ...


@contextmanager
def hire(game: str, settings: TrainSettings, seed: int, workers: int) -> Iterator[Crew]:
    """A crew of so many workers; one worker means this very process, which makes the run deterministic to the bit."""
    with threadpool_limits(1):
        torch.set_num_threads(1)
        if workers == 1:
            yield LocalCrew(game, settings, seed)
            return
        crew = ProcessCrew(game, settings, seed, workers)
        try:
            yield crew
        finally:
            crew.close()


def play_round(actor: Actor, settings: TrainSettings, seed: int, worker: int, weights: bytes, number: int) -> Harvest:
    """One worker's share of a round; its generator comes from (seed, worker, round)."""
    evaluator = network_evaluator(network_of(settings.shape, weights))
    return actor.round(settings.games, evaluator, np.random.default_rng((seed, worker, number)), number)


def make_actor(game: str, settings: TrainSettings) -> Actor:
    """The settings' own kind of actor."""
    return settings.acting.make(make_game(game), settings.shape)


class LocalCrew:
    """One worker in this process: the round is played when its harvest is asked for."""

    def __init__(self, game: str, settings: TrainSettings, seed: int) -> None:
        self.actor, self.settings, self.seed = make_actor(game, settings), settings, seed
        self.waiting: tuple[bytes, int] = (b"", 0)

    def start(self, weights: bytes, round_number: int) -> None:
        self.waiting = weights, round_number

    def harvest(self) -> list[Harvest]:
        return [play_round(self.actor, self.settings, self.seed, 0, *self.waiting)]


class ProcessCrew:
    """Worker processes, told over pipes. They end with their pipe, and at once when the learner is killed."""

    def __init__(self, game: str, settings: TrainSettings, seed: int, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipes: list[Connection] = []
        self.processes = []
        self.compiling = 0.0  # seconds of the worker that has compiled longest
        with _environment(_ONE_THREAD, "1"):
            for worker in range(workers):
                ours, theirs = context.Pipe()
                process = context.Process(target=leashed, args=(theirs, os.getpid()), daemon=True)
                process.start()
                theirs.close()
                self.pipes.append(ours)
                self.processes.append(process)
                self._send(worker, (_work, (game, settings, seed, worker)))

    def start(self, weights: bytes, round_number: int) -> None:
        for worker in range(len(self.pipes)):
            self._send(worker, (weights, round_number))

    def harvest(self) -> list[Harvest]:
        found, longest = [], self.compiling
        for worker, pipe in enumerate(self.pipes):
            try:
                answer, compiling = pipe.recv()
            except (EOFError, OSError) as error:
                raise _died(worker) from error
            if isinstance(answer, str):
                raise SogError(f"self-play worker {worker}: {answer}")
            found.append(answer)
            longest = max(longest, compiling)
        WATCH.add(longest - self.compiling)
        self.compiling = longest
        return found

    def _send(self, worker: int, message: object) -> None:
        try:
            self.pipes[worker].send(message)
        except OSError as error:
            raise _died(worker) from error

    def close(self) -> None:
        for pipe in self.pipes:
            pipe.close()
        for process in self.processes:
            process.terminate()
            process.join()


def _died(worker: int) -> SogError:
    return SogError(f"self-play worker {worker} died; resume from the last checkpoint")


def _work(pipe: Connection, game: str, settings: TrainSettings, seed: int, worker: int) -> None:
    """A worker process: a round for every (weights, number) that comes, until the pipe ends."""
    torch.set_num_threads(1)
    actor = make_actor(game, settings)
    while True:
        try:
            weights, number = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Harvest | str = play_round(actor, settings, seed, worker, weights, number)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        pipe.send((answer, WATCH.seconds()))


@contextmanager
def _environment(names: Sequence[str], value: str) -> Iterator[None]:
    """Environment variables set for child processes only."""
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, value))
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                del os.environ[name]
            else:
                os.environ[name] = old
