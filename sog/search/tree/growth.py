"""Numba kernels that grow a lookahead tree; they know arrays only (see columns.py)."""

from __future__ import annotations

from typing import Final

from sog.arrays import Array
from sog.search.simd.jit import njit
from sog.search.tree import columns as f

# What `expand` answers.
DONE: Final = 0
NO_ROOM: Final = 1  # the lookahead's arrays are full: grow them and call again
NOT_LISTED: Final = 2  # the public tree lacks the fan or the child: list it and call again

# Entries of Lookahead.counts.
NODES, SLOTS, ENTRIES, CHILDREN, ENDS = range(5)


@njit
def add_node(public: Array, s: int, parent: int, edge: int, nodes: Array, counts: Array, ends: Array) -> int:
    """Append the public node s, over `edge` of `parent`, as a leaf (or an ended node); the caller made room."""
    n: int = _hang(parent, edge, public[s, f.I0], public[s, f.I1], nodes, counts)
    _name(public, s, n, nodes, counts, ends)
    return n


@njit
def _hang(parent: int, edge: int, width0: int, width1: int, nodes: Array, counts: Array) -> int:
    """Append a leaf, over `edge` of `parent`, with so many infostates a player and no public node yet."""
    n = int(counts[NODES])
    counts[NODES] += 1
    nodes[n, f.KIND], nodes[n, f.EVALUATED] = f.LEAF, 0
    nodes[n, f.PARENT], nodes[n, f.IN_EDGE] = parent, edge
    nodes[n, f.N_I0], nodes[n, f.OFF0] = width0, counts[SLOTS]
    nodes[n, f.N_I1], nodes[n, f.OFF1] = width1, counts[SLOTS] + width0
    counts[SLOTS] += width0 + width1
    nodes[n, f.PUBLIC], nodes[n, f.CHILD0] = -1, -1
    nodes[n, f.N_EDGE0], nodes[n, f.N_EDGES] = -1, 0
    nodes[n, f.N_PLAIN], nodes[n, f.N_SAME] = 0, 0
    return n


@njit
def _name(public: Array, s: int, n: int, nodes: Array, counts: Array, ends: Array) -> None:
    """Make s the public node of the leaf n, which may turn out to be an end."""
    actor = public[s, f.ACTOR]
    nodes[n, f.PUBLIC], nodes[n, f.N_ACTOR] = s, actor
    nodes[n, f.N_ROW0], nodes[n, f.N_ROWS] = public[s, f.ROW0], public[s, f.ROWS]
    nodes[n, f.VAR0] = counts[ENTRIES]
    if actor == 3:
        nodes[n, f.KIND] = f.ENDED
        ends[counts[ENDS]] = n
        counts[ENDS] += 1
    if actor < 2:
        counts[ENTRIES] += public[s, f.ROWS] * public[s, f.I0 + actor]


@njit
def await_child(public: Array, nodes: Array, counts: Array, child: Array, n: int, edge: int) -> None:
    """Add one child to node n of a deterministic game, a leaf that `name_all` is to name; the caller made room."""
    s = nodes[n, f.PUBLIC]
    if nodes[n, f.CHILD0] < 0:
        _open(public, s, nodes, counts, child, n)
    c = _hang(n, edge, 1, 1, nodes, counts)
    k = nodes[n, f.CHILD0] + edge
    child[f.NODE, k], child[f.AT0, k], child[f.AT1, k] = c, nodes[c, f.OFF0], nodes[c, f.OFF1]


@njit
def name_all(public: Array, nodes: Array, counts: Array, ends: Array, listed: Array, count: int) -> None:
    """Tell the newest `count` nodes their public nodes, listed[0]: int32[*]; the caller made room."""
    first = counts[NODES] - count
    for k in range(count):
        _name(public, listed[0, k], first + k, nodes, counts, ends)


@njit
def _open(public: Array, s: int, nodes: Array, counts: Array, child: Array, n: int) -> None:
    """Make the leaf n interior, with none of its children yet; a node with part of its children is not plain."""
    nodes[n, f.KIND] = f.INTERIOR
    nodes[n, f.CHILD0] = counts[CHILDREN]
    nodes[n, f.N_EDGE0], nodes[n, f.N_EDGES] = public[s, f.EDGE0], public[s, f.EDGES]
    counts[CHILDREN] += public[s, f.EDGES]
    for e in range(public[s, f.EDGES]):
        child[f.NODE, nodes[n, f.CHILD0] + e] = -1


@njit
def expand(
    public: Array, edges: Array, nodes: Array, counts: Array, child: Array, slot_room: int, entry_room: int,
    ends: Array, n: int, only: int,
) -> int:  # fmt: skip
    """Add the children of node n over every public edge, or over edge `only` when that is not negative.

    Returns DONE, NO_ROOM or NOT_LISTED; nothing has changed unless DONE. A node with part of its
    children is not plain: its missing actions are closed.
    """
    s = nodes[n, f.PUBLIC]
    edge0, count = public[s, f.EDGE0], public[s, f.EDGES]
    if edge0 < 0:
        return NOT_LISTED
    first, last = (0, count) if only < 0 else (only, only + 1)
    new_slots, new_entries = 0, 0
    for e in range(first, last):
        c = edges[edge0 + e, f.CHILD]
        if c < 0:
            return NOT_LISTED
        new_slots += public[c, f.I0] + public[c, f.I1]
        if public[c, f.ACTOR] < 2:
            new_entries += public[c, f.ROWS] * public[c, f.I0 + public[c, f.ACTOR]]
    if (
        counts[NODES] + last - first > len(nodes)
        or counts[ENDS] + last - first > len(ends)
        or counts[CHILDREN] + count > child.shape[1]
        or counts[SLOTS] + new_slots > slot_room
        or counts[ENTRIES] + new_entries > entry_room
    ):
        return NO_ROOM
    if nodes[n, f.CHILD0] < 0:
        _open(public, s, nodes, counts, child, n)
    nodes[n, f.N_PLAIN] = public[s, f.PLAIN] if only < 0 else 0
    nodes[n, f.N_SAME] = public[s, f.SAME] if only < 0 else 0
    for e in range(first, last):
        k = nodes[n, f.CHILD0] + e
        if child[f.NODE, k] < 0:
            c = add_node(public, edges[edge0 + e, f.CHILD], n, e, nodes, counts, ends)
            child[f.NODE, k] = c
            child[f.AT0, k], child[f.AT1, k] = nodes[c, f.OFF0], nodes[c, f.OFF1]
    return DONE
