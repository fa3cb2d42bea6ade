"""Searches a position of perfect information itself: both ranges 1, no gadget, on what the last search left below it.

A position's value does not depend on how it was reached, so nothing else of an earlier search is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from sog.arrays import Array
from sog.play.resolver import Solved
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.reroot import rerooted
from sog.searches.gtcfr.search import SearchLog, search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.evaluator import SearchGenerator
from sog.searches.tree.arrays import Room
from sog.searches.tree.public_tree import PublicTree

__all__ = ["PositionSearch"]

_ROOM: Final = 4096  # positions that a tree has room for at first, at most


class PositionSearch:
    """One position's GT-CFR search: drive `steps()`, then read `solved`; the tree can be read at any time.

    tree: its root is the position.
    """

    def __init__(
        self,
        public: PublicTree,
        node: int,
        last: Lookahead | None,
        budget: Budget,
        settings: SearchSettings,
        rng: Array,
        log: SearchLog | None = None,
    ) -> None:
        """Search at public node `node`, beginning with the tree `last` below it (None: from scratch).

        rng: uint64[1], the search's own generator.
        """
        # The position in the last tree, if the search and the opponent went there. An error of the rules leaves nodes
        # that were added and have no position: such a tree cannot be continued.
        at = -1 if last is None or (last.nodes.public[: last.size] < 0).any() else last.node_of(node)
        room = 1 + min(budget.simulations, _ROOM)
        self.tree = rerooted(last, at, room) if last is not None and at >= 0 else _alone(public, node, room)
        self.node, self.budget, self.settings, self.rng, self.log = node, budget, settings, rng, log

    def steps(self, stopped: Callable[[], bool] | None = None) -> SearchGenerator:
        """The search, as a generator of leaf beliefs.  stopped: called after each round; true ends it."""
        yield from search(self.tree, 0, self.budget, self.settings, self.rng, log=self.log, stopped=stopped)

    def solved(self) -> Solved:
        """The finished search."""
        tree = self.tree
        tree.update_average_policy()
        return Solved(tree.actor(0), self.node, 0, tree, tree.by_public_node())


def _alone(public: PublicTree, node: int, room: int) -> Lookahead:
    """The position alone, with room for more below."""
    fan = max(public.widest_fan, int(public.nodes.actions[node]), 2)
    return Lookahead(public, node, (np.ones(1), np.ones(1)), Room.of_positions(room, fan))
