"""Numba kernels that grow a lookahead tree; they know arrays only (see columns.py)."""

from __future__ import annotations

from typing import Final

from sog.arrays import Array
from sog.searches.kernels.jit import njit
from sog.searches.tree import columns as f
from sog.searches.tree.arrays import Public, Tree

# What `expand` answers.
DONE: Final = 0
NO_ROOM: Final = 1  # the lookahead's arrays are full: grow them and call again
NOT_LISTED: Final = 2  # the public tree lacks the fan or the child: list it and call again

# Entries of Tree.counts.
NODES, INFOSTATES, ENTRIES, CHILDREN, ENDS = range(5)


@njit
def add_node(public: Public, tree: Tree, s: int, parent: int, edge: int) -> int:
    """Append the public node s, over `edge` of `parent`, as a leaf (or an ended node); the caller made room."""
    n: int = _append(tree, parent, edge, public.nodes[s, f.I0], public.nodes[s, f.I1])
    _identify(public, tree, s, n)
    return n


@njit
def _append(tree: Tree, parent: int, edge: int, width0: int, width1: int) -> int:
    """Append a leaf, over `edge` of `parent`, with so many infostates a player and no public node yet."""
    nodes, counts = tree.nodes, tree.counts
    n = int(counts[NODES])
    counts[NODES] += 1
    nodes[n, f.KIND], nodes[n, f.EVALUATED] = f.LEAF, f.AWAITING
    nodes[n, f.PARENT], nodes[n, f.IN_EDGE] = parent, edge
    nodes[n, f.N_I0], nodes[n, f.OFF0] = width0, counts[INFOSTATES]
    nodes[n, f.N_I1], nodes[n, f.OFF1] = width1, counts[INFOSTATES] + width0
    counts[INFOSTATES] += width0 + width1
    nodes[n, f.PUBLIC], nodes[n, f.CHILD0] = -1, -1
    nodes[n, f.N_EDGE0], nodes[n, f.N_EDGES] = -1, 0
    nodes[n, f.N_PLAIN], nodes[n, f.N_SAME] = 0, 0
    return n


@njit
def _identify(public: Public, tree: Tree, s: int, n: int) -> None:
    """Make s the public node of the leaf n, which may turn out to be an end."""
    nodes, counts = tree.nodes, tree.counts
    actor = public.nodes[s, f.ACTOR]
    nodes[n, f.PUBLIC], nodes[n, f.N_ACTOR] = s, actor
    nodes[n, f.N_ACTION0], nodes[n, f.N_ACTIONS] = public.nodes[s, f.ACTION0], public.nodes[s, f.ACTIONS]
    nodes[n, f.VAR0] = counts[ENTRIES]
    if actor == f.TERMINAL:
        nodes[n, f.KIND] = f.ENDED
        tree.ends[counts[ENDS]] = n
        counts[ENDS] += 1
    if actor < f.NATURE:
        counts[ENTRIES] += public.nodes[s, f.ACTIONS] * public.nodes[s, f.I0 + actor]


@njit
def add_unlisted_child(public: Public, tree: Tree, n: int, edge: int) -> None:
    """Add a child to node n of a deterministic game, a leaf that `identify_newest` completes; the caller made room."""
    s = tree.nodes[n, f.PUBLIC]
    if tree.nodes[n, f.CHILD0] < 0:
        _open(public, tree, s, n)
    _link(tree, n, edge, _append(tree, n, edge, 1, 1))


@njit
def identify_newest(public: Public, tree: Tree, listed: Array, count: int) -> None:
    """Give the newest `count` nodes their public nodes, listed[0]: int32[*]; the caller made room."""
    first = tree.counts[NODES] - count
    for k in range(count):
        _identify(public, tree, listed[0, k], first + k)


@njit
def _open(public: Public, tree: Tree, s: int, n: int) -> None:
    """Make the leaf n interior, with none of its children yet; a node with part of its children is not plain."""
    nodes = tree.nodes
    nodes[n, f.KIND] = f.INTERIOR
    nodes[n, f.CHILD0] = tree.counts[CHILDREN]
    nodes[n, f.N_EDGE0], nodes[n, f.N_EDGES] = public.nodes[s, f.EDGE0], public.nodes[s, f.EDGES]
    tree.counts[CHILDREN] += public.nodes[s, f.EDGES]
    for e in range(public.nodes[s, f.EDGES]):
        tree.child[f.NODE, nodes[n, f.CHILD0] + e] = -1


@njit
def _link(tree: Tree, n: int, edge: int, c: int) -> None:
    """Make c the child of node n over `edge`."""
    k = tree.nodes[n, f.CHILD0] + edge
    tree.child[f.NODE, k], tree.child[f.AT0, k], tree.child[f.AT1, k] = c, tree.nodes[c, f.OFF0], tree.nodes[c, f.OFF1]


@njit
def expand(public: Public, tree: Tree, n: int, only: int) -> int:
    """Add the children of node n over every public edge, or over edge `only` when that is not negative.

    Returns DONE, NO_ROOM or NOT_LISTED; nothing has changed unless DONE. A node with part of its
    children is not plain: its missing actions are closed.
    """
    s = tree.nodes[n, f.PUBLIC]
    edge0, count = public.nodes[s, f.EDGE0], public.nodes[s, f.EDGES]
    if edge0 < 0:
        return NOT_LISTED
    first, last = (0, count) if only < 0 else (only, only + 1)
    new_infostates, new_entries = 0, 0
    for e in range(first, last):
        c = public.edges[edge0 + e, f.CHILD]
        if c < 0:
            return NOT_LISTED
        new_infostates += public.nodes[c, f.I0] + public.nodes[c, f.I1]
        if public.nodes[c, f.ACTOR] < f.NATURE:
            new_entries += public.nodes[c, f.ACTIONS] * public.nodes[c, f.I0 + public.nodes[c, f.ACTOR]]
    if not has_room(tree, last - first, count, new_infostates, new_entries):
        return NO_ROOM
    if tree.nodes[n, f.CHILD0] < 0:
        _open(public, tree, s, n)
    tree.nodes[n, f.N_PLAIN] = public.nodes[s, f.PLAIN] if only < 0 else 0
    tree.nodes[n, f.N_SAME] = public.nodes[s, f.SAME] if only < 0 else 0
    for e in range(first, last):
        if tree.child[f.NODE, tree.nodes[n, f.CHILD0] + e] < 0:
            _link(tree, n, e, add_node(public, tree, public.edges[edge0 + e, f.CHILD], n, e))
    return DONE


@njit
def has_room(tree: Tree, nodes: int, children: int, infostates: int, entries: int) -> bool:
    """Whether the arrays can take so many more."""
    counts = tree.counts
    return bool(
        counts[NODES] + nodes <= len(tree.nodes)
        and counts[ENDS] + nodes <= len(tree.ends)
        and counts[CHILDREN] + children <= tree.child.shape[1]
        and counts[INFOSTATES] + infostates <= tree.infostates.shape[1]
        and counts[ENTRIES] + entries <= tree.entries.shape[1]
    )
