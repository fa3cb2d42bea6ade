"""Numba kernels for networks: which infostates of two players go together at a public state, and what it pays.

All arrays that a network answers with are laid out by network slot.
"""

from __future__ import annotations

from typing import NamedTuple

from sog.arrays import Array, Float64, Int32
from sog.searches.kernels.jit import fused
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import OperatorRows, PublicStates


class Pairing(NamedTuple):
    """The tables of a public tree (tree/arrays.py) that say which infostates go together, and the value units."""

    nodes: PublicStates
    operators: OperatorRows
    operator_values: Float64
    slots: Int32


def pairing_of(public: PublicTree) -> Pairing:
    """A tree's tables as they are now; public states listed later may come to lie in new ones."""
    return Pairing(*plain_pairing(public))


def plain_pairing(public: PublicTree) -> tuple[PublicStates, OperatorRows, Float64, Int32]:
    """`pairing_of` as a plain tuple, whose types Numba finds sooner."""
    arrays = public.arrays
    return arrays.nodes, arrays.operators, arrays.operator_values, arrays.slots


@fused
def value_unit(pairing: Pairing, node: int) -> float:
    """The utility that a network value of 1 means at a public node."""
    return float(pairing.nodes[node].value_unit)


@fused
def posteriors(pairing: Pairing, node: int, ranges: Array, slots0: int, out: Array) -> None:
    """What each infostate believes of the opponent's at a public node, W included, by slot.

    out[0, i, j] = W[i, j] r1[j] / (sum over k of W[i, k] r1[k]),
    out[1, i, j] = W[i, j] r0[i] / (sum over k of W[k, j] r0[k]).
    out: float32[2, S0, S1]; [0, i, j] is j's probability given i and [1, i, j] is i's given j; 0 where the
    given infostate has no compatible opponent.
    """
    out[:] = 0.0
    state, slots, weights = pairing.nodes[node], pairing.slots, pairing.operator_values
    operator, at0, at1 = pairing.operators[state.weight], state.slot0[0], state.slot0[1]
    # W's scale cancels, so its entries are taken as they are packed.
    first, rows, columns = operator.start, operator.rows, operator.columns
    for i in range(rows):
        a, total = slots[at0 + i], 0.0
        for j in range(columns):
            total += weights[first + i * columns + j] * ranges[slots0 + slots[at1 + j]]
        if total > 0.0:
            for j in range(columns):
                b = slots[at1 + j]
                out[0, a, b] = weights[first + i * columns + j] * ranges[slots0 + b] / total
    # The same from player 1's side, down the columns.
    for j in range(columns):
        b, total = slots[at1 + j], 0.0
        for i in range(rows):
            total += weights[first + i * columns + j] * ranges[slots[at0 + i]]
        if total > 0.0:
            for i in range(rows):
                a = slots[at0 + i]
                out[1, a, b] = weights[first + i * columns + j] * ranges[a] / total


@fused
def expectation(
    pairing: Pairing, node: int, ranges: Array, slots0: int, matchup: Array, mass: Array, values: Array
) -> None:
    """Both players' expectations of a flat matchup matrix under `posteriors`, without writing those down.

    With player 0's utilities u[i, j] = unit * matchup[i, j]: values0[i] = (sum over j of W u r1) / (sum over j of W r1)
    and values1[j] = -(sum over i of W u r0) / (sum over i of W r0); 0 where the divisor is 0.
    matchup: float[S0 * S1 or more], in value units.  mass: float64[S0 + S1], to work with.  values: float64[S0 + S1],
    in utilities.
    """
    values[:] = 0.0
    mass[:] = 0.0
    state, slots = pairing.nodes[node], pairing.slots
    operator, at0, at1 = pairing.operators[state.weight], state.slot0[0], state.slot0[1]
    at, slots1, unit = operator.start, len(values) - slots0, state.value_unit
    # One pass over the pairs: rows sum for player 0, columns for player 1.
    for i in range(operator.rows):
        a = slots[at0 + i]
        mine, value, total = ranges[a], 0.0, 0.0
        for j in range(operator.columns):
            b = slots[at1 + j]
            weight, utility = pairing.operator_values[at + j], matchup[a * slots1 + b] * unit
            # Terms of sum_j W u r1 and, with the sign of player 1, of sum_i W u r0.
            theirs = weight * ranges[slots0 + b]
            value += utility * theirs
            total += theirs
            values[slots0 + b] -= utility * weight * mine
            mass[slots0 + b] += weight * mine
        at += operator.columns
        values[a], mass[a] = value, total
    # From sums weighed by W and the opponent's range to means; W's scale cancels.
    for k in range(len(values)):
        if mass[k] > 0.0:
            values[k] /= mass[k]
