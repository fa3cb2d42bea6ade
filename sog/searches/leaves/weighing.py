"""Numba kernels at a tree's leaves: counterfactual values from evaluations and the opponent's reach."""

from __future__ import annotations

from typing import NamedTuple

from sog.arrays import Array, Float64
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.registers import sum_of
from sog.searches.kernels.spans import dot, dot_of_three
from sog.searches.kernels.vectors import LANES64, load_first, splat, store_first
from sog.searches.leaves.kernels import Leaves, Weighing
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public, Ranges, Tree
from sog.searches.tree.players import Players, opponents, within
from sog.searches.tree.records import Infostate, Node


@njit
def weigh(public: Public, tree: Tree, leaves: Leaves, first: int, last: int, players: Players, weight: float) -> None:
    """The players' counterfactual values at leaves first .. last - 1 from what is kept of their evaluations.

    cfv[p, i] = (value[p, i] - surplus / 2) * mass[p, i], mass[0, i] = sum over j of W[i, j] r1[j], mass[1, j]
    likewise; values in utilities, surplus 0 without a correction.

    PLAIN: conditional values times the opponent's current mass.  DIFFERENCES: what the same with the summed reaches
    grew by, over this iteration's weight (ReBeL, "CFR-AVE", modified).  PAIRS: expectations of the pairs' values
    under the opponent's current reach (CFR-AVE).  Leaves.correct: half of the pair-weighted sum of both players' values
    is subtracted from both (DeepStack).  Where the opponent's mass is 0, so is the value.
    """
    reach = tree.infostates[Infostate.REACH_SUM if leaves.kind == Weighing.DIFFERENCES else Infostate.REACH]
    # A correction needs both players' masses, whoever is updated.
    against = Players.BOTH if leaves.correct else opponents(players)
    for k in range(first, last):
        node: Node = tree.nodes[leaves.nodes[k]]
        s = node.public
        if leaves.kind == Weighing.PAIRS:
            _expect(public, tree, leaves, k, players)
            continue
        # An outer product takes I0 + I1 products for all masses, and other matrices I0 * I1.
        factors = public.operators[public.nodes[s].weight].factors
        if factors >= 0:
            _weigh_apart(public, tree, leaves, node, factors, players, weight)
            continue
        pairs.masses(public, s, Ranges(reach, node.offset[0], reach, node.offset[1]), against, leaves.mass)
        # One number a leaf: how far both players' values are from summing to 0.
        surplus = _surplus(tree, leaves, node) if leaves.correct else 0.0
        for p in range(2):
            if within(p, players):
                _store_values(tree, node, p, Mass(leaves.mass[p], 0, 1.0), surplus, leaves.kind, weight)


@njit
def weigh_positions(public: Public, tree: Tree, leaves: Leaves, count: int) -> None:
    """`weigh` for both players where each has one infostate: PLAIN, at the first `count` leaves.

    cfv[p] = (value[p] - half) * mass[p], where mass[p] = W * reach[1 - p], and `half` is half of the surplus.
    """
    infostates = tree.infostates
    reach, cfv, value = infostates[Infostate.REACH], infostates[Infostate.CFV], infostates[Infostate.LEAF_VALUE]
    for k in range(count):
        node: Node = tree.nodes[leaves.nodes[k]]
        own0, own1 = node.offset[0], node.offset[1]
        # W has one entry.
        pair = pairs.weight(public, node.public, 0, 0)
        mass0, mass1 = pair * reach[own1], pair * reach[own0]
        half = 0.0
        # mass0 * r0 = mass1 * r1 = W * r0 * r1: `half` is (value0 + value1) / 2, but for rounding.
        if leaves.correct and mass0 * reach[own0] > 0.0:
            surplus = value[own0] * mass0 * reach[own0] + value[own1] * mass1 * reach[own1]
            half = 0.5 * surplus / (mass0 * reach[own0])
        cfv[own0] = (value[own0] - half) * mass0
        cfv[own1] = (value[own1] - half) * mass1


class Mass(NamedTuple):
    """Masses of a leaf's infostates: factor * values[first + i]; values: float64[*]."""

    values: Float64
    first: int
    factor: float


@inlined
def _weigh_apart(
    public: Public, tree: Tree, leaves: Leaves, node: Node, one: int, players: Players, weight: float
) -> None:
    """Counterfactual values at a leaf where W is an outer product, of vectors that start at operator_values[one].

    An infostate's mass is then its own entry times the sum of the opponent's range weighed by the opponent's entries:
    W[i, j] = scale * f0[i] * f1[j], held[p] = sum of fp[i] * reach[p, i], mass0[i] = scale * f0[i] * held[1].
    """
    values, value = public.operator_values, tree.infostates[Infostate.LEAF_VALUE]
    reach = tree.infostates[Infostate.REACH_SUM if leaves.kind == Weighing.DIFFERENCES else Infostate.REACH]
    scale = public.nodes[node.public].weight_scale
    own0, width0 = node.offset[0], node.width[0]
    own1, width1 = node.offset[1], node.width[1]
    two, surplus = one + width0, 0.0
    # A player's values take the opponent's sum; the correction takes both.
    held0 = dot(values, one, reach, own0, width0) if leaves.correct or players & Players.SECOND else 0.0
    held1 = dot(values, two, reach, own1, width1) if leaves.correct or players & Players.FIRST else 0.0
    # The mean of value0 + value1 over pairs, weighed by W r0 r1. In player 0's part held1 cancels, in player 1's held0:
    # surplus = (sum of f0 r0 value0) / held0 + (sum of f1 r1 value1) / held1.
    if leaves.correct and held0 * held1 > 0.0:
        surplus = dot_of_three(values, one, reach, own0, value, own0, width0) / held0
        surplus += dot_of_three(values, two, reach, own1, value, own1, width1) / held1
    if players & Players.FIRST:
        _store_values(tree, node, 0, Mass(values, one, held1 * scale), surplus, leaves.kind, weight)
    if players & Players.SECOND:
        _store_values(tree, node, 1, Mass(values, two, held0 * scale), surplus, leaves.kind, weight)


@inlined
def _store_values(tree: Tree, node: Node, p: int, mass: Mass, surplus: float, kind: Weighing, weight: float) -> None:
    """Player p's counterfactual values at a leaf: (value[i] - surplus / 2) * mass[i], or what that grew by."""
    infostates = tree.infostates
    value, cfv, before = infostates[Infostate.LEAF_VALUE], infostates[Infostate.CFV], infostates[Infostate.CFV_SUM]
    own, width = node.offset[p], node.width[p]
    less, times, per = splat(0.5 * surplus), splat(mass.factor), splat(1.0 / weight)
    for i in range(0, width, LANES64):
        left = width - i
        worth = (load_first(value, own + i, left) - less) * (load_first(mass.values, mass.first + i, left) * times)
        # CFV_SUM has the worth by the sums of reaches of the iterations before: its growth is this one's share.
        if kind == Weighing.DIFFERENCES:
            store_first(cfv, own + i, left, (worth - load_first(before, own + i, left)) * per)
            store_first(before, own + i, left, worth)
        else:
            store_first(cfv, own + i, left, worth)


@inlined
def _surplus(tree: Tree, leaves: Leaves, node: Node) -> float:
    """What both players' values at a leaf sum to, in the mean over pairs; 0 between two players.

    surplus = (sum over p, i of value[p, i] mass[p, i] r[p, i]) / (sum over i of mass[0, i] r[0, i]); utilities.
    """
    reach = tree.infostates[Infostate.REACH_SUM if leaves.kind == Weighing.DIFFERENCES else Infostate.REACH]
    value, mass = tree.infostates[Infostate.LEAF_VALUE], leaves.mass
    surplus, weight = 0.0, 0.0
    for p in range(2):
        own = node.offset[p]
        for i in range(node.width[p]):
            surplus += value[own + i] * mass[p, i] * reach[own + i]
            # The sum over pairs of W r0 r1, which is the same from either side.
            if p == 0:
                weight += mass[p, i] * reach[own + i]
    return surplus / weight if weight > 0.0 else 0.0


@inlined
def _expect(public: Public, tree: Tree, leaves: Leaves, k: int, players: Players) -> None:
    """Counterfactual values at the k-th leaf of a matrix of player 0's utilities u by pair of slots.

    cfv0[i] = sum over j of W[i, j] u[i, j] r1[j], cfv1[j] = -(sum over i of W[i, j] u[i, j] r0[i]).
    """
    node: Node = tree.nodes[leaves.nodes[k]]
    table, slots = leaves.tables[k], public.slots
    state = public.nodes[node.public]
    reach, cfv, slots1 = tree.infostates[Infostate.REACH], tree.infostates[Infostate.CFV], len(table) // leaves.slots0
    values, scale, start = public.operator_values, state.weight_scale, public.operators[state.weight].start
    own0, width0, slot0 = node.offset[0], node.width[0], state.slot0[0]
    own1, width1, slot1 = node.offset[1], node.width[1], state.slot0[1]
    # Player 1's values are sums down the columns, to which each row adds.
    if players & Players.SECOND:
        for j in range(width1):
            cfv[own1 + j] = 0.0
    for i in range(width0):
        # W = scale * values: player 1's terms take the scale here, player 0's sum at its end.
        mine, row = reach[own0 + i] * scale, start + i * width1
        if leaves.aligned:  # a row of utilities has the order of infostates: a register of them at a time
            total = _expect_row(tree, own1, width1, Mass(values, row, mine), table, i * slots1, players)
        else:
            total = 0.0
            # The table lies by slot: row by player 0's, column by player 1's.
            first = slots[slot0 + i] * slots1
            for j in range(width1):
                utility = values[row + j] * table[first + slots[slot1 + j]]
                total += utility * reach[own1 + j]
                if players & Players.SECOND:
                    cfv[own1 + j] -= utility * mine
        if players & Players.FIRST:
            cfv[own0 + i] = total * scale


@inlined
def _expect_row(tree: Tree, own1: int, width1: int, weights: Mass, table: Array, first: int, players: Players) -> float:
    """_expect for one infostate of player 0: its utility by player 1's ranges; its share of player 1's values.

    weights: its pairs' weights, and its own mass as factor.  table[first ..]: its pairs' utilities.
    """
    reach, cfv = tree.infostates[Infostate.REACH], tree.infostates[Infostate.CFV]
    total, mine = splat(0.0), splat(weights.factor)
    for j in range(0, width1, LANES64):
        left = width1 - j
        # W u for the pairs (i, j ..), without W's scale.
        utility = load_first(weights.values, weights.first + j, left) * load_first(table, first + j, left)
        total += utility * load_first(reach, own1 + j, left)
        if players & Players.SECOND:
            store_first(cfv, own1 + j, left, load_first(cfv, own1 + j, left) - utility * mine)
    return sum_of(total)  # type: ignore[no-any-return]
