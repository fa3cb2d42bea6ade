"""Sequential halving at MCTS's root (Danihelka et al., ICLR 2022, section 3.3).

The moves with the largest noisy logits share the simulations; after each phase the better half of them is left.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from sog.algorithms.boards.targets import RootStatistics, TargetSettings, improved_logits
from sog.arrays import Float64
from sog.searches.mcts.search import PuctTree

__all__ = ["Halving", "log_of", "root_statistics", "visits_before"]


_LEAST: Final = 1e-12  # of a prior, so that its logarithm is finite


class Halving:
    """Which action of the root each simulation begins with."""

    def __init__(
        self, tree: PuctTree, noise: Float64, target: TargetSettings, considered: int, simulations: int
    ) -> None:
        """noise: float64[A], Gumbel noise.  considered: this many actions begin, at most."""
        self.tree, self.noise, self.target = tree, noise, target
        self.before = tree.visits()  # by the searches of earlier moves
        self.order = visits_before(min(considered, len(noise)), simulations)

    def __call__(self, done: int) -> int:
        """The best, by noise + logits + sigma(value), of the actions that have had as many visits as are due."""
        root = root_statistics(self.tree)
        # Actions whose turn it is: those with as many new visits as the plan says.
        due = root.visits - self.before == self.order[done]
        return int(np.where(due, self.noise + improved_logits(root, self.target), -np.inf).argmax())


@lru_cache(maxsize=256)
def visits_before(considered: int, simulations: int) -> tuple[int, ...]:
    """For each simulation, the visits that the action it begins with has had.

    Each of ceil(log2(considered)) phases has as many simulations, spread evenly over the actions that are left.
    """
    phases, left = max(1, math.ceil(math.log2(considered))), considered
    order: list[int] = []
    level = 0
    while len(order) < simulations:
        # simulations / (phases * left) visits for each action that is left, at least one.
        for _ in range(max(1, simulations // (phases * left))):
            order += [level] * left
            level += 1
        # The half with the lowest scores gets no more: at least two are compared to the end.
        left = max(2, left // 2) if considered > 1 else 1
    return tuple(order[:simulations])


def root_statistics(tree: PuctTree) -> RootStatistics:
    """What MCTS says of its root so far."""
    sign, visits, priors = 1.0 if tree.actor(0) == 0 else -1.0, tree.visits(), tree.priors()
    values = np.where(visits > 0, sign * tree.totals() / np.maximum(visits, 1.0), np.nan)
    shares = visits / visits.sum() if visits.any() else priors
    return RootStatistics(log_of(priors), shares, visits, values, sign * tree.value() / tree.public.game.u_max)


def log_of(priors: Float64) -> Float64:
    """float64[A]: logits of a policy, finite where it is 0."""
    logits: Float64 = np.log(np.maximum(priors, _LEAST))
    return logits
