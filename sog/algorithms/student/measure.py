"""Exploitability of a checkpoint's search agent over seeds, on all cores; with exact leaves for comparison."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from sog.cluster.executor import compute
from sog.cluster.placement import Placement, executor
from sog.measure.exploitability import exploitability
from sog.measure.listed import listed
from sog.nets.inference import network_evaluator
from sog.nets.one_core import one_core
from sog.nets.serialized import network_bytes, network_of
from sog.nets.shape import NetworkShape
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.leaves.evaluator import Evaluator, zero_evaluator
from sog.training.opened import value_network

__all__ = ["NetworkLeaves", "Subject", "evaluator_of", "measure_seed", "measure_seeds", "network_leaves"]

EXACT_LEAVES, ZERO_LEAVES = "exact", "zero"


@dataclass(frozen=True)
class NetworkLeaves:
    """A checkpoint's network as it was when it was opened, whatever its training does meanwhile."""

    shape: NetworkShape
    weights: bytes


@dataclass(frozen=True)
class Subject:
    """What is measured: a game's search agent.

    leaves: a network, or EXACT_LEAVES, or ZERO_LEAVES.  limit_gb: of each process, see `listed`.
    """

    game: str
    leaves: NetworkLeaves | str
    settings: ResolveSettings
    limit_gb: float | None = None


def network_leaves(folder: Path, game: str | None = None) -> tuple[str, NetworkLeaves]:
    """The game and the network of a checkpoint; raises as `value_network`."""
    name, network = value_network(folder, game)
    return name, NetworkLeaves(network.shape, network_bytes(network))


_WORTH_SECONDS: Final = 10.0  # a process takes three until it can search, most of them to import PyTorch


def measure_seeds(
    subject: Subject, seeds: list[int], placement: Placement, if_worth_it: bool = False
) -> Iterator[tuple[int, float]]:
    """(seed, exploitability in the game's reporting unit) as each is done, in any order.

    if_worth_it: the first seed is measured here, and so are the others where that takes a few seconds.
    """
    left = list(seeds)
    if if_worth_it and len(left) > 1:
        listed(subject.game, subject.limit_gb)
        started = time.monotonic()
        yield left[0], measure_seed(subject, left[0])
        left = left[1:]
        # By the first seed's time: starting processes pays only where the rest takes longer.
        rest = (time.monotonic() - started) * len(left)
        placement = Placement("local", 1) if rest < _WORTH_SECONDS and placement.kind == "local" else placement
    if placement == Placement("local", 1) or (len(left) == 1 and placement.kind == "local"):
        yield from ((seed, measure_seed(subject, seed)) for seed in left)
        return
    with executor(placement) as there:
        yield from compute(there, partial(measure_seed, subject), left)


def measure_seed(subject: Subject, seed: int) -> float:
    """One seed's exploitability, in the game's reporting unit."""
    with one_core():
        public = listed(subject.game, subject.limit_gb)
        utility = exploitability(public, subject.settings, evaluator_of(subject.leaves), seed)
        return utility * public.game.unit.per_utility


@lru_cache(maxsize=4)
def evaluator_of(leaves: NetworkLeaves | str) -> Evaluator:
    """What values leaves: a network, the solved game below each, or nothing."""
    if isinstance(leaves, NetworkLeaves):
        return network_evaluator(network_of(leaves.shape, leaves.weights))
    return exact.ExactEvaluator(iterations=200) if leaves == EXACT_LEAVES else zero_evaluator
