"""Numba kernel of GT-CFR's expansion phase: trajectories that choose where a lookahead grows next.

It knows arrays only (see columns.py). SoG, "The expansion phase"; PoG, Algorithm 1, GROW.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int64
from sog.searches.cfr.matching import action_open
from sog.searches.kernels.jit import njit
from sog.searches.tree import columns as f
from sog.searches.tree import draws, pairs
from sog.searches.tree.arrays import Public, Tree
from sog.searches.tree.growth import NODES

ALL: Final = -1  # expand every child at once
NO_WORLD: Final = -3  # no node to expand: no pair of infostates could be drawn at the start


class Selection(NamedTuple):
    """How trajectories choose, and what they write.

    start: the lookahead node where they begin.  c_puct: PUCT's exploration.  which: the row of policies that half of
    the choices are drawn from.  unit: the game's largest utility.  rng: uint64[1].
    fixed: worlds are drawn by the belief that the search began with, otherwise by the last sweep's ranges.
    beliefs: float64[2, I0 + I1] at the start: both ranges of the fixed belief, and ones.
    pair: int64[2], the infostates on the way.  path: int64[*], path[0] counts the (action, infostate) entries chosen in
    this phase, listed after it; each gets a virtual visit.
    found: int64[2], the node to expand and the edge (ALL for a leaf), or node -1 and why there is none: NO_WORLD, or
    ALL for anything else.
    """

    start: int
    c_puct: float
    which: int
    unit: float
    rng: Array
    fixed: bool
    beliefs: Float64
    pair: Int64
    path: Int64
    found: Int64


@njit
def trajectory(public: Public, tree: Tree, selection: Selection) -> None:
    """Walk from the start to where the tree ends; half of the choices by PUCT, half by a row of policies."""
    nodes, pair, found = tree.nodes, selection.pair, selection.found
    found[0], found[1] = -1, ALL
    n = selection.start
    if not _draw_world(public, tree, selection):
        found[1] = NO_WORLD
        return
    while nodes[n, f.KIND] == f.INTERIOR:
        if nodes[n, f.N_ACTOR] < f.NATURE:
            a = _choose(public, tree, selection, n)
            edge = draws.take(public, tree, n, a, pair)
        else:
            edge = draws.draw_chance(public, nodes[n, f.PUBLIC], selection.rng, pair)
            if edge < 0:
                return
        c = draws.child_over(tree, n, edge)
        if c < 0:
            found[0], found[1] = n, edge
            return
        n = c
    if nodes[n, f.KIND] == f.LEAF and nodes[n, f.EVALUATED] == f.READY:
        found[0] = n


@njit
def _draw_world(public: Public, tree: Tree, selection: Selection) -> bool:
    """Both players' infostates at the start, in Selection.pair; any that are possible where the belief has none."""
    nodes, start, rng, pair = tree.nodes, selection.start, selection.rng, selection.pair
    s, inside = nodes[start, f.PUBLIC], (nodes[start, f.OFF0], nodes[start, f.OFF1])
    beliefs, apart = selection.beliefs, (np.int32(0), nodes[start, f.N_I0])
    if selection.fixed:
        drawn = draws.draw_pair_of_ranges(public, s, beliefs[0], apart, rng, pair)
    else:
        drawn = draws.draw_pair_of_ranges(public, s, tree.infostates[f.REACH], inside, rng, pair)
    if drawn:
        return True
    return bool(draws.draw_pair_of_ranges(public, s, beliefs[1], apart, rng, pair))


@njit
def _choose(public: Public, tree: Tree, selection: Selection, n: int) -> Any:
    """The action taken at node n, which gets a virtual visit."""
    p, path = tree.nodes[n, f.N_ACTOR], selection.path
    i, a = selection.pair[p], -1
    if draws.random(selection.rng) < 0.5:
        a = _draw_policy(tree, selection.which, n, i, selection.rng)
    if a < 0:
        a = _puct(public, tree, selection, n, i)
    if path[0] + 1 < len(path):
        path[0] += 1
        k = tree.nodes[n, f.VAR0] + a * tree.nodes[n, f.N_I0 + p] + i
        path[path[0]] = k
        tree.entries[f.VIRTUAL, k] += 1.0
    return a


@njit
def _puct(public: Public, tree: Tree, selection: Selection, n: int, i: int) -> int:
    """The legal action with the highest PUCT score at infostate i of node n.

    Values are the last sweep's, divided by the opponent's mass to be conditional on the infostate and by the
    game's largest utility; each virtual visit of this phase counts as a loss. Actions outside the tree take
    the mean of the values that are known.
    """
    nodes, child, entries = tree.nodes, tree.child, tree.entries
    p = nodes[n, f.N_ACTOR]
    unit = pairs.opponent_mass(public, tree, n, p, i) * selection.unit
    width, var = nodes[n, f.N_I0 + p], nodes[n, f.VAR0] + i
    prior_sum, visit_sum, known, known_sum = 0.0, 0.0, 0, 0.0
    for a in range(nodes[n, f.N_ACTIONS]):
        edge = draws.move(public, nodes[n, f.N_ACTION0] + a, i)[0]
        if edge < 0:
            continue
        k = var + a * width
        prior_sum += entries[f.PRIOR, k]
        visit_sum += entries[f.VISITS, k] + entries[f.VIRTUAL, k]
        if child[f.NODE, nodes[n, f.CHILD0] + edge] >= 0:
            known += 1
            known_sum += entries[f.ACTION_CFV, k]
    mean = known_sum / known if known > 0 else 0.0
    best, top = -1, -np.inf
    for a in range(nodes[n, f.N_ACTIONS]):
        edge = draws.move(public, nodes[n, f.N_ACTION0] + a, i)[0]
        if edge < 0:
            continue
        k = var + a * width
        inside = child[f.NODE, nodes[n, f.CHILD0] + edge] >= 0
        q = (entries[f.ACTION_CFV, k] if inside else mean) / unit if unit > 0.0 else 0.0
        visits, virtual = entries[f.VISITS, k], entries[f.VIRTUAL, k]
        if virtual > 0.0:
            q = (visits * q - virtual) / (visits + virtual)
        prior = entries[f.PRIOR, k] / prior_sum if prior_sum > 0.0 else 1.0
        score = q + selection.c_puct * prior * np.sqrt(visit_sum + 1.0) / (1.0 + visits + virtual)
        if score > top:
            best, top = a, score
    return best


@njit
def _draw_policy(tree: Tree, which: int, n: int, i: int, rng: Array) -> int:
    """An action drawn from the positive row `which` at infostate i of node n; -1 where it is all zero."""
    nodes, entries = tree.nodes, tree.entries
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    total = 0.0
    for a in range(nodes[n, f.N_ACTIONS]):
        total += entries[which, var + a * width]
    target, chosen = draws.random(rng) * total, -1
    for a in range(nodes[n, f.N_ACTIONS]):
        w = entries[which, var + a * width]
        if w > 0.0:
            chosen = a
            target -= w
            if target < 0.0:
                break
    return chosen


@njit
def warm_start(public: Public, tree: Tree, n: int, weight: float) -> None:
    """Begin at the prior: the opened node n plays it, and holds regrets that only as much experience can undo.

    The regret of an action is weight * prior * (opponent's mass) * (value unit), as if that much had been earned.
    """
    nodes, entries = tree.nodes, tree.entries
    p, s = nodes[n, f.N_ACTOR], nodes[n, f.PUBLIC]
    width, var, count = nodes[n, f.N_I0 + p], nodes[n, f.VAR0], nodes[n, f.N_ACTIONS]
    own, mass = nodes[n, f.OFF0 + p], tree.infostates[f.LEAF_VALUE]  # no longer a leaf, it has no use for its values
    pairs.opponent_masses(public, tree, n, p, mass)
    for i in range(width):
        total = 0.0
        for a in range(count):
            k = var + a * width + i
            total += entries[f.PRIOR, k] if action_open(public, tree, n, a, i) else 0.0
        if total <= 0.0:
            continue
        for a in range(count):
            k = var + a * width + i
            entries[f.POLICY, k] = (entries[f.PRIOR, k] if action_open(public, tree, n, a, i) else 0.0) / total
            entries[f.REGRET, k] = weight * mass[own + i] * public.scales[s, f.VALUE_UNIT] * entries[f.POLICY, k]


@njit
def oldest_leaf(tree: Tree, start: int) -> int:
    """The first leaf below node `start` that was evaluated and can be opened, or else beside the branch to it.

    -1 where there is none. Below `start` its first child stands before all other nodes; what lies below leaves that
    were opened beside the branch stands behind it and counts as below (docs/notes.md).
    """
    below = tree.child[f.NODE, tree.nodes[start, f.CHILD0]]
    for n in range(below, tree.counts[NODES]):
        if tree.nodes[n, f.KIND] == f.LEAF and tree.nodes[n, f.EVALUATED] == f.READY:
            return n
    for n in range(below):
        if tree.nodes[n, f.KIND] == f.LEAF and tree.nodes[n, f.EVALUATED] == f.READY:
            return n
    return -1


@njit
def oldest_gap(public: Public, tree: Tree, start: int, found: Array) -> None:
    """`oldest_leaf` for k = 1: the first node from `start` on that is a leaf to be opened or lacks an action's child.

    Siblings of the branch to `start` come last.
    found: int64[2] is set as by `trajectory`; of the actions not in the tree, to the one with the highest prior.
    """
    nodes = tree.nodes
    for siblings in range(2):
        for n in range(start, tree.counts[NODES]):
            if (n > start and nodes[n, f.PARENT] < start) == (siblings == 1):
                _gap_at(public, tree, n, found)
                if found[0] >= 0:
                    return


@njit
def _gap_at(public: Public, tree: Tree, n: int, found: Array) -> None:
    """`oldest_gap` at node n alone; found[0] is -1 where nothing is to be opened there."""
    nodes = tree.nodes
    found[0], found[1] = -1, ALL
    if nodes[n, f.KIND] == f.LEAF and nodes[n, f.EVALUATED] == f.READY:
        found[0] = n
    if nodes[n, f.KIND] != f.INTERIOR or nodes[n, f.N_ACTOR] >= f.NATURE:
        return
    top = -np.inf
    for a in range(nodes[n, f.N_ACTIONS]):
        edge = draws.move(public, nodes[n, f.N_ACTION0] + a, 0)[0]
        prior = tree.entries[f.PRIOR, nodes[n, f.VAR0] + a]
        if draws.child_over(tree, n, edge) < 0 and prior > top:
            found[0], found[1], top = n, edge, prior


@njit
def first_guess(public: Public, tree: Tree, n: int, edge: int) -> None:
    """Until the next sweep a child opened in perfect information counts as its parent n, not as a draw."""
    nodes = tree.nodes
    if public.nodes[nodes[n, f.PUBLIC], f.PLAIN]:
        value = tree.infostates[f.CFV, nodes[n, f.OFF0 + nodes[n, f.N_ACTOR]]]
        tree.entries[f.ACTION_CFV, nodes[n, f.VAR0] + edge] = value


@njit
def settle(tree: Tree, path: Array) -> None:
    """Turn this phase's virtual visits into visits and clear the path."""
    for k in path[1 : path[0] + 1]:
        tree.entries[f.VISITS, k] += 1.0
        tree.entries[f.VIRTUAL, k] = 0.0
    path[0] = 0


@njit
def best_prior(public: Public, tree: Tree, n: int, i: int) -> int:
    """The public edge of infostate i's legal action with the highest prior at node n."""
    nodes = tree.nodes
    width, var = nodes[n, f.N_I0 + nodes[n, f.N_ACTOR]], nodes[n, f.VAR0] + i
    best, top = -1, -np.inf
    for a in range(nodes[n, f.N_ACTIONS]):
        edge = draws.move(public, nodes[n, f.N_ACTION0] + a, i)[0]
        if edge >= 0 and (best < 0 or tree.entries[f.PRIOR, var + a * width] > top):
            best, top = edge, tree.entries[f.PRIOR, var + a * width]
    return best
