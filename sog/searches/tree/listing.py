"""Numba kernel that writes one position of a deterministic game into a public tree's tables, its fan included.

It knows arrays only (see columns.py).
"""

from __future__ import annotations

from typing import NamedTuple

from sog.arrays import Array
from sog.searches.kernels.dispatch import same_types
from sog.searches.kernels.jit import njit
from sog.searches.tree import columns as f
from sog.searches.tree.arrays import Public


class Position(NamedTuple):
    """A position to be written, where each player has one infostate.

    node: its row.  edge0, action0: where its edges and actions lie.  weight, payoff: operators with their scales;
    payoff -1 where the game goes on.  unit: the value unit, utilities.
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
def write_position(public: Public, position: Position, identities: Array) -> None:
    """Write a position with its fan: action a takes edge a, and no child is listed yet. The caller made room.

    identities: int32[A], of its actions.
    """
    nodes, scales, edges, actions = public.nodes, public.scales, public.edges, public.actions
    node, count, goes_on = position.node, len(identities), position.payoff < 0
    nodes[node, f.ACTOR], nodes[node, f.I0], nodes[node, f.I1] = position.actor, 1, 1
    nodes[node, f.EDGE0], nodes[node, f.EDGES] = position.edge0 if goes_on else -1, count
    nodes[node, f.ACTION0], nodes[node, f.ACTIONS] = position.action0 if goes_on else 0, count
    nodes[node, f.WEIGHT_OP], nodes[node, f.PAYOFF_OP] = position.weight, position.payoff
    nodes[node, f.SLOT0], nodes[node, f.SLOT1] = 0, 0
    nodes[node, f.PLAIN], nodes[node, f.SAME] = goes_on, goes_on
    scales[node, f.WEIGHT_SCALE], scales[node, f.PAYOFF_SCALE] = position.weight_scale, position.payoff_scale
    scales[node, f.VALUE_UNIT] = position.unit
    for a in range(count):
        edge, row = position.edge0 + a, position.action0 + a
        edges[edge, f.CHILD], edges[edge, f.CARRY0], edges[edge, f.CARRY1] = -1, -1, -1
        edges[edge, f.CARRY0_LEN], edges[edge, f.CARRY1_LEN] = 0, 0
        actions[row, f.IDENTITY], actions[row, f.EDGE] = identities[a], a
        actions[row, f.LINK0], actions[row, f.LINKS] = 0, 0
