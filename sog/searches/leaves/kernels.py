"""Numba kernels at a tree's leaves: beliefs out, evaluations in; weighing.py makes counterfactual values of them.

They serve every search that queries an evaluator. They work on arrays alone; beliefs and evaluations are laid out
by network slot.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.games.base import NATURE
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.spans import LEAST, add_scaled, put_scaled, total_of
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.players import Players, opponents, within
from sog.searches.tree.records import Entry, Evaluated, Infostate, Kind, Node, PublicState


class Weighing(IntEnum):
    """How leaves are weighed (weighing.weigh)."""

    PLAIN = 0
    DIFFERENCES = 1
    PAIRS = 2


class Leaves(NamedTuple):
    """The leaves of a tree and how their evaluations are kept and weighed.

    nodes: int32[L], lookahead nodes.  tables: float64[L, S0 * S1], player 0's utilities by pair of slots (PAIRS only).
    mass: float64[2, W], to work with.  slots0: player 0's network slots.
    aligned: infostate i has slot i at all of them.  kind: a Weighing.  correct: see weighing.weigh.
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
    """Which beliefs are collected, from what, and where they are written.

    Enumerations' members are plain numbers here, whose types Numba finds soonest.
    row: of reaches, the Infostate: REACH for the current policies' or REACH_SUM for the average ones'.
    users: the Players who will need the answers.  changed: those whose ranges are not in the request yet.
    prune: leave out leaves that no opponent of the users reaches in this iteration: whatever the answer, its
    counterfactual value is 0.  new: leave out leaves that were evaluated before.  request: to be written.
    """

    row: int
    users: int
    changed: int
    prune: bool
    new: bool
    request: Request


@njit
def list_leaves(tree: Tree, out: Array) -> int:
    """Write the leaves of a tree to out, int32[*]; how many there are."""
    count = 0
    for n in range(tree.counts[0].nodes):
        # In the order of numbers: older leaves first.
        if tree.nodes[n].kind == Kind.LEAF:
            out[count] = n
            count += 1
    return count


# --- beliefs out ---


@njit
def collect(public: Public, tree: Tree, leaves: Leaves, first: int, last: int, num_beliefs: int, look: Look) -> int:
    """Add the beliefs at leaves first .. last - 1 to the request of `num_beliefs`; how many it has then."""
    request, others = look.request, opponents(look.users)
    for k in range(first, last):
        node: Node = tree.nodes[leaves.nodes[k]]
        if look.new and node.evaluated != Evaluated.AWAITING:
            continue
        if look.prune and not _held(tree, node, others):
            continue
        request.places[num_beliefs], request.nodes[num_beliefs] = k, node.public
        # The other player's ranges are in the request's rows already (Look.changed).
        for p in range(2):
            if within(p, look.changed):
                _write_range(public, tree, leaves, node, p, look.row, request.ranges[num_beliefs])
        num_beliefs += 1
    return num_beliefs


@njit
def collect_moved(public: Public, tree: Tree, leaves: Leaves, count: int, request: Request, tolerance: float) -> int:
    """Collect the beliefs of the first `count` leaves that are not those they were evaluated at; how many.

    Collected: leaves without an evaluation, and those with
    share * max over players p of (sum over i of |range[p, i] - LEAF_RANGE[p, i]|) > tolerance,
    share = max over players p of (sum of p's reach at the leaf) / (sum of p's reach at the root).
    tolerance: at 0 every leaf that has moved is collected, also where nobody goes.
    """
    num_beliefs = 0
    for k in range(count):
        node: Node = tree.nodes[leaves.nodes[k]]
        ranges = request.ranges[num_beliefs]
        # A value counts as much as the opponent goes there, and each player's may be off by as much as ranges moved.
        share = 1.0
        if tolerance > 0.0 and node.evaluated != Evaluated.AWAITING:
            share = _share(tree, node)
            if 2.0 * share <= tolerance:  # no ranges are further apart than 2
                continue
        # The ranges lie in the next free row: a leaf that is left out leaves it to the next one.
        for p in range(2):
            _write_range(public, tree, leaves, node, p, Infostate.REACH, ranges)
        if node.evaluated == Evaluated.AWAITING or share * _distance(public, tree, leaves, node, ranges) > tolerance:
            request.places[num_beliefs], request.nodes[num_beliefs] = k, node.public
            # From now on this is the belief that the next distance is from.
            _keep_belief(public, tree, leaves, node, ranges)
            num_beliefs += 1
    return num_beliefs


@inlined
def _share(tree: Tree, node: Node) -> float:
    """How much of a range comes from the root to a leaf, of the player of whom more does; without chance.

    max over players p of (sum over i of REACH[leaf, p, i]) / (sum over i of REACH[root, p, i]).
    """
    reach, root, most = tree.infostates[Infostate.REACH], tree.nodes[0], 0.0
    for p in range(2):
        held = total_of(reach, root.offset[p], root.width[p])
        if held > 0.0:
            most = max(most, total_of(reach, node.offset[p], node.width[p]) / held)
    return most


@inlined
def _distance(public: Public, tree: Tree, leaves: Leaves, node: Node, ranges: Array) -> float:
    """How far the range that moved further is from what a leaf was evaluated at; ranges: float64[S0 + S1].

    max over players p of (sum over i of |ranges[slot of i] - LEAF_RANGE[i]|); between 0 and 2.
    """
    old, furthest = tree.infostates[Infostate.LEAF_RANGE], 0.0
    for p in range(2):
        own, slot0 = node.offset[p], public.nodes[node.public].slot0[p]
        start, moved = first_slot(leaves.slots0, p), 0.0
        for i in range(node.width[p]):
            moved += abs(ranges[start + public.slots[slot0 + i]] - old[own + i])
        furthest = max(furthest, moved)
    return furthest


@inlined
def _keep_belief(public: Public, tree: Tree, leaves: Leaves, node: Node, ranges: Array) -> None:
    """Keep the belief that a leaf is evaluated at."""
    leaf_ranges = tree.infostates[Infostate.LEAF_RANGE]
    for p in range(2):
        own, slot0 = node.offset[p], public.nodes[node.public].slot0[p]
        start = first_slot(leaves.slots0, p)
        for i in range(node.width[p]):
            leaf_ranges[own + i] = ranges[start + public.slots[slot0 + i]]


@njit
def recall(public: Public, tree: Tree, n: int, slots0: int, ranges: Array) -> None:
    """The belief that leaf n was evaluated at, into float64[S0 + S1] of zeros."""
    node, leaf_ranges = tree.nodes[n], tree.infostates[Infostate.LEAF_RANGE]
    for p in range(2):
        own, slot0 = node.offset[p], public.nodes[node.public].slot0[p]
        start = first_slot(slots0, p)
        for i in range(node.width[p]):
            ranges[start + public.slots[slot0 + i]] = leaf_ranges[own + i]


@inlined
def first_slot(slots0: int, p: int) -> int:
    """Where player p's slots begin in an array by slot of both players."""
    return slots0 if p == 1 else 0


@inlined
def _held(tree: Tree, node: Node, players: Players) -> bool:
    """Whether one of the players holds anything at a node by the current ranges."""
    for p in range(2):
        if within(p, players):
            own = node.offset[p]
            # A range of zeros makes every counterfactual value of the other player 0.
            for i in range(node.width[p]):
                if tree.infostates[Infostate.REACH, own + i] > 0.0:
                    return True
    return False


@inlined
def _write_range(public: Public, tree: Tree, leaves: Leaves, node: Node, p: int, row: Infostate, ranges: Array) -> None:
    """Player p's range at a leaf into its slots of ranges, float64[S0 + S1]; uniform where it holds nothing.

    ranges[slot of i] = r[i] / (sum over the player's infostates of r), with r of `row`; 1 / I for all I infostates
    where the sum is at most LEAST; 0 in slots of no infostate.
    """
    own, width, start = node.offset[p], node.width[p], first_slot(leaves.slots0, p)
    source = tree.infostates[row]
    total = total_of(source, own, width)
    if total <= LEAST and row != Infostate.REACH:  # no average yet
        source = tree.infostates[Infostate.REACH]
        total = total_of(source, own, width)
    # One expression for both cases: r[i] * factor + rest.
    factor, rest = (1.0 / total, 0.0) if total > LEAST else (0.0, 1.0 / width)
    room = len(ranges) - leaves.slots0 if p == 1 else leaves.slots0
    if width < room:  # some slots have no infostate here
        # Zeros first: what is written below leaves out slots without an infostate.
        for i in range(room):
            ranges[start + i] = 0.0
    if leaves.aligned:
        put_scaled(source, own, factor, rest, ranges, start, width)
        return
    # Elsewhere the slots of the I infostates may be any of the player's.
    slot0 = public.nodes[node.public].slot0[p]
    for i in range(width):
        ranges[start + public.slots[slot0 + i]] = source[own + i] * factor + rest


@inlined
def sum_reaches(tree: Tree, leaves: Leaves, first: int, last: int, players: Players, weight: float) -> None:
    """Add the players' weighted reaches at leaves first .. last - 1 to REACH_SUM.

    REACH_SUM[i] += weight * REACH[i].
    """
    reach, total = tree.infostates[Infostate.REACH], tree.infostates[Infostate.REACH_SUM]
    for k in range(first, last):
        node: Node = tree.nodes[leaves.nodes[k]]
        for p in range(2):
            if within(p, players):
                add_scaled(reach, node.offset[p], weight, total, node.offset[p], node.width[p])


# --- evaluations in ---


@inlined
def absorb(
    public: Public, tree: Tree, leaves: Leaves, request: Request, b: int, values: Array, players: Players
) -> None:
    """Keep answer b: the players' conditional values in LEAF_VALUE; for PAIRS a row of `tables`.

    values: float64[B, S0 + S1], or float64[B, S0 * S1] for PAIRS.
    """
    k, answer, leaf_values = request.places[b], values[b], tree.infostates[Infostate.LEAF_VALUE]
    # A pair's utility does not depend on the ranges, so one answer serves later iterations as it is.
    if leaves.kind == Weighing.PAIRS:
        put_scaled(answer, 0, 1.0, 0.0, leaves.tables[k], 0, leaves.tables.shape[1])
        return
    node: Node = tree.nodes[leaves.nodes[k]]
    state: PublicState = public.nodes[request.nodes[b]]
    for p in range(2):
        if not within(p, players):
            continue
        own, width, start = node.offset[p], node.width[p], first_slot(leaves.slots0, p)
        if leaves.aligned:
            put_scaled(answer, start, 1.0, 0.0, leaf_values, own, width)
            continue
        # From slots to infostates, the way back of _write_range.
        for i in range(width):
            leaf_values[own + i] = answer[start + public.slots[state.slot0[p] + i]]


@inlined
def absorb_prior(public: Public, tree: Tree, n: int, pairs: Array, logits: Array, temperature: float) -> None:
    """The prior of leaf n, exp(logit / temperature) up to a factor, from logits float64[S, A] by slot and action.

    pairs: LegalPairs.index, empty where the game names none; then logits may be float64[1, P] by pair.
    """
    node = tree.nodes[n]
    p = node.actor
    # Where no player acts there is no policy.
    if p >= NATURE:
        return
    # S is above 1 in a game with legal pairs.
    if len(pairs) > 0 and len(logits) == 1:
        _absorb_pairs(public, tree, n, pairs[p], logits[0], temperature)
        return
    width, slot0 = node.width[p], public.nodes[node.public].slot0[p]
    for i in range(width):
        slot = public.slots[slot0 + i]
        top = -np.inf
        # Less the largest logit, which leaves ratios as they are: no power overflows, and the largest is 1.
        for a in range(node.actions):
            top = max(top, logits[slot, public.actions[node.action0 + a].identity])
        k = node.entry0 + i
        # Illegal actions have a prior, too; its readers sum over the legal ones.
        for a in range(node.actions):
            logit = logits[slot, public.actions[node.action0 + a].identity]
            tree.entries[Entry.PRIOR, k] = np.exp((logit - top) / temperature)
            k += width


@inlined
def _absorb_pairs(public: Public, tree: Tree, n: int, index: Array, logits: Array, temperature: float) -> None:
    """`absorb_prior` from logits float64[P] of the pairs index[slot, action]; 0 where the pair is never legal."""
    node = tree.nodes[n]
    width, slot0 = node.width[node.actor], public.nodes[node.public].slot0[node.actor]
    for i in range(width):
        slot = public.slots[slot0 + i]
        top = -np.inf
        for a in range(node.actions):
            pair = index[slot, public.actions[node.action0 + a].identity]
            if pair >= 0:
                top = max(top, logits[pair])
        k = node.entry0 + i
        for a in range(node.actions):
            pair = index[slot, public.actions[node.action0 + a].identity]
            tree.entries[Entry.PRIOR, k] = np.exp((logits[pair] - top) / temperature) if pair >= 0 else 0.0
            k += width
