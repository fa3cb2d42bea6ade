"""A search agent for one seat: it re-solves with its own chain and picks its own row of the policy.

It is given public nodes and its own infostate, never the opponent's.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Float64
from sog.play.resolver import ResolveSettings, Resolving, Solved
from sog.search.leaves.drive import run
from sog.search.leaves.evaluator import Evaluator
from sog.search.tree import columns as f
from sog.search.tree.public_tree import PublicTree
from sog.search.tree.slots import node_mass


class SearchAgent:
    """Plays `player` in one game after another; `new_game` forgets the chain."""

    def __init__(
        self, public: PublicTree, player: int, settings: ResolveSettings, evaluator: Evaluator, seed: int = 0
    ) -> None:
        self.public, self.player, self.settings, self.evaluator, self.seed = public, player, settings, evaluator, seed
        self.solved: Solved | None = None

    def new_game(self) -> None:
        """Forget the searches of the last game."""
        self.solved = None

    def policy(self, node: int) -> Float64:
        """float64[A, I]: search at a public node where this player acts; the chain goes on from there."""
        resolving = Resolving(self.public, self.player, node, self.solved, self.settings, self.seed)
        run(resolving.steps(), self.evaluator)
        self.solved = resolving.solved()
        return self.solved.policy()

    def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
        """The column of the action it plays with `infostate` in hand."""
        row = self.policy(node)[:, infostate]
        return int(rng.choice(len(row), p=row / row.sum()))

    def belief(self) -> Float64:
        """float64[I]: the opponent's infostates at the last searched node, as the search believed them.

        The joint distribution's marginal: the mean range times the mass of the agent's own range.
        """
        assert self.solved is not None
        tree, n = self.solved.tree, self.solved.start
        sums = [tree.slots[f.REACH_SUM, tree.span(n, p)] for p in (0, 1)]
        other = 1 - self.player
        weight: Float64 = sums[other] * node_mass(self.public, self.solved.node, sums[0], sums[1])[other]
        belief: Float64 = weight / max(weight.sum(), 1e-300)
        return belief
