"""Numba kernels that apply pair operators to ranges, by kind: payoffs, masses, single entries, drawn pairs.

They know arrays only (see columns.py) and one branch a kind: dense matrices here, hold'em's operators in cards.py. The
sweeps on either side know neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sog.arrays import Array
from sog.games.base import DENSE
from sog.search.simd.f64x8 import LANES, load, splat, store
from sog.search.simd.jit import inlined, njit
from sog.search.simd.spans import dot
from sog.search.tree import cards
from sog.search.tree import columns as f

U = np.uint64


@njit
def payoffs(
    operators: Array, values: Array, public: Array, scales: Array, nodes: Array, ends: Array, count: int,
    slots: Array, players: int,
) -> None:  # fmt: skip
    """Counterfactual values of the players in the bit mask at the first `count` terminal nodes in `ends`."""
    reach, cfv = slots[f.REACH], slots[f.CFV]
    for e in range(U(count)):
        n = U(ends[e])
        s = U(nodes[n, f.PUBLIC])
        op, scale = U(public[s, f.PAYOFF_OP]), scales[s, f.PAYOFF_SCALE]
        start = U(operators[op, f.OP_START])
        w0, w1 = U(nodes[n, f.N_I0]), U(nodes[n, f.N_I1])
        off0, off1 = U(nodes[n, f.OFF0]), U(nodes[n, f.OFF1])
        if operators[op, f.OP_KIND] != DENSE:
            cards.payoffs(operators[op, f.OP_KIND], values, start, scale, reach, off0, off1, cfv, players)
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
def masses(
    operators: Array, values: Array, op: Any, scale: float, r0: Array, off0: Any, w0: Any, r1: Array, off1: Any,
    w1: Any, mass: Array,
) -> None:  # fmt: skip
    """mass[0, i], mass[1, j]: each infostate's weight against the opponent's range."""
    if operators[op, f.OP_KIND] != DENSE:
        cards.masses(values, U(operators[op, f.OP_START]), scale, r0, off0, r1, off1, mass)
        return
    row = U(operators[op, f.OP_START])
    for j in range(w1):
        mass[1, j] = 0.0
    for i in range(w0):
        total, mine = 0.0, r0[off0 + i] * scale
        for j in range(w1):
            total += values[row + j] * r1[off1 + j]
            mass[1, j] += values[row + j] * mine
        mass[0, i] = total * scale
        row += w1


@njit
def entry(operators: Array, values: Array, op: int, i0: int, i1: int) -> Any:
    """The unscaled operator at (i0, i1)."""
    start = operators[op, f.OP_START]
    if operators[op, f.OP_KIND] != DENSE:
        return cards.entry(operators[op, f.OP_KIND], values, start, i0, i1)
    return values[start + i0 * operators[op, f.OP_COLUMNS] + i1]


@njit
def weight(public: Array, scales: Array, operators: Array, values: Array, s: int, i0: int, i1: int) -> Any:
    """W_s[i0, i1]."""
    return scales[s, f.WEIGHT_SCALE] * entry(operators, values, public[s, f.WEIGHT_OP], i0, i1)


@njit
def opponent_mass(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, reach: Array, n: int, p: int, i: int
) -> float:
    """sum over the opponent's infostates j of W[i, j] * reach[j], for player p's infostate i at lookahead node n."""
    s, off = nodes[n, f.PUBLIC], nodes[n, f.OFF0 + 1 - p]
    op, scale = public[s, f.WEIGHT_OP], scales[s, f.WEIGHT_SCALE]
    if operators[op, f.OP_KIND] != DENSE:
        return float(scale * cards.mass_of(values, U(operators[op, f.OP_START]), reach, U(off), i))
    total = 0.0
    for j in range(nodes[n, f.N_I0 + 1 - p]):
        i0, i1 = (i, j) if p == 0 else (j, i)
        at = operators[op, f.OP_START] + i0 * operators[op, f.OP_COLUMNS] + i1
        total += reach[off + j] * (scale * values[at])
    return total


@njit
def opponent_masses(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, reach: Array, n: int, p: int,
    out: Array,
) -> None:  # fmt: skip
    """out[OFF0 + i] for player p at lookahead node n: opponent_mass of all its infostates i; out: float64[S]."""
    s, off = nodes[n, f.PUBLIC], nodes[n, f.OFF0 + p]
    op = public[s, f.WEIGHT_OP]
    if operators[op, f.OP_KIND] != DENSE:
        cards.apply_card(
            operators[op, f.OP_KIND], values, U(operators[op, f.OP_START]), scales[s, f.WEIGHT_SCALE],
            reach, U(nodes[n, f.OFF0 + 1 - p]), out, U(off),
        )  # fmt: skip
        return
    for i in range(nodes[n, f.N_I0 + p]):
        out[off + i] = opponent_mass(public, scales, operators, values, nodes, reach, n, p, i)
