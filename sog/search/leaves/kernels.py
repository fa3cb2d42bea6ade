"""Numba kernels between the two sweeps: beliefs out of a lookahead's leaves, evaluations into them.

They know arrays only (see columns.py); beliefs and evaluations are laid out by network slot.
"""

from __future__ import annotations

import numpy as np

from sog.arrays import Array
from sog.search.simd.jit import inlined, njit
from sog.search.tree import columns as f
from sog.search.tree import pairs

U = np.uint64


@njit
def collect(
    public: Array, public_slots: Array, nodes: Array, count: int, slots: Array, single: bool, slots0: int,
    leaves: Array, states: Array, ranges: Array,
) -> int:  # fmt: skip
    """List the leaves to be evaluated and write their normalised ranges by slot.

    single: leaves where each player has one infostate are asked once and then reused.
    leaves, states: int32[B], lookahead and public nodes.  ranges: float64[B, S0 + S1].  Returns B.
    """
    reach = slots[f.REACH]
    found = 0
    for n in range(count):
        if nodes[n, f.KIND] != f.LEAF or (single and nodes[n, f.EVALUATED]):
            continue
        s = nodes[n, f.PUBLIC]
        leaves[found], states[found] = n, s
        for p in range(2):
            off, width = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p])
            first = U(slots0 if p else 0)
            at = U(public[s, f.SLOT0 + p])
            for k in range(U(ranges.shape[1] - slots0 if p else slots0)):
                ranges[found, first + k] = 0.0
            total = 0.0
            for i in range(width):
                total += reach[off + i]
            for i in range(width):
                share = reach[off + i] / total if total > 0.0 else 1.0 / width
                ranges[found, first + U(public_slots[at + i])] = share
        found += 1
    return found


@inlined
def _scale(
    public: Array, scales: Array, operators: Array, operator_values: Array, nodes: Array, slots: Array, n: int,
    correct: bool, mass: Array,
) -> None:  # fmt: skip
    """Counterfactual values of leaf n from its conditional values and today's ranges."""
    s = nodes[n, f.PUBLIC]
    reach, cfv, value = slots[f.REACH], slots[f.CFV], slots[f.LEAF_VALUE]
    off = (nodes[n, f.OFF0], nodes[n, f.OFF1])
    pairs.masses(
        operators, operator_values, public[s, f.WEIGHT_OP], scales[s, f.WEIGHT_SCALE],
        reach, U(off[0]), U(nodes[n, f.N_I0]), reach, U(off[1]), U(nodes[n, f.N_I1]), mass,
    )  # fmt: skip
    surplus, weight = 0.0, 0.0
    for p in range(2):
        for i in range(nodes[n, f.N_I0 + p]):
            cfv[off[p] + i] = value[off[p] + i] * mass[p, i]
            surplus += cfv[off[p] + i] * reach[off[p] + i]
            if p == 0:
                weight += mass[0, i] * reach[off[0] + i]
    if correct and weight > 0.0:
        half = 0.5 * surplus / weight
        for p in range(2):
            for i in range(nodes[n, f.N_I0 + p]):
                cfv[off[p] + i] -= half * mass[p, i]


@njit
def rescale(
    public: Array, scales: Array, operators: Array, operator_values: Array, nodes: Array, slots: Array, count: int,
    correct: bool, mass: Array,
) -> None:  # fmt: skip
    """Counterfactual values of all leaves from their conditional values and today's ranges."""
    for n in range(count):
        if nodes[n, f.KIND] == f.LEAF:
            _scale(public, scales, operators, operator_values, nodes, slots, n, correct, mass)


@njit
def absorb(
    public: Array, scales: Array, rows: Array, operators: Array, operator_values: Array, public_slots: Array,
    nodes: Array, slots: Array, entries: Array, leaves: Array, values: Array, logits: Array, slots0: int,
    temperature: float, correct: bool, single: bool, mass: Array, count: int,
) -> None:  # fmt: skip
    """Write the evaluations of `leaves` into the tree as counterfactual values and priors.

    A value is conditional on the infostate: times the opponent's mass it is counterfactual (0 where that mass
    is 0). correct: subtract half of the pair-weighted sum of both players' values from both (DeepStack).
    The prior, exp(logit / temperature) up to a factor, is kept from a leaf's first evaluation on.
    single: leaves asked earlier are scaled by today's ranges too.  mass: float64[2, *] scratch.
    """
    for b in range(len(leaves)):
        n = leaves[b]
        s = nodes[n, f.PUBLIC]
        for p in range(2):
            off, first = nodes[n, f.OFF0 + p], slots0 if p else 0
            at = public[s, f.SLOT0 + p]
            for i in range(nodes[n, f.N_I0 + p]):
                slots[f.LEAF_VALUE, off + i] = values[b, first + public_slots[at + i]]
        actor = nodes[n, f.N_ACTOR]
        if actor < 2:
            _prior(public, rows, public_slots, nodes, entries, n, s, actor, logits, b, temperature)
        nodes[n, f.EVALUATED] = max(nodes[n, f.EVALUATED], 1)
        if not single:
            _scale(public, scales, operators, operator_values, nodes, slots, n, correct, mass)
    if single:
        rescale(public, scales, operators, operator_values, nodes, slots, count, correct, mass)


@njit
def _prior(
    public: Array, rows: Array, public_slots: Array, nodes: Array, entries: Array, n: int, s: int, actor: int,
    logits: Array, b: int, temperature: float,
) -> None:  # fmt: skip
    width, at = nodes[n, f.N_I0 + actor], public[s, f.SLOT0 + actor]
    for i in range(width):
        slot = public_slots[at + i]
        top = -np.inf
        for a in range(nodes[n, f.N_ROWS]):
            top = max(top, logits[b, slot, rows[nodes[n, f.N_ROW0] + a, f.ACTION]])
        for a in range(nodes[n, f.N_ROWS]):
            logit = logits[b, slot, rows[nodes[n, f.N_ROW0] + a, f.ACTION]]
            entries[f.PRIOR, nodes[n, f.VAR0] + a * width + i] = np.exp((logit - top) / temperature)


@njit
def node_mass(
    public: Array, scales: Array, operators: Array, operator_values: Array, s: int, r0: Array, r1: Array, mass: Array
) -> None:
    """mass: float64[2, *], each infostate's weight at public node s against ranges r0 and r1."""
    pairs.masses(
        operators, operator_values, public[s, f.WEIGHT_OP], scales[s, f.WEIGHT_SCALE],
        r0, U(0), U(len(r0)), r1, U(0), U(len(r1)), mass,
    )  # fmt: skip
