"""Cuts the subtree below a node out of a lookahead, so that the search of a later position continues with it.

For perfect information only: elsewhere the numbers below a node depend on ranges that a move changes.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Int64
from sog.games.base import NATURE
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.tree.records import Kind, Nodes


def rerooted(tree: Lookahead, n: int) -> Lookahead:
    """A lookahead of node n and all below it, where both players' ranges are 1 at n; `tree` is left as it is.

    Regrets, sums and visits are taken over as they are, so an iteration that reached n with probability r counts
    r times as much as one that begins there.
    """
    kept = _below(tree, n)
    # Everything is copied in the order of the old numbers: parents stay before children.
    nodes = tree.nodes[kept]
    place = np.full(tree.size, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    entries = _indices(nodes.entry0, _entries_of(nodes))
    children = _indices(nodes.child0, nodes.edges)
    new = Lookahead(tree.public, tree.public_node(n), (np.ones(1), np.ones(1)), room=64 + len(kept))
    while len(new.child) < len(children) or new.entries.shape[1] < len(entries):
        new.make_room()
    new.entries[:, : len(entries)] = tree.entries[:, entries]
    # One infostate a player: node m's two columns are 2 m and 2 m + 1.
    new.infostates[:, : 2 * len(kept) : 2] = tree.infostates[:, nodes.offset[:, 0]]
    new.infostates[:, 1 : 2 * len(kept) : 2] = tree.infostates[:, nodes.offset[:, 1]]
    _link(new, nodes, place, tree.child.node[children])
    ends = np.flatnonzero(nodes.kind == Kind.ENDED)
    new.ends[: len(ends)] = ends
    counts = new.counts
    counts.nodes, counts.infostates = len(kept), 2 * len(kept)
    counts.entries, counts.children, counts.ends = len(entries), len(children), len(ends)
    # The weights of later iterations continue where those in the sums end.
    new.iterations = tree.iterations
    new.set_root_ranges((np.ones(1), np.ones(1)))
    return new


def _below(tree: Lookahead, n: int) -> Int64:
    """int64[K]: node n and the nodes below it, ascending."""
    inside = np.zeros(tree.size, dtype=np.bool_)
    inside[n] = True
    parent = tree.nodes.parent[: tree.size]
    layer = np.array([n])
    # Layer by layer, since a node may be numbered long after its parent.
    while len(layer):
        grown = inside | (inside[parent] & (parent >= 0))
        layer = np.flatnonzero(grown & ~inside)
        inside = grown
    return np.flatnonzero(inside)


def _entries_of(nodes: Nodes) -> Array:
    """int64[K]: how many entries each of the nodes has, where every infostate is the only one."""
    return np.where(nodes.actor < NATURE, nodes.actions, 0)


def _link(new: Lookahead, nodes: Nodes, place: Array, children: Array) -> None:
    """Write the nodes and the table of children with everything where it lies now."""
    count = len(nodes)
    rows = new.nodes[:count]
    rows[:] = nodes
    rows.parent[:] = place[nodes.parent]
    # The old root's -1 has read the last entry of `place`.
    rows.parent[0] = -1
    rows.offset[:] = np.arange(2 * count).reshape(count, 2)
    rows.entry0[:] = _starts(_entries_of(nodes))
    rows.child0[:] = np.where(nodes.kind == Kind.INTERIOR, _starts(nodes.edges), 0)
    moved = np.where(children >= 0, place[children], -1)
    below = new.child[: len(children)]
    below.node[:] = moved
    below.offset[:] = np.where(moved[:, None] >= 0, 2 * moved[:, None] + np.arange(2), 0)


def _starts(lengths: Array) -> Array:
    """Where pieces of these lengths begin when they lie one after another."""
    return np.cumsum(lengths) - lengths


def _indices(starts: Array, lengths: Array) -> Array:
    """The indices of pieces that begin at `starts` and have these lengths, one after another."""
    return np.repeat(starts - _starts(lengths), lengths) + np.arange(int(lengths.sum()))
