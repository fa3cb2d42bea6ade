"""Records how a search grows: what it knows after 1, 2, 4, ... simulations, with the most visited part of its tree."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

import numpy as np

from sog.arrays import Float64
from sog.games.base import NATURE
from sog.games.public_lines import new_words
from sog.pictures.icicle import TreeBlock
from sog.searches.gtcfr.settings import Budget
from sog.web.asked import SearchSnapshot

if TYPE_CHECKING:  # the server names states by this file, and is light without the searches' kernels
    from sog.searches.cfr.lookahead import Lookahead

__all__ = ["Recording", "most_visited", "snapshot_of"]

DRAWN: Final = 200  # nodes of a tree, at most
_WORDS: Final = 90  # letters of what is said of a node


class Recording:
    """The record of one search: give `after_round` to it, then read `finished()`. The search is not changed by it.

    tree: it grows.  start: the searched node in it.
    """

    def __init__(self, tree: Lookahead, start: int, budget: Budget) -> None:
        self._tree, self._start, self._budget = tree, start, budget
        self._rounds, self._next = 0, 1
        self._snapshots: list[SearchSnapshot] = []

    def after_round(self) -> bool:
        """Called by the search after each of its rounds; never ends it."""
        self._rounds += 1
        done = min(self._rounds * self._budget.expansions, self._budget.simulations)
        if self._next <= done < self._budget.simulations:
            self._snapshots.append(snapshot_of(self._tree, self._start, done))
            while self._next <= done:
                self._next *= 2
        return False

    def finished(self) -> tuple[SearchSnapshot, ...]:
        """All snapshots, the finished search's last."""
        return (*self._snapshots, snapshot_of(self._tree, self._start, self._budget.simulations))


def snapshot_of(tree: Lookahead, start: int, simulations: int) -> SearchSnapshot:
    """What a search knows after a number of simulations.  start: the searched node."""
    tree.update_average_policy()  # which the search itself does not read
    sums, values = tree.range_sums(start), tree.values(start)
    return SearchSnapshot(
        simulations,
        tree.policy(start).copy(),
        _scaled(tree.prior(start)),
        (values[0].copy(), values[1].copy()),
        (_scaled(sums[0]), _scaled(sums[1])),
        most_visited(tree, start, DRAWN),
        _size(tree, start),
    )


def _scaled(numbers: Float64) -> Float64:
    """Columns that sum to 1, where they have any sum."""
    total = numbers.sum(axis=0)
    scaled: Float64 = np.divide(numbers, total, out=np.zeros_like(numbers), where=total > 0)
    return scaled


def most_visited(tree: Lookahead, start: int, count: int) -> tuple[TreeBlock, ...]:
    """The `count` most visited nodes at and below a node, parents first."""
    blocks = [TreeBlock(-1, 1.0, _own_visits(tree, start), tree.actor(start), "", f"{_size(tree, start):,} nodes")]
    # Most visits first, then the order they were met in. The rest: parent, its block, child, its edge, its share.
    waiting: list[tuple[float, int, int, int, int, int, float]] = []
    met = 0

    def open_node(n: int, place: int) -> None:
        nonlocal met
        for edge, child, visits, share in _children(tree, n):
            met += 1
            heapq.heappush(waiting, (-visits, met, n, place, child, edge, share))

    open_node(start, 0)
    while waiting and len(blocks) < count:
        visits, _, parent, place, child, edge, share = heapq.heappop(waiting)
        label, name = _words(tree, parent, child, edge)
        words = f"{label}: {-visits:,.0f} visits. {_short(name)}"
        blocks.append(TreeBlock(place, share, -visits, tree.actor(child), label, words))
        open_node(child, len(blocks) - 1)
    return tuple(blocks)


def _size(tree: Lookahead, start: int) -> int:
    """How many nodes the tree has at and below one; those on the way to it, and beside that, are not searched."""
    if start == 0:
        return tree.size
    parents = tree.nodes.parent[: tree.size].copy()
    parents[0] = 0
    below, count = np.arange(tree.size) == start, 0
    while count < below.sum():
        count = below.sum()
        below |= below[parents]
    return int(count)


def _is_plain(tree: Lookahead, n: int) -> bool:
    """Whether each public edge that leaves a node is one action."""
    public = tree.public
    return tree.actor(n) < NATURE and (public.game.deterministic or public.is_plain(tree.public_node(n)))


def _children(tree: Lookahead, n: int) -> list[tuple[int, int, float, float]]:
    """The children of a node that are in the tree: edge, child, visits, its share of all of their visits."""
    if not tree.is_open(n):
        return []
    taken = tree.visits(n).sum(axis=1).tolist() if _is_plain(tree, n) else None
    children = [(edge, child) for edge, child in enumerate(tree.children(n)) if child >= 0]
    visits = [_own_visits(tree, child) if taken is None else taken[edge] for edge, child in children]
    total = sum(visits) + len(visits)  # a node without visits has a place, too
    return [(*each, float(count), (1.0 + count) / total) for each, count in zip(children, visits, strict=True)]


def _words(tree: Lookahead, parent: int, child: int, edge: int) -> tuple[str, str]:
    """What led from a node to a child, and the child's name."""
    public, s = tree.public, tree.public_node(parent)
    game, state = public.game, public.states[s]
    name = game.state_name(public.states[tree.public_node(child)])
    if _is_plain(tree, parent):
        return game.action_name(state, int(public.actions(s)[edge])), name
    return new_words(game.state_name(state), name).split(" ")[-1], name


def _own_visits(tree: Lookahead, n: int) -> float:
    """How often simulations went on from a node, or from the nodes after its chance event."""
    if not tree.is_open(n):
        return 0.0
    if tree.actor(n) < NATURE:
        return float(tree.visits(n).sum())
    return sum(_own_visits(tree, child) for child in tree.children(n) if child >= 0)


def _short(text: str) -> str:
    return text if len(text) <= _WORDS else f"{text[: _WORDS - 1]}…"
