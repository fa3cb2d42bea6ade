"""Numba kernels that grow a lookahead tree; they work on arrays alone (see arrays.py)."""

from __future__ import annotations

from typing import Final

from sog.games.base import NATURE, TERMINAL
from sog.searches.kernels.jit import inlined, njit
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.records import AwaitedNodes, Evaluated, Kind, PublicState

# What `expand` answers.
DONE: Final = 0
NO_ROOM: Final = 1  # the lookahead's arrays are full: grow them and call again
NOT_LISTED: Final = 2  # the public tree lacks the fan or the child: list it and call again


@njit
def add_node(public: Public, tree: Tree, s: int, parent: int, edge: int) -> int:
    """Append the public state s, over `edge` of `parent`, as a leaf (or an ended node); the caller made room."""
    state = public.nodes[s]
    n: int = _append(tree, parent, edge, state.width[0], state.width[1])
    _identify(public, tree, s, n)
    return n


@njit
def _append(tree: Tree, parent: int, edge: int, width0: int, width1: int) -> int:
    """Append a leaf, over `edge` of `parent`, with this many infostates a player and no public state yet."""
    counts = tree.counts[0]
    n = counts.nodes
    counts.nodes += 1
    node = tree.nodes[n]
    node.public, node.parent, node.in_edge = -1, parent, edge
    node.kind, node.evaluated = Kind.LEAF, Evaluated.AWAITING
    node.plain, node.same = False, False
    # Both players' infostates lie side by side: the node takes one run of columns of `infostates`.
    node.offset[0], node.offset[1] = counts.infostates, counts.infostates + width0
    node.width[0], node.width[1] = width0, width1
    node.child0, node.edge0, node.edges = 0, 0, 0
    counts.infostates += width0 + width1
    return n


@njit
def _identify(public: Public, tree: Tree, s: int, n: int) -> None:
    """Make s the public state of the leaf n, which may turn out to be an end."""
    counts, node, state = tree.counts[0], tree.nodes[n], public.nodes[s]
    node.public, node.actor = s, state.actor
    node.action0, node.actions = state.action0, state.actions
    if state.actor == TERMINAL:
        node.kind = Kind.ENDED
        tree.ends[counts.ends] = n
        counts.ends += 1
    node.entry0 = counts.entries
    if not counts.late:
        counts.entries += _entries(state)


@inlined
def _entries(state: PublicState) -> int:
    """How many entries a public state takes: regrets and policies, A rows of the actor's I infostates."""
    return state.actions * state.width[state.actor] if state.actor < NATURE else 0


@njit
def add_unlisted_child(public: Public, tree: Tree, n: int, edge: int) -> None:
    """Add a child to node n of a deterministic game, a leaf that `identify_newest` completes; the caller made room."""
    if tree.nodes[n].kind != Kind.INTERIOR:
        _open(public, tree, n)
    # Two infostates in all: a deterministic game has one for each player.
    _link(tree, n, edge, _append(tree, n, edge, 1, 1))


@njit
def identify_newest(public: Public, tree: Tree, listed: AwaitedNodes, count: int) -> None:
    """Give the newest `count` nodes their public states; the caller made room."""
    # The newest nodes have the highest numbers, in the order in which they were added.
    first = tree.counts[0].nodes - count
    for k in range(count):
        _identify(public, tree, listed[k].public, first + k)


@njit
def _open(public: Public, tree: Tree, n: int) -> None:
    """Make the leaf n interior, with none of its children yet; a node with part of its children is not plain."""
    counts, node = tree.counts[0], tree.nodes[n]
    state = public.nodes[node.public]
    node.kind, node.child0 = Kind.INTERIOR, counts.children
    node.edge0, node.edges = state.edge0, state.edges
    counts.children += state.edges
    if counts.late:
        node.entry0 = counts.entries
        counts.entries += _entries(state)
    # A place for every edge at once, so that a child that comes later has one.
    for e in range(state.edges):
        tree.child[node.child0 + e].node = -1


@njit
def _link(tree: Tree, n: int, edge: int, c: int) -> None:
    """Make c the child of node n over `edge`."""
    child, node = tree.child[tree.nodes[n].child0 + edge], tree.nodes[c]
    # The offsets are repeated here so that a sweep need not read the child's row.
    child.node, child.offset[0], child.offset[1] = c, node.offset[0], node.offset[1]


@njit
def expand(public: Public, tree: Tree, n: int, only: int) -> int:
    """Add the children of node n over every public edge, or over edge `only` when that is not negative.

    Returns DONE, NO_ROOM or NOT_LISTED; nothing has changed unless DONE. A node with part of its
    children is not plain: its missing actions are closed.
    A child takes width0 + width1 infostates and, where a player acts, (actions * that player's width) entries, unless
    entries come late: then node n takes its own.
    """
    node = tree.nodes[n]
    state = public.nodes[node.public]
    if state.edge0 < 0:
        return NOT_LISTED
    first, last = (0, state.edges) if only < 0 else (only, only + 1)
    # Count what the new nodes will take, before anything changes.
    late = tree.counts[0].late
    new_infostates, new_entries = 0, _entries(state) if late and node.kind != Kind.INTERIOR else 0
    for e in range(first, last):
        c = public.edges[state.edge0 + e].child
        # Nothing has changed yet: the caller lists it and calls again.
        if c < 0:
            return NOT_LISTED
        below = public.nodes[c]
        new_infostates += below.width[0] + below.width[1]
        if not late:
            new_entries += _entries(below)
    if not has_room(tree, last - first, state.edges, new_infostates, new_entries):
        return NO_ROOM
    # From here on nothing fails: a caller never meets half an expansion.
    if node.kind != Kind.INTERIOR:
        _open(public, tree, n)
    # With some children only, a sweep has to look at each edge by itself.
    node.plain, node.same = state.plain and only < 0, state.same and only < 0
    for e in range(first, last):
        # Children that are there already stay: `only` may have opened some before.
        if tree.child[node.child0 + e].node < 0:
            _link(tree, n, e, add_node(public, tree, public.edges[state.edge0 + e].child, n, e))
    return DONE


@njit
def has_room(tree: Tree, nodes: int, children: int, infostates: int, entries: int) -> bool:
    """Whether the arrays can take this many more."""
    # Every new node may turn out to be an end.
    counts = tree.counts[0]
    return bool(
        counts.nodes + nodes <= len(tree.nodes)
        and counts.ends + nodes <= len(tree.ends)
        and counts.children + children <= len(tree.child)
        and counts.infostates + infostates <= tree.infostates.shape[1]
        and counts.entries + entries <= tree.entries.shape[1]
    )
