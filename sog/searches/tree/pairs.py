"""Numba kernels that apply pair operators to ranges, by kind: payoffs, masses, single entries, utilities.

They know arrays only (see columns.py) and one branch a kind: dense matrices here, those of few entries in sparse.py,
hold'em's operators in cards.py. The sweeps on either side know none of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.games.base import DENSE, SPARSE
from sog.searches.kernels.f64x8 import LANES, load, splat, store
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.spans import dot
from sog.searches.tree import cards, sparse
from sog.searches.tree import columns as f
from sog.searches.tree.arrays import Public, Tree

U = np.uint64


@njit
def payoffs(public: Public, tree: Tree, first: int, last: int, players: int) -> None:
    """Counterfactual values of the players in the bit mask at terminal nodes ends[first] .. ends[last - 1]."""
    reach, cfv, nodes = tree.infostates[f.REACH], tree.infostates[f.CFV], tree.nodes
    operators, values = public.operators, public.operator_values
    for e in range(U(first), U(last)):
        n = U(tree.ends[e])
        s = U(nodes[n, f.PUBLIC])
        op, scale = U(public.nodes[s, f.PAYOFF_OP]), public.scales[s, f.PAYOFF_SCALE]
        start = U(operators[op, f.OP_START])
        w0, w1 = U(nodes[n, f.N_I0]), U(nodes[n, f.N_I1])
        off0, off1 = U(nodes[n, f.OFF0]), U(nodes[n, f.OFF1])
        if operators[op, f.OP_KIND] == SPARSE:
            sparse.payoffs(values, start, scale, (w0, w1), reach, (off0, off1), cfv, players)
            continue
        if operators[op, f.OP_KIND] != DENSE:
            cards.payoffs(operators[op, f.OP_KIND], values, start, scale, reach, (off0, off1), cfv, players)
            continue
        if players & 1:
            row = start
            for i in range(w0):
                cfv[off0 + i] = dot(values, row, reach, off1, w1) * scale
                row += w1
        if players & 2:
            for j in range(U(0), w1, U(LANES)):
                row, left, total = start + j, w1 - j, splat(0.0)
                for i in range(w0):
                    total -= load(values, row, left) * splat(reach[off0 + i] * scale)
                    row += w1
                store(cfv, off1 + j, left, total)


@inlined
def masses(public: Public, s: Any, r0: Array, off0: Any, r1: Array, off1: Any, against: int, mass: Array) -> None:
    """mass[1 - p, i]: weights of infostates at public state s against the ranges of the players p in `against`.

    Player 0's range begins at r0[off0], player 1's at r1[off1].  mass: float64[2, *].
    """
    operators, values = public.operators, public.operator_values
    op, scale = U(public.nodes[s, f.WEIGHT_OP]), public.scales[s, f.WEIGHT_SCALE]
    row = U(operators[op, f.OP_START])
    w0, w1 = U(public.nodes[s, f.I0]), U(public.nodes[s, f.I1])
    if operators[op, f.OP_KIND] == SPARSE:
        sparse.masses(values, row, scale, (w0, w1), (r0, off0, r1, off1), mass)
        return
    if operators[op, f.OP_KIND] != DENSE:
        cards.masses(values, row, scale, r0, off0, r1, off1, mass)
        return
    if against & 2:
        for i in range(w0):
            mass[0, i] = dot(values, row + i * w1, r1, off1, w1) * scale
    if against & 1:
        for j in range(U(0), w1, U(LANES)):
            at, left, total = row + j, w1 - j, splat(0.0)
            for i in range(w0):
                total += load(values, at, left) * splat(r0[off0 + i] * scale)
                at += w1
            store(mass[1], j, left, total)


@njit
def masses_of_ranges(public: Public, s: int, r0: Array, r1: Array, mass: Array) -> None:
    """mass: float64[2, *], each infostate's weight at public state s against the ranges r0 and r1."""
    masses(public, s, r0, U(0), r1, U(0), 3, mass)


@njit
def _entry(public: Public, op: int, i0: int, i1: int) -> Any:
    """The unscaled operator at (i0, i1)."""
    operators, values = public.operators, public.operator_values
    start = operators[op, f.OP_START]
    if operators[op, f.OP_KIND] == SPARSE:
        return sparse.entry(values, start, operators[op, f.OP_ROWS], i0, i1)
    if operators[op, f.OP_KIND] != DENSE:
        return cards.entry(operators[op, f.OP_KIND], values, start, i0, i1)
    return values[start + i0 * operators[op, f.OP_COLUMNS] + i1]


@njit
def weight(public: Public, s: int, i0: int, i1: int) -> Any:
    """W_s[i0, i1]."""
    return public.scales[s, f.WEIGHT_SCALE] * _entry(public, public.nodes[s, f.WEIGHT_OP], i0, i1)


@njit
def utility(public: Public, s: int, i0: int, i1: int) -> float:
    """Player 0's utility at the terminal state s for the pair: the payoff holds W, which is divided out."""
    payoff = public.scales[s, f.PAYOFF_SCALE] * _entry(public, public.nodes[s, f.PAYOFF_OP], i0, i1)
    return float(payoff / weight(public, s, i0, i1))


@njit
def opponent_mass(public: Public, tree: Tree, n: int, p: int, i: int) -> float:
    """sum over the opponent's infostates j of W[i, j] * reach[j], for player p's infostate i at lookahead node n."""
    nodes, reach = tree.nodes, tree.infostates[f.REACH]
    s, off = nodes[n, f.PUBLIC], nodes[n, f.OFF0 + 1 - p]
    operators, values = public.operators, public.operator_values
    op, scale = public.nodes[s, f.WEIGHT_OP], public.scales[s, f.WEIGHT_SCALE]
    if operators[op, f.OP_KIND] == SPARSE:
        shape = operators[op, f.OP_ROWS], operators[op, f.OP_COLUMNS]
        return float(scale * sparse.mass_of(values, operators[op, f.OP_START], shape, reach, off, p, i))
    if operators[op, f.OP_KIND] != DENSE:
        return float(scale * cards.mass_of(values, U(operators[op, f.OP_START]), reach, U(off), i))
    total = 0.0
    for j in range(nodes[n, f.N_I0 + 1 - p]):
        i0, i1 = (i, j) if p == 0 else (j, i)
        at = operators[op, f.OP_START] + i0 * operators[op, f.OP_COLUMNS] + i1
        total += reach[off + j] * (scale * values[at])
    return total


@njit
def opponent_masses(public: Public, tree: Tree, n: int, p: int, out: Array) -> None:
    """out[OFF0 + i] for player p at lookahead node n: opponent_mass of all its infostates i; out: float64[S]."""
    s, off = tree.nodes[n, f.PUBLIC], tree.nodes[n, f.OFF0 + p]
    op, operators = public.nodes[s, f.WEIGHT_OP], public.operators
    if operators[op, f.OP_KIND] > DENSE:
        cards.apply_card(
            operators[op, f.OP_KIND],
            public.operator_values,
            U(operators[op, f.OP_START]),
            public.scales[s, f.WEIGHT_SCALE],
            tree.infostates[f.REACH],
            U(tree.nodes[n, f.OFF0 + 1 - p]),
            out,
            U(off),
        )
        return
    for i in range(tree.nodes[n, f.N_I0 + p]):
        out[off + i] = opponent_mass(public, tree, n, p, i)
