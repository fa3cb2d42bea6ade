"""Numba kernels of depth-limited solving: one call before and one after the leaves of many subgames are evaluated.

They know arrays only (see fields.py). A player's turn is a bit mask of the players who update in it; 3 is both at once.
"""

from __future__ import annotations

from typing import Any

from sog.arrays import Array
from sog.games.base import DENSE
from sog.search import cards, fictitious, kernels, pairs
from sog.search import fields as f
from sog.search.growth import ENDS, NODES
from sog.search.jit import inlined, njit
from sog.search.leaves import U

# How leaves are weighed (see `weigh`).
PLAIN, DIFFERENCES, PAIRS = range(3)


@njit
def look(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array,
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, ends: Array, leaves: Array, moved: int, turn: int, average: bool, weight: float, users: int,
    prune: bool, slots0: int, asked: Array, ranges: Array,
) -> int:  # fmt: skip
    """Before a CFR turn: ranges of the players in `moved` down, payoffs, beliefs out of the leaves; how many ask.

    average: beliefs are those of the average policies, summed here; otherwise of today's.  users: the players who
    will need the answers; 0: nobody asks.
    """
    count = counts[NODES]
    kernels.forward(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, moved)
    pairs.payoffs(operators, values, public, scales, nodes, ends, counts[ENDS], slots, turn)
    if average:
        _sum_reaches(nodes, slots, leaves, opponents(turn), weight)
    if not users:
        return 0
    row = f.REACH_SUM if average else f.REACH
    found: int = collect(public, public_slots, nodes, slots, leaves, row, users, prune, slots0, asked, ranges)
    return found


@njit
def settle(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array,
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, leaves: Array, roots: Array, turn: int, kind: int, correct: bool, step: Array,
    slots0: int, asked: Array, found: int, answers: Array, tables: Array, mass: Array,
) -> None:  # fmt: skip
    """After a CFR turn's leaves are evaluated: their values in, values up, regrets; the roots' values summed."""
    absorb(public, public_slots, nodes, slots, leaves, asked, found, answers, tables, kind, slots0)
    weigh(
        public, scales, operators, values, public_slots, nodes, slots, leaves, turn, kind, correct, step[2], tables,
        slots0, mass,
    )  # fmt: skip
    kernels.backward(edges, rows, links, nodes, counts[NODES], child, slots, entries, turn, turn, step, False)
    for k in range(len(roots)):
        for p in range(2):
            if (turn >> p) & 1:
                off = U(nodes[roots[k], f.OFF0 + p])
                for i in range(U(nodes[roots[k], f.N_I0 + p])):
                    slots[f.CFV_SUM, off + i] += step[2] * slots[f.CFV, off + i]


@njit
def look_at_average(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array, nodes: Array, slots: Array,
    counts: Array, ends: Array, bottom: Array, leaves: Array, turn: int, total: float, recent: float, ask: bool,
    slots0: int, asked: Array, ranges: Array,
) -> int:  # fmt: skip
    """Before a turn of fictitious play: the opponents' average reaches at `bottom` (ends and leaves), payoffs, beliefs.

    total, recent: of fictitious.mix_reaches.
    """
    for p in range(2):
        if (opponents(turn) >> p) & 1:
            fictitious.mix_reaches(nodes, bottom, slots, p, total, recent)
    pairs.payoffs(operators, values, public, scales, nodes, ends, counts[ENDS], slots, turn)
    if not ask:
        return 0
    found: int = collect(public, public_slots, nodes, slots, leaves, f.REACH_SUM, turn, False, slots0, asked, ranges)
    return found


@njit
def respond(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array,
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, leaves: Array, turn: int, slots0: int, asked: Array, found: int, answers: Array, tables: Array,
    mass: Array,
) -> None:  # fmt: skip
    """After a turn's leaves are evaluated: the players' best responses in the POLICY row and their reaches."""
    count = counts[NODES]
    absorb(public, public_slots, nodes, slots, leaves, asked, found, answers, tables, PLAIN, slots0)
    weigh(
        public, scales, operators, values, public_slots, nodes, slots, leaves, turn, PLAIN, False, 1.0, tables, slots0,
        mass,
    )  # fmt: skip
    kernels.evaluate(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, turn)
    fictitious.respond(nodes, count, entries, turn)
    kernels.forward(edges, rows, links, nodes, count, child, slots, entries, f.POLICY, turn)


@inlined
def opponents(turn: int) -> int:
    """The bit mask of those against whom the players of a turn update."""
    return ((turn & 1) << 1) | (turn >> 1)


@inlined
def _sum_reaches(nodes: Array, slots: Array, leaves: Array, players: int, weight: float) -> None:
    """Add the players' weighted reaches at the leaves to REACH_SUM."""
    for k in range(len(leaves)):
        n = leaves[k]
        for p in range(2):
            if (players >> p) & 1:
                off = U(nodes[n, f.OFF0 + p])
                for i in range(U(nodes[n, f.N_I0 + p])):
                    slots[f.REACH_SUM, off + i] += weight * slots[f.REACH, off + i]


@inlined
def _held(nodes: Array, slots: Array, n: Any, players: int) -> bool:
    """Whether one of the players holds anything at node n by today's ranges."""
    for p in range(2):
        if (players >> p) & 1:
            off = U(nodes[n, f.OFF0 + p])
            for i in range(U(nodes[n, f.N_I0 + p])):
                if slots[f.REACH, off + i] > 0.0:
                    return True
    return False


@njit
def collect(
    public: Array, public_slots: Array, nodes: Array, slots: Array, leaves: Array, row: int, users: int, prune: bool,
    slots0: int, asked: Array, ranges: Array,
) -> int:  # fmt: skip
    """Write the beliefs at the leaves, normalised by slot, from a row of reaches; how many there are.

    prune: leaves where nobody whom the users play against holds anything today are left out: whatever the answer,
    its counterfactual value is 0.  asked: int32[2, B], places in `leaves` and public nodes.
    """
    others, found = opponents(users), 0
    for k in range(len(leaves)):
        n = leaves[k]
        if prune and not _held(nodes, slots, n, others):
            continue
        s = nodes[n, f.PUBLIC]
        asked[0, found], asked[1, found] = k, s
        for p in range(2):
            off, width, at = U(nodes[n, f.OFF0 + p]), U(nodes[n, f.N_I0 + p]), U(public[s, f.SLOT0 + p])
            first, source, total = U(slots0 if p else 0), row, 0.0
            for i in range(width):
                total += slots[row, off + i]
            if total <= 0.0 and row != f.REACH:  # no average yet
                source = f.REACH
                for i in range(width):
                    total += slots[f.REACH, off + i]
            room = U(ranges.shape[1] - slots0 if p else slots0)
            if width < room:
                for i in range(room):
                    ranges[found, first + i] = 0.0
            factor, rest = (1.0 / total, 0.0) if total > 0.0 else (0.0, 1.0 / width)
            for i in range(width):
                ranges[found, first + U(public_slots[at + i])] = slots[source, off + i] * factor + rest
        found += 1
    return found


@inlined
def absorb(
    public: Array, public_slots: Array, nodes: Array, slots: Array, leaves: Array, asked: Array, found: int,
    answers: Array, tables: Array, kind: int, slots0: int,
) -> None:  # fmt: skip
    """Keep answers: conditional values in LEAF_VALUE, or for PAIRS the matrices in tables, float64[L, S0 * S1]."""
    for b in range(found):
        k = asked[0, b]
        if kind == PAIRS:
            for c in range(tables.shape[1]):
                tables[k, c] = answers[b, c]
            continue
        n, s = leaves[k], asked[1, b]
        for p in range(2):
            off, at, first = U(nodes[n, f.OFF0 + p]), U(public[s, f.SLOT0 + p]), U(slots0 if p else 0)
            for i in range(U(nodes[n, f.N_I0 + p])):
                slots[f.LEAF_VALUE, off + i] = answers[b, first + U(public_slots[at + i])]


@njit
def weigh(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array, nodes: Array, slots: Array,
    leaves: Array, turn: int, kind: int, correct: bool, weight: float, tables: Array, slots0: int, mass: Array,
) -> None:  # fmt: skip
    """Counterfactual values of the turn's players at the leaves from what is kept of their evaluations.

    PLAIN: conditional values times the opponent's mass today.  DIFFERENCES: what the same with the summed reaches
    grew by, over this iteration's weight (ReBeL, "CFR-AVE", modified).  PAIRS: expectations of the pairs' values
    under the opponent's reach today (CFR-AVE).  correct: take half the players' surplus from each.
    """
    row = f.REACH_SUM if kind == DIFFERENCES else f.REACH
    reach, value, cfv = slots[row], slots[f.LEAF_VALUE], slots[f.CFV]
    needed = 3 if correct else opponents(turn)
    for k in range(len(leaves)):
        n = leaves[k]
        s = nodes[n, f.PUBLIC]
        if kind == PAIRS:
            _expect(public, scales, operators, values, public_slots, nodes, slots, n, s, turn, tables[k], slots0)
            continue
        _masses(public, scales, operators, values, nodes, reach, n, s, needed, mass)
        surplus = _surplus(nodes, reach, value, n, mass) if correct else 0.0
        for p in range(2):
            if not (turn >> p) & 1:
                continue
            off = U(nodes[n, f.OFF0 + p])
            for i in range(U(nodes[n, f.N_I0 + p])):
                worth = (value[off + i] - 0.5 * surplus) * mass[p, i]
                if kind == DIFFERENCES:
                    cfv[off + i] = (worth - slots[f.CFV_SUM, off + i]) / weight
                    slots[f.CFV_SUM, off + i] = worth
                else:
                    cfv[off + i] = worth


@inlined
def _masses(
    public: Array, scales: Array, operators: Array, values: Array, nodes: Array, reach: Array, n: Any, s: Any,
    players: int, mass: Array,
) -> None:  # fmt: skip
    """mass[1 - p, i]: each infostate's weight against player p's reach, for the players p in the bit mask."""
    op, scale = U(public[s, f.WEIGHT_OP]), scales[s, f.WEIGHT_SCALE]
    row = U(operators[op, f.OP_START])
    off0, off1 = U(nodes[n, f.OFF0]), U(nodes[n, f.OFF1])
    w0, w1 = U(nodes[n, f.N_I0]), U(nodes[n, f.N_I1])
    if operators[op, f.OP_KIND] != DENSE:
        cards.masses(values, row, scale, reach, off0, reach, off1, mass)
        return
    if players & 1:
        for j in range(w1):
            mass[1, j] = 0.0
    for i in range(w0):
        if players & 2:
            total = 0.0
            for j in range(w1):
                total += values[row + j] * reach[off1 + j]
            mass[0, i] = total * scale
        if players & 1:
            mine = reach[off0 + i] * scale
            for j in range(w1):
                mass[1, j] += values[row + j] * mine
        row += w1


@inlined
def _surplus(nodes: Array, reach: Array, value: Array, n: Any, mass: Array) -> float:
    """What both players' values at leaf n sum to, in the mean over pairs; 0 between two players."""
    surplus, weight = 0.0, 0.0
    for p in range(2):
        off = U(nodes[n, f.OFF0 + p])
        for i in range(U(nodes[n, f.N_I0 + p])):
            surplus += value[off + i] * mass[p, i] * reach[off + i]
            if p == 0:
                weight += mass[p, i] * reach[off + i]
    return surplus / weight if weight > 0.0 else 0.0


@inlined
def _expect(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array, nodes: Array, slots: Array,
    n: Any, s: Any, turn: int, tables: Array, slots0: int,
) -> None:  # fmt: skip
    """Counterfactual values at leaf n of a matrix of player 0's utilities by pair of slots."""
    reach, cfv, slots1 = slots[f.REACH], slots[f.CFV], len(tables) // slots0
    row, scale = U(operators[U(public[s, f.WEIGHT_OP]), f.OP_START]), scales[s, f.WEIGHT_SCALE]
    off0, off1 = U(nodes[n, f.OFF0]), U(nodes[n, f.OFF1])
    w0, w1 = U(nodes[n, f.N_I0]), U(nodes[n, f.N_I1])
    at0, at1 = U(public[s, f.SLOT0]), U(public[s, f.SLOT1])
    if turn & 2:
        for j in range(w1):
            cfv[off1 + j] = 0.0
    for i in range(w0):
        total, mine = 0.0, reach[off0 + i] * scale
        first = U(public_slots[at0 + i] * slots1)
        for j in range(w1):
            utility = values[row + j] * tables[first + U(public_slots[at1 + j])]
            total += utility * reach[off1 + j]
            if turn & 2:
                cfv[off1 + j] -= utility * mine
        if turn & 1:
            cfv[off0 + i] = total * scale
        row += w1


@njit
def value_average(
    public: Array, scales: Array, operators: Array, values: Array, public_slots: Array,
    edges: Array, rows: Array, links: Array, nodes: Array, child: Array, slots: Array, entries: Array,
    counts: Array, leaves: Array, correct: bool, slots0: int, asked: Array, found: int, answers: Array, tables: Array,
    mass: Array,
) -> None:  # fmt: skip
    """Both players' values of the policies in the FIXED row, whose ranges, payoffs and leaf answers are there."""
    absorb(public, public_slots, nodes, slots, leaves, asked, found, answers, tables, PLAIN, slots0)
    weigh(
        public, scales, operators, values, public_slots, nodes, slots, leaves, 3, PLAIN, correct, 1.0, tables, slots0,
        mass,
    )  # fmt: skip
    kernels.evaluate(edges, rows, links, nodes, counts[NODES], child, slots, entries, f.FIXED, 0)
