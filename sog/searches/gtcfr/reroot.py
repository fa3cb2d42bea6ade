"""Cuts the subtree below a node out of a lookahead, so that the search of a later position goes on with it.

For perfect information only: elsewhere the numbers below a node depend on ranges that a move changes.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Int64
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.tree import columns as f
from sog.searches.tree import growth


def rerooted(tree: Lookahead, n: int) -> Lookahead:
    """A lookahead of node n and all below it, where both players' ranges are 1 at n; `tree` is left as it is.

    Regrets, sums and visits are taken over as they are, so an iteration that reached n with probability r counts
    r times as much as one that begins there.
    """
    kept = _below(tree, n)
    nodes = tree.nodes[kept]
    place = np.full(tree.size, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    entries = _indices(nodes[:, f.VAR0], np.where(nodes[:, f.N_ACTOR] < f.NATURE, nodes[:, f.N_ACTIONS], 0))
    children = _indices(nodes[:, f.CHILD0], nodes[:, f.N_EDGES])
    new = Lookahead(tree.public, int(nodes[0, f.PUBLIC]), (np.ones(1), np.ones(1)), room=64 + len(kept))
    while new.child.shape[1] < len(children) or new.entries.shape[1] < len(entries):
        new.make_room()
    new.entries[:, : len(entries)] = tree.entries[:, entries]
    new.infostates[:, : 2 * len(kept) : 2] = tree.infostates[:, nodes[:, f.OFF0]]
    new.infostates[:, 1 : 2 * len(kept) : 2] = tree.infostates[:, nodes[:, f.OFF1]]
    _link(new, nodes, place, tree.child[f.NODE, children])
    ends = np.flatnonzero(nodes[:, f.KIND] == f.ENDED)
    new.ends[: len(ends)] = ends
    new.counts[:] = 0
    new.counts[growth.NODES], new.counts[growth.INFOSTATES] = len(kept), 2 * len(kept)
    new.counts[growth.ENTRIES], new.counts[growth.CHILDREN] = len(entries), len(children)
    new.counts[growth.ENDS] = len(ends)
    new.iterations = tree.iterations
    new.set_root_ranges((np.ones(1), np.ones(1)))
    return new


def _below(tree: Lookahead, n: int) -> Int64:
    """int64[K]: node n and the nodes below it, ascending."""
    inside = np.zeros(tree.size, dtype=np.bool_)
    inside[n] = True
    parent = tree.nodes[: tree.size, f.PARENT]
    layer = np.array([n])
    while len(layer):
        grown = inside | (inside[parent] & (parent >= 0))
        layer = np.flatnonzero(grown & ~inside)
        inside = grown
    return np.flatnonzero(inside)


def _link(new: Lookahead, nodes: Array, place: Array, children: Array) -> None:
    """Write the nodes and the table of children with everything where it lies now."""
    count = len(nodes)
    rows = new.nodes[:count]
    rows[:] = nodes
    rows[:, f.PARENT] = place[nodes[:, f.PARENT]]
    rows[0, f.PARENT] = -1
    rows[:, f.OFF0] = 2 * np.arange(count)
    rows[:, f.OFF1] = rows[:, f.OFF0] + 1
    rows[:, f.VAR0] = _starts(np.where(nodes[:, f.N_ACTOR] < f.NATURE, nodes[:, f.N_ACTIONS], 0))
    rows[:, f.CHILD0] = np.where(nodes[:, f.CHILD0] < 0, -1, _starts(nodes[:, f.N_EDGES]))
    inside = children >= 0
    moved = np.where(inside, place[children], -1)
    new.child[f.NODE, : len(children)] = moved
    new.child[f.AT0, : len(children)] = 2 * moved
    new.child[f.AT1, : len(children)] = 2 * moved + 1


def _starts(lengths: Array) -> Array:
    """Where pieces of these lengths begin when they lie one after another."""
    return np.cumsum(lengths) - lengths


def _indices(starts: Array, lengths: Array) -> Array:
    """The indices of pieces that begin at `starts` and have these lengths, one after another."""
    return np.repeat(starts - _starts(lengths), lengths) + np.arange(int(lengths.sum()))
