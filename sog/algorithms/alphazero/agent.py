"""AlphaZero's agent for games of chance with nothing hidden: MCTS at each public state where its player acts."""

from __future__ import annotations

import numpy as np

from sog.algorithms.alphazero.player import AlphaZeroSearch
from sog.arrays import Float64
from sog.play.agent import Agent
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Evaluator, SearchGenerator
from sog.searches.mcts.search import PuctSettings, PuctTree
from sog.searches.tree.public_tree import PublicTree

__all__ = ["AlphaZeroAgent"]


class AlphaZeroAgent(Agent):
    """Plays the most visited move, as AlphaZero does, after a search that begins anew at each public state."""

    def __init__(self, public: PublicTree, player: int, simulations: int, evaluator: Evaluator, seed: int = 0) -> None:
        super().__init__(public, player, seed)
        self.simulations, self.evaluator = simulations, evaluator
        self._search: AlphaZeroSearch | None = None

    def new_game(self) -> None:
        super().new_game()
        self._search = None

    def policy(self, node: int) -> Float64:
        """float64[A, 1]: 1 for the most visited move."""
        run(self.steps(node), self.evaluator)
        assert self._search is not None
        visits = self._search.tree.visits()
        policy = np.zeros((len(visits), 1))
        policy[visits.argmax()] = 1.0
        return policy

    def steps(self, node: int) -> SearchGenerator:
        if self._search is None or self._search.tree.state != node:
            rng = np.random.default_rng((self.seed, node))
            self._search = AlphaZeroSearch(PuctTree(self.public, node), self.simulations, PuctSettings(), rng)
            yield from self._search.steps()
