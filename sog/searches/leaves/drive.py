"""Drives jobs that query an evaluator, many at once, joining their requests into one call."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Protocol, TypeVar

from sog.searches.leaves.evaluator import Beliefs, Evaluator, SearchGenerator, ask


class Job(Protocol):
    """Work that queries an evaluator on its way, such as a search or a game: drive `steps()`, then read the rest."""

    def steps(self) -> SearchGenerator:
        """The work, as a generator of leaf beliefs."""


J = TypeVar("J", bound=Job)


def drive(jobs: Iterable[J], evaluator: Evaluator, width: int = 64) -> Iterator[J]:
    """Run jobs to their ends, `width` of them side by side, and yield each one as it finishes.

    `jobs` is read lazily, until it ends.
    """
    source = iter(jobs)
    active: list[tuple[J, SearchGenerator, Beliefs]] = []
    while True:
        # Jobs that query nothing end here and take no place.
        while len(active) < width:
            job = next(source, None)
            if job is None:
                break
            generator = job.steps()
            beliefs = next(generator, None)
            if beliefs is None:
                yield job
            else:
                active.append((job, generator, beliefs))
        if not active:
            return
        # One call for all: an evaluator's cost grows more slowly than its batch.
        answers = ask(evaluator, [beliefs for _, _, beliefs in active])
        still: list[tuple[J, SearchGenerator, Beliefs]] = []
        for (job, generator, _), answer in zip(active, answers, strict=True):
            # A generator that returns has done its job.
            try:
                still.append((job, generator, generator.send(answer)))
            except StopIteration:
                yield job
        active = still


def drive_with_followers(
    jobs: Iterable[J], followers: Callable[[J], Iterable[Callable[[], J]]], evaluator: Evaluator, width: int = 64
) -> Iterator[J]:
    """`drive` with the jobs that finished ones leave, the latest of which come before any further one of `jobs`.

    followers: what makes the jobs that a finished one leaves, each made when it is begun.
    """
    source, waiting = iter(jobs), list[Callable[[], J]]()

    def begun() -> Iterator[J]:
        while True:
            # The newest first, so that few wait at a time.
            job = waiting.pop()() if waiting else next(source, None)
            if job is None:
                return
            yield job

    while True:  # again where the last running jobs leave some
        for job in drive(begun(), evaluator, width):
            yield job
            waiting.extend(followers(job))
        if not waiting:
            return


def run(job: Job | SearchGenerator, evaluator: Evaluator) -> None:
    """Run one job, or one search by itself, to its end."""
    search = job if isinstance(job, Generator) else job.steps()
    beliefs = next(search, None)
    while beliefs is not None:
        (answer,) = ask(evaluator, [beliefs])
        try:
            beliefs = search.send(answer)
        except StopIteration:
            return
