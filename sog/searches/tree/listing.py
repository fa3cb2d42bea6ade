"""Numba kernel that writes one position of a deterministic game into a public tree's tables, its fan included.

It works on arrays alone (see arrays.py).
"""

from __future__ import annotations

from typing import NamedTuple

from sog.arrays import Array
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import njit
from sog.searches.tree.arrays import Public


class ListedPosition(NamedTuple):
    """A position to be written, where each player has one infostate.

    node: its row.  edge0, action0: where its edges and actions lie.  weight, payoff: operators with their scales;
    payoff -1 where the game continues.  unit: the value unit, utilities.
    """

    node: int
    edge0: int
    action0: int
    actor: int
    weight: int
    weight_scale: float
    payoff: int
    payoff_scale: float
    unit: float


@same_types
@njit
def write_position(public: Public, position: ListedPosition, identities: Array) -> None:
    """Write a position with its fan: action a takes edge a, and no child is listed yet. The caller made room.

    identities: int32[A], of its actions.
    """
    state, count, goes_on = public.nodes[position.node], len(identities), position.payoff < 0
    state.actor, state.plain, state.same = position.actor, goes_on, goes_on
    # An end has no fan; -1 is also what a state has whose fan is not listed.
    state.edge0, state.edges = position.edge0 if goes_on else -1, count
    state.action0, state.actions = position.action0 if goes_on else 0, count
    state.weight, state.weight_scale = position.weight, position.weight_scale
    state.payoff, state.payoff_scale = position.payoff, position.payoff_scale
    state.value_unit = position.unit
    # One infostate each; run 0 of the slots is that of a single slot, 0.
    for p in range(2):
        state.width[p], state.slot0[p] = 1, 0
    for a in range(count):
        edge, action = public.edges[position.edge0 + a], public.actions[position.action0 + a]
        edge.child = -1
        # -1: the infostate keeps its number over the edge.
        for p in range(2):
            edge.carry0[p], edge.carries[p] = -1, 0
        # For the only infostate action a is edge a: no links.
        action.identity, action.edge, action.link0, action.links = identities[a], a, 0, 0
