"""Exploitability of ReBeL's play with a checkpoint's network: sampled playthroughs, and the mean policy (Table 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sog.algorithms.rebel.agent import RebelSettings
from sog.algorithms.rebel.playthroughs import mean_exploitability, sampled_policy
from sog.measure.listed import listed
from sog.nets.one_core import one_core
from sog.nets.values import value_evaluator
from sog.searches.cfr import exact
from sog.training.checkpoint import load_network

__all__ = ["RebelMeasure", "measure_rebel"]


@dataclass(frozen=True)
class RebelMeasure:
    """Exploitabilities in the game's reporting unit.

    sampled: of the average of `playthroughs` policies of safe search, an upper bound of what it plays in expectation.
    mean: of the mean policies with their beliefs passed down: unsafe search.  solves: subgames solved for `sampled`.
    """

    game: str
    playthroughs: int
    sampled: float
    mean: float
    solves: int


def measure_rebel(
    folder: Path, settings: RebelSettings, playthroughs: int, seed: int, progress: Callable[[int], None]
) -> RebelMeasure:
    """Measure a checkpoint; calls `progress(playthroughs done)`. GameError for a game too large."""
    game, network, _ = load_network(folder)
    public, unit = listed(game), listed(game).game.unit.per_utility
    with one_core():
        evaluator = value_evaluator(network, settings.solve.warm > 0, settings.solve.pairs)
        mean = mean_exploitability(public, settings, evaluator)
        rng = np.random.default_rng(seed)
        played = sampled_policy(public, settings, evaluator, playthroughs, rng, progress=progress)
        sampled = exact.measure_policy(public, played.policy).exploitability
    return RebelMeasure(game, playthroughs, sampled * unit, mean * unit, played.solves)
