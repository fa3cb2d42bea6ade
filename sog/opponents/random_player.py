"""An opponent that plays every legal move with the same probability."""

from __future__ import annotations

import numpy as np

from sog.play.player import Candidate, Player, Stopped, Thought, never
from sog.searches.leaves.evaluator import SearchGenerator, zero_evaluator

__all__ = ["RandomPlayer", "RandomSearch"]


class RandomPlayer(Player):
    """Plays every legal move with the same probability."""

    def __init__(self, name: str = "random", seed: int = 0) -> None:
        super().__init__(name, zero_evaluator, seed)

    def search_at(self, node: int, simulations: int | None) -> RandomSearch:
        moves = self.tree.moves
        rng = np.random.default_rng((self.seed, len(moves), *moves))  # (7,) and (7, 0) would be the same seed
        return RandomSearch([int(action) for action in rng.permutation(self.tree.actions(node))])


class RandomSearch:
    """No search at all: the legal moves in random order."""

    simulations = 0

    def __init__(self, order: list[int]) -> None:
        self.order = order

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        yield from ()

    def thought(self) -> Thought:
        share = 1.0 / len(self.order)
        return Thought(0.0, 1, tuple(Candidate(action, share, 0.0, 0, (action,)) for action in self.order))
