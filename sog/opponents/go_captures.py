"""Go by one rule, as an opponent: take stones in atari, save one's own, otherwise play at random outside one's eyes."""

from __future__ import annotations

from typing import cast

from sog.arrays import Array
from sog.games.boards.go import Go
from sog.opponents.rating import Decision, Rated

__all__ = ["captures"]

_TAKES, _SAVES, _ANYWHERE, _PASSES, _OWN_EYE = 4.0, 3.0, 2.0, 1.0, 0.0


def captures(decision: Decision) -> Rated:
    """Rates a move by the stones it takes, then by its own stones that it leads out of atari; eyes are left alone."""
    game = cast(Go, decision.game)
    board, mover = game.board(decision.state), 1 + game.actor(decision.state)
    order = [_worth(board, action, mover) for action in decision.actions]
    return Rated(order, [0.0] * len(order))


def _worth(board: Array, action: int, mover: int) -> float:
    """The larger the better; among moves of a kind those with more stones."""
    size = len(board)
    if action == size * size:
        return _PASSES
    point = divmod(action, size)
    around = _neighbours(point, size)
    groups = [_group(board, p) for p in around if board[p]]
    taken = {s for stones, free in groups if board[next(iter(stones))] != mover and free == {point} for s in stones}
    saved = {s for stones, free in groups if board[next(iter(stones))] == mover and free == {point} for s in stones}
    if taken:
        return _TAKES + len(taken) / 1000
    after = board.copy()
    after[point] = mover
    if saved and len(_group(after, point)[1]) > 1:
        return _SAVES + len(saved) / 1000
    return _OWN_EYE if all(board[p] == mover for p in around) else _ANYWHERE


def _group(board: Array, point: tuple[int, int]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The stones connected with the one at a point, and their liberties."""
    stones, free, waiting = {point}, set[tuple[int, int]](), [point]
    while waiting:
        for p in _neighbours(waiting.pop(), len(board)):
            if board[p] == 0:
                free.add(p)
            elif board[p] == board[point] and p not in stones:
                stones.add(p)
                waiting.append(p)
    return stones, free


def _neighbours(point: tuple[int, int], size: int) -> list[tuple[int, int]]:
    row, column = point
    steps = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [(r, c) for r, c in steps if 0 <= r < size and 0 <= c < size]
