"""Numba kernels at a tree's leaves: beliefs out, evaluations in; weighing.py makes counterfactual values of them.

They serve every search that queries an evaluator. They know arrays only; beliefs and evaluations are laid out by
network slot. A bit mask of players says who is meant: 1, 2, or 3 for both.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.spans import add_scaled, put_scaled, total_of
from sog.searches.tree import columns as f
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.growth import NODES

U = np.uint64

# How leaves are weighed (weighing.weigh).
PLAIN, DIFFERENCES, PAIRS = range(3)


class Leaves(NamedTuple):
    """The leaves of a tree and how their evaluations are kept and weighed.

    nodes: int32[L], lookahead nodes.  tables: float64[L, S0 * S1], player 0's utilities by pair of slots (PAIRS only).
    mass: float64[2, W], to work with.  slots0: player 0's network slots.
    aligned: infostate i has slot i at all of them.  kind, correct: see weighing.weigh.
    """

    nodes: Int32
    tables: Float64
    mass: Float64
    slots0: int
    aligned: bool
    kind: int
    correct: bool


class Request(NamedTuple):
    """Beliefs to be evaluated, as many as `collect` found.

    places: int32[B], of the leaf in Leaves.nodes.  nodes: int32[B], public nodes.
    ranges: float64[B, S0 + S1], each player's summing to 1.
    """

    places: Int32
    nodes: Int32
    ranges: Float64


class Look(NamedTuple):
    """Which beliefs are collected, and from what.

    row: the row of reaches, REACH for the current policies' or REACH_SUM for the average ones'.
    users: who will need the answers.  changed: the players whose ranges are not in the request yet.
    prune: leave out leaves that no opponent of the users reaches in this iteration: whatever the answer, its
    counterfactual value is 0.  new: leave out leaves that were evaluated before.
    """

    row: int
    users: int
    changed: int
    prune: bool
    new: bool


EVERYTHING: Final = Look(f.REACH, 3, 3, False, False)
ONLY_NEW: Final = Look(f.REACH, 3, 3, False, True)


@inlined
def opponents(players: int) -> int:
    """The bit mask of those whom the players play against."""
    return ((players & 1) << 1) | (players >> 1)


@njit
def list_leaves(tree: Tree, out: Array) -> int:
    """Write the leaves of a tree to out, int32[*]; how many there are."""
    found = 0
    for n in range(tree.counts[NODES]):
        if tree.nodes[n, f.KIND] == f.LEAF:
            out[found] = n
            found += 1
    return found


# --- beliefs out ---


@njit
def collect(
    public: Public, tree: Tree, leaves: Leaves, first: int, last: int, request: Request, found: int, look: Look
) -> int:
    """Add the beliefs at leaves first .. last - 1 to a request that holds `found`; how many it holds then."""
    others = opponents(look.users)
    for k in range(first, last):
        n = leaves.nodes[k]
        if look.new and tree.nodes[n, f.EVALUATED] != f.AWAITING:
            continue
        if look.prune and not _held(tree, n, others):
            continue
        request.places[found], request.nodes[found] = k, tree.nodes[n, f.PUBLIC]
        for p in range(2):
            if (look.changed >> p) & 1:
                _write_range(public, tree, leaves, n, p, look.row, request.ranges[found])
        found += 1
    return found


@njit
def collect_moved(public: Public, tree: Tree, leaves: Leaves, count: int, request: Request, tolerance: float) -> int:
    """Collect the beliefs of the first `count` leaves that are not those they were evaluated at; how many.

    tolerance: how far either range may have moved since, as the sum of absolute differences.
    """
    found = 0
    for k in range(count):
        n, ranges = leaves.nodes[k], request.ranges[found]
        for p in range(2):
            _write_range(public, tree, leaves, n, p, f.REACH, ranges)
        if tree.nodes[n, f.EVALUATED] == f.AWAITING or _distance(public, tree, leaves, n, ranges) > tolerance:
            request.places[found], request.nodes[found] = k, tree.nodes[n, f.PUBLIC]
            _keep_belief(public, tree, leaves, n, ranges)
            found += 1
    return found


@inlined
def _distance(public: Public, tree: Tree, leaves: Leaves, n: Any, ranges: Array) -> float:
    """How far the range that moved further is from what leaf n was evaluated at; ranges: float64[S0 + S1]."""
    old, furthest = tree.infostates[f.LEAF_RANGE], 0.0
    for p in range(2):
        off, at = U(tree.nodes[n, f.OFF0 + p]), U(public.nodes[tree.nodes[n, f.PUBLIC], f.SLOT0 + p])
        start, moved = U(leaves.slots0 if p else 0), 0.0
        for i in range(U(tree.nodes[n, f.N_I0 + p])):
            moved += abs(ranges[start + U(public.slots[at + i])] - old[off + i])
        furthest = max(furthest, moved)
    return furthest


@inlined
def _keep_belief(public: Public, tree: Tree, leaves: Leaves, n: Any, ranges: Array) -> None:
    """Keep the belief that leaf n is evaluated at."""
    kept = tree.infostates[f.LEAF_RANGE]
    for p in range(2):
        off, at = U(tree.nodes[n, f.OFF0 + p]), U(public.nodes[tree.nodes[n, f.PUBLIC], f.SLOT0 + p])
        start = U(leaves.slots0 if p else 0)
        for i in range(U(tree.nodes[n, f.N_I0 + p])):
            kept[off + i] = ranges[start + U(public.slots[at + i])]


@njit
def recall(public: Public, tree: Tree, n: int, slots0: int, ranges: Array) -> None:
    """The belief that leaf n was evaluated at, into float64[S0 + S1] of zeros."""
    kept = tree.infostates[f.LEAF_RANGE]
    for p in range(2):
        off, at = U(tree.nodes[n, f.OFF0 + p]), U(public.nodes[tree.nodes[n, f.PUBLIC], f.SLOT0 + p])
        start = U(slots0 if p else 0)
        for i in range(U(tree.nodes[n, f.N_I0 + p])):
            ranges[start + U(public.slots[at + i])] = kept[off + i]


@inlined
def _held(tree: Tree, n: Any, players: int) -> bool:
    """Whether one of the players holds anything at node n by the current ranges."""
    for p in range(2):
        if (players >> p) & 1:
            off = U(tree.nodes[n, f.OFF0 + p])
            for i in range(U(tree.nodes[n, f.N_I0 + p])):
                if tree.infostates[f.REACH, off + i] > 0.0:
                    return True
    return False


@inlined
def _write_range(public: Public, tree: Tree, leaves: Leaves, n: Any, p: int, row: int, ranges: Array) -> None:
    """Player p's range at leaf n into its slots of ranges, float64[S0 + S1]; uniform where it holds nothing."""
    off, width = U(tree.nodes[n, f.OFF0 + p]), U(tree.nodes[n, f.N_I0 + p])
    start = U(leaves.slots0 if p else 0)
    source = tree.infostates[row]
    total = total_of(source, off, width)
    if total <= 0.0 and row != f.REACH:  # no average yet
        source = tree.infostates[f.REACH]
        total = total_of(source, off, width)
    factor, rest = (1.0 / total, 0.0) if total > 0.0 else (0.0, 1.0 / width)
    room = U(len(ranges) - leaves.slots0 if p else leaves.slots0)
    if width < room:
        for i in range(room):
            ranges[start + i] = 0.0
    if leaves.aligned:
        put_scaled(source, off, factor, rest, ranges, start, width)
        return
    at = U(public.nodes[tree.nodes[n, f.PUBLIC], f.SLOT0 + p])
    for i in range(width):
        ranges[start + U(public.slots[at + i])] = source[off + i] * factor + rest


@inlined
def sum_reaches(tree: Tree, leaves: Leaves, first: int, last: int, players: int, weight: float) -> None:
    """Add the players' weighted reaches at leaves first .. last - 1 to REACH_SUM."""
    reach, total = tree.infostates[f.REACH], tree.infostates[f.REACH_SUM]
    for k in range(first, last):
        n = leaves.nodes[k]
        for p in range(2):
            if (players >> p) & 1:
                off = U(tree.nodes[n, f.OFF0 + p])
                add_scaled(reach, off, weight, total, off, U(tree.nodes[n, f.N_I0 + p]))


# --- evaluations in ---


@inlined
def absorb(public: Public, tree: Tree, leaves: Leaves, request: Request, b: Any, values: Array, players: int) -> None:
    """Keep answer b: the players' conditional values in LEAF_VALUE; for PAIRS a row of `tables`.

    values: float64[B, S0 + S1], or float64[B, S0 * S1] for PAIRS.
    """
    k, answer, kept = request.places[b], values[b], tree.infostates[f.LEAF_VALUE]
    if leaves.kind == PAIRS:
        put_scaled(answer, U(0), 1.0, 0.0, leaves.tables[k], U(0), U(leaves.tables.shape[1]))
        return
    n, s = leaves.nodes[k], request.nodes[b]
    for p in range(2):
        if not (players >> p) & 1:
            continue
        off, width = U(tree.nodes[n, f.OFF0 + p]), U(tree.nodes[n, f.N_I0 + p])
        start = U(leaves.slots0 if p else 0)
        if leaves.aligned:
            put_scaled(answer, start, 1.0, 0.0, kept, off, width)
            continue
        at = U(public.nodes[s, f.SLOT0 + p])
        for i in range(width):
            kept[off + i] = answer[start + U(public.slots[at + i])]


@inlined
def absorb_prior(public: Public, tree: Tree, n: int, logits: Array, temperature: float) -> None:
    """The prior of leaf n, exp(logit / temperature) up to a factor, from logits float64[S, A] by slot and action."""
    nodes, s = tree.nodes, tree.nodes[n, f.PUBLIC]
    actor, first = nodes[n, f.N_ACTOR], nodes[n, f.N_ACTION0]
    if actor >= f.NATURE:
        return
    width, at = nodes[n, f.N_I0 + actor], public.nodes[s, f.SLOT0 + actor]
    for i in range(width):
        slot = public.slots[at + i]
        top = -np.inf
        for a in range(nodes[n, f.N_ACTIONS]):
            top = max(top, logits[slot, public.actions[first + a, f.IDENTITY]])
        for a in range(nodes[n, f.N_ACTIONS]):
            logit = logits[slot, public.actions[first + a, f.IDENTITY]]
            tree.entries[f.PRIOR, nodes[n, f.VAR0] + a * width + i] = np.exp((logit - top) / temperature)
