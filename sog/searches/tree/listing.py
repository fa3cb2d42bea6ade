"""Numba kernels that write positions of a deterministic game into a public tree's tables, their fans included.

They work on arrays alone (see arrays.py).
"""

from __future__ import annotations

from typing import NamedTuple

from sog.arrays import Array
from sog.games.base import TERMINAL
from sog.searches.kernels.calls import play
from sog.searches.kernels.jit import njit
from sog.searches.tree.arrays import Cells, Public
from sog.searches.tree.records import AwaitedNodes


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


@njit
def has_room(public: Public, cells: Cells, count: int) -> bool:
    """Whether this many more positions can be listed without Python."""
    used, most = cells.used, count * len(cells.legal)
    return bool(
        used[0] + count <= cells.limit and used[1] + most <= len(public.edges) and used[2] + most <= len(public.actions)
    )


@njit
def list_child(public: Public, cells: Cells, s: int, edge: int) -> int:
    """The node over an edge of node s, listed by the game's cell rules where it was not. The caller made room."""
    above = public.nodes[s]
    over = public.edges[above.edge0 + edge]
    if over.child >= 0:
        return over.child
    node: int = cells.used[0]
    edge0, action0 = cells.used[1], cells.used[2]
    action = public.actions[above.action0 + edge].identity
    rows = cells.first + s, cells.first + node
    outcome = play(cells.play, cells.numbers, cells.cells, rows[0], action, rows[1], cells.legal)
    count, goes_on = max(outcome, 0), outcome >= 0
    cells.used[0], cells.used[1], cells.used[2] = node + 1, edge0 + count, action0 + count
    # The players move in turns; W is the same everywhere, and one number, which a result multiplies.
    actor = 1 - above.actor if goes_on else TERMINAL
    payoff = -1 if goes_on else above.weight
    scale, unit = (0.0, above.value_unit) if goes_on else (outcome + 2.0, 1.0)
    position = ListedPosition(node, edge0, action0, actor, above.weight, above.weight_scale, payoff, scale, unit)
    write_position(public, position, cells.legal[:count])
    cells.parent[node], over.child = s, node
    return node


@njit
def list_awaited(public: Public, cells: Cells, awaited: AwaitedNodes, count: int) -> bool:
    """List the first `count` positions in `awaited`, and put their nodes there; False, and nothing done, without room.

    awaited: the public state above and the edge of each.
    """
    if not has_room(public, cells, count):
        return False
    for k in range(count):
        awaited[k].public = list_child(public, cells, awaited[k].public, awaited[k].edge)
    return True
