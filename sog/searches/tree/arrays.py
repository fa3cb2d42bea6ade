"""The arrays of a PublicTree and of a Lookahead as kernels take them: two tuples with a name for every array.

records.py says what is in their rows. Kernels may build such tuples themselves, for a part of a tree, say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int32, Int64
from sog.searches.tree.records import (
    Actions,
    Children,
    Edges,
    Entry,
    Infostate,
    LinkRows,
    Nodes,
    OperatorRows,
    PublicStates,
    Used,
)


class Public(NamedTuple):
    """The tables of a PublicTree.

    nodes: a row per public state.  edges: a row per public edge, those of a state one after another.
    actions: a row per action of a state.  links: where single infostates go.
    slots: int32[K], the network slot of each infostate.
    operators, operator_values: float64[*], pair operators as they are packed.
    """

    nodes: PublicStates
    edges: Edges
    actions: Actions
    links: LinkRows
    slots: Int32
    operators: OperatorRows
    operator_values: Float64


class Cells(NamedTuple):
    """A PublicTree's positions as kernels play them, where its game has cell rules (games/cells.py); else `play` is 0.

    play: the address of the rule.  numbers: int64[N, K] and cells: int8[N, C], of node n the row first + n.
    parent: int32[N], the node above each.  used: int64[3], how many nodes, edges and actions the tree has.
    limit: how many nodes there is room for.  legal: int32[*], as long as most actions, to write on.
    """

    play: int
    numbers: Int64
    cells: Array
    first: int
    parent: Int32
    used: Int64
    limit: int
    legal: Int32


class Tree(NamedTuple):
    """The arrays of a Lookahead.

    nodes: a row per node.  child: a row per (node, public edge).
    infostates: float64[len(Infostate), S], a column per (node, player, infostate): ranges and values.
    entries: float64[len(Entry), V], a column per (node, action, infostate): regrets and policies.
    ends: int32[*], the terminal nodes.  counts: one row, how much of each array is in use.
    """

    nodes: Nodes
    child: Children
    infostates: Float64
    entries: Float64
    ends: Int32
    counts: Used


class Room(NamedTuple):
    """How many nodes, children, infostates and entries the arrays of a Lookahead can take."""

    nodes: int
    children: int
    infostates: int
    entries: int

    @staticmethod
    def of_positions(count: int, fan: int) -> Room:
        """For this many nodes with one infostate a player and at most `fan` actions."""
        return Room(count, count * fan, 2 * count, count * fan)

    def beside(self, other: Room) -> Room:
        """Room for both."""
        return Room(*(one + more for one, more in zip(self, other, strict=True)))

    def tree(self) -> Tree:
        """Arrays of these sizes, with nothing in use."""
        return Tree(
            nodes=Nodes.zeros(self.nodes),
            child=Children.zeros(self.children),
            infostates=np.zeros((len(Infostate), self.infostates)),
            entries=np.zeros((len(Entry), self.entries)),
            ends=np.zeros(self.nodes, dtype=np.int32),
            counts=Used.zeros(1),
        )


class Ranges(NamedTuple):
    """Both players' ranges.  zero, one: float64[*], player 0's from zero[at0] on, player 1's from one[at1]."""

    zero: Float64
    at0: int
    one: Float64
    at1: int
