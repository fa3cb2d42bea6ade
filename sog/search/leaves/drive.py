"""Drives many searches at once, joining their leaf batches into one call of the evaluator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from sog.search.leaves.evaluator import Beliefs, Evaluator, SearchGenerator

K = TypeVar("K")


def drive(searches: Iterable[tuple[K, SearchGenerator]], evaluator: Evaluator, width: int = 64) -> Iterator[K]:
    """Run searches to their ends, `width` of them side by side, and yield each one's key as it finishes.

    `searches` is read lazily: a search that depends on a finished one may be added by the caller meanwhile.
    """
    source = iter(searches)
    active: list[tuple[K, SearchGenerator, Beliefs]] = []
    while True:
        while len(active) < width:
            entry = next(source, None)
            if entry is None:
                break
            key, generator = entry
            beliefs = next(generator, None)
            if beliefs is None:
                yield key
            else:
                active.append((key, generator, beliefs))
        if not active:
            return
        answers = evaluator([beliefs for _, _, beliefs in active])
        still: list[tuple[K, SearchGenerator, Beliefs]] = []
        for (key, generator, _), answer in zip(active, answers, strict=True):
            try:
                still.append((key, generator, generator.send(answer)))
            except StopIteration:
                yield key
        active = still


def run(search: SearchGenerator, evaluator: Evaluator) -> None:
    """Run one search to its end."""
    beliefs = next(search, None)
    while beliefs is not None:
        (answer,) = evaluator([beliefs])
        try:
            beliefs = search.send(answer)
        except StopIteration:
            return
