"""Numba kernel of GT-CFR's expansion phase: trajectories that choose where a lookahead grows next.

It works on arrays alone (see tree/arrays.py). SoG, "The expansion phase"; PoG, Algorithm 1, GROW.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int64
from sog.games.base import NATURE
from sog.records import Pair, Record, Records, Whole
from sog.searches.cfr.matching import action_open
from sog.searches.kernels.jit import njit
from sog.searches.tree import draws, pairs
from sog.searches.tree.arrays import Public, Ranges, Tree
from sog.searches.tree.records import Entry, Evaluated, Infostate, Kind

ALL: Final = -1  # expand every child at once
NO_WORLD: Final = -3  # no node to expand: no pair of infostates could be drawn at the start


class Walk(Record):
    """A trajectory: where it is, and at its end what is to be opened."""

    node = Whole("i8")  # the node to expand; -1: none
    edge = Whole("i8")  # the edge, or ALL for a leaf; without a node NO_WORLD, or ALL for any other reason
    last = Whole("i8")  # the last node in the tree on its way
    length = Whole("i8")  # entries of Selection.path, over all trajectories of this phase
    pair = Pair("i8")  # the infostates on the way


class Walks(Records[Walk], Walk):
    """One row."""


class Selection(NamedTuple):
    """How trajectories choose, and what they write.

    start: the lookahead node where they begin.  c_puct: PUCT's exploration.  row: the Entry that half of the
    choices are drawn from.  unit: the game's largest utility.  rng: uint64[1].
    fixed: worlds are drawn by the belief that the search began with, otherwise by the last sweep's ranges.
    beliefs: float64[2, I0 + I1] at the start: both ranges of the fixed belief, and ones.
    path: int64[*], the (action, infostate) entries chosen in this phase; each gets a virtual visit.  walk: one row.
    """

    start: int
    c_puct: float
    row: int
    unit: float
    rng: Array
    fixed: bool
    beliefs: Float64
    path: Int64
    walk: Walks


@njit
def trajectory(public: Public, tree: Tree, selection: Selection) -> None:
    """Walk from the start to where the tree ends (SoG, "The expansion phase"; SamplePathDownTheTree of Algorithm 1).

    Each choice is drawn from pi_select = pi_PUCT / 2 + pi_CFR / 2. Walk.node and Walk.edge say what is to be opened.
    """
    walk, n = selection.walk[0], selection.start
    walk.node, walk.edge, walk.last = -1, ALL, n
    # A world: a pair of infostates by the beliefs. Each player chooses with its own, so actions fit what it knows.
    if not _draw_world(public, tree, selection):
        walk.edge = NO_WORLD
        return
    # Down, as far as children are in the tree.
    while tree.nodes[n].kind == Kind.INTERIOR:
        node = tree.nodes[n]
        if node.actor < NATURE:
            a = _choose(public, tree, selection, n)
            edge = draws.take(public, tree, n, a, walk.pair)
        else:
            edge = draws.draw_chance(public, node.public, selection.rng, walk.pair)
            # No listed outcome is possible for the pair: nothing to open.
            if edge < 0:
                return
        c = draws.child_over(tree, n, edge)
        # The edge is not in the tree: it is what this trajectory adds.
        if c < 0:
            walk.node, walk.edge = n, edge
            return
        n = c
        walk.last = n
    # An end, a leaf that has not been evaluated yet, or a closed one: nothing to open.
    if tree.nodes[n].kind == Kind.LEAF and tree.nodes[n].evaluated == Evaluated.READY:
        walk.node = n


@njit
def _draw_world(public: Public, tree: Tree, selection: Selection) -> bool:
    """Both players' infostates at the start, in Walk.pair; any that are possible where the belief has none."""
    node, rng, pair = tree.nodes[selection.start], selection.rng, selection.walk[0].pair
    reach, (fixed, ones) = tree.infostates[Infostate.REACH], (selection.beliefs[0], selection.beliefs[1])
    # In proportion to W[i, j] r0[i] r1[j]: by the ranges of the last sweep, or by those the search began with.
    now, width0 = Ranges(reach, node.offset[0], reach, node.offset[1]), node.width[0]
    apart = Ranges(fixed, 0, fixed, width0)
    if selection.fixed:
        drawn = draws.draw_pair_of_ranges(public, node.public, apart, rng, pair)
    else:
        drawn = draws.draw_pair_of_ranges(public, node.public, now, rng, pair)
    if drawn:
        return True
    # These give no pair a probability: by W alone.
    return bool(draws.draw_pair_of_ranges(public, node.public, Ranges(ones, 0, ones, width0), rng, pair))


@njit
def _choose(public: Public, tree: Tree, selection: Selection, n: int) -> int:
    """The action taken at node n, which gets a virtual visit."""
    node, walk, a = tree.nodes[n], selection.walk[0], -1
    i = walk.pair[node.actor]
    # pi_CFR, unless the row is still all zero here, then pi_PUCT.
    if draws.random(selection.rng) < 0.5:
        a = _draw_policy(tree, selection.row, n, i, selection.rng)
    if a < 0:
        a = _puct(public, tree, selection, n, i)
    # UpdateVisitCountsUp, virtual until the phase ends (`settle`).
    if walk.length < len(selection.path):
        k = node.entry0 + a * node.width[node.actor] + i
        selection.path[walk.length] = k
        walk.length += 1
        tree.entries[Entry.VIRTUAL, k] += 1.0
    return a


@njit
def _puct(public: Public, tree: Tree, selection: Selection, n: int, i: int) -> int:
    """The legal action with the highest PUCT score at infostate i of node n.

    score[a] = Q[a] + c_puct * P[a] * sqrt(1 + sum over b of N[b]) / (1 + N[a])
    Q[a] = cfv[a] / (mass * u_max): the last sweep's value, conditional on the infostate through the opponent's mass
    (SoG: "normalized by the sum of the opponent's reach probability"), as a share of the largest utility.
    N[a] = visits + virtual visits of this phase, each a loss: Q becomes (visits * Q - virtual) / N.
    An action whose child is not in the tree has the mean of the other actions' Q; P is normalised over legal actions.
    """
    node, child, entries = tree.nodes[n], tree.child, tree.entries
    # 0 where the opponent's range has no infostate possible beside i: all Q are then 0 and the prior decides.
    unit = pairs.opponent_mass(public, tree, n, node.actor, i) * selection.unit
    width, first = node.width[node.actor], node.entry0 + i
    # Sums over the legal actions.
    prior_sum, visit_sum, known, known_sum = 0.0, 0.0, 0, 0.0
    for a in range(node.actions):
        edge = draws.move(public, node.action0 + a, i)[0]
        if edge < 0:
            continue
        k = first + a * width
        prior_sum += entries[Entry.PRIOR, k]
        visit_sum += entries[Entry.VISITS, k] + entries[Entry.VIRTUAL, k]
        if child[node.child0 + edge].node >= 0:
            known += 1
            known_sum += entries[Entry.ACTION_CFV, k]
    # The papers do not say what an action without a child is worth.
    mean = known_sum / known if known > 0 else 0.0
    # The scores.
    best, top = -1, -np.inf
    for a in range(node.actions):
        edge = draws.move(public, node.action0 + a, i)[0]
        if edge < 0:
            continue
        k = first + a * width
        inside = child[node.child0 + edge].node >= 0
        q = (entries[Entry.ACTION_CFV, k] if inside else mean) / unit if unit > 0.0 else 0.0
        visits, virtual = entries[Entry.VISITS, k], entries[Entry.VIRTUAL, k]
        if virtual > 0.0:
            q = (visits * q - virtual) / (visits + virtual)
        prior = entries[Entry.PRIOR, k] / prior_sum if prior_sum > 0.0 else 1.0
        # The 1 under the root is the node's own evaluation: without it the prior would not count in the first choice.
        score = q + selection.c_puct * prior * np.sqrt(visit_sum + 1.0) / (1.0 + visits + virtual)
        if score > top:
            best, top = a, score
    return best


@njit
def _draw_policy(tree: Tree, row: Entry, n: int, i: int, rng: Array) -> int:
    """An action drawn from `row`, which is not negative, at infostate i of node n; -1 where it is all zero."""
    node, entries = tree.nodes[n], tree.entries
    width, first = node.width[node.actor], node.entry0 + i
    total = 0.0
    for a in range(node.actions):
        total += entries[row, first + a * width]
    # Inverse sampling on the unnormalised row; rounding at its end leaves the last positive action chosen.
    target, chosen = draws.random(rng) * total, -1
    for a in range(node.actions):
        w = entries[row, first + a * width]
        if w > 0.0:
            chosen = a
            target -= w
            if target < 0.0:
                break
    return chosen


@njit
def warm_start(public: Public, tree: Tree, n: int, weight: float) -> None:
    """Begin at the prior: the opened node n plays it, and has regrets in proportion to it. Ours; see SearchSettings.

    policy[a, i] = P[a, i] / sum over open b of P[b, i];  regret[a, i] = weight * mass[i] * value unit * policy[a, i],
    as if each action had earned that much: regret matching keeps to the prior until other regrets outweigh it.
    """
    node, entries, p = tree.nodes[n], tree.entries, tree.nodes[n].actor
    width, count, own, unit = node.width[p], node.actions, node.offset[p], public.nodes[node.public].value_unit
    mass = tree.infostates[Infostate.LEAF_VALUE]  # no longer a leaf, it has no use for its values
    pairs.opponent_masses(public, tree, n, p, mass)
    for i in range(width):
        # Closed actions (illegal, or without a child in the tree) get neither policy nor regret.
        first, total = node.entry0 + i, 0.0
        for a in range(count):
            total += entries[Entry.PRIOR, first + a * width] if action_open(public, tree, node, a, i) else 0.0
        if total <= 0.0:
            continue
        for a in range(count):
            k = first + a * width
            prior = entries[Entry.PRIOR, k] if action_open(public, tree, node, a, i) else 0.0
            entries[Entry.POLICY, k] = prior / total
            entries[Entry.REGRET, k] = weight * mass[own + i] * unit * entries[Entry.POLICY, k]


@njit
def oldest_leaf(tree: Tree, start: int) -> int:
    """The first leaf below node `start` that was evaluated and can be opened, or else beside the branch to it.

    -1 where no leaf can be opened. The first child of `start` has the lowest number below it. Nodes below leaves that
    were opened beside the branch have higher numbers still and count as below (docs/notes.md).
    """
    below = tree.child[tree.nodes[start].child0].node
    # Nodes are numbered in the order in which they were added, so the first is the oldest.
    for n in range(below, tree.counts[0].nodes):
        if _can_be_opened(tree, n):
            return n
    for n in range(below):
        if _can_be_opened(tree, n):
            return n
    return -1


@njit
def _can_be_opened(tree: Tree, n: int) -> bool:
    """Whether node n is a leaf that was evaluated and may be opened."""
    return tree.nodes[n].kind == Kind.LEAF and tree.nodes[n].evaluated == Evaluated.READY


@njit
def oldest_gap(public: Public, tree: Tree, start: int, walks: Walks) -> None:
    """`oldest_leaf` for k = 1: the first node from `start` on that is a leaf to be opened or lacks an action's child.

    Siblings of the branch to `start` come last.
    walks: its node and edge are set as by `trajectory`; of the actions not in the tree, to the one of highest prior.
    """
    # First what lies below `start`, then nodes beside the branch to it, whose parents have numbers below `start`.
    for siblings in range(2):
        for n in range(start, tree.counts[0].nodes):
            if (n > start and tree.nodes[n].parent < start) == (siblings == 1):
                _gap_at(public, tree, n, walks)
                if walks[0].node >= 0:
                    return


@njit
def _gap_at(public: Public, tree: Tree, n: int, walks: Walks) -> None:
    """`oldest_gap` at node n alone; the walk's node is -1 where nothing is to be opened there."""
    walk, node = walks[0], tree.nodes[n]
    walk.node, walk.edge = -1, ALL
    if _can_be_opened(tree, n):
        walk.node = n
    if node.kind != Kind.INTERIOR or node.actor >= NATURE:
        return
    # Among the actions without a child, the one of highest prior, as AddTopKChildren does with k = 1.
    top = -np.inf
    for a in range(node.actions):
        edge = draws.move(public, node.action0 + a, 0)[0]
        prior = tree.entries[Entry.PRIOR, node.entry0 + a]
        if draws.child_over(tree, n, edge) < 0 and prior > top:
            walk.node, walk.edge, top = n, edge, prior


@njit
def first_guess(public: Public, tree: Tree, n: int, edge: int) -> None:
    """Until the next sweep a child opened in perfect information counts as its parent n, not as a draw."""
    node = tree.nodes[n]
    # PUCT would otherwise read the 0 of an untouched entry, a draw, as the child's value.
    if public.nodes[node.public].plain:
        value = tree.infostates[Infostate.CFV, node.offset[node.actor]]
        tree.entries[Entry.ACTION_CFV, node.entry0 + edge] = value


@njit
def settle(tree: Tree, selection: Selection) -> None:
    """Turn this phase's virtual visits into visits and clear the path (UpdateVisitCountsUp): N[k] += 1 along it."""
    walk = selection.walk[0]
    for k in selection.path[: walk.length]:
        tree.entries[Entry.VISITS, k] += 1.0
        tree.entries[Entry.VIRTUAL, k] = 0.0
    walk.length = 0


@njit
def best_prior(public: Public, tree: Tree, n: int, i: int) -> int:
    """The public edge of infostate i's legal action with the highest prior at node n."""
    node = tree.nodes[n]
    width, first = node.width[node.actor], node.entry0 + i
    # Of equals the first; where all priors are 0 the first legal action.
    best, top = -1, -np.inf
    for a in range(node.actions):
        edge = draws.move(public, node.action0 + a, i)[0]
        if edge >= 0 and (best < 0 or tree.entries[Entry.PRIOR, first + a * width] > top):
            best, top = edge, tree.entries[Entry.PRIOR, first + a * width]
    return best
