"""The arrays of a PublicTree and of a Lookahead as kernels take them: two tuples with a name for every array.

columns.py names what stands in their columns. Kernels may build such tuples themselves, for a part of a tree, say.
"""

from __future__ import annotations

from typing import NamedTuple

from sog.arrays import Float64, Int32, Int64


class Public(NamedTuple):
    """The tables of a PublicTree.

    nodes: int32[N, PUBLIC_FIELDS], a row per public state.  scales: float64[N, 3].
    edges: int32[E, EDGE_FIELDS], a row per public edge, those of a state one after another.
    actions: int32[R, ACTION_FIELDS], a row per action of a state.
    links: int32[L, 3]: infostate, edge, infostate at the child.
    slots: int32[K], the network slot of each infostate.
    operators: int64[O, OPERATOR_FIELDS] and operator_values: float64[*], pair operators as they are packed.
    """

    nodes: Int32
    scales: Float64
    edges: Int32
    actions: Int32
    links: Int32
    slots: Int32
    operators: Int64
    operator_values: Float64


class Tree(NamedTuple):
    """The arrays of a Lookahead.

    nodes: int32[M, NODE_FIELDS].  child: int32[3, *], a column per (node, public edge).
    infostates: float64[INFOSTATE_ROWS, S], a column per (node, player, infostate): ranges and values.
    entries: float64[ENTRY_ROWS, V], a column per (node, action, infostate): regrets and policies.
    ends: int32[*], the terminal nodes.  counts: int64[5], how much of each array is in use (growth.py).
    """

    nodes: Int32
    child: Int32
    infostates: Float64
    entries: Float64
    ends: Int32
    counts: Int64
