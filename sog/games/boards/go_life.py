"""Which stones no play can take, and which moves take others: what a cleanup after the game needs.

Unconditional life is Benson's (Life in the Game of Go, 1976): a set of chains of one colour lives, though its owner
only passes, where each of them has two vital regions. A region is what the colour does not occupy, connected; it is
vital to a chain that is next to all of its empty points, and counts where only chains of the set are next to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from sog.arrays import Array

__all__ = ["attacks", "chain", "lives", "neighbours"]

# Points, row * N + column.
_Points: TypeAlias = frozenset[int]

_EMPTY: Final = 0


def lives(board: Array, colour: int) -> _Points:
    """The stones that live unconditionally.

    board: int8[N, N], 0 where empty, 1 for Black's stones, 2 for White's.  colour: 1 or 2.
    """
    points, size = board.ravel().tolist(), len(board)
    chains = _connected(size, (k for k, stone in enumerate(points) if stone == colour))
    regions = _connected(size, (k for k, stone in enumerate(points) if stone != colour))
    around = {chain: _around(size, chain) for chain in chains}
    alive = set(chains)
    while True:
        sound = [r for r in regions if not any(around[chain] & r for chain in chains if chain not in alive)]
        empties = [_Points(k for k in region if points[k] == _EMPTY) for region in sound]
        left = {chain for chain in alive if sum(bool(e) and e <= around[chain] for e in empties) >= 2}
        if left == alive:
            return _Points().union(*alive)
        alive = left


def attacks(board: Array, colour: int) -> tuple[_Points, _Points]:
    """The liberties of the other colour's stones that may be taken, and the other empty points of their regions.

    Both are empty where all of that colour's stones live unconditionally.
    """
    points, size, other = board.ravel().tolist(), len(board), 3 - colour
    loose = _Points(k for k, stone in enumerate(points) if stone == other) - lives(board, other)
    near, wide = _around(size, loose), _Points()
    for region in _connected(size, (k for k, stone in enumerate(points) if stone == _EMPTY)):
        if region & near:
            wide |= region
    return wide & near, wide - near


def chain(board: Array, point: int) -> tuple[set[int], set[int]]:
    """The stones connected with the one on a point, and their liberties."""
    points, stones, free, waiting = board.ravel(), {point}, set[int](), [point]
    while waiting:
        for k in neighbours(len(board), waiting.pop()):
            if points[k] == _EMPTY:
                free.add(k)
            elif points[k] == points[point] and k not in stones:
                stones.add(k)
                waiting.append(k)
    return stones, free


def neighbours(size: int, point: int) -> list[int]:
    """The points beside a point."""
    row, column = divmod(point, size)
    beside = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [r * size + c for r, c in beside if 0 <= r < size and 0 <= c < size]


def _around(size: int, points: _Points) -> _Points:
    """The points next to these and none of them."""
    return _Points(k for point in points for k in neighbours(size, point)) - points


def _connected(size: int, points: Iterable[int]) -> list[_Points]:
    """The points as connected sets."""
    left, components = set(points), list[_Points]()
    while left:
        at, reached = [left.pop()], set[int]()
        while at:
            point = at.pop()
            reached.add(point)
            near = left.intersection(neighbours(size, point))
            left -= near
            at += near
        components.append(_Points(reached))
    return components
