"""Numba kernels of Monte Carlo tree search with PUCT; they know arrays only and never see the rules.

A tree is `nodes`, int32[M, FIELDS], and a column of `stats` for each (node, action), the columns of a node side by
side. Values are player 0's, as shares of the game's largest utility.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int32, Int64
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import inlined, njit
from sog.searches.leaves.evaluator import Evaluations
from sog.searches.tree import columns as f
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public

# Columns of nodes. ENTRY: the column of the parent's that leads here.
PUBLIC, ACTOR, FIRST, COLUMNS, PARENT, ENTRY = range(6)
FIELDS: Final = 6

# Rows of stats, float64[4, C].  TOTAL: the sum of the values that visits brought.  VIRTUAL: visits under way.
VISITS, VIRTUAL, TOTAL, PRIOR = range(4)
STAT_ROWS: Final = 4

# What child, int32[C], holds besides nodes.
ABSENT: Final = -1
AWAITED: Final = -2  # its evaluation has been requested

# Entries of counts.
NODES, COLUMNS_USED = range(2)
# Entries of Found.done: leaves found, and simulations that ended where the game ends.
LEAVES, ENDED = range(2)
# Rows of Found.leaves, int32[5, B], a column for each leaf: where it is to be added, the public node there and which
# of its columns was taken, and the leaf's own public node (-1: not listed yet).
UNDER, AT, ABOVE, COLUMN, STATE = range(5)
FOUND_ROWS: Final = 5


class Statistics(NamedTuple):
    """The arrays of a PuctTree.

    nodes: int32[M, FIELDS].  values: float64[M].  child: int32[C].  stats: float64[STAT_ROWS, C].
    counts: int64[2], how many nodes and columns are in use.
    """

    nodes: Int32
    values: Float64
    child: Int32
    stats: Float64
    counts: Int64


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


class Found(NamedTuple):
    """The leaves of a batch.

    leaves: int32[FOUND_ROWS, B] (rows above).  done: int64[2], leaves found, and simulations that ended where the game
    ends.
    """

    leaves: Int32
    done: Int64


@inlined
def _best(tree: Statistics, rules: Rules, n: Any) -> Any:
    """The column of node n to go down: the largest PUCT score (AlphaZero, pseudocode, ucb_score).

    At NATURE's nodes it is the column that is furthest behind its chance. Values are seen from the actor's side and
    lie in [0, 1]; a virtual visit counts as a loss; an action not tried counts as a loss or as the node's mean.
    """
    nodes, stats = tree.nodes, tree.stats
    first, stop = nodes[n, FIRST], nodes[n, FIRST] + nodes[n, COLUMNS]
    visits, total = 1.0, tree.values[n]
    tried = 1.0
    for k in range(first, stop):
        visits += stats[VISITS, k] + stats[VIRTUAL, k]
        tried += stats[VISITS, k]
        total += stats[TOTAL, k]
    sign = 1.0 if nodes[n, ACTOR] == 0 else -1.0
    unknown = 0.0 if rules.first_play_loses else 0.5 + 0.5 * sign * total / tried
    explore = (np.log((visits + rules.c_base + 1.0) / rules.c_base) + rules.c_init) * np.sqrt(visits)
    best, top = first, -np.inf
    for k in range(first, stop):
        own = stats[VISITS, k] + stats[VIRTUAL, k]
        if nodes[n, ACTOR] == f.NATURE:
            score = stats[PRIOR, k] * visits - own
        else:
            value = unknown
            if own > 0.0:
                value = 0.5 + 0.5 * (sign * stats[TOTAL, k] - stats[VIRTUAL, k]) / own
            score = value + explore * stats[PRIOR, k] / (1.0 + own)
        if score > top:
            best, top = k, score
    return best


@inlined
def _back_up(tree: Statistics, n: Any, k: Any, value: float, visits: float) -> None:
    """One visit of column k of node n, and of every column above it, under way no more.

    visits: 1, or 0 where the simulation is given up.
    """
    while k >= 0:
        tree.stats[VIRTUAL, k] -= 1.0
        tree.stats[VISITS, k] += visits
        tree.stats[TOTAL, k] += visits * value
        k, n = tree.nodes[n, ENTRY], tree.nodes[n, PARENT]


@same_types
@njit
def step(
    public: Public, tree: Statistics, rules: Rules, found: Found, answered: int, answers: Evaluations, simulations: int
) -> bool:
    """Take up the answers to the `answered` leaves found before (see _absorb), then find new ones (see _descend).

    False, and nothing has changed, where the tree lacks room.
    """
    columns = 0
    for b in range(answered):
        s = found.leaves[STATE, b]
        columns += max(public.nodes[s, f.ACTIONS], public.nodes[s, f.EDGES])
    if tree.counts[NODES] + answered > len(tree.nodes) or tree.counts[COLUMNS_USED] + columns > len(tree.child):
        return False
    _absorb(public, tree, rules, found, answered, answers)
    _descend(public, tree, rules, found, simulations)
    return True


@njit
def _descend(public: Public, tree: Statistics, rules: Rules, found: Found, simulations: int) -> None:
    """Simulations from the root until enough of them have found a leaf, or `simulations` are done.

    A simulation that meets an awaited leaf is given up and ends the batch: its answer must come first.
    """
    nodes, child, leaves, done = tree.nodes, tree.child, found.leaves, found.done
    done[LEAVES] = done[ENDED] = 0
    while done[LEAVES] < rules.leaves and done[LEAVES] + done[ENDED] < simulations:
        n: Any = 0
        k: Any = -1
        while nodes[n, COLUMNS] > 0:
            k = nodes[0, FIRST] + rules.root if n == 0 and rules.root >= 0 else _best(tree, rules, n)
            tree.stats[VIRTUAL, k] += 1.0
            c = child[k]
            if c == AWAITED:
                _back_up(tree, n, k, 0.0, 0.0)
                return
            if c == ABSENT:
                child[k] = AWAITED
                b = done[LEAVES]
                leaves[UNDER, b], leaves[AT, b] = n, k
                leaves[ABOVE, b], leaves[COLUMN, b] = nodes[n, PUBLIC], k - nodes[n, FIRST]
                leaves[STATE, b] = _listed(public, nodes[n, PUBLIC], k - nodes[n, FIRST])
                done[LEAVES] += 1
                break
            n = c
        if nodes[n, COLUMNS] == 0:
            _back_up(tree, nodes[n, PARENT], k, tree.values[n], 1.0)
            done[ENDED] += 1


@inlined
def _listed(public: Public, s: Any, column: Any) -> Any:
    """The public node that a column of public node s leads to; -1 where it is not listed yet."""
    if public.nodes[s, f.EDGE0] < 0:
        return np.int32(-1)
    edge = np.int32(column)
    if public.nodes[s, f.ACTOR] < f.NATURE:
        row = public.nodes[s, f.ACTION0] + column
        actions = public.actions
        edge = actions[row, f.EDGE] if actions[row, f.EDGE] >= 0 else public.links[actions[row, f.LINK0], 1]
    return public.edges[public.nodes[s, f.EDGE0] + edge, f.CHILD]


@njit
def give_up(tree: Statistics, found: Found, leaves: int) -> None:
    """Forget that the `leaves` leaves found were to be evaluated."""
    for b in range(leaves):
        tree.child[found.leaves[AT, b]] = ABSENT
        _back_up(tree, found.leaves[UNDER, b], found.leaves[AT, b], 0.0, 0.0)


@njit
def _absorb(public: Public, tree: Statistics, rules: Rules, found: Found, leaves: int, answers: Evaluations) -> None:
    """Add the leaves found to the tree, with their values and priors, and carry their values up.

    answers: those of the leaves where the game goes on, in order. The root stands under node -1. The fans of NATURE's
    nodes are listed.
    """
    nodes, counts = tree.nodes, tree.counts
    row = 0
    for b in range(leaves):
        s, n, under, at = found.leaves[STATE, b], counts[NODES], found.leaves[UNDER, b], found.leaves[AT, b]
        counts[NODES] += 1
        nodes[n, PUBLIC], nodes[n, ACTOR] = s, public.nodes[s, f.ACTOR]
        nodes[n, PARENT], nodes[n, ENTRY] = under, at
        nodes[n, FIRST], nodes[n, COLUMNS] = counts[COLUMNS_USED], 0
        if public.nodes[s, f.ACTOR] == f.TERMINAL:
            tree.values[n] = pairs.utility(public, s, 0, 0) / rules.unit
        else:
            tree.values[n] = 0.5 * (answers.values[row, 0] - answers.values[row, 1]) / rules.unit
            nature = public.nodes[s, f.ACTOR] == f.NATURE
            nodes[n, COLUMNS] = public.nodes[s, f.EDGES] if nature else public.nodes[s, f.ACTIONS]
            _open(public, tree, n, answers.logits[row, 0])
            counts[COLUMNS_USED] += nodes[n, COLUMNS]
            row += 1
        if under >= 0:
            tree.child[at] = n
            _back_up(tree, under, at, tree.values[n], 1.0)


@njit
def _open(public: Public, tree: Statistics, n: int, logits: Array) -> None:
    """Clear the columns of the new node n and write its priors: softmax of logits, or NATURE's chances."""
    nodes, stats = tree.nodes, tree.stats
    s, first, count = nodes[n, PUBLIC], nodes[n, FIRST], nodes[n, COLUMNS]
    nature = nodes[n, ACTOR] == f.NATURE
    top, total = -np.inf, 0.0
    for a in range(count):
        tree.child[first + a] = ABSENT
        for row in range(STAT_ROWS):
            stats[row, first + a] = 0.0
        if not nature:
            top = max(top, logits[public.actions[public.nodes[s, f.ACTION0] + a, f.IDENTITY]])
    for a in range(count):
        if nature:
            weight = float(pairs.weight(public, public.edges[public.nodes[s, f.EDGE0] + a, f.CHILD], 0, 0))
        else:
            weight = np.exp(logits[public.actions[public.nodes[s, f.ACTION0] + a, f.IDENTITY]] - top)
        stats[PRIOR, first + a] = weight
        total += weight
    for k in range(first, first + count):
        stats[PRIOR, k] /= total


@njit
def keep(tree: Statistics, root: int, place: Array) -> None:
    """Move the subtree below `root` to the front, root first; the rest is dropped.  place: int32[M] scratch.

    A child stands after its parent, so that one pass up the nodes never overwrites what is still to be moved.
    """
    nodes, values, child, stats, counts = tree.nodes, tree.values, tree.child, tree.stats, tree.counts
    kept, columns = 0, 0
    for n in range(counts[NODES]):
        parent = nodes[n, PARENT]
        place[n] = -1
        if n != root and (n < root or place[parent] < 0):
            continue
        m, old, count = kept, nodes[n, FIRST], nodes[n, COLUMNS]
        if n != root:  # the parent has moved: its columns begin where its new row says
            entry = nodes[place[parent], FIRST] + nodes[n, ENTRY]
        for field in range(FIELDS):
            nodes[m, field] = nodes[n, field]
        values[m] = values[n]
        nodes[m, FIRST], nodes[m, PARENT], nodes[m, ENTRY] = columns, -1, -1
        if n != root:
            nodes[m, PARENT], nodes[m, ENTRY] = place[parent], entry
            child[entry] = m
        for a in range(count):
            c = child[old + a]
            if c >= 0:
                nodes[c, ENTRY] = a  # where in its parent's block, until it moves itself
            child[columns + a] = c
            for row in range(STAT_ROWS):
                stats[row, columns + a] = stats[row, old + a]
        place[n] = m
        kept += 1
        columns += count
    counts[NODES], counts[COLUMNS_USED] = kept, columns
