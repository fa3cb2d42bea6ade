"""What the network sees of a public tree's nodes, computed once a node where it is small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sog.arrays import Bool, Float32, Int32
from sog.games.base import Game, State
from sog.searches.tree.cells import CellRows
from sog.searches.tree.tables import grown


class Features:
    """A game's features by node. Planes are large and needed once: they are made anew each time and not kept."""

    def __init__(self, game: Game, rows: CellRows | None) -> None:
        """rows: the positions, where the game has cell rules."""
        room = 16 if game.planes is None else 0
        self._game, self._rows = game, rows
        self._features: Float32 = np.zeros((room, game.num_features), dtype=np.float32)
        self._is_computed: Bool = np.zeros(room, dtype=np.bool_)

    def of(self, nodes: Int32, states: Sequence[State]) -> Float32:
        """float32[B, F]: of each of the nodes.  states: of all nodes of the tree."""
        if self._rows is not None:
            return self._rows.features(nodes, self._game.num_features)
        if self._game.planes is not None:
            return np.stack([self._game.features(states[node]) for node in nodes])
        if len(states) > len(self._features):
            self._features = grown(self._features, len(states), axis=0)
            self._is_computed = grown(self._is_computed, len(states), axis=0)
        # What a node shows never changes: computed on first use.
        for node in nodes[~self._is_computed[nodes]]:
            self._features[node] = self._game.features(states[node])
            self._is_computed[node] = True
        return self._features[nodes]
