"""Room in the arrays of a lookahead: what is needed, what is to be expected, and one longer table at a time."""

from __future__ import annotations

from typing import Any, Final, TypeVar, cast

import numpy as np

from sog.games.base import NATURE, Game
from sog.searches.tree.arrays import Room, Tree
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate, Kind
from sog.searches.tree.tables import copy_rows

__all__ = ["below", "expected", "lacking", "lengthened", "listed", "priors_apart"]

# From this many logits a belief on, a leaf's prior is evaluated when the leaf is opened, not with its values in every
# iteration: the policy head is then the larger part of the network, and worth a request of its own. Nor does a leaf
# have regrets and policies before: they are most of what a tree holds.
APART: Final = 256

_SMALL: Final = 1 << 20  # bytes of a table that doubles when it grows; larger ones become a quarter longer
_LARGE: Final = 1 << 26  # bytes expected from which on the system gives memory only where it is written to
_AHEAD: Final = 1 << 31  # bytes expected at most

A = TypeVar("A", bound=np.ndarray[Any, Any])


def priors_apart(game: Game) -> bool:
    """Whether leaves have neither priors nor entries until they are opened.

    In perfect information a leaf is evaluated once, so its prior comes with its value.
    """
    return not game.perfect_information and max(game.num_slots) * game.num_actions >= APART


def below(public: PublicTree, s: int, late: bool) -> Room:
    """What it takes to open the public node s: its listed children and their entries, or its own (Counts.late)."""
    room = _taken(public, public.children(s), public.num_edges(s))
    return room._replace(entries=_taken(public, [s], 0).entries) if late else room


def listed(public: PublicTree) -> Room:
    """What all public states listed so far take in a lookahead, each of them once."""
    return _taken(public, slice(0, public.size), int(public.nodes.edges[: public.size].sum()))


def _taken(public: PublicTree, rows: Any, children: int) -> Room:
    nodes = public.nodes
    width, actor, actions = nodes.width[rows].astype(np.int64), nodes.actor[rows], nodes.actions[rows]
    # Regrets and policies at players' decisions only.
    own = np.where(actor < NATURE, width[np.arange(len(width)), np.minimum(actor, 1)], 0)
    return Room(len(width), children, int(width.sum()), int((own * actions).sum()))


def expected(tree: Tree, expansions: int, single: bool) -> Room:
    """What this many more expansions add if they are as those so far, and a little more; twice that where it is large.

    Room that is not used takes no memory there. Two gigabytes at most.
    single: an expansion adds one child alone, as in perfect information.
    """
    used = tree.counts[0]
    nodes, children = int(used.nodes), int(used.children)
    infostates, entries = int(used.infostates), int(used.entries)
    done = max(nodes - 1 if single else int((tree.nodes.kind[:nodes] == Kind.INTERIOR).sum()), 1)
    each = 8 * (len(Infostate) * infostates + len(Entry) * entries) / done
    margin = 1.1 if each * expansions < _LARGE else 2.0
    times = min(margin * expansions, _AHEAD / each) / done
    return Room(*(int(times * count) for count in (nodes, children, infostates, entries)))


def lacking(tree: Tree, more: Room) -> list[tuple[str, int, int]]:
    """The tables that cannot take this much more: name, places in use, places needed."""
    used = tree.counts[0]
    needs = (
        ("nodes", used.nodes, more.nodes, len(tree.nodes)),
        ("child", used.children, more.children, len(tree.child)),
        ("infostates", used.infostates, more.infostates, tree.infostates.shape[1]),
        ("entries", used.entries, more.entries, tree.entries.shape[1]),
    )
    return [(name, int(count), int(count) + add) for name, count, add, size in needs if int(count) + add > size]


def lengthened(tree: Tree, name: str, used: int, need: int) -> Tree:
    """The same arrays with one table longer: as long as needed, and by a quarter at least."""
    array: np.ndarray[Any, Any] = getattr(tree, name)
    size = array.shape[-1]
    size = max(need, 2 * size if array.nbytes < _SMALL else size + size // 4)
    table: dict[str, Any] = {name: _longer(array, used, size)}
    longer = tree._replace(**table)
    # Every node may be an end.
    return longer if name != "nodes" else longer._replace(ends=_longer(tree.ends, int(tree.counts[0].ends), size))


def _longer(array: A, used: int, size: int) -> A:
    """A copy whose last axis has `size` places, of which the first `used` are copied; the others are zero."""
    # Memory that nobody has written to takes no space: what is not in use is not copied, and neither are rows of zeros.
    out = np.zeros((*array.shape[:-1], size), dtype=array.dtype)
    if array.ndim == 1:
        copy_rows(array, out, used)
    else:
        for old, new in zip(array[:, :used], out, strict=True):
            if old.any():
                new[:used] = old
    return cast(A, out.view(type(array)))  # a table of rows stays one
