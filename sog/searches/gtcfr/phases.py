"""Numba kernels of GT-CFR's phases: all that lies between two evaluations of the leaves is one call.

A call from Python costs microseconds, as much as the phases of a small game take. They know arrays only.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sog.arrays import Array, Float64, Int32, Int64
from sog.searches.cfr import matching, positions, sweeps
from sog.searches.cfr.iterate import Choice, enter, update_choice
from sog.searches.gtcfr import trajectories
from sog.searches.gtcfr.trajectories import ALL, NO_WORLD, Selection
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import njit
from sog.searches.leaves import kernels, weighing
from sog.searches.leaves.evaluator import Evaluations
from sog.searches.leaves.kernels import ONLY_NEW, Leaves, Request
from sog.searches.tree import columns as f
from sog.searches.tree import growth, pairs
from sog.searches.tree.arrays import Public, Tree

# What `advance` answers: that the leaves were looked at, or what must be done in Python before it is called again.
LOOKED: Final = 0
EXPAND: Final = 1  # the node and the edge in Selection.found need room, a fan that is not listed, or a prior
IDENTIFY: Final = 2  # the newest nodes are positions that the public tree does not list yet (Search.awaited)

# Entries of Search.state: leaves in the last request; leaves in all; whether its answers are still to be taken up;
# the iteration they belong to, from 0; whether it updates regrets; expansions to come; nodes to be identified;
# trajectories so far that drew no world or after which nothing was opened; what this expansion phase has opened;
# expansions left to the next phase: nothing can be opened but nodes that this phase has added, which have no prior yet.
FOUND, LEAVES, ANSWERED, ITERATION, UPDATES, EXPANSIONS, AWAITED, LOST, OPENED, OWED = range(10)
STATE_ENTRIES: Final = 10


class Search(NamedTuple):
    """One search's settings, and what it keeps between two calls.

    choice: the gadget's.  selection: how trajectories choose.  steps: float64[T, 4] of rules.Rule.steps.
    alternating: the players update in turn on one look at the leaves.
    single: perfect information, one infostate a player: a leaf is evaluated once and opened child by child (k = 1).
    by_node: the sweeps of positions.py serve.  deterministic: a child can be added before its position is listed.
    temperature: of priors.  warm: value units of regret at the prior of an opened node.
    fill: a trajectory that comes to nothing it can open opens the oldest leaf.
    tolerance: how far a leaf's ranges may move before it is evaluated anew (kernels.collect_moved).
    apart: the prior of a leaf is evaluated when it is opened.
    widest_fan: the most edges of a position.
    sums: float64[2, M], to work with.  awaited: int32[2, *], the public node and the edge that lead to each node added.
    state: int64[STATE_ENTRIES].
    """

    choice: Choice
    selection: Selection
    steps: Float64
    alternating: bool
    single: bool
    by_node: bool
    deterministic: bool
    temperature: float
    warm: float
    fill: bool
    tolerance: float
    apart: bool
    widest_fan: int
    sums: Float64
    awaited: Int32
    state: Int64


@same_types
@njit
def advance(public: Public, tree: Tree, leaves: Leaves, request: Request, search: Search, answers: Evaluations) -> int:
    """Take up the answers to the last request, grow the tree, and make the next; LOOKED, EXPAND or IDENTIFY."""
    state = search.state
    if state[ANSWERED]:
        take_up(public, tree, leaves, request, search, answers)
    if state[EXPANSIONS] > 0 and search.deterministic:
        state[EXPANSIONS] -= grow_positions(public, tree, search, state[EXPANSIONS])
        return IDENTIFY
    if state[EXPANSIONS] > 0:
        state[EXPANSIONS] -= grow(public, tree, search, state[EXPANSIONS])
        if search.selection.found[0] >= 0:
            return EXPAND
    look(public, tree, leaves, request, search)
    return LOOKED


# --- regret update phase ---


@njit
def look(public: Public, tree: Tree, leaves: Leaves, request: Request, search: Search) -> None:
    """Ranges down, payoffs at the ends, beliefs out of the leaves."""
    state = search.state
    trajectories.settle(tree, search.selection.path)
    state[LEAVES] = kernels.list_leaves(tree, leaves.nodes)
    _down(public, tree, search)
    if search.single:
        state[FOUND] = kernels.collect(public, tree, leaves, 0, state[LEAVES], request, 0, ONLY_NEW)
    else:
        state[FOUND] = kernels.collect_moved(public, tree, leaves, state[LEAVES], request, search.tolerance)


@njit
def take_up(public: Public, tree: Tree, leaves: Leaves, request: Request, search: Search, answers: Evaluations) -> None:
    """Evaluations into the leaves, and values up with the iteration's updates of both players."""
    state = search.state
    state[ANSWERED] = 0
    for b in range(state[FOUND]):
        n = leaves.nodes[request.places[b]]
        kernels.absorb(public, tree, leaves, request, b, answers.values, 3)
        if not search.apart:
            kernels.absorb_prior(public, tree, n, answers.logits[b], search.temperature)
        tree.nodes[n, f.EVALUATED] = max(tree.nodes[n, f.EVALUATED], f.READY)
    if not state[UPDATES]:
        _weigh(public, tree, leaves, search)
        return
    for turn in range(2 if search.alternating else 1):
        if turn == 1:
            _down(public, tree, search)  # and the conditional values of the first turn by the new ranges
        _weigh(public, tree, leaves, search)
        updates = 1 << turn if search.alternating else 3
        _up(public, tree, search, updates, search.steps[state[ITERATION]])


@njit
def take_prior(public: Public, tree: Tree, n: int, logits: Array, temperature: float) -> None:
    """The prior of leaf n from its policy logits, float64[1, S, A]."""
    kernels.absorb_prior(public, tree, n, logits[0], temperature)


@njit
def _down(public: Public, tree: Tree, search: Search) -> None:
    """Ranges down from the root and the gadget above it; payoffs at the ends."""
    enter(tree, search.choice)
    if search.by_node:
        positions.forward(tree)
    else:
        sweeps.forward(public, tree, 0, tree.counts[growth.NODES], f.POLICY, 3)
    pairs.payoffs(public, tree, 0, tree.counts[growth.ENDS], 3)


@njit
def _weigh(public: Public, tree: Tree, leaves: Leaves, search: Search) -> None:
    """Counterfactual values of all leaves from their conditional values and the current ranges."""
    if search.single:
        weighing.weigh_positions(public, tree, leaves, search.state[LEAVES])
    else:
        weighing.weigh(public, tree, leaves, 0, search.state[LEAVES], 3, 1.0)


@njit
def _up(public: Public, tree: Tree, search: Search, updates: int, step: Array) -> None:
    """Values up, with regret updates of the players in the bit mask, the gadget's included."""
    if search.by_node:
        positions.backward(tree, search.sums, updates, step)
    else:
        sweeps.backward(public, tree, 0, tree.counts[growth.NODES], 3, updates, step, True)
    update_choice(tree, search.choice, updates, step)


# --- expansion phase ---


@njit
def grow(public: Public, tree: Tree, search: Search, expansions: int) -> int:
    """So many trajectories, each adding to the tree where it ends; how many were done.

    Fewer where the tree needs room or the public tree must list a fan: Selection.found then says which node and edge.
    """
    nodes, found = tree.nodes, search.selection.found
    for done in range(expansions):
        trajectories.trajectory(public, tree, search.selection)
        drawn = found[1] != NO_WORLD
        if found[0] < 0 and search.fill:
            _fill(public, tree, search)
        n, edge = found[0], found[1]
        if n < 0 and search.fill:
            _leave(search.state, expansions - done)
            return expansions
        search.state[LOST] += n < 0 or not drawn
        if n < 0:
            continue
        search.state[OPENED] += 1
        listed = public.nodes[nodes[n, f.PUBLIC], f.EDGE0] >= 0
        if search.single and listed and edge == ALL and nodes[n, f.N_ACTOR] < f.NATURE:
            edge = trajectories.best_prior(public, tree, n, 0)
        waits = search.apart and nodes[n, f.N_ACTOR] < f.NATURE
        if waits or growth.expand(public, tree, n, edge) != growth.DONE:
            return done + 1
        opened(public, tree, n, edge, search.single, search.warm)
        found[0] = -1
    return expansions


@njit
def _fill(public: Public, tree: Tree, search: Search) -> None:
    """Choose what a trajectory opens that came to nothing it could open."""
    start, found = search.selection.start, search.selection.found
    if search.single:
        trajectories.oldest_gap(public, tree, start, found)
    else:
        found[0], found[1] = trajectories.oldest_leaf(tree, start), ALL


@njit
def _leave(state: Array, expansions: int) -> None:
    """Nothing is left to open now: so many expansions are owed, or lost where no look at the leaves will help."""
    state[OWED if state[OPENED] > 0 else LOST] += expansions


@njit
def opened(public: Public, tree: Tree, n: int, edge: int, single: bool, warm: float) -> None:
    """The first policy of node n, which now has its children, or one more."""
    if tree.nodes[n, f.N_ACTOR] >= f.NATURE:
        return
    if single:
        trajectories.first_guess(public, tree, n, edge)
    matching.match_regrets(public, tree, n, f.REGRET, f.POLICY)
    if warm > 0.0 and not single:
        trajectories.warm_start(public, tree, n, warm)


@njit
def grow_positions(public: Public, tree: Tree, search: Search, expansions: int) -> int:
    """`grow` in a deterministic game (k = 1), where a child can be added before its position is listed.

    Search.awaited then says which positions are to be listed. Fewer trajectories are done where the tree needs room.
    """
    nodes, start, found = tree.nodes, search.selection.start, search.selection.found
    added = 0
    for done in range(expansions):
        if not growth.has_room(tree, 1, search.widest_fan, 2, 0):
            search.state[AWAITED] = added
            return done
        trajectories.trajectory(public, tree, search.selection)
        if found[0] < 0 and search.fill:
            trajectories.oldest_gap(public, tree, start, found)
        n, edge = found[0], found[1]
        if n < 0 and search.fill:
            _leave(search.state, expansions - done)
            break
        search.state[LOST] += n < 0
        if n < 0:
            continue
        search.state[OPENED] += 1
        if edge == ALL:
            edge = trajectories.best_prior(public, tree, n, 0)
        growth.add_unlisted_child(public, tree, n, edge)
        opened(public, tree, n, edge, True, 0.0)
        search.awaited[0, added], search.awaited[1, added] = nodes[n, f.PUBLIC], edge
        added += 1
    search.state[AWAITED] = added
    return expansions
