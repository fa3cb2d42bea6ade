"""AlphaZero as a player: MCTS with PUCT from the position; a move that is proven to win, else the most visited."""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Float64
from sog.play.player import Candidate, Player, Stopped, Thought, never
from sog.play.proofs import proven_first
from sog.searches.leaves.evaluator import Evaluator, SearchGenerator
from sog.searches.mcts.search import PuctSettings, PuctTree, search

__all__ = ["AlphaZeroPlayer", "AlphaZeroSearch"]


class AlphaZeroPlayer(Player):
    """Plays a game of perfect information by MCTS.

    last: the tree of the last search.
    """

    last: PuctTree | None

    def __init__(
        self,
        name: str,
        evaluator: Evaluator,
        simulations: int,
        settings: PuctSettings | None = None,
        seed: int = 0,
        reuse: bool = True,
    ) -> None:
        """simulations: new ones a move.  reuse: begin with the part of the last tree that is below the position.

        seed: of the root's noise, where the settings have any.
        """
        super().__init__(name, evaluator, seed, reuse)
        self.simulations, self.settings = simulations, settings or PuctSettings()

    def search_at(self, node: int, simulations: int | None) -> AlphaZeroSearch:
        public = self.tree.public
        if self.last is not None and self.last.state in public.path(node):
            self.last.advance(node)
        else:
            self.last = PuctTree(public, node)
        rng = np.random.default_rng((self.seed, node))
        return AlphaZeroSearch(self.last, simulations or self.simulations, self.settings, rng)


class AlphaZeroSearch:
    """An MCTS search of one position, on a tree that may hold an earlier search's work."""

    def __init__(self, tree: PuctTree, wanted: int, settings: PuctSettings, rng: np.random.Generator) -> None:
        self.tree, self.wanted, self.settings, self.rng = tree, wanted, settings, rng
        self.simulations = 0

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        """The search, as a generator of leaf beliefs; `stopped` is called after each batch of simulations."""

        def after_batch(done: int) -> bool:
            self.simulations = done
            return stopped()

        yield from search(self.tree, self.wanted, self.settings, self.rng, after_batch)

    def thought(self) -> Thought:
        """What it thinks so far: every legal move, those that win by force first, then the most visited."""
        tree, actions, shares = self.tree, self._actions(self.tree.state), self._shares()
        visits = tree.visits() if tree.size else np.zeros(len(actions))
        value = self._sign(0) * tree.value() / tree.public.game.u_max if tree.size else 0.0
        values, priors = self._values(visits), tree.priors().tolist() if tree.size else [None] * len(actions)
        # AlphaZero plays the most visited move; shares and identity break ties.
        order = sorted(range(len(actions)), key=lambda a: (-visits[a], -shares[a], actions[a]))
        candidates = tuple(
            Candidate(actions[a], float(shares[a]), values[a], int(visits[a]), (actions[a], *self._line(a)), priors[a])
            for a in order
        )
        return proven_first(Thought(value, tree.size, candidates), tree.public, tree.state)

    def _actions(self, state: int) -> list[int]:
        """Identities of the actions at a public node, ascending."""
        return [int(action) for action in self.tree.public.game.actions(self.tree.public.states[state])]

    def _shares(self) -> Float64:
        """float64[A]: the root's visits as a policy; before the first its prior, before that uniform."""
        tree = self.tree
        if not tree.size:
            count = len(self._actions(tree.state))
            return np.full(count, 1.0 / count)
        weights: Array = tree.visits()
        if weights.sum() == 0:
            weights = tree.priors()
        shares: Float64 = weights / weights.sum()
        return shares

    def _values(self, visits: Float64) -> list[float | None]:
        """Each action's mean value for the mover, a share of u_max; None where it was not tried."""
        if not self.tree.size:
            return [None] * len(visits)
        totals = (self._sign(0) * self.tree.totals()).tolist()
        return [total / count if count else None for total, count in zip(totals, visits.tolist(), strict=True)]

    def _sign(self, n: int) -> float:
        return 1.0 if self.tree.actor(n) == 0 else -1.0

    def _line(self, column: int) -> list[int]:
        """The identities of the most visited actions after an action of the root."""
        tree = self.tree
        n = tree.children()[column] if tree.size else -1
        if n < 0:
            return []
        out = []
        for k in tree.line(n):
            out.append(self._actions(tree.public_node(n))[k])
            n = tree.children(n)[k]
        return out
