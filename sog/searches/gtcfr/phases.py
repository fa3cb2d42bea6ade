"""Numba kernels of GT-CFR's phases: all that lies between two evaluations of the leaves is one call.

A call from Python costs microseconds, as much as the phases of a small game take. They work on arrays alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sog.arrays import Array, Float64, Int32
from sog.games.base import NATURE
from sog.records import Record, Records, Whole
from sog.searches.cfr import matching, paths, positions, sweeps
from sog.searches.cfr.iterate import Choice, enter, update_choice
from sog.searches.gtcfr import trajectories
from sog.searches.gtcfr.trajectories import ALL, NO_WORLD, Selection
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import njit
from sog.searches.kernels.spans import are_finite
from sog.searches.leaves import kernels, weighing
from sog.searches.leaves.evaluator import Evaluations
from sog.searches.leaves.kernels import Leaves, Look, Request
from sog.searches.tree import growth, listing, pairs
from sog.searches.tree.arrays import Cells, Public, Tree
from sog.searches.tree.players import Players, only
from sog.searches.tree.records import AwaitedNodes, Entry, Evaluated, Infostate, Kind

# What `advance` answers instead of a number of leaves: what must be done in Python before it is called again.
EXPAND: Final = -1  # the node and the edge in Selection.walk need room, a fan that is not listed, or a prior
IDENTIFY: Final = -2  # positions are to be listed (Search.awaited), or the tree needs room for more
REFUSED: Final = -3  # an answer is not finite, and nothing was done


class State(Record):
    """What a search needs from one call of `advance` to the next."""

    requested = Whole("i8")  # leaves in the last request
    leaves = Whole("i8")  # leaves in all
    answered = Whole("i8")  # whether there was a request, whose answers are still to be taken up
    iteration = Whole("i8")  # the iteration they belong to, from 0
    updates = Whole("i8")  # whether it updates regrets
    expansions = Whole("i8")  # expansions to come
    awaited = Whole("i8")  # nodes to be identified
    lost = Whole("i8")  # trajectories so far that drew no world or after which nothing was opened
    opened = Whole("i8")  # what this expansion phase has opened
    owed = Whole("i8")  # expansions left to the next phase, since only nodes without a prior yet could be opened
    nodes = Whole("i8")  # by paths: the nodes that an earlier look has seen
    ends = Whole("i8")  # by paths: the ends that one has seen
    touched = Whole("i8")  # by paths: how many are in Search.touched


class States(Records[State], State):
    """One row."""


class Search(NamedTuple):
    """One search's settings, and what it keeps between two calls.

    choice: the gadget's.  selection: how trajectories choose.  leaves: the tree's.  request: the last.
    steps: float64[T, 4] of rules.Rule.steps.  alternating: the players update in turn on one look at the leaves.
    single: perfect information, one infostate a player: a leaf is evaluated once and opened child by child (k = 1).
    by_node: the sweeps of cfr/positions.py serve.  by_path: those of cfr/paths.py do.
    deterministic: a child can be added before its position is listed.
    temperature: of priors.  warm: value units of regret at the prior of an opened node.
    fill: if a simulation cannot expand anything, expand the oldest leaf.
    tolerance: how far a leaf's ranges, weighed by reach, may move before it is evaluated anew (kernels.collect_moved).
    apart: the prior of a leaf is evaluated when it is opened.  chance_leaves: no leaf of chance's is opened.
    pairs: int32[2, S, A], see kernels.absorb_prior.
    widest_fan: the most edges of a position.
    sums: float64[2, M], to work with.  touched: int32[*], nodes that this phase's trajectories passed.
    awaited: what leads to each node that was added without its public state.
    state: one row.
    """

    choice: Choice
    selection: Selection
    leaves: Leaves
    request: Request
    steps: Float64
    alternating: bool
    single: bool
    by_node: bool
    by_path: bool
    deterministic: bool
    temperature: float
    warm: float
    fill: bool
    tolerance: float
    apart: bool
    chance_leaves: bool
    pairs: Int32
    widest_fan: int
    sums: Float64
    touched: Int32
    awaited: AwaitedNodes
    state: States


@same_types
@njit
def advance(public: Public, cells: Cells, tree: Tree, search: Search, answers: Evaluations) -> int:
    """Take up the answers to the last request, grow the tree, and make the next; how many leaves that has.

    EXPAND, IDENTIFY or REFUSED where something must be done before.
    """
    state = search.state[0]
    # CFR's second half: the leaves' values up, and the regrets. Nothing may grow before, since answers go by place.
    if state.answered and not take_up(public, tree, search, answers):
        return REFUSED
    # GROW. A deterministic game's positions are listed after it, all at once: here if the game has cell rules.
    if state.expansions > 0 and search.deterministic:
        state.expansions -= grow_positions(public, tree, search, state.expansions)
        if not _list_grown(public, cells, tree, search) or state.expansions > 0:
            return IDENTIFY
    if state.expansions > 0:
        state.expansions -= grow(public, tree, search, state.expansions)
        if search.selection.walk[0].node >= 0:
            return EXPAND
    # CFR's first half, which needs no answers: ranges down, and the beliefs at the leaves.
    look(public, tree, search)
    state.answered, state.opened = 1, 0
    return state.requested


# --- regret update phase ---


@njit
def look(public: Public, tree: Tree, search: Search) -> None:
    """Ranges down, payoffs at the ends, beliefs out of the leaves; State.requested of them are in the request."""
    state, leaves = search.state[0], search.leaves
    # Virtual losses keep the trajectories of one phase apart, and end with it.
    trajectories.settle(tree, search.selection)
    if search.by_path:
        _look_at_new(public, tree, search)
        return
    state.leaves = kernels.list_leaves(tree, leaves.nodes)
    _down(public, tree, search, Players.BOTH, Players.BOTH)
    # One infostate a player: its range scales the opponent's values and nothing else (PoG, B.2, "Regret Update Phase"),
    # so a leaf's conditional value is good for the whole search.
    if search.single:
        only_new = Look(Infostate.REACH, Players.BOTH, Players.BOTH, False, True, search.request)
        state.requested = kernels.collect(public, tree, leaves, 0, state.leaves, 0, only_new)
    else:
        state.requested = kernels.collect_moved(public, tree, leaves, state.leaves, search.request, search.tolerance)


@njit
def _look_at_new(public: Public, tree: Tree, search: Search) -> None:
    """`look` by paths: at the nodes that were added since the last look."""
    state, leaves, listed = search.state[0], search.leaves, 0
    paths.enter(tree, state.nodes)
    pairs.payoffs(public, tree, state.ends, tree.counts[0].ends, Players.BOTH)
    for n in range(state.nodes, tree.counts[0].nodes):
        if tree.nodes[n].kind == Kind.LEAF:
            leaves.nodes[listed] = n
            listed += 1
    # Until the first update nothing has been seen: it passes the whole tree, which an earlier search may have left.
    if state.updates:
        state.nodes, state.ends = tree.counts[0].nodes, tree.counts[0].ends
    only_new = Look(Infostate.REACH, Players.BOTH, Players.BOTH, False, True, search.request)
    state.leaves, state.requested = listed, kernels.collect(public, tree, leaves, 0, listed, 0, only_new)


@njit
def take_up(public: Public, tree: Tree, search: Search, answers: Evaluations) -> bool:
    """Evaluations into the leaves, and values up with the iteration's updates of both players.

    False where an answer is not finite, since no policy could be made of it; then nothing is taken up.
    """
    state, leaves, request = search.state[0], search.leaves, search.request
    if not are_finite(answers.values.reshape(-1)) or not (search.apart or are_finite(answers.logits.reshape(-1))):
        return False
    state.answered = 0
    # Answers are conditional on the infostate. `_weigh` makes counterfactual values of them: cfv[i] = value[i] *
    # mass[i], where mass[i] = sum over j of W[i, j] r[j].
    for b in range(state.requested):
        n = leaves.nodes[request.places[b]]
        kernels.absorb(public, tree, leaves, request, b, answers.values, Players.BOTH)
        if not search.apart:
            kernels.absorb_prior(public, tree, n, search.pairs, answers.logits[b], search.temperature)
        # Only an evaluated leaf may be opened.
        node = tree.nodes[n]
        if node.evaluated == Evaluated.AWAITING:
            closed = search.chance_leaves and node.actor == NATURE
            node.evaluated = Evaluated.CLOSED if closed else Evaluated.READY
    # The first look updates nothing, but its values are there for `first_guess`.
    if not state.updates:
        _weigh(public, tree, search, Players.BOTH)
        return True
    if search.by_path:
        _weigh(public, tree, search, Players.BOTH)
        # Without trajectories, as in a search's first update, every node is passed.
        if state.touched > 0:
            paths.update_touched(tree, search.touched[: state.touched], search.steps[state.iteration])
        else:
            paths.update_all(tree, search.steps[state.iteration])
        state.touched = 0
        return True
    # Simultaneous: one update of both (SoG). Alternating: player 0's, then player 1's against player 0's new policy,
    # with the same conditional values at the leaves and masses by the new ranges.
    paid = Players.BOTH
    for turn in range(2 if search.alternating else 1):
        # Only player 0's policy has changed: its ranges, and what player 1 is paid against them.
        if turn == 1:
            paid = Players.SECOND
            _down(public, tree, search, Players.FIRST, paid)
        # A correction takes half of what both players' values sum to, which those ranges change for both.
        _weigh(public, tree, search, Players.BOTH if leaves.correct else paid)
        updates = only(turn) if search.alternating else Players.BOTH
        _up(public, tree, search, updates, search.steps[state.iteration])
    return True


@njit
def take_prior(public: Public, tree: Tree, n: int, index: Array, logits: Array, temperature: float) -> None:
    """The prior of leaf n from its policy logits, float64[1, S, A], or [1, 1, P] by the pairs of LegalPairs.index."""
    kernels.absorb_prior(public, tree, n, index, logits[0], temperature)


@njit
def _down(public: Public, tree: Tree, search: Search, moved: Players, paid: Players) -> None:
    """Ranges of the players in `moved` down from root and gadget; payoffs at the ends for those in `paid`."""
    enter(tree, search.choice)
    # The gadget first: it sets the opponent's range at the root, which the sweep sends down.
    if search.by_node:
        positions.forward(tree)
    else:
        sweeps.forward(public, tree, 0, tree.counts[0].nodes, Entry.POLICY, moved)
    pairs.payoffs(public, tree, 0, tree.counts[0].ends, paid)


@njit
def _weigh(public: Public, tree: Tree, search: Search, players: Players) -> None:
    """The players' counterfactual values at all leaves from their conditional values and the current ranges."""
    count = search.state[0].leaves
    # DeepStack's zero-sum correction, where it is wanted, is part of both (leaves/weighing.py).
    if search.single:
        weighing.weigh_positions(public, tree, search.leaves, count)
    else:
        weighing.weigh(public, tree, search.leaves, 0, count, players, 1.0)


@njit
def _up(public: Public, tree: Tree, search: Search, updates: Players, step: Array) -> None:
    """Values up, with regret updates of the players in `updates`, the gadget's included."""
    if search.by_node:
        positions.backward(tree, search.sums, updates, step)
    else:
        sweeps.backward(public, tree, 0, tree.counts[0].nodes, Players.BOTH, updates, step, True)
    # The gadget last: it reads the opponent's values at the root, and is the decision above all others.
    update_choice(tree, search.choice, updates, step)


# --- expansion phase ---


@njit
def grow(public: Public, tree: Tree, search: Search, expansions: int) -> int:
    """`expansions` trajectories, each adding to the tree where it ends; how many were done (PoG, Algorithm 1, GROW).

    Fewer where the tree needs room or the public tree must list a fan: Selection.walk then says which node and edge.
    """
    state, walk = search.state[0], search.selection.walk[0]
    for done in range(expansions):
        # SamplePathDownTheTree
        trajectories.trajectory(public, tree, search.selection)
        drawn = walk.edge != NO_WORLD
        # Unlike the paper, where a trajectory to an end expands nothing: with `fill` the oldest leaf is expanded.
        if walk.node < 0 and search.fill:
            _fill(public, tree, search)
        n, edge = walk.node, walk.edge
        # Not even that: every further trajectory of this phase would find the same.
        if n < 0 and search.fill:
            _owe(search, expansions - done)
            return expansions
        state.lost += n < 0 or not drawn
        if n < 0:
            continue
        state.opened += 1
        node = tree.nodes[n]
        listed = public.nodes[node.public].edge0 >= 0
        # AddTopKChildren with k = 1: the action of the highest prior. With k = all, `edge` is ALL.
        if search.single and listed and edge == ALL and node.actor < NATURE:
            edge = trajectories.best_prior(public, tree, n, 0)
        # Python's turn: a prior to be evaluated, arrays to grow, or a fan to list. The walk keeps its node and edge for
        # it.
        waits = search.apart and node.actor < NATURE
        if waits or growth.expand(public, tree, n, edge) != growth.DONE:
            return done + 1
        policy_of_opened(public, tree, n, edge, search.single, search.warm)
        walk.node = -1
    return expansions


@njit
def _fill(public: Public, tree: Tree, search: Search) -> None:
    """Choose what is opened instead where a trajectory ended at nothing that can be opened."""
    selection = search.selection
    # For k = 1 a node that lacks a child counts too, in the order of numbers.
    if search.single:
        trajectories.oldest_gap(public, tree, selection.start, selection.walk)
    else:
        walk = selection.walk[0]
        walk.node, walk.edge = trajectories.oldest_leaf(tree, selection.start), ALL


@njit
def _owe(search: Search, expansions: int) -> None:
    """Nothing is left to open now: this many expansions are owed, or lost where no look at the leaves will help."""
    state = search.state[0]
    # What this phase opened has leaves that the next look evaluates, and a later phase may open those. If it opened
    # nothing, all leaves had been evaluated.
    if state.opened > 0:
        state.owed += expansions
    else:
        state.lost += expansions


@njit
def _list_grown(public: Public, cells: Cells, tree: Tree, search: Search) -> bool:
    """List the positions in Search.awaited; False, and nothing done, where Python must do it or make room."""
    state = search.state[0]
    most = tree.counts[0].entries + state.awaited * search.widest_fan
    if most > tree.entries.shape[1] or not listing.list_awaited(public, cells, search.awaited, state.awaited):
        return False
    growth.identify_newest(public, tree, search.awaited, state.awaited)
    state.awaited = 0
    return True


@njit
def policy_of_opened(public: Public, tree: Tree, n: int, edge: int, single: bool, warm: float) -> None:
    """The first policy of node n, which now has its children, or one more."""
    node = tree.nodes[n]
    # Chance has no policy.
    if node.actor >= NATURE:
        return
    # One child of more may have come: its value is not known before the next sweep.
    if single:
        trajectories.first_guess(public, tree, n, edge)
    # Regrets of a new node are 0, so it plays uniformly over the children in the tree; one child more joins with regret
    # 0.
    matching.match_regrets(public, tree, node, Entry.REGRET, Entry.POLICY)
    # Ours: begin at the prior instead. For k = 1 only the child of the highest prior is in the tree at first.
    if warm > 0.0 and not single:
        trajectories.warm_start(public, tree, n, warm)


@njit
def grow_positions(public: Public, tree: Tree, search: Search, expansions: int) -> int:
    """`grow` in a deterministic game (k = 1), where a child can be added before its position is listed.

    Search.awaited then says which positions are to be listed. Fewer trajectories are done where the tree needs room:
    how many is returned.
    """
    selection, state, added = search.selection, search.state[0], 0
    walk = selection.walk[0]
    for done in range(expansions):
        # Room for the most that one trajectory adds: a node, the parent's edges, one infostate a player. Entries wait
        # until the positions are listed.
        if not growth.has_room(tree, 1, search.widest_fan, 2, 0):
            state.awaited = added
            return done
        trajectories.trajectory(public, tree, selection)
        if search.by_path:
            state.touched = paths.touch(tree, walk.last, selection.start, search.touched, state.touched)
        # As in `grow`: a trajectory that ended at nothing to open, nothing left at all, the child of the highest prior.
        if walk.node < 0 and search.fill:
            trajectories.oldest_gap(public, tree, selection.start, selection.walk)
            if search.by_path and walk.node >= 0:
                state.touched = paths.touch(tree, walk.node, selection.start, search.touched, state.touched)
        n, edge = walk.node, walk.edge
        if n < 0 and search.fill:
            _owe(search, expansions - done)
            break
        state.lost += n < 0
        if n < 0:
            continue
        state.opened += 1
        if edge == ALL:
            edge = trajectories.best_prior(public, tree, n, 0)
        growth.add_unlisted_child(public, tree, n, edge)
        policy_of_opened(public, tree, n, edge, True, 0.0)
        # The child is a leaf without a position, so no later trajectory of this phase goes through it.
        awaited = search.awaited[added]
        awaited.public, awaited.edge = tree.nodes[n].public, edge
        added += 1
    state.awaited = added
    return expansions
