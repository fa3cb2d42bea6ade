"""Cuts the subtree below a node out of a lookahead, so that the search of a later position continues with it.

For perfect information only: elsewhere the numbers below a node depend on ranges that a move changes.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Array
from sog.games.base import NATURE
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import njit
from sog.searches.tree.arrays import Room, Tree
from sog.searches.tree.records import Kind

_OUTSIDE: Final = -1  # the place of a node that is not below


def rerooted(tree: Lookahead, n: int, room: int = 64) -> Lookahead:
    """A lookahead of node n and all below it, where both players' ranges are 1 at n; `tree` is left as it is.

    Regrets, sums and visits are taken over as they are, so an iteration that reached n with probability r counts
    r times as much as one that begins there.
    room: for how many more nodes it has room.
    """
    place, ones = np.full(tree.size, _OUTSIDE, dtype=np.int32), (np.ones(1), np.ones(1))
    count: int = _number(tree.arrays, n, place)
    size, nodes = tree.size, tree.nodes
    fan = max(tree.public.widest_fan, int(nodes.actions[:size].max()), int(nodes.edges[:size].max()))
    new = Lookahead(tree.public, tree.public_node(n), ones, Room.of_positions(count + room, fan))
    _copy(tree.arrays, n, place, new.arrays)
    # The weights of later iterations continue where those in the sums end.
    new.iterations = tree.iterations
    new.set_root_ranges(ones)
    return new


@same_types
@njit
def _number(tree: Tree, n: int, place: Array) -> int:
    """Number node n and the nodes below it in their old order, place[m]; how many there are."""
    count = 0
    for m in range(n, tree.counts[0].nodes):
        parent = tree.nodes[m].parent
        # A child is numbered after its parent, which has its place already.
        if m == n or (parent >= 0 and place[parent] >= 0):
            place[m] = count
            count += 1
    return count


@same_types
@njit
def _copy(tree: Tree, n: int, place: Array, new: Tree) -> None:
    """Copy what `place` numbers into `new`, which has room and is otherwise overwritten."""
    count = new.counts[0]
    count.nodes, count.infostates, count.entries, count.children, count.ends = 0, 0, 0, 0, 0
    for m in range(n, tree.counts[0].nodes):
        k = place[m]
        if k < 0:
            continue
        old = tree.nodes[m]
        new.nodes[k] = old
        node = new.nodes[k]
        # `place` has no entry for the parent of n, and the root has no parent.
        node.parent = -1 if m == n else place[old.parent]
        node.offset[0], node.offset[1] = 2 * k, 2 * k + 1
        for row in range(new.infostates.shape[0]):
            for p in range(2):
                new.infostates[row, 2 * k + p] = tree.infostates[row, old.offset[p]]
        _copy_entries(tree, m, new, k)
        _copy_children(tree, m, place, new, k)
        if old.kind == Kind.ENDED:
            new.ends[count.ends] = k
            count.ends += 1
        count.nodes += 1
        count.infostates += 2


@njit
def _copy_entries(tree: Tree, m: int, new: Tree, k: int) -> None:
    """The regrets and policies of old node m, one infostate for each action, become those of node k."""
    count, old, node = new.counts[0], tree.nodes[m], new.nodes[k]
    node.entry0 = count.entries
    if old.actor >= NATURE:
        return
    for row in range(new.entries.shape[0]):
        for a in range(old.actions):
            new.entries[row, node.entry0 + a] = tree.entries[row, old.entry0 + a]
    count.entries += old.actions


@njit
def _copy_children(tree: Tree, m: int, place: Array, new: Tree, k: int) -> None:
    """The children of old node m become those of node k, by their new numbers."""
    count, old, node = new.counts[0], tree.nodes[m], new.nodes[k]
    node.child0 = 0
    if old.kind != Kind.INTERIOR:
        return
    node.child0 = count.children
    for e in range(old.edges):
        below, to = tree.child[old.child0 + e].node, new.child[node.child0 + e]
        c = place[below] if below >= 0 else -1
        to.node, to.offset[0], to.offset[1] = c, 0, 0
        if c >= 0:
            to.offset[0], to.offset[1] = 2 * c, 2 * c + 1
    count.children += old.edges
