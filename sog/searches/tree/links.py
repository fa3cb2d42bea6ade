"""Writes where a game's moves and carries lead into the tables of a public tree, and reads carries there."""

from __future__ import annotations

import numpy as np

from sog.games.base import Carry, Links, Moves
from sog.searches.tree.records import Actions, Edges, LinkRows
from sog.searches.tree.tables import Table

__all__ = ["read_carry", "write_carry", "write_moves"]


def write_carry(table: Table[LinkRows], carry: Carry) -> tuple[int, int]:
    """Append a carry's links; the first one's row and how many there are, (-1, 0) where every infostate stays."""
    if carry is None:
        return -1, 0
    count = len(carry.source)
    start = table.reserve(count)
    links, here = table.rows, slice(start, start + count)
    links.source[here], links.target[here] = carry.source, carry.target
    return start, count


def read_carry(links: LinkRows, edges: Edges, e: int, p: int) -> Carry:
    """Player p's carry over the edge in row e of the table of edges."""
    first, count = int(edges.carry0[e, p]), int(edges.carries[e, p])
    here = slice(first, first + count)
    return None if first < 0 else Links(links.source[here], links.target[here])


def write_moves(actions: Actions, table: Table[LinkRows], rows: slice, moves: Moves) -> bool:
    """Write where a public state's actions lead, which lie in these rows; True where action a takes edge a for all.

    Otherwise each action gets a link for each infostate that may take it.
    """
    edge, target, numbers = moves.edge, moves.target, range(rows.start, rows.stop)
    if target is None and bool((edge == np.arange(len(numbers))).all()):
        actions.edge[rows] = np.arange(len(numbers))
        return True
    # Action by action, and by infostate within each.
    action, source = np.nonzero(edge.T >= 0)
    counts = np.bincount(action, minlength=len(numbers))
    start = table.reserve(len(source))
    links, here = table.rows, slice(start, start + len(source))
    actions.edge[rows], actions.links[rows] = -1, counts
    actions.link0[rows] = start + np.cumsum(counts) - counts
    links.source[here], links.edge[here] = source, edge[source, action]
    links.target[here] = source if target is None else target[source, action]
    return False
