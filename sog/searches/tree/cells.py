"""A public tree's positions as its game's cell rules play them, and the game's states of them, made when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, overload

import numpy as np

from sog.arrays import Array, Float32, Int32, Int64
from sog.games.base import Game, State
from sog.games.cells import CellRules
from sog.searches.kernels.calls import play
from sog.searches.kernels.jit import njit
from sog.searches.tree.arrays import Cells
from sog.searches.tree.records import Edges, PublicStates
from sog.searches.tree.tables import ROOM, Growth, Table

__all__ = ["NO_CELLS", "CellRows", "LazyStates"]

NO_CELLS: Final = Cells(
    0,
    np.zeros((0, 0), dtype=np.int64),
    np.zeros((0, 0), dtype=np.int8),
    0,
    np.zeros(0, dtype=np.int32),
    np.zeros(3, dtype=np.int64),
    0,
    np.zeros(0, dtype=np.int32),
)


class CellRows:
    """The rows of a tree's positions, behind those of the line that leads to its root."""

    def __init__(self, rules: CellRules, growth: Growth) -> None:
        self.rules, self.first = rules, len(rules.line)
        self.numbers = Table[Int64](np.zeros((ROOM + self.first, len(rules.numbers)), dtype=np.int64))
        self.cells = Table[Array](np.zeros((ROOM + self.first, len(rules.cells)), dtype=np.int8))
        self.legal: Int32 = np.zeros(rules.most, dtype=np.int32)
        self.numbers.rows[0], self.cells.rows[0] = rules.numbers, rules.cells
        self.numbers.growth = self.cells.growth = growth
        for row, action in enumerate(rules.line):
            _play(rules.play, self.numbers.rows, self.cells.rows, row, action, self.legal)

    def make_room(self, nodes: int) -> None:
        """Have rows for at least this many nodes."""
        self.numbers.make_room(self.first + nodes)
        self.cells.make_room(self.first + nodes)

    def arrays(self, parent: Int32, used: Int64, limit: int) -> Cells:
        """All of it, as kernels take it.  limit: the most nodes that the tree has room for."""
        numbers, cells, first = self.numbers.rows, self.cells.rows, self.first
        limit = min(limit, len(parent), len(numbers) - first, len(cells) - first)
        return Cells(self.rules.play, numbers, cells, first, parent, used, limit, self.legal)

    def features(self, nodes: Int32, width: int) -> Float32:
        """float32[B, width]: the game's features of each node."""
        out = np.zeros((len(nodes), width), dtype=np.float32)
        self.rules.write_planes(self.numbers.rows, self.cells.rows, self.first + nodes.astype(np.int64), out)
        return out


@njit
def _play(function: int, numbers: Int64, cells: Array, row: int, action: int, legal: Int32) -> None:
    """Write the row behind this one, the position after an action."""
    play(function, numbers, cells, row, action, row + 1, legal)


class LazyStates(Sequence[State]):
    """The states of a tree that cell rules list, by node; the game makes one when it is first asked for."""

    def __init__(self, game: Game, nodes: Table[PublicStates], parent: Table[Int32], edges: Table[Edges]) -> None:
        self._game, self._nodes, self._parent, self._edges = game, nodes, parent, edges
        self._made: dict[int, State] = {}

    def append(self, s: State) -> None:
        """Say what the newest node's is."""
        self[len(self) - 1] = s

    def __len__(self) -> int:
        return self._nodes.count

    def __setitem__(self, node: int, s: State) -> None:
        self._made[node] = s

    @overload
    def __getitem__(self, node: int) -> State: ...
    @overload
    def __getitem__(self, node: slice) -> Sequence[State]: ...
    def __getitem__(self, node: Any) -> State | Sequence[State]:
        if isinstance(node, slice):
            return [self[k] for k in range(len(self))[node]]
        node = range(len(self))[node]  # negative places count from the end; IndexError
        way = []
        while node not in self._made:
            way.append(node)
            node = int(self._parent.rows[node])
        for below in reversed(way):
            first = int(self._nodes.rows.edge0[node])
            edge = int((self._edges.rows.child[first : first + self._nodes.rows.edges[node]] == below).argmax())
            self._made[below] = self._game.child(self._made[node], edge)
            node = below
        return self._made[node]
