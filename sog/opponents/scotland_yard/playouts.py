"""Epsilon-greedy playouts: how Mr X and the detectives choose moves beyond the tree, and the filter of Mr X's moves.

Mr X: MCD, far from the closest detective; MTD, far from all of them together. Detectives: `drawn`, near Mr X's station
of this simulation; `redrawn`, near a station that each draws among the possible ones at each of his moves; `total`
(MTD), near all possible stations together. Among equally good moves each has the same chance.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from sog.arrays import Array, Int64
from sog.games.scotland_yard.rules import BLACK
from sog.opponents.scotland_yard import bits
from sog.opponents.scotland_yard.board import CityBoard
from sog.opponents.scotland_yard.moves import (
    Cell,
    ChasePosition,
    Ending,
    list_detective_moves,
    list_x_moves,
    play_detective,
    play_x,
)
from sog.searches.kernels.jit import njit
from sog.searches.tree.draws import random

__all__ = [
    "DETECTIVE_POLICIES",
    "X_POLICIES",
    "PlayoutPolicy",
    "allowed_x_moves",
    "pick_detective",
    "pick_x",
    "playout",
]

X_POLICIES: Final = ("random", "closest", "total")
DETECTIVE_POLICIES: Final = ("random", "drawn", "redrawn", "total")
_CLOSEST, _X_TOTAL = 1, 2
_DRAWN, _REDRAWN, _TOTAL = 1, 2, 3
_EARLY: Final = 2  # Mr X's first moves, in which a black ticket hides nothing


class PlayoutPolicy(NamedTuple):
    """x, detectives: places in X_POLICIES and DETECTIVE_POLICIES.  epsilon: the chance of a random move.

    double: the chance that Mr X plays a double card where he may.  filtered: 1 where his moves are filtered.
    within: the largest mean distance to the detectives at which a double card passes the filter.
    track: 1 where the set of possible stations is updated in simulations.
    """

    x: int
    detectives: int
    epsilon: float
    double: float
    filtered: int
    within: float
    track: int


@njit
def allowed_x_moves(b: CityBoard, s: ChasePosition, p: PlayoutPolicy, moves: Int64) -> Any:
    """List Mr X's legal moves that pass the filter, all of them where none does; how many.

    Black tickets are left out in the first two moves, at a move that shows him, and where no possible station has more
    than taxis; a double card where the detectives are far on average.
    """
    count = list_x_moves(b, s, moves)
    if p.filtered == 0 or count == 0:
        return count
    black = s.cells[Cell.MOVED] >= _EARLY and b.reveals[s.cells[Cell.MOVED] + 1] == 0
    if black:
        hides = np.uint64(0)
        for w in range(len(s.possible)):
            hides |= s.possible[w] & b.richer[w]
        black = hides != np.uint64(0)
    double = moves[count - 1] == b.double
    if double:
        far: Any = 0
        for k in range(b.detectives):
            far += np.int64(b.steps[s.cells[Cell.PLACES + k], s.cells[Cell.STATION]])
        double = far <= p.within * b.detectives
    plain = 0
    for i in range(count):
        a = moves[i]
        plain += a != b.double and b.ticket_of[a] != BLACK
    if plain == 0:
        return count
    allowed = 0
    for i in range(count):
        a = moves[i]
        if (a != b.double or double) and (b.ticket_of[a] != BLACK or black):
            moves[allowed] = a
            allowed += 1
    return allowed


@njit
def pick_x(b: CityBoard, s: ChasePosition, p: PlayoutPolicy, moves: Int64, rng: Array) -> Any:
    """Mr X's move in a playout; -1 where he has none."""
    count = allowed_x_moves(b, s, p, moves)
    if count == 0:
        return -1
    if moves[count - 1] == b.double and count > 1:
        if random(rng) < p.double:
            return b.double
        count -= 1
    if p.x == 0 or random(rng) < p.epsilon:
        return moves[int(random(rng) * count)]
    best: Any = -1
    chosen, ties = moves[0], 0
    for i in range(count):
        station = b.dest_of[moves[i]]
        far: Any = 255 if p.x == _CLOSEST else 0
        for k in range(b.detectives):
            step = np.int64(b.steps[s.cells[Cell.PLACES + k], station])
            far = min(far, step) if p.x == _CLOSEST else far + step
        if far > best:
            best, ties = far, 0
        if far == best:
            ties += 1
            if ties == 1 or random(rng) * ties < 1.0:
                chosen = moves[i]
    return chosen


@njit
def _total_distance(b: CityBoard, s: ChasePosition, station: Any) -> Any:
    """The sum of a station's distances to all possible ones: of each distance k, how many are further than k."""
    total = 0
    for w in range(len(s.possible)):
        word = s.possible[w]
        if word != np.uint64(0):
            for k in range(b.beyond.shape[2]):
                total += bits.ones(word & b.beyond[station, w, k])
    return total


@njit
def pick_detective(b: CityBoard, s: ChasePosition, p: PlayoutPolicy, moves: Int64, rng: Array) -> Any:
    """The move of the detective whose turn it is, in a playout."""
    count = list_detective_moves(b, s, s.cells[Cell.TURN], moves)
    if p.detectives == 0 or random(rng) < p.epsilon:
        return moves[int(random(rng) * count)]
    aim = s.cells[Cell.STATION]
    if p.detectives == _REDRAWN:
        there = bits.count(s.possible)
        aim = bits.ith(s.possible, int(random(rng) * there)) if there > 0 else aim
    best: Any = 1 << 60
    chosen, ties = moves[0], 0
    for i in range(count):
        station = b.dest_of[moves[i]]
        far: Any = 0
        if p.detectives == _TOTAL:
            far = _total_distance(b, s, station)
        else:
            far = np.int64(b.steps[station, aim])
        if far < best:
            best, ties = far, 0
        if far == best:
            ties += 1
            if ties == 1 or random(rng) * ties < 1.0:
                chosen = moves[i]
    return chosen


@njit
def playout(b: CityBoard, s: ChasePosition, p: PlayoutPolicy, moves: Int64, rng: Array) -> None:
    """Play on to the end of the chase."""
    while s.cells[Cell.ENDING] == Ending.NONE:
        if s.cells[Cell.TURN] == 0:
            a = pick_x(b, s, p, moves, rng)
            if a < 0:
                s.cells[Cell.ENDING] = Ending.STUCK
            else:
                play_x(b, s, a, p.track)
        else:
            play_detective(b, s, pick_detective(b, s, p, moves, rng), p.track)
