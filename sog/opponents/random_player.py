"""An opponent that plays every legal move with the same probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sog.games.base import Game
from sog.play.move_tree import MoveTree, given
from sog.play.player import Candidate, Search, Stopped, Thought, never
from sog.searches.leaves.evaluator import SearchGenerator, zero_evaluator

__all__ = ["RandomPlayer", "RandomSearch"]


class RandomPlayer:
    """Plays every legal move with the same probability."""

    def __init__(self, name: str = "random", seed: int = 0) -> None:
        self.name, self.evaluator, self.seed = name, zero_evaluator, seed
        self.tree: MoveTree | None = None

    def new_game(self, game: Game) -> None:
        self.tree = MoveTree(game)

    def search(self, moves: Sequence[int], simulations: int | None = None) -> Search:
        tree = given(self.tree)
        actions = tree.actions(tree.decision_after(moves))
        rng = np.random.default_rng((self.seed, len(moves), *moves))  # (7,) and (7, 0) would be the same seed
        return RandomSearch([int(action) for action in rng.permutation(actions)])


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
