"""The papers' Student of Games as a player of perfect-information games: each move is re-solved, gadget and all."""

from __future__ import annotations

from dataclasses import replace

from sog.algorithms.student.player import thought_at
from sog.play.move_tree import MoveTree
from sog.play.player import Candidate, Player, Stopped, Thought, never
from sog.play.resolver import ResolveSettings, Resolving, Solved
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import Evaluator, SearchGenerator

__all__ = ["ChainPlayer", "ChainSearch"]


class ChainPlayer(Player):
    """Each player's moves come from a chain of searches of its own, as `SearchAgent`'s do (PoG, Algorithm 2).

    With `ResolveSettings.every_decision` a move has a search for each decision of the opponent that was passed, too.
    last: each player's last search.
    """

    last: dict[int, Solved | None] | None

    def __init__(self, name: str, evaluator: Evaluator, settings: ResolveSettings, seed: int = 0) -> None:
        super().__init__(name, evaluator, seed)
        self.settings = settings

    def search_at(self, node: int, simulations: int | None) -> ChainSearch:
        settings = self.settings
        if simulations is not None:
            settings = replace(settings, budget=Budget(simulations, settings.budget.per_update))
        return ChainSearch(self, self.tree, node, settings)


class ChainSearch:
    """The searches that a chain owes before the position is answered: of decisions passed, then of the position."""

    def __init__(self, player: ChainPlayer, tree: MoveTree, node: int, settings: ResolveSettings) -> None:
        self.player, self.tree, self.node, self.settings = player, tree, node, settings
        self.simulations = 0
        self.mover = tree.actor(node)
        self._now: Resolving | None = None  # the search of the position itself, once it has begun

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        def after_round() -> bool:
            self.simulations += self.settings.budget.expansions
            return stopped()

        chain, public, path = self._chain(), self.tree.public, self.tree.public.path(self.node)
        # From the decision after the last search on; without a chain, from the game's start.
        begin = 0 if chain is None else path.index(chain.node) + 1
        passed = [s for s in path[begin:-1] if self.settings.every_decision and self.tree.actor(s) == 1 - self.mover]
        for node in (*passed, self.node):
            search = Resolving(public, self.mover, node, chain, self.settings, self.player.seed)
            if node == self.node:
                self._now = search
            yield from search.steps(after_round)
            chain = search.solved()
        self.player.last = {**(self.player.last or {}), self.mover: chain}

    def _chain(self) -> Solved | None:
        """The mover's last search, where play has come from there; None where its chain begins anew."""
        last = (self.player.last or {}).get(self.mover)
        return last if last is not None and last.node in self.tree.public.path(self.node)[:-1] else None

    def thought(self) -> Thought:
        """Of the position; while decisions before it are searched, all of its moves alike."""
        if self._now is not None:
            return thought_at(self._now.tree, self._now.start)
        actions = self.tree.actions(self.node)
        return Thought(0.0, 0, tuple(Candidate(a, 1.0 / len(actions), 0.0, 0, (a,)) for a in actions))
