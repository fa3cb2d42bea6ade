"""PimBot's search: one tree for all determinizations, UCT with progressive history, scores by coalition reduction.

A simulation draws Mr X's station where it is not known, goes down the tree among the moves that are legal from there,
adds one node, plays out, and counts the result for each player on the way. Actions name stations, so that below Mr X's
moves the tree's detectives see where he went; in the position searched only their drawn station is in use.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sog.arrays import Array, Float64, Int64
from sog.opponents.scotland_yard.board import CityBoard
from sog.opponents.scotland_yard.categories import draw_station
from sog.opponents.scotland_yard.moves import (
    Cell,
    ChasePosition,
    Ending,
    copy_position,
    list_detective_moves,
    play_detective,
    play_x,
)
from sog.opponents.scotland_yard.playouts import PlayoutPolicy, allowed_x_moves, playout
from sog.records import Real, Record, Records, Whole
from sog.searches.kernels.jit import njit
from sog.searches.tree.draws import random

__all__ = ["ChaseNode", "ChaseNodes", "ChaseTree", "TreeRule", "make_tree", "search"]


class ChaseNode(Record):
    """A node of the tree: what was played to reach it, and how that went for who played it."""

    action = Whole("i4")
    child = Whole("i4")  # its latest child; 0: none
    sibling = Whole("i4")  # the child of the same node before it; 0: none
    visits = Whole("i4")
    score = Real("f8")  # summed scores of the player who moved here


class ChaseNodes(Records[ChaseNode], ChaseNode):
    """The nodes, the root first."""


class ChaseTree(NamedTuple):
    """nodes: the first size[0], int64[1], are in use.  stamps, children: int64[A + 1], of each action at one node.

    stamp: int64[1].  path, movers: int64[*], a simulation's nodes and who moved there.  moves: int64[A + 1].
    tried, scored: float64[D + 1, A + 1], progressive history by player and action.  stations, sums: [N], what is drawn.
    endings: int64[4], how simulations ended.  rng: uint64[1].
    """

    nodes: ChaseNodes
    size: Int64
    stamps: Int64
    children: Int64
    stamp: Int64
    path: Int64
    movers: Int64
    moves: Int64
    tried: Float64
    scored: Float64
    stations: Int64
    sums: Float64
    endings: Int64
    rng: Array


class TreeRule(NamedTuple):
    """C and W of the selection, and r of coalition reduction."""

    exploration: float
    history: float
    reduction: float


def make_tree(b: CityBoard, simulations: int) -> ChaseTree:
    """A tree with room for a search of this size."""
    actions, longest = b.double + 1, (b.detectives + 2) * (b.rounds + 1)

    def whole(count: int) -> Int64:
        return np.zeros(count, dtype=np.int64)

    return ChaseTree(
        nodes=ChaseNodes.zeros(simulations + 1),
        size=np.ones(1, dtype=np.int64),
        stamps=whole(actions),
        children=whole(actions),
        stamp=whole(1),
        path=whole(longest),
        movers=whole(longest),
        moves=whole(actions),
        tried=np.zeros((b.detectives + 1, actions)),
        scored=np.zeros((b.detectives + 1, actions)),
        stations=whole(b.stations),
        sums=np.zeros(b.stations),
        endings=whole(len(Ending)),
        rng=np.zeros(1, dtype=np.uint64),
    )


@njit
def _mark_children(t: ChaseTree, n: Any) -> None:
    """Write which actions have a child at node n."""
    t.stamp[0] += 1
    child = t.nodes[n].child
    while child > 0:
        a = t.nodes[child].action
        t.stamps[a], t.children[a] = t.stamp[0], child
        child = t.nodes[child].sibling


@njit
def _select(t: ChaseTree, rule: TreeRule, n: Any, mover: Any, count: Any) -> Any:
    """One of the first `count` of `moves`: one without a child, each alike, else the highest bound."""
    _mark_children(t, n)
    best, chosen, new = -1e300, -1, 0
    logarithm = np.log(t.nodes[n].visits + 1.0)
    for i in range(count):
        a = t.moves[i]
        if t.stamps[a] != t.stamp[0]:
            new += 1
            if new == 1 or random(t.rng) * new < 1.0:
                chosen = a
        elif new == 0:
            node = t.nodes[t.children[a]]
            # s/n + C sqrt(ln N / n) + W h / (n (1 - s/n) + 1): a move that does badly soon loses its history.
            visits = float(node.visits)
            mean = node.score / visits
            bound = mean + rule.exploration * np.sqrt(logarithm / visits)
            if rule.history > 0.0:
                usual = t.scored[mover, a] / t.tried[mover, a]
                bound += rule.history * usual / (visits * (1.0 - mean) + 1.0)
            if bound > best:
                best, chosen = bound, a
    return chosen


@njit
def _child(t: ChaseTree, n: Any, a: Any) -> Any:
    """Node n's child by an action, made if need be; the node's children are marked."""
    if t.stamps[a] == t.stamp[0]:
        return t.children[a]
    child = t.size[0]
    t.size[0] += 1
    node = t.nodes[child]
    node.action, node.child, node.visits, node.score = a, 0, 0, 0.0
    node.sibling = t.nodes[n].child
    t.nodes[n].child = child
    return child


@njit
def score_of(s: ChasePosition, mover: Any, reduction: Any) -> Any:
    """What the end of a chase is worth to a player, from 0 to 1: a detective's own catch 1, another's 1 - r."""
    ending, catcher = s.cells[Cell.ENDING], s.cells[Cell.CATCHER]
    if ending == Ending.ESCAPED:
        return 1.0 if mover == 0 else 0.0
    if mover == 0:
        return 0.0
    return 1.0 if catcher == 0 or catcher == mover else 1.0 - reduction


@njit
def clear(t: ChaseTree) -> None:
    """A tree of the root alone."""
    root = t.nodes[0]
    root.child, root.visits, root.score = 0, 0, 0.0
    t.size[0] = 1
    t.endings[:] = 0
    t.tried[:] = 0.0
    t.scored[:] = 0.0


@njit
def _down(b: CityBoard, s: ChasePosition, t: ChaseTree, p: PlayoutPolicy, rule: TreeRule) -> Any:
    """From the root to a new node or the end of the chase; how many moves."""
    n, depth, new = 0, 0, False
    while s.cells[Cell.ENDING] == Ending.NONE and not new:
        mover = s.cells[Cell.TURN]
        count = allowed_x_moves(b, s, p, t.moves) if mover == 0 else list_detective_moves(b, s, mover, t.moves)
        if count == 0:
            s.cells[Cell.ENDING] = Ending.STUCK
            break
        a = _select(t, rule, n, mover, count)
        n = _child(t, n, a)
        new = t.nodes[n].visits == 0
        t.path[depth], t.movers[depth] = n, mover
        depth += 1
        if mover == 0:
            play_x(b, s, a, p.track)
        else:
            play_detective(b, s, a, p.track)
    return depth


@njit
def _count_result(s: ChasePosition, t: ChaseTree, depth: Any, reduction: Any) -> None:
    """Add a simulation's end to the nodes on its way and to the history."""
    t.endings[s.cells[Cell.ENDING]] += 1
    t.nodes[0].visits += 1
    for d in range(depth):
        node, mover = t.nodes[t.path[d]], t.movers[d]
        score = score_of(s, mover, reduction)
        node.visits += 1
        node.score += score
        t.tried[mover, node.action] += 1.0
        t.scored[mover, node.action] += score


@njit
def search(
    b: CityBoard,
    root: ChasePosition,
    s: ChasePosition,
    t: ChaseTree,
    p: PlayoutPolicy,
    rule: TreeRule,
    drawn: Any,
    count: Any,
) -> None:
    """Run `count` simulations from the position `root`, with s to work in.

    drawn: how many of `stations` Mr X's station is drawn of; 0 where the root has it.
    """
    for _ in range(count):
        copy_position(root, s)
        if drawn > 0:
            s.cells[Cell.STATION] = draw_station(t.stations, t.sums, drawn, t.rng)
        depth = _down(b, s, t, p, rule)
        playout(b, s, p, t.moves, t.rng)
        _count_result(s, t, depth, rule.reduction)
