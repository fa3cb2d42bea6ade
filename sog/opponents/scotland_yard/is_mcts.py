"""Information set Monte Carlo tree search of Scotland Yard for both sides (Cowling, Powley and Whitehouse, 2012).

The multiple-observer form: a tree for each side, whose edges are what that side sees. In the detectives' tree Mr X's
moves are tickets, unless he shows himself. A simulation draws Mr X's station, uniformly among the possible ones, goes
down both trees at once, and ends in random moves. It has none of PimBot's parts, and serves as one more opponent.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from sog.arrays import Array, Int64
from sog.errors import SettingError
from sog.games.scotland_yard.game import ScotlandYard
from sog.games.scotland_yard.rules import DOUBLE
from sog.opponents.scotland_yard import bits
from sog.opponents.scotland_yard.board import CityBoard
from sog.opponents.scotland_yard.moves import (
    Cell,
    ChasePosition,
    Ending,
    copy_position,
    empty_position,
    list_detective_moves,
    list_x_moves,
    play_detective,
    play_x,
)
from sog.opponents.scotland_yard.player import ChasePlayer
from sog.opponents.scotland_yard.playouts import PlayoutPolicy, playout
from sog.records import Real, Record, Records, Whole
from sog.searches.kernels.jit import njit
from sog.searches.tree.draws import random

__all__ = ["ISMCTSChase"]

_X, _DETECTIVES = 0, 1  # the trees, and their roots' places
_ROOM: Final = 8  # nodes for each simulation


class SeenNode(Record):
    """A node of one side's tree: what that side saw last, and how it went for the side that moved."""

    seen = Whole("i4")
    child = Whole("i4")  # its latest child; 0: none
    sibling = Whole("i4")
    visits = Whole("i4")
    available = Whole("i4")  # simulations in which the move was legal at the node before it
    score = Real("f8")


class SeenNodes(Records[SeenNode], SeenNode):
    """Nodes of both trees: Mr X's root, the detectives' root, then the rest."""


class SeenTrees(NamedTuple):
    """nodes: the first size[0] are in use.  path: int64[*], a simulation's nodes, and sides: int64[*], who moved there.

    moves, children: int64[A + 1], actions at a node, and each one's child.  rng: uint64[1].
    """

    nodes: SeenNodes
    size: Int64
    path: Int64
    sides: Int64
    moves: Int64
    children: Int64
    rng: Array


@njit
def _seen(b: CityBoard, s: ChasePosition, side: Any, a: Any) -> Any:
    """What a side sees of an action at a position: the action, or of Mr X's hidden move its ticket alone."""
    if side == _X or s.cells[Cell.TURN] > 0 or a == b.double or b.reveals[s.cells[Cell.MOVED] + 1]:
        return a
    return b.double + 1 + b.ticket_of[a]


@njit
def _find(t: SeenTrees, n: Any, seen: Any) -> Any:
    """The child of node n by what was seen; 0 where it is not in the tree."""
    child = t.nodes[n].child
    while child > 0 and t.nodes[child].seen != seen:
        child = t.nodes[child].sibling
    return child


@njit
def _add(t: SeenTrees, n: Any, seen: Any) -> Any:
    """A new child of node n."""
    child = t.size[0]
    t.size[0] += 1
    node = t.nodes[child]
    node.seen, node.child, node.sibling, node.visits, node.available, node.score = seen, 0, t.nodes[n].child, 0, 1, 0.0
    t.nodes[n].child = child
    return child


@njit
def _choose(t: SeenTrees, n: Any, count: Any, exploration: Any) -> Any:
    """One of the first `count` of `moves`, which the side that moves sees itself: an untried one, or UCT's."""
    best, chosen, new = -1e300, 0, 0
    for i in range(count):
        child = t.children[i] = _find(t, n, t.moves[i])
        if child == 0:
            new += 1
            if new == 1 or random(t.rng) * new < 1.0:
                chosen = i
        else:
            node = t.nodes[child]
            node.available += 1
            if new == 0:
                # Selection by availability: s/n + c sqrt(ln(available) / n).
                visits = float(node.visits)
                bound = node.score / visits + exploration * np.sqrt(np.log(float(node.available)) / visits)
                if bound > best:
                    best, chosen = bound, i
    return chosen


@njit
def _one(b: CityBoard, s: ChasePosition, t: SeenTrees, p: PlayoutPolicy, exploration: Any) -> None:
    """A simulation from a position that knows Mr X's station."""
    x_node: Any = _X
    detective_node: Any = _DETECTIVES
    depth, new = 0, False
    # A simulation adds one node to the mover's tree and sometimes several to the other's; it stops where room is out.
    while s.cells[Cell.ENDING] == Ending.NONE and not new and t.size[0] + 2 <= len(t.nodes):
        turn = s.cells[Cell.TURN]
        side = _X if turn == 0 else _DETECTIVES
        count = list_x_moves(b, s, t.moves) if side == _X else list_detective_moves(b, s, turn, t.moves)
        if count == 0:
            s.cells[Cell.ENDING] = Ending.STUCK
            break
        n = x_node if side == _X else detective_node
        i = _choose(t, n, count, exploration)
        a = t.moves[i]
        seen_x, seen_detectives = _seen(b, s, _X, a), _seen(b, s, _DETECTIVES, a)
        new = t.children[i] == 0
        below_x, below_detectives = _find(t, x_node, seen_x), _find(t, detective_node, seen_detectives)
        x_node = below_x if below_x > 0 else _add(t, x_node, seen_x)
        detective_node = below_detectives if below_detectives > 0 else _add(t, detective_node, seen_detectives)
        t.path[depth], t.path[depth + 1] = x_node, detective_node
        t.sides[depth], t.sides[depth + 1] = side, side
        depth += 2
        if side == _X:
            play_x(b, s, a, 0)
        else:
            play_detective(b, s, a, 0)
    playout(b, s, p, t.moves, t.rng)
    escaped = s.cells[Cell.ENDING] == Ending.ESCAPED
    for d in range(depth):
        node = t.nodes[t.path[d]]
        node.visits += 1
        node.score += 1.0 if escaped == (t.sides[d] == _X) else 0.0


@njit
def _simulate(
    b: CityBoard, root: ChasePosition, s: ChasePosition, t: SeenTrees, p: PlayoutPolicy, exploration: Any, count: Any
) -> None:
    """Run `count` simulations from `root`, with s to work in."""
    possible = bits.count(root.possible)
    for _ in range(count):
        copy_position(root, s)
        if root.cells[Cell.STATION] < 0:
            s.cells[Cell.STATION] = bits.ith(root.possible, int(random(t.rng) * possible))
        _one(b, s, t, p, exploration)


# Uniform moves, no filter of Mr X's, and no set of possible stations to update.
_RANDOM: Final = PlayoutPolicy(0, 0, 1.0, 0.05, 0, 0.0, 0)


class ISMCTSChase(ChasePlayer):
    """Information set MCTS: plays the root's action with the most visits.

    exploration: UCT's constant for scores of 0 and 1. Random playouts play a double card with a chance of 0.05 (ours),
    since they would otherwise spend both at once.
    """

    def __init__(self, game: ScotlandYard, simulations: int = 1_000, exploration: float = 0.5, seed: int = 0) -> None:
        super().__init__(game, seed)
        if simulations < 1 or not 0.0 <= exploration < np.inf:
            raise SettingError("is_mcts: simulations must be at least 1, and the exploration constant 0 or more")
        b = self.board
        self.simulations, self.exploration = simulations, float(exploration)
        self._work = empty_position(b)
        longest = 2 * (b.detectives + 2) * (b.rounds + 1)
        path, sides = np.zeros((2, longest), dtype=np.int64)
        moves, children = np.zeros((2, b.double + 1 + DOUBLE), dtype=np.int64)
        nodes = SeenNodes.zeros(2 + _ROOM * simulations)
        self._trees = SeenTrees(nodes, np.zeros(1, np.int64), path, sides, moves, children, np.zeros(1, np.uint64))

    def choose(self, rng: Array) -> int:
        """Search, and take the most visits; among equals the higher score, then the lower action."""
        t, s = self._trees, self.position
        t.rng[:] = rng
        t.size[0] = 2
        for root in (_X, _DETECTIVES):
            t.nodes[root].child = 0
        _simulate(self.board, s, self._work, t, _RANDOM, self.exploration, self.simulations)
        child = int(t.nodes.child[_X if s.cells[Cell.TURN] == 0 else _DETECTIVES])
        candidates = []
        while child:
            node = t.nodes[child]
            candidates.append((int(node.visits), float(node.score), -int(node.seen)))
            child = int(node.sibling)
        return -max(candidates)[2]
