"""Numba kernels of Monte Carlo tree search with PUCT; they work on arrays alone.

A tree is `nodes` and a column of `stats` for each (node, action), the columns of a node side by side. Values are
player 0's, as shares of the game's largest utility.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.games.base import NATURE, TERMINAL
from sog.records import Record, Records, Whole
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.spans import are_finite
from sog.searches.leaves.evaluator import Evaluations
from sog.searches.tree import listing, pairs
from sog.searches.tree.arrays import Cells, Public

# What `step` answers.
DONE: Final = 0
NO_ROOM: Final = 1  # nothing has changed: grow the tree's arrays and call again
REFUSED: Final = 2  # an answer is not finite, and nothing has changed
TO_LIST: Final = 3  # as DONE, but Python must list some of the leaves, and put those in Batch.nodes that do not end

# What child, int32[C], holds besides nodes.
ABSENT: Final = -1
AWAITED: Final = -2  # its evaluation has been requested


class PuctNode(Record):
    """A node of the tree."""

    public = Whole("i4")  # its public state
    actor = Whole("i4")  # who acts there, as in games.base
    first = Whole("i4")  # its first column
    columns = Whole("i4")  # how many columns; 0 where the game ends
    parent = Whole("i4")  # the node above; -1 at the root
    entry = Whole("i4")  # the parent's column that leads here; -1 at the root


class PuctNodes(Records[PuctNode], PuctNode):
    """A row per node."""


class Stat(IntEnum):
    """Rows of Statistics.stats: numbers of each (node, action)."""

    VISITS = 0
    VIRTUAL = 1  # visits under way
    TOTAL = 2  # the sum of the values that visits brought
    PRIOR = 3


_STATS: Final = len(Stat)


class Count(Record):
    """How much of a tree's tables is in use."""

    nodes = Whole("i8")
    columns = Whole("i8")


class PuctCounts(Records[Count], Count):
    """One row."""


class Leaf(Record):
    """A leaf that a simulation found."""

    under = Whole("i4")  # the node that it is to be added to; -1 for the root
    at = Whole("i4")  # the column that leads to it
    above = Whole("i4")  # the public state of the node above
    column = Whole("i4")  # which of that state's columns was taken
    state = Whole("i4")  # the leaf's own public state; -1: not listed yet


class BatchLeaves(Records[Leaf], Leaf):
    """A row per leaf of a batch."""


class Done(Record):
    """How the simulations of a batch ended."""

    leaves = Whole("i8")  # leaves found
    asked = Whole("i8")  # how many of them are in Batch.nodes
    ended = Whole("i8")  # simulations that ended where the game ends


class DoneRow(Records[Done], Done):
    """One row."""


class Statistics(NamedTuple):
    """The arrays of a PuctTree.

    nodes: a row per node.  values: float64[M].  child: int32[C].  stats: float64[len(Stat), C].  counts: one row.
    """

    nodes: PuctNodes
    values: Float64
    child: Int32
    stats: Float64
    counts: PuctCounts


class Rules(NamedTuple):
    """How simulations go (search.PuctSettings).

    unit: the game's largest utility.  leaves: how many are to be found at once.  root: the column of the root that
    simulations begin with; -1 for PUCT's choice.
    """

    c_init: float
    c_base: float
    first_play_loses: bool
    unit: float
    leaves: int
    root: int


class Batch(NamedTuple):
    """A batch of simulations and what it found.

    leaves: a row per leaf.  nodes: int32[*], the public nodes of those where the game continues.  done: one row.
    """

    rules: Rules
    leaves: BatchLeaves
    nodes: Int32
    done: DoneRow


@inlined
def _best(tree: Statistics, rules: Rules, n: int) -> int:
    """The column of node n to go down: the largest PUCT score (AlphaZero, pseudocode, ucb_score).

    score[a] = Q[a] + (log((N + c_base + 1) / c_base) + c_init) * P[a] * sqrt(N) / (1 + n[a]),
    n[a]: visits and virtual visits, N: 1 + sum over a of n[a].
    Q[a] = (1 + mean value of a's visits for the actor) / 2, in [0, 1], where a virtual visit is a loss; of an action
    not tried 0 (first_play_loses) or the node's mean. NATURE: the column furthest behind its chance, P[a] * N - n[a].
    """
    node, stats = tree.nodes[n], tree.stats
    first, stop = node.first, node.first + node.columns
    # Sums over the columns; the node's own evaluation counts as a try.
    visits, tried, total = 1.0, 1.0, tree.values[n]
    for k in range(first, stop):
        visits += stats[Stat.VISITS, k] + stats[Stat.VIRTUAL, k]
        tried += stats[Stat.VISITS, k]
        total += stats[Stat.TOTAL, k]
    # Values are player 0's in [-1, 1]; the actor's in [0, 1] are (1 + sign * value) / 2.
    sign = 1.0 if node.actor == 0 else -1.0
    unknown = 0.0 if rules.first_play_loses else 0.5 + 0.5 * sign * total / tried
    explore = (np.log((visits + rules.c_base + 1.0) / rules.c_base) + rules.c_init) * np.sqrt(visits)
    # The scores.
    best, top = first, -np.inf
    for k in range(first, stop):
        own = stats[Stat.VISITS, k] + stats[Stat.VIRTUAL, k]
        # Chance is not drawn: visits follow its probabilities as closely as whole numbers can.
        if node.actor == NATURE:
            score = stats[Stat.PRIOR, k] * visits - own
        else:
            # (sign * total - virtual) / own: each virtual visit brings -1.
            value = unknown
            if own > 0.0:
                value = 0.5 + 0.5 * (sign * stats[Stat.TOTAL, k] - stats[Stat.VIRTUAL, k]) / own
            score = value + explore * stats[Stat.PRIOR, k] / (1.0 + own)
        if score > top:
            best, top = k, score
    return best


@inlined
def _back_up(tree: Statistics, n: int, k: int, value: float, visits: float) -> None:
    """One visit of column k of node n, and of every column above it, under way no more.

    visits: 1, or 0 where the simulation is given up.
    """
    # The root has no column above: -1. Values stay player 0's all the way up.
    while k >= 0:
        tree.stats[Stat.VIRTUAL, k] -= 1.0
        tree.stats[Stat.VISITS, k] += visits
        tree.stats[Stat.TOTAL, k] += visits * value
        k, n = tree.nodes[n].entry, tree.nodes[n].parent


@same_types
@njit
def step(
    public: Public, cells: Cells, tree: Statistics, batch: Batch, answered: int, answers: Evaluations, simulations: int
) -> int:
    """Take up the answers to the `answered` leaves found before (see _absorb), then find new ones (see _descend)."""
    # Room for a column per action, or per edge at NATURE's nodes, whichever is more.
    columns, counts = 0, tree.counts[0]
    for b in range(answered):
        state = public.nodes[batch.leaves[b].state]
        columns += max(state.actions, state.edges)
    if counts.nodes + answered > len(tree.nodes) or counts.columns + columns > len(tree.child):
        return NO_ROOM
    if not (are_finite(answers.values.reshape(-1)) and are_finite(answers.logits.reshape(-1))):
        return REFUSED
    _absorb(public, tree, batch, answered, answers)
    _descend(public, tree, batch, simulations)
    return DONE if _list_leaves(public, cells, batch) else TO_LIST


@njit
def _list_leaves(public: Public, cells: Cells, batch: Batch) -> bool:
    """Put the leaves where the game continues in Batch.nodes, listed by the game's cell rules; False if Python must."""
    done = batch.done[0]
    done.asked = 0
    if done.leaves == 0:
        return True
    if not listing.has_room(public, cells, done.leaves):
        return False
    for b in range(done.leaves):
        leaf = batch.leaves[b]
        if leaf.state < 0:
            leaf.state = listing.list_child(public, cells, leaf.above, leaf.column)
        if public.nodes[leaf.state].actor != TERMINAL:
            batch.nodes[done.asked] = leaf.state
            done.asked += 1
    return True


@njit
def _descend(public: Public, tree: Statistics, batch: Batch, simulations: int) -> None:
    """Simulations from the root until enough of them have found a leaf, or `simulations` are done.

    A simulation that meets an awaited leaf is given up and ends the batch: its answer must come first.
    """
    nodes, child, done, rules = tree.nodes, tree.child, batch.done[0], batch.rules
    done.leaves = done.ended = 0
    while done.leaves < rules.leaves and done.leaves + done.ended < simulations:
        n, k = 0, -1
        # Selection. Each column taken gets a virtual visit, so that the next simulations of the batch go elsewhere.
        while nodes[n].columns > 0:
            k = nodes[0].first + rules.root if n == 0 and rules.root >= 0 else _best(tree, rules, n)
            tree.stats[Stat.VIRTUAL, k] += 1.0
            c = int(child[k])
            # The same leaf again: nothing else is to be gained before its answer.
            if c == AWAITED:
                _back_up(tree, n, k, 0.0, 0.0)
                return
            # Expansion: the edge is new, and what it leads to is evaluated.
            if c == ABSENT:
                child[k] = AWAITED
                leaf = batch.leaves[done.leaves]
                leaf.under, leaf.at = n, k
                leaf.above, leaf.column = nodes[n].public, k - nodes[n].first
                leaf.state = _listed(public, leaf.above, leaf.column)
                done.leaves += 1
                break
            n = c
        # An end: its exact value goes up at once.
        if nodes[n].columns == 0:
            _back_up(tree, nodes[n].parent, k, tree.values[n], 1.0)
            done.ended += 1


@inlined
def _listed(public: Public, s: int, column: int) -> int:
    """The public state that a column of public state s leads to; -1 where it is not listed yet."""
    state, edge = public.nodes[s], column
    if state.edge0 < 0:
        return -1
    # One infostate a player: an action has one edge, its own or that of its only link.
    if state.actor < NATURE:
        action = public.actions[state.action0 + column]
        edge = action.edge if action.edge >= 0 else public.links[action.link0].edge
    return public.edges[state.edge0 + edge].child


@njit
def give_up(tree: Statistics, batch: Batch, leaves: int) -> None:
    """Forget that the `leaves` leaves found were to be evaluated."""
    for b in range(leaves):
        leaf = batch.leaves[b]
        # Virtual visits are taken back and no visit is counted: the column can be tried again.
        tree.child[leaf.at] = ABSENT
        _back_up(tree, leaf.under, leaf.at, 0.0, 0.0)


@njit
def _absorb(public: Public, tree: Statistics, batch: Batch, leaves: int, answers: Evaluations) -> None:
    """Add the leaves found to the tree, with their values and priors, and carry their values up.

    answers: those of the leaves where the game continues, in order. The root's node above is -1. The fans of NATURE's
    nodes are listed.
    """
    counts, row = tree.counts[0], 0
    for b in range(leaves):
        leaf, n = batch.leaves[b], counts.nodes
        state, node = public.nodes[leaf.state], tree.nodes[n]
        counts.nodes += 1
        node.public, node.actor = leaf.state, state.actor
        node.parent, node.entry = leaf.under, leaf.at
        node.first, node.columns = counts.columns, 0
        # Values as shares of u_max. The network's two values need not sum to 0: player 0's is half of their difference.
        if state.actor == TERMINAL:
            tree.values[n] = pairs.utility(public, leaf.state, 0, 0) / batch.rules.unit
        else:
            tree.values[n] = 0.5 * (answers.values[row, 0] - answers.values[row, 1]) / batch.rules.unit
            node.columns = state.edges if state.actor == NATURE else state.actions
            _open(public, tree, node, answers.logits[row, 0])
            counts.columns += node.columns
            row += 1
        # The evaluation is this visit's value.
        if leaf.under >= 0:
            tree.child[leaf.at] = n
            _back_up(tree, leaf.under, leaf.at, tree.values[n], 1.0)


@njit
def _open(public: Public, tree: Statistics, node: PuctNode, logits: Array) -> None:
    """Clear the columns of a new node and write its priors: softmax of logits, or NATURE's chances.

    P[a] = exp(logit[a] - top) / sum over b of exp(logit[b] - top); at NATURE's nodes the weight W of each child, which
    holds all chance up to it, over their sum.
    """
    state, stats, first = public.nodes[node.public], tree.stats, node.first
    nature = node.actor == NATURE
    top, total = -np.inf, 0.0
    for a in range(node.columns):
        tree.child[first + a] = ABSENT
        for row in range(_STATS):
            stats[row, first + a] = 0.0
        # The largest logit is taken off all, so that exp cannot overflow.
        if not nature:
            top = max(top, logits[public.actions[state.action0 + a].identity])
    for a in range(node.columns):
        if nature:
            weight = float(pairs.weight(public, public.edges[state.edge0 + a].child, 0, 0))
        else:
            weight = np.exp(logits[public.actions[state.action0 + a].identity] - top)
        stats[Stat.PRIOR, first + a] = weight
        total += weight
    for k in range(first, first + node.columns):
        stats[Stat.PRIOR, k] /= total


@njit
def keep(tree: Statistics, root: int, place: Array) -> None:
    """Move the subtree below `root` to the front, root first; the rest is dropped.  place: int32[M] scratch.

    A child has a higher number than its parent, so one pass never overwrites what is still to be moved.
    """
    nodes, values, child, stats, counts = tree.nodes, tree.values, tree.child, tree.stats, tree.counts[0]
    num_nodes, columns = 0, 0
    # Nodes in ascending order: `place` says where each one that stays has moved.
    for n in range(counts.nodes):
        parent, old, count = nodes[n].parent, nodes[n].first, nodes[n].columns
        place[n] = -1
        # Nodes with lower numbers than the root, or whose parent goes, are not below it.
        if n != root and (n < root or place[parent] < 0):
            continue
        m = num_nodes
        if n != root:  # the parent has moved: its columns begin where its new row says
            entry = nodes[place[parent]].first + nodes[n].entry
        # m <= n: the row written over has been moved or dropped.
        nodes[m] = nodes[n]
        values[m] = values[n]
        nodes[m].first, nodes[m].parent, nodes[m].entry = columns, -1, -1
        if n != root:
            nodes[m].parent, nodes[m].entry = place[parent], entry
            child[entry] = m
        for a in range(count):
            c = child[old + a]
            if c >= 0:
                nodes[c].entry = a  # where in its parent's block, until it moves itself
            child[columns + a] = c
            for row in range(_STATS):
                stats[row, columns + a] = stats[row, old + a]
        place[n] = m
        num_nodes += 1
        columns += count
    counts.nodes, counts.columns = num_nodes, columns
