"""Numba kernel that writes one position of a deterministic game into a public tree's tables, its fan included.

It knows arrays only (see columns.py).
"""

from __future__ import annotations

from sog.arrays import Array
from sog.search.simd.jit import njit
from sog.search.tree import columns as f


@njit
def write_position(
    nodes: Array, scales: Array, parents: Array, edges: Array, rows: Array, node: int, parent: int, edge0: int,
    row0: int, actions: Array, actor: int, weight: int, weight_scale: float, payoff: int, payoff_scale: float,
    unit: float,
) -> None:  # fmt: skip
    """Node `node` with one infostate a player: action a takes edge a, and no child is listed yet.

    edge0, row0: where its edges and rows lie; the caller made room.  actions: int32[A].  payoff: -1 where the game
    goes on.
    """
    count = len(actions)
    on = payoff < 0
    nodes[node, f.ACTOR], nodes[node, f.I0], nodes[node, f.I1] = actor, 1, 1
    nodes[node, f.EDGE0], nodes[node, f.EDGES] = edge0 if on else -1, count
    nodes[node, f.ROW0], nodes[node, f.ROWS] = row0 if on else 0, count
    nodes[node, f.WEIGHT_OP], nodes[node, f.PAYOFF_OP] = weight, payoff
    nodes[node, f.SLOT0], nodes[node, f.SLOT1] = 0, 0
    nodes[node, f.PLAIN], nodes[node, f.SAME] = on, on
    scales[node, f.WEIGHT_SCALE], scales[node, f.PAYOFF_SCALE] = weight_scale, payoff_scale
    scales[node, f.VALUE_UNIT] = unit
    parents[node] = parent
    for a in range(count):
        edge, row = edge0 + a, row0 + a
        edges[edge, f.CHILD], edges[edge, f.CARRY0], edges[edge, f.CARRY1] = -1, -1, -1
        edges[edge, f.CARRY0_LEN], edges[edge, f.CARRY1_LEN] = 0, 0
        rows[row, f.ACTION], rows[row, f.EDGE] = actions[a], a
        rows[row, f.LINK0], rows[row, f.LINKS] = 0, 0
