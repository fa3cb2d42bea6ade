"""The tables that a public tree lists public states in."""

from __future__ import annotations

import numpy as np

from sog.arrays import Int32
from sog.games.base import Game, State
from sog.searches.tree.arrays import Cells, Public
from sog.searches.tree.cells import NO_CELLS, CellRows, LazyStates
from sog.searches.tree.operators import Operators
from sog.searches.tree.records import Actions, Edges, LinkRows, PublicStates
from sog.searches.tree.tables import ROOM, Growth, Runs, Table


class Listed:
    """A public tree's tables: see records.py and arrays.py.

    states: the game's state of each node.  rows: its position as kernels play it, where the game has cell rules.
    """

    def __init__(self, game: Game, limit: int) -> None:
        """limit: the most nodes that are listed."""
        self._limit = limit
        self._used = np.zeros(3, dtype=np.int64)  # nodes, edges and actions: kernels append them too
        nodes, edges, actions = np.split(self._used, 3)
        self.nodes = Table(PublicStates.zeros(ROOM), nodes)
        self.parent = Table[Int32](np.zeros(ROOM, dtype=np.int32), nodes)
        self.edges = Table(Edges.zeros(ROOM), edges)
        self.actions = Table(Actions.zeros(ROOM), actions)
        self.links = Table(LinkRows.zeros(ROOM))
        self.slots = Runs()
        self.operators = Operators()
        self._growth = growth = Growth()
        self.nodes.growth = self.parent.growth = self.edges.growth = self.actions.growth = self.links.growth = growth
        self.slots.table.growth = self.operators.table.growth = self.operators.values.growth = growth
        rules = game.cell_rules(game.root()) if game.deterministic else None
        self.rows = None if rules is None else CellRows(rules, growth)
        self.states: list[State] | LazyStates = []
        if rules is not None:
            self.states = LazyStates(game, self.nodes, self.parent, self.edges)
        self._arrays = self._made()

    @property
    def arrays(self) -> tuple[Public, Cells]:
        """All tables, as kernels take them."""
        if self._growth.happened:
            self._arrays, self._growth.happened = self._made(), False
        return self._arrays

    def _made(self) -> tuple[Public, Cells]:
        tables = self.nodes.rows, self.edges.rows, self.actions.rows, self.links.rows, self.slots.table.rows
        public = Public(*tables, self.operators.table.rows, self.operators.values.rows)
        if self.rows is None:
            return public, NO_CELLS
        return public, self.rows.arrays(self.parent.rows, self._used, min(len(self.nodes.rows), self._limit))

    def make_room(self, rows: CellRows, positions: int) -> None:
        """Room for cell rules to list this many positions."""
        nodes, edges, actions = self._used.tolist()
        most = positions * rows.rules.most
        self.nodes.make_room(nodes + positions)
        self.parent.make_room(nodes + positions)
        rows.make_room(nodes + positions)
        self.edges.make_room(edges + most)
        self.actions.make_room(actions + most)
