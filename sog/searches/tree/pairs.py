"""Numba kernels that apply pair operators to ranges, by kind: payoffs, masses, single entries, utilities.

They work on arrays alone (see arrays.py), with one branch for each kind: dense matrices here, those of few entries in
sparse.py, hold'em's operators in cards.py. No sweep depends on the kind.
"""

from __future__ import annotations

from sog.arrays import Array
from sog.games.base import DENSE, SPARSE, TERMINAL
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.registers import sum_of
from sog.searches.kernels.spans import dot
from sog.searches.kernels.vectors import LANES64, load_first, splat, store_first
from sog.searches.tree import cards, sparse
from sog.searches.tree.arrays import Public, Ranges, Tree
from sog.searches.tree.players import Players
from sog.searches.tree.records import Infostate, Node, OperatorRow


@njit
def payoffs(public: Public, tree: Tree, first: int, last: int, players: Players) -> None:
    """Counterfactual values of the players at terminal nodes ends[first] .. ends[last - 1].

    With payoffs P and reaches r: cfv0[i] = sum over j of P[i, j] r1[j], cfv1[j] = -(sum over i of P[i, j] r0[i]).
    """
    reach, cfv = tree.infostates[Infostate.REACH], tree.infostates[Infostate.CFV]
    values = public.operator_values
    for e in range(first, last):
        node: Node = tree.nodes[tree.ends[e]]
        state = public.nodes[node.public]
        operator, scale = public.operators[state.payoff], state.payoff_scale
        # One branch a kind: SPARSE below DENSE, hold'em's above it.
        if operator.kind == SPARSE:
            sparse.payoffs(values, operator, scale, reach, node.offset, cfv, players)
            continue
        if operator.kind != DENSE:
            cards.payoffs(values, operator, scale, reach, node.offset, cfv, players)
            continue
        # P[i, j] = scale * values[start + i * width1 + j].
        start, offset0, width0 = operator.start, node.offset[0], node.width[0]
        offset1, width1 = node.offset[1], node.width[1]
        if players & Players.FIRST:  # row by row: each is one product with the reach
            if width1 <= LANES64:  # which is then one register, loaded once; `dot` of the same bits
                theirs = load_first(reach, offset1, width1)
                for i in range(width0):
                    cfv[offset0 + i] = sum_of(load_first(values, start + i * width1, width1) * theirs) * scale
            else:
                for i in range(width0):
                    cfv[offset0 + i] = dot(values, start + i * width1, reach, offset1, width1) * scale
        if players & Players.SECOND:  # a register of columns at a time, down all rows
            for j in range(0, width1, LANES64):
                row, left, total = start + j, width1 - j, splat(0.0)
                for i in range(width0):
                    total -= load_first(values, row, left) * splat(reach[offset0 + i] * scale)
                    row += width1
                store_first(cfv, offset1 + j, left, total)


@inlined
def masses(public: Public, s: int, ranges: Ranges, against: Players, mass: Array) -> None:
    """mass[1 - p, i]: weights of infostates at public state s against the ranges of the players p in `against`.

    mass: float64[2, *].  With weights W: mass[0, i] = sum over j of W[i, j] r1[j], mass[1, j] likewise with r0.
    """
    state, values = public.nodes[s], public.operator_values
    operator, scale = public.operators[state.weight], state.weight_scale
    if operator.kind == SPARSE:
        sparse.masses(values, operator, scale, ranges, mass)
        return
    if operator.kind != DENSE:
        cards.masses(values, operator, scale, ranges, mass)
        return
    # Rows and columns as in `payoffs`; W[i, j] = scale * values[start + i * width1 + j].
    start, width0, width1 = operator.start, state.width[0], state.width[1]
    if against & Players.SECOND:
        for i in range(width0):
            mass[0, i] = dot(values, start + i * width1, ranges.one, ranges.at1, width1) * scale
    # Down the columns, LANES64 of player 1's infostates at a time.
    if against & Players.FIRST:
        for j in range(0, width1, LANES64):
            row, left, total = start + j, width1 - j, splat(0.0)
            for i in range(width0):
                total += load_first(values, row, left) * splat(ranges.zero[ranges.at0 + i] * scale)
                row += width1
            store_first(mass[1], j, left, total)


@njit
def masses_of_ranges(public: Public, s: int, r0: Array, r1: Array, mass: Array) -> None:
    """mass: float64[2, *], each infostate's weight at public state s against the ranges r0 and r1."""
    masses(public, s, Ranges(r0, 0, r1, 0), Players.BOTH, mass)


@njit
def _entry(public: Public, operator: OperatorRow, i0: int, i1: int) -> float:
    """The unscaled operator at (i0, i1)."""
    values = public.operator_values
    if operator.kind == SPARSE:
        return sparse.entry(values, operator, i0, i1)  # type: ignore[no-any-return]
    if operator.kind != DENSE:
        return cards.entry(operator.kind, values, operator.start, i0, i1)  # type: ignore[no-any-return]
    return values[operator.start + i0 * operator.columns + i1]  # type: ignore[no-any-return]


@njit
def weight(public: Public, s: int, i0: int, i1: int) -> float:
    """W_s[i0, i1]."""
    state = public.nodes[s]
    return state.weight_scale * _entry(public, public.operators[state.weight], i0, i1)  # type: ignore[no-any-return]


@njit
def utility(public: Public, s: int, i0: int, i1: int) -> float:
    """Player 0's utility at the terminal state s for the pair: the payoff holds W, which is divided out.

    u[i0, i1] = P[i0, i1] / W[i0, i1]; the pair must be possible: W > 0.
    """
    state = public.nodes[s]
    # A terminal state's payoff operator is P = W * u, entry by entry.
    payoff = state.payoff_scale * _entry(public, public.operators[state.payoff], i0, i1)
    return float(payoff / weight(public, s, i0, i1))


@njit
def utilities(public: Public, first: int, out: Array) -> None:
    """out: float64[N], player 0's utility at states first, ..., first + N - 1 that end a game of perfect information.

    0 where the game continues.
    """
    for k in range(len(out)):
        s = first + k
        out[k] = utility(public, s, 0, 0) if public.nodes[s].actor == TERMINAL else 0.0


@njit
def opponent_mass(public: Public, tree: Tree, n: int, p: int, i: int) -> float:
    """sum over the opponent's infostates j of W[i, j] * reach[j], for player p's infostate i at lookahead node n."""
    node, reach, values = tree.nodes[n], tree.infostates[Infostate.REACH], public.operator_values
    state, offset = public.nodes[node.public], node.offset[1 - p]
    operator, scale = public.operators[state.weight], state.weight_scale
    if operator.kind == SPARSE:
        return float(scale * sparse.mass_of(values, operator, reach, offset, p, i))
    if operator.kind != DENSE:
        return float(scale * cards.mass_of(values, operator.start, reach, offset, i))
    total = 0.0
    for j in range(node.width[1 - p]):
        # Row i of W for player 0, column i for player 1.
        at = i * operator.columns + j if p == 0 else j * operator.columns + i
        total += reach[offset + j] * (scale * values[operator.start + at])
    return total


@njit
def opponent_masses(public: Public, tree: Tree, n: int, p: int, out: Array) -> None:
    """out[offset + i] for player p at lookahead node n: opponent_mass of all its infostates i; out: float64[S].

    out[offset + i] = sum over j of W[i, j] * reach[j], j the opponent's infostates.
    """
    node, reach = tree.nodes[n], tree.infostates[Infostate.REACH]
    state = public.nodes[node.public]
    operator, values, to = public.operators[state.weight], public.operator_values, node.offset[p]
    if operator.kind > DENSE:  # all of them at once
        at = node.offset[1 - p]
        cards.apply_card(operator.kind, values, operator.start, state.weight_scale, reach, at, out, to)
        return
    for i in range(node.width[p]):
        out[to + i] = opponent_mass(public, tree, n, p, i)
