"""The public tree of a partition as arrays: its states, the infostates at each, and how moments join them.

A public edge is a connected component of the actor's (infostate, action) pairs and the states they lead
to. It leads straight to its child where the pair alone fixes the child and what both players know there;
otherwise to a state of NATURE, which shows what chance and the other player's infostate decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from sog.arrays import Array, Bool, Float64, Int32, Int64
from sog.games.base import NATURE, TERMINAL

_CLOSE: Final = 16  # numbers spread over this many times their count are ranked by counting, others by sorting

__all__ = ["CompiledTree", "Moments", "Partition", "components", "joint", "public_tree"]


class Moments(Protocol):
    """The decision and terminal histories of a game, each after its parent; chance is folded into the way there.

    parent: int32[M], the last decision before it, -1 at the start.  action: int32[M], taken there, -1 at the start.
    chance: float64[M], the probability of all chance on the way.  actor: int32[M], 0, 1 or TERMINAL.
    utility: float64[M], player 0's, 0 unless terminal.
    """

    @property
    def parent(self) -> Int32: ...

    @property
    def action(self) -> Int32: ...

    @property
    def chance(self) -> Float64: ...

    @property
    def actor(self) -> Int32: ...

    @property
    def utility(self) -> Float64: ...


@dataclass(frozen=True)
class Partition:
    """Infostates and public states of the decision moments; -1 at terminal ones.

    way: how they were found, in words.  infostate: int64[M, 2], unique over the game; an infostate
    lies in one public state.  state: int64[M], public states 0..S-1, a parent's before its children's.
    """

    way: str
    infostate: Int64
    state: Int64


@dataclass(frozen=True)
class Grouped:
    """Moments sorted by a state: those of state s are order[start[s]:start[s + 1]]."""

    order: Int64
    start: Int64

    def at(self, s: int) -> Int64:
        """int64[*]: the moments of state s."""
        return self.order[self.start[s] : self.start[s + 1]]


@dataclass(frozen=True)
class CompiledTree:
    """Public states 0..N-1: decisions, then terminals, then those of NATURE.

    root: its number.  actor: int32[N].  sizes: int64[N, 2], infostates of each player.
    state: int64[M], the decision or terminal state of each moment.  place: int64[M, 2], its infostates there.
    nature: int64[M], the NATURE state that leads to the moment, -1 without one.  nature_place: int64[M, 2],
    the infostates there.  edge: int64[M], the edge that leads towards the moment from its parent's state.
    at_state, at_nature, from_state: the moments by state, by NATURE state and by their parent's state.
    """

    root: int
    actor: Int32
    sizes: Int64
    state: Int64
    place: Int64
    nature: Int64
    nature_place: Int64
    edge: Int64
    at_state: Grouped
    at_nature: Grouped
    from_state: Grouped


def public_tree(h: Moments, parts: Partition) -> CompiledTree:
    """The public tree of the histories under a partition."""
    came_from = np.where(h.parent >= 0, parts.state[h.parent], -1)
    moved = _moved(h, parts)
    ended = h.actor == TERMINAL
    # Nothing is shown at the end: what was known and the last action fix the payoff.
    known = np.where(ended[:, None], moved, parts.infostate)
    # Ends get public states too: one for each (last public state, last action).
    state = parts.state.copy()
    state[ended] = state.max() + 1 + joint(came_from[ended], h.action[ended])

    # Edges: components of the graph between the actor's (infostate, action) pairs and the states they lead to.
    edge = np.full(len(state), -1, dtype=np.int64)
    later = h.parent >= 0
    pair = np.where(later, moved[np.arange(len(moved)), h.actor[h.parent] % 2], -1)
    edge[later] = components(joint(h.actor[h.parent[later]], pair[later]), state[later])
    # An edge leads to NATURE where the pair alone does not fix the child or what is known there.
    nature = np.full(len(state), -1, dtype=np.int64)
    shown = _needs_nature(edge, state, moved, known)
    nature[shown] = state.max() + 1 + joint(edge[shown])

    place, nature_place, sizes = _places(state, known, nature, moved)
    actor = np.full(len(sizes), NATURE, dtype=np.int32)
    actor[state] = h.actor
    # The game may start with chance: several first moments, one state of NATURE above them.
    first = np.flatnonzero(~later)
    root = nature[first[0]] if nature[first[0]] >= 0 else state[first[0]]
    return CompiledTree(
        root=int(root),
        actor=actor,
        sizes=sizes,
        state=state,
        place=place,
        nature=nature,
        nature_place=nature_place,
        edge=_numbered(edge, came_from, h.action),
        at_state=_grouped(state, len(sizes)),
        at_nature=_grouped(nature, len(sizes)),
        from_state=_grouped(came_from, len(sizes)),
    )


def _moved(h: Moments, parts: Partition) -> Int64:
    """int64[M, 2]: what each player knows after the move into the moment, before anything is shown.

    The actor knows the infostate and the action, the other player the infostate; -1 at the start.
    """
    out = np.full_like(parts.infostate, -1)
    for p in (0, 1):
        acted = np.flatnonzero((h.parent >= 0) & (h.actor[h.parent] == p))
        before = parts.infostate[h.parent[acted]]
        out[acted, p] = joint(before[:, p], h.action[acted])
        out[acted, 1 - p] = before[:, 1 - p]
    return out


def _needs_nature(edge: Int64, state: Int64, moved: Int64, known: Int64) -> Bool:
    """bool[M]: whether something is shown on the edge into the moment that the move alone does not fix."""
    # One edge to several states, or one (edge, infostate after the move) that becomes several infostates.
    open_ = _several(edge, state)
    for p in (0, 1):
        open_ |= _several(joint(edge, moved[:, p]), known[:, p]) & (edge >= 0)
    shown = np.zeros(edge.max(initial=0) + 2, dtype=np.bool_)
    shown[edge[open_]] = True  # the start has edge -1, the last place
    return shown[edge]


def _several(key: Array, value: Array) -> Bool:
    """bool[K]: whether the row's key has several values."""
    group = joint(key)
    both = joint(group, value)
    # How many different (key, value) each key has.
    group_of = np.zeros(both.max(initial=-1) + 1, dtype=np.int64)
    group_of[both] = group
    return np.asarray(np.bincount(group_of)[group] > 1)


def _places(state: Int64, known: Int64, nature: Int64, moved: Int64) -> tuple[Int64, Int64, Int64]:
    """Infostates counted from 0 at each state: place, nature_place int64[M, 2] and sizes int64[N, 2]."""
    shown = np.flatnonzero(nature >= 0)
    states = np.concatenate([state, nature[shown]])
    places, sizes = [], []
    for p in (0, 1):
        # Numbered by state first: an infostate's place is its number less the state's lowest.
        infostate = joint(states, np.concatenate([known[:, p], moved[shown, p]]))
        first = np.full(states.max() + 1, len(infostate), dtype=np.int64)
        np.minimum.at(first, states, infostate)
        places.append(infostate - first[states])
        size = np.zeros(len(first), dtype=np.int64)
        np.maximum.at(size, states, places[p] + 1)
        sizes.append(size)
    both = np.stack(places, axis=1)
    nature_place = np.full_like(moved, -1)
    nature_place[shown] = both[len(state) :]
    return both[: len(state)], nature_place, np.stack(sizes, axis=1)


def _numbered(edge: Int64, came_from: Int64, action: Int32) -> Int64:
    """int64[M]: the edges of each state counted from 0, in the order of their lowest actions."""
    lowest = np.full(edge.max(initial=0) + 2, action.max(initial=0) + 1, dtype=np.int64)
    np.minimum.at(lowest, edge, action)
    rank = joint(came_from, lowest[edge], edge)
    first = np.full(came_from.max(initial=0) + 2, len(rank), dtype=np.int64)
    np.minimum.at(first, came_from, rank)
    return rank - first[came_from]


def _grouped(state: Int64, count: int) -> Grouped:
    """The moments sorted by `state`; those with -1 belong nowhere."""
    order = np.argsort(state, kind="stable")
    return Grouped(order, np.searchsorted(state[order], np.arange(count + 1)))


def joint(*columns: Array) -> Int64:
    """int64[K]: the same number for the same row of the columns, counted in the rows' lexicographic order."""
    out = _ranks(columns[0])
    # Ranks after every column, so that products stay far below 2^63.
    for column in columns[1:]:
        place = _ranks(column)
        out = _ranks(out * (place.max(initial=0) + 1) + place)
    return out


def _ranks(column: Array) -> Int64:
    """int64[K]: each entry's place among the different ones; counted where they lie close together, else sorted."""
    if len(column) and np.issubdtype(column.dtype, np.integer):
        least = int(column.min())
        width = int(column.max()) - least + 1
        # There are numbers that lie close together: a table of those that occur, summed up, gives ranks without
        # sorting.
        if width <= _CLOSE * len(column):
            there = np.zeros(width, dtype=np.int64)
            at = column.astype(np.int64) - least
            there[at] = 1
            counted: Int64 = (np.cumsum(there) - 1)[at]
            return counted
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def components(left: Int64, right: Int64) -> Int64:
    """int64[K]: the connected component of each edge (left[k], right[k]) of a bipartite graph."""
    from scipy.sparse import coo_array  # its import takes as long as all other games' imports together
    from scipy.sparse.csgraph import connected_components

    first, second = joint(left), joint(right)
    width = first.max(initial=-1) + 1
    size = width + second.max(initial=-1) + 1
    # Left and right nodes in one numbering, the right ones after the left.
    graph = coo_array((np.ones(len(first), dtype=np.int8), (first, width + second)), shape=(size, size))
    labels: Int64 = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels[first]
