"""Numba kernels that grow a lookahead tree; they know arrays only (see fields.py)."""

from __future__ import annotations

from typing import Final

from sog.arrays import Array
from sog.search import fields as f
from sog.search.jit import njit

# What `expand` answers.
DONE: Final = 0
NO_ROOM: Final = 1  # the lookahead's arrays are full: grow them and call again
NOT_LISTED: Final = 2  # the public tree lacks the fan or the child: list it and call again

# Entries of Lookahead.counts.
NODES, SLOTS, ENTRIES, CHILDREN, ENDS = range(5)


@njit
def add_node(public: Array, s: int, parent: int, edge: int, nodes: Array, counts: Array, ends: Array) -> int:
    """Append the public node s, over `edge` of `parent`, as a leaf (or an ended node); the caller made room."""
    n = int(counts[NODES])
    counts[NODES] += 1
    nodes[n, f.PUBLIC] = s
    nodes[n, f.PARENT] = parent
    nodes[n, f.IN_EDGE] = edge
    nodes[n, f.EVALUATED] = 0
    actor = public[s, f.ACTOR]
    nodes[n, f.KIND] = f.LEAF
    if actor == 3:
        nodes[n, f.KIND] = f.ENDED
        ends[counts[ENDS]] = n
        counts[ENDS] += 1
    for p in range(2):
        nodes[n, f.OFF0 + p] = counts[SLOTS]
        nodes[n, f.N_I0 + p] = public[s, f.I0 + p]
        counts[SLOTS] += public[s, f.I0 + p]
    nodes[n, f.VAR0] = counts[ENTRIES]
    nodes[n, f.CHILD0] = -1
    nodes[n, f.N_ACTOR] = actor
    nodes[n, f.N_ROW0] = public[s, f.ROW0]
    nodes[n, f.N_ROWS] = public[s, f.ROWS]
    nodes[n, f.N_EDGE0] = -1
    nodes[n, f.N_EDGES] = 0
    nodes[n, f.N_PLAIN] = 0
    nodes[n, f.N_SAME] = 0
    if actor < 2:
        counts[ENTRIES] += public[s, f.ROWS] * public[s, f.I0 + actor]
    return n


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
        nodes[n, f.KIND] = f.INTERIOR
        nodes[n, f.CHILD0] = counts[CHILDREN]
        counts[CHILDREN] += count
        nodes[n, f.N_EDGE0], nodes[n, f.N_EDGES] = edge0, count
        for e in range(count):
            child[f.NODE, nodes[n, f.CHILD0] + e] = -1
    nodes[n, f.N_PLAIN] = public[s, f.PLAIN] if only < 0 else 0
    nodes[n, f.N_SAME] = public[s, f.SAME] if only < 0 else 0
    for e in range(first, last):
        k = nodes[n, f.CHILD0] + e
        if child[f.NODE, k] < 0:
            c = add_node(public, edges[edge0 + e, f.CHILD], n, e, nodes, counts, ends)
            child[f.NODE, k] = c
            child[f.AT0, k], child[f.AT1, k] = nodes[c, f.OFF0], nodes[c, f.OFF1]
    return DONE
