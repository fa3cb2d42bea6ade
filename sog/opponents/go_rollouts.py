"""Plain Monte Carlo tree search on Go with random rollouts, as an opponent whose strength is its number of rollouts.

Its kernels have suicide, simple ko, two passes and area scoring, as OpenSpiel's rules do. Repeated positions beyond ko
are allowed in them; the root's moves are those that OpenSpiel's rules allow.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, cast

import numpy as np

from sog.arrays import Array, Float64, Int64
from sog.games.boards.go import Go
from sog.games.boards.positions import BoardPosition
from sog.opponents.rating import Decision, Rate, Rated
from sog.searches.kernels.jit import njit
from sog.searches.tree.draws import random

__all__ = ["rollouts"]

_EXPLORE: Final = 1.0  # UCT's constant, for results of -1, 0 and 1
_BATCH: Final = 64  # rollouts between two looks at the clock
_EDGE: Final = 3

# Columns of a search's nodes. Moves are points of the padded board; 0, a corner of its edge, is a pass.
_MOVE: Final = 0
_CHILD: Final = 1
_SIBLING: Final = 2
_VISITS: Final = 3


class RolloutBoard(NamedTuple):
    """A position with an edge all round, S = N + 2, and what kernels write on while they play.

    points: int64[S * S], 0 empty, 1 Black, 2 White, 3 edge.  side: S.  marks: int64[S * S].  stamp: int64[1].
    queue, moves: int64[S * S].  rng: uint64[1].
    """

    points: Int64
    side: int
    marks: Int64
    stamp: Int64
    queue: Int64
    moves: Int64
    rng: Array


class RolloutTree(NamedTuple):
    """A search's nodes, the root first.

    nodes: int64[M, 4].  totals: float64[M], results of the player who moved there.  size: int64[1].  path: int64[*].
    start: int64[S * S], the root's points.  allowed: int64[S * S], 1 for the root's legal moves.
    """

    nodes: Int64
    totals: Float64
    size: Int64
    path: Int64
    start: Int64
    allowed: Int64


@njit
def _beside(p: Any, side: Any, k: Any) -> Any:
    """The k-th of the four points next to a point."""
    return p + (1 if k == 0 else -1 if k == 1 else side if k == 2 else -side)


@njit
def _spread(b: RolloutBoard, start: Any) -> Any:
    """List the group at `start` in `queue`: how many stones, and whether it has 0, 1 or more (2) liberties."""
    b.stamp[0] += 1
    stamp, colour, count, free, seen, at = b.stamp[0], b.points[start], 1, 0, -1, 0
    b.queue[0], b.marks[start] = start, stamp
    while at < count:
        p = b.queue[at]
        at += 1
        for k in range(4):
            q = _beside(p, b.side, k)
            if b.points[q] == 0:
                if q != seen and free < 2:
                    free += 1
                    seen = q
            elif b.points[q] == colour and b.marks[q] != stamp:
                b.marks[q] = stamp
                b.queue[count] = q
                count += 1
    return count, free


@njit
def _play(b: RolloutBoard, p: Any, colour: Any) -> Any:
    """Put a stone down and take what has no liberty; the point of a ko, 0 for none, or -1 (undone) for suicide."""
    b.points[p] = colour
    taken, last = 0, 0
    for k in range(4):
        q = _beside(p, b.side, k)
        if b.points[q] == 3 - colour:
            count, free = _spread(b, q)
            if free == 0:
                taken += count
                last = q
                for j in range(count):
                    b.points[b.queue[j]] = 0
    count, free = _spread(b, p)
    if free == 0:
        b.points[p] = 0
        return -1
    return last if taken == 1 and count == 1 and free == 1 else 0


@njit
def _eye(b: RolloutBoard, p: Any, colour: Any) -> Any:
    """Whether it is an eye of a player's: own stones or edges beside, and at most one of the other's diagonally."""
    for k in range(4):
        q = _beside(p, b.side, k)
        if b.points[q] != colour and b.points[q] != _EDGE:
            return False
    others, edges = 0, 0
    for k in range(4):
        q = _beside(p + (1 if k < 2 else -1), b.side, 2 + k % 2)
        others += 1 if b.points[q] == 3 - colour else 0
        edges += 1 if b.points[q] == _EDGE else 0
    return others + (1 if edges > 0 else 0) < 2


@njit
def _area(b: RolloutBoard) -> Any:
    """Black's area less White's; empty regions beside both colours count for neither."""
    b.stamp[0] += 1
    stamp: Any = b.stamp[0]
    score: Any = 0
    for start in range(b.side, b.side * (b.side - 1)):
        if b.points[start] == 1:
            score += 1
        elif b.points[start] == 2:
            score -= 1
        elif b.points[start] == 0 and b.marks[start] != stamp:
            count, at = 1, 0
            sees: Any = 0
            b.queue[0], b.marks[start] = start, stamp
            while at < count:
                p = b.queue[at]
                at += 1
                for k in range(4):
                    q = _beside(p, b.side, k)
                    if b.points[q] == 0:
                        if b.marks[q] != stamp:
                            b.marks[q] = stamp
                            b.queue[count] = q
                            count += 1
                    elif b.points[q] != _EDGE:
                        sees |= b.points[q]
            score += count if sees == 1 else -count if sees == 2 else 0
    return score


@njit
def _random_of(b: RolloutBoard, count: Any, colour: Any) -> Any:
    """Play one of the first `count` of `moves` at random, no suicide and no own eye: (move or -1, the ko after it)."""
    while count > 0:
        at = int(random(b.rng) * count)
        p = b.moves[at]
        if p == 0:
            return 0, 0
        if not _eye(b, p, colour):
            ko = _play(b, p, colour)
            if ko >= 0:
                return p, ko
        count -= 1
        b.moves[at] = b.moves[count]
    return -1, 0


@njit
def _rollout(b: RolloutBoard, colour: Any, ko: Any, passed: Any) -> Any:
    """Random moves until both pass or three for each point, the edge's included, are made: the area's score."""
    for _ in range(3 * b.side * b.side):
        count = 0
        for p in range(b.side, b.side * (b.side - 1)):
            if b.points[p] == 0 and p != ko:
                b.moves[count] = p
                count += 1
        move, ko = _random_of(b, count, colour)
        if move < 0 and passed:
            break
        passed = move < 0
        colour = 3 - colour
    return _area(b)


@njit
def _untried(b: RolloutBoard, t: RolloutTree, n: Any, ko: Any) -> Any:
    """List in `moves` the empty points, and the pass, that node n has no child for; how many."""
    b.stamp[0] += 1
    child = t.nodes[n, _CHILD]
    while child > 0:
        b.marks[t.nodes[child, _MOVE]] = b.stamp[0]
        child = t.nodes[child, _SIBLING]
    count = 0
    for p in range(b.side * (b.side - 1)):
        here = p == 0 or (b.points[p] == 0 and p != ko)
        if here and b.marks[p] != b.stamp[0] and (n > 0 or t.allowed[p] == 1):
            b.moves[count] = p
            count += 1
    return count


@njit
def _select(t: RolloutTree, n: Any) -> Any:
    """The child of the highest upper confidence bound; 0 without children."""
    best, chosen = -1e300, 0
    logarithm = np.log(t.nodes[n, _VISITS] + 1.0)
    child = t.nodes[n, _CHILD]
    while child > 0:
        visits = float(t.nodes[child, _VISITS])
        bound = t.totals[child] / visits + _EXPLORE * np.sqrt(logarithm / visits)
        if bound > best:
            best, chosen = bound, child
        child = t.nodes[child, _SIBLING]
    return chosen


@njit
def _simulate(b: RolloutBoard, t: RolloutTree, mover: Any, passed: Any, komi: Any, count: Any) -> None:
    """Run `count` simulations: each adds one node below the tree's best line and plays one rollout from there."""
    for _ in range(count):
        for p in range(b.side * b.side):
            b.points[p] = t.start[p]
        n, colour, ko, length, before, over, ended = 0, mover, 0, 1, passed, False, False
        t.path[0] = 0
        while not over:
            move, after = _random_of(b, _untried(b, t, n, ko), colour)
            new = move >= 0
            if new:
                child = t.size[0]
                t.size[0] += 1
                t.nodes[child, _MOVE], t.nodes[child, _SIBLING] = move, t.nodes[n, _CHILD]
                t.nodes[n, _CHILD] = child
            else:
                child = _select(t, n)
                if child == 0:
                    break
                move = t.nodes[child, _MOVE]
                after = 0 if move == 0 else _play(b, move, colour)
            t.path[length] = child
            length += 1
            n, ko, colour = child, after, 3 - colour
            over = new or (move == 0 and before)
            ended = move == 0 and before
            before = move == 0
        score = (_area(b) if ended else _rollout(b, colour, ko, before)) - komi
        result = 1.0 if score > 0 else -1.0 if score < 0 else 0.0
        for k in range(length):
            t.nodes[t.path[k], _VISITS] += 1
            black_moved = (mover == 1) == (k % 2 == 1)
            t.totals[t.path[k]] += result if black_moved else -result


def rollouts(count: int) -> Rate:
    """Rates moves by the visits of UCT with c = 1, one new node and one random rollout a simulation.

    Neither tree nor rollouts fill a player's own eyes; a rollout that does not end is scored after three moves for each
    point, the edge's included: 243 on 7x7.
    """

    def rate(decision: Decision) -> Rated:
        game, simulations = cast(Go, decision.game), decision.simulations or count
        board, tree = _board(decision), _tree(decision, simulations)
        mover = 1 + game.actor(decision.state)
        played = list(cast(BoardPosition, decision.state).spiel.history())
        passed = played[-1:] == [game.size * game.size]
        done = 0
        while done < simulations and not (done and decision.stopped()):
            batch = min(_BATCH, simulations - done)
            _simulate(board, tree, mover, passed, game.komi, batch)
            done += batch
        node_of_move = {int(tree.nodes[n, _MOVE]): n for n in _children(tree)}
        nodes = [node_of_move.get(_point(action, game.size)) for action in decision.actions]
        visits = [0 if n is None else int(tree.nodes[n, _VISITS]) for n in nodes]
        values = [0.0 if n is None else float(tree.totals[n] / tree.nodes[n, _VISITS]) for n in nodes]
        return Rated(visits, values, visits, int(tree.size[0]))

    return rate


def _point(action: int, size: int) -> int:
    """The padded board's point of an action."""
    return 0 if action == size * size else (action // size + 1) * (size + 2) + action % size + 1


def _children(tree: RolloutTree) -> list[int]:
    """The root's children."""
    children, child = [], int(tree.nodes[0, _CHILD])
    while child > 0:
        children.append(child)
        child = int(tree.nodes[child, _SIBLING])
    return children


def _board(decision: Decision) -> RolloutBoard:
    """Room to play in."""
    game = cast(Go, decision.game)
    side = game.size + 2
    points = np.full((side, side), _EDGE, dtype=np.int64)
    points[1:-1, 1:-1] = game.board(decision.state)
    rooms = [np.zeros(side * side, dtype=np.int64) for _ in range(3)]
    rng = decision.rng.integers(2**63, size=1, dtype=np.uint64)
    return RolloutBoard(points.ravel(), side, rooms[0], np.zeros(1, dtype=np.int64), rooms[1], rooms[2], rng)


def _tree(decision: Decision, simulations: int) -> RolloutTree:
    """The root alone."""
    board, size = _board(decision), cast(Go, decision.game).size
    allowed = np.zeros(board.side * board.side, dtype=np.int64)
    allowed[[_point(action, size) for action in decision.actions]] = 1
    nodes, totals = np.zeros((simulations + 2, 4), dtype=np.int64), np.zeros(simulations + 2)
    path = np.zeros(simulations + 2, dtype=np.int64)
    return RolloutTree(nodes, totals, np.ones(1, dtype=np.int64), path, board.points.copy(), allowed)
