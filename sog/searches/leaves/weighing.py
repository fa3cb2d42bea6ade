"""Numba kernels at a tree's leaves: counterfactual values from evaluations and the opponent's reach."""

from __future__ import annotations

from typing import Any, NamedTuple

from sog.arrays import Array, Float64
from sog.searches.kernels.f64x8 import LANES, load, splat, store
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.registers import sum_of
from sog.searches.kernels.spans import dot, dot_of_three
from sog.searches.leaves.kernels import DIFFERENCES, PAIRS, Leaves, U, opponents
from sog.searches.tree import columns as f
from sog.searches.tree import pairs
from sog.searches.tree.arrays import Public, Tree


@njit
def weigh(public: Public, tree: Tree, leaves: Leaves, first: int, last: int, players: int, weight: float) -> None:
    """The players' counterfactual values at leaves first .. last - 1 from what is kept of their evaluations.

    PLAIN: conditional values times the opponent's current mass.  DIFFERENCES: what the same with the summed reaches
    grew by, over this iteration's weight (ReBeL, "CFR-AVE", modified).  PAIRS: expectations of the pairs' values
    under the opponent's current reach (CFR-AVE).  Leaves.correct: half of the pair-weighted sum of both players' values
    is subtracted from both (DeepStack).  Where the opponent's mass is 0, so is the value.
    """
    reach = tree.infostates[f.REACH_SUM if leaves.kind == DIFFERENCES else f.REACH]
    against = 3 if leaves.correct else opponents(players)
    for k in range(first, last):
        n = leaves.nodes[k]
        s = tree.nodes[n, f.PUBLIC]
        if leaves.kind == PAIRS:
            _expect(public, tree, leaves, k, players)
            continue
        factors = public.operators[U(public.nodes[s, f.WEIGHT_OP]), f.OP_FACTORS]
        if factors >= 0:
            _weigh_apart(public, tree, leaves, n, U(factors), players, weight)
            continue
        off0, off1 = U(tree.nodes[n, f.OFF0]), U(tree.nodes[n, f.OFF1])
        pairs.masses(public, s, reach, off0, reach, off1, against, leaves.mass)
        surplus = _surplus(tree, leaves, n) if leaves.correct else 0.0
        for p in range(2):
            if (players >> p) & 1:
                _store_values(tree, n, p, Mass(leaves.mass[p], U(0), 1.0), surplus, leaves.kind, weight)


@njit
def weigh_positions(public: Public, tree: Tree, leaves: Leaves, count: int) -> None:
    """`weigh` for both players where each has one infostate: PLAIN, at the first `count` leaves."""
    reach, cfv, value = tree.infostates[f.REACH], tree.infostates[f.CFV], tree.infostates[f.LEAF_VALUE]
    for k in range(count):
        n = leaves.nodes[k]
        off0, off1 = U(tree.nodes[n, f.OFF0]), U(tree.nodes[n, f.OFF1])
        pair = pairs.weight(public, tree.nodes[n, f.PUBLIC], 0, 0)
        mass0, mass1 = pair * reach[off1], pair * reach[off0]
        half = 0.0
        if leaves.correct and mass0 * reach[off0] > 0.0:
            surplus = value[off0] * mass0 * reach[off0] + value[off1] * mass1 * reach[off1]
            half = 0.5 * surplus / (mass0 * reach[off0])
        cfv[off0] = (value[off0] - half) * mass0
        cfv[off1] = (value[off1] - half) * mass1


class Mass(NamedTuple):
    """Masses of a leaf's infostates: factor * values[first + i]; values: float64[*]."""

    values: Float64
    first: Any
    factor: float


@inlined
def _weigh_apart(public: Public, tree: Tree, leaves: Leaves, n: Any, one: Any, players: int, weight: float) -> None:
    """Counterfactual values at leaf n where W is an outer product, of vectors that start at operator_values[one].

    An infostate's mass is then its own entry times what the opponent's range comes to by the opponent's entries.
    """
    values, value = public.operator_values, tree.infostates[f.LEAF_VALUE]
    reach = tree.infostates[f.REACH_SUM if leaves.kind == DIFFERENCES else f.REACH]
    scale = public.scales[tree.nodes[n, f.PUBLIC], f.WEIGHT_SCALE]
    off0, w0 = U(tree.nodes[n, f.OFF0]), U(tree.nodes[n, f.N_I0])
    off1, w1 = U(tree.nodes[n, f.OFF1]), U(tree.nodes[n, f.N_I1])
    two, surplus = one + w0, 0.0
    held0 = dot(values, one, reach, off0, w0) if leaves.correct or players & 2 else 0.0
    held1 = dot(values, two, reach, off1, w1) if leaves.correct or players & 1 else 0.0
    if leaves.correct and held0 * held1 > 0.0:
        surplus = dot_of_three(values, one, reach, off0, value, off0, w0) / held0
        surplus += dot_of_three(values, two, reach, off1, value, off1, w1) / held1
    if players & 1:
        _store_values(tree, n, 0, Mass(values, one, held1 * scale), surplus, leaves.kind, weight)
    if players & 2:
        _store_values(tree, n, 1, Mass(values, two, held0 * scale), surplus, leaves.kind, weight)


@inlined
def _store_values(tree: Tree, n: Any, p: int, mass: Mass, surplus: float, kind: int, weight: float) -> None:
    """Player p's counterfactual values at leaf n."""
    value, cfv, before = tree.infostates[f.LEAF_VALUE], tree.infostates[f.CFV], tree.infostates[f.CFV_SUM]
    off, width = U(tree.nodes[n, f.OFF0 + p]), U(tree.nodes[n, f.N_I0 + p])
    less, times, per = splat(0.5 * surplus), splat(mass.factor), splat(1.0 / weight)
    for i in range(U(0), width, U(LANES)):
        left = width - i
        worth = (load(value, off + i, left) - less) * (load(mass.values, mass.first + i, left) * times)
        if kind == DIFFERENCES:
            store(cfv, off + i, left, (worth - load(before, off + i, left)) * per)
            store(before, off + i, left, worth)
        else:
            store(cfv, off + i, left, worth)


@inlined
def _surplus(tree: Tree, leaves: Leaves, n: Any) -> float:
    """What both players' values at leaf n sum to, in the mean over pairs; 0 between two players."""
    reach = tree.infostates[f.REACH_SUM if leaves.kind == DIFFERENCES else f.REACH]
    value, mass = tree.infostates[f.LEAF_VALUE], leaves.mass
    surplus, weight = 0.0, 0.0
    for p in range(2):
        off = U(tree.nodes[n, f.OFF0 + p])
        for i in range(U(tree.nodes[n, f.N_I0 + p])):
            surplus += value[off + i] * mass[p, i] * reach[off + i]
            if p == 0:
                weight += mass[p, i] * reach[off + i]
    return surplus / weight if weight > 0.0 else 0.0


@inlined
def _expect(public: Public, tree: Tree, leaves: Leaves, k: int, players: int) -> None:
    """Counterfactual values at the k-th leaf of a matrix of player 0's utilities by pair of slots."""
    n, table, slots = leaves.nodes[k], leaves.tables[k], public.slots
    s = tree.nodes[n, f.PUBLIC]
    reach, cfv, slots1 = tree.infostates[f.REACH], tree.infostates[f.CFV], len(table) // leaves.slots0
    values, scale = public.operator_values, public.scales[s, f.WEIGHT_SCALE]
    row = U(public.operators[U(public.nodes[s, f.WEIGHT_OP]), f.OP_START])
    off0, off1 = U(tree.nodes[n, f.OFF0]), U(tree.nodes[n, f.OFF1])
    w0, w1 = U(tree.nodes[n, f.N_I0]), U(tree.nodes[n, f.N_I1])
    at0, at1 = U(public.nodes[s, f.SLOT0]), U(public.nodes[s, f.SLOT1])
    if players & 2:
        for j in range(w1):
            cfv[off1 + j] = 0.0
    for i in range(w0):
        mine = reach[off0 + i] * scale
        if leaves.aligned:
            total = _expect_row(tree, off1, w1, Mass(values, row, mine), table, U(i * slots1), players)
        else:
            total = 0.0
            first = U(slots[at0 + i] * slots1)
            for j in range(w1):
                utility = values[row + j] * table[first + U(slots[at1 + j])]
                total += utility * reach[off1 + j]
                if players & 2:
                    cfv[off1 + j] -= utility * mine
        if players & 1:
            cfv[off0 + i] = total * scale
        row += w1


@inlined
def _expect_row(tree: Tree, off1: Any, w1: Any, weights: Mass, table: Array, first: Any, players: int) -> Any:
    """_expect for one infostate of player 0: its utility by player 1's ranges; its share of player 1's values.

    weights: its pairs' weights, and its own mass as factor.  table[first ..]: its pairs' utilities.
    """
    reach, cfv = tree.infostates[f.REACH], tree.infostates[f.CFV]
    total, mine = splat(0.0), splat(weights.factor)
    for j in range(U(0), w1, U(LANES)):
        left = w1 - j
        utility = load(weights.values, weights.first + j, left) * load(table, first + j, left)
        total += utility * load(reach, off1 + j, left)
        if players & 2:
            store(cfv, off1 + j, left, load(cfv, off1 + j, left) - utility * mine)
    return sum_of(total)
