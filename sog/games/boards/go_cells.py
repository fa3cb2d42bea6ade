"""Go as kernels play it, point by point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from sog.arrays import Array, Float32, Int64
from sog.games.cells import CellRules, play_function
from sog.games.kernels import Kernel, kernel

# Points have an edge all round: point (row + 1) * (N + 2) + column + 1 is 0 empty, 1 Black's, 2 White's or 3, the edge.
_EDGE: Final = 3
_OVER: Final = 3  # games.base.TERMINAL

# A row's numbers.
_ACTOR: Final = 0
_BEFORE: Final = 1  # the row of the position before; -1: none
_KO: Final = 2  # the point that may not be played; 0: none
_PASSED: Final = 3  # whether the move before was a pass
_MOVES: Final = 4  # how many were made
_STONES: Final = 5  # how many are on the board
_TAKEN: Final = 6  # how many were taken
_SIZE: Final = 7
_KOMI: Final = 8  # twice the komi, or the next odd number below where that is no whole number
_SHOWN: Final = 9  # the komi's plane where White moves, and where Black does, in hundredths
_NUMBERS: Final = 11


def first_row(size: int, komi: float, shown: tuple[int, int]) -> tuple[Int64, Array]:
    """The empty board's row.  shown: the komi's plane where White moves and where Black does, in hundredths."""
    side = size + 2
    points = np.full((side, side), _EDGE, dtype=np.int8)
    points[1:-1, 1:-1] = 0
    given = float(np.float32(komi))  # as OpenSpiel keeps it
    doubled = int(2 * given) if given.is_integer() else 2 * math.floor(given) + 1
    numbers = np.array([0, -1, 0, 0, 0, 0, 0, size, doubled, *shown], dtype=np.int64)
    return numbers, points.reshape(-1)


def go_cells(first: tuple[Int64, Array], line: list[int], planes: Kernel) -> CellRules:
    """The rules after a line of moves from the empty board, whose row is `first`.  planes: CellRules.write_planes."""
    size = int(first[0][_SIZE])
    return CellRules(_address(), planes, *first, line, size * size + 1)


def write_boards(planes: Kernel, first: tuple[Int64, Array], actor: int, boards: Sequence[Array], out: Float32) -> None:
    """Write a position's planes, float32[C, N, N], from the boards, int8[N, N], that it and the one before have."""
    numbers, cells = (np.tile(part, (len(boards), 1)) for part in first)
    side = int(first[0][_SIZE]) + 2
    for k, board in enumerate(boards):
        cells[k].reshape(side, side)[1:-1, 1:-1] = board
        numbers[k, _BEFORE] = k + 1 if k + 1 < len(boards) else -1
    numbers[0, _ACTOR] = actor
    planes(numbers, cells, np.zeros(1, dtype=np.int64), out[None])


@cache
def _address() -> int:
    return play_function(_play)


def _play(numbers, cells, width, above, action, below, actions):  # type: ignore[no-untyped-def]
    """The position after a move: see games/cells.py."""
    number, points = carray(numbers, (below + 1, _NUMBERS)), carray(cells, (below + 1, width))
    before, now, board = number[above], number[below], points[below]
    now[:] = before
    board[:] = points[above]
    size, player = before[_SIZE], before[_ACTOR]
    passes = action == size * size
    now[_BEFORE], now[_KO], now[_PASSED], now[_MOVES] = above, 0, passes, before[_MOVES] + 1
    stack = np.empty(size * size, dtype=np.int16)
    if not passes:
        _put(board, now, (action // size + 1) * (size + 2) + action % size + 1, 1 + player, stack)
    now[_ACTOR] = _OVER
    # A whole board that was there before is a draw; a pass leaves the board as it is.
    if not passes and _was_there(number, points, below):
        return -2
    if (passes and before[_PASSED]) or now[_MOVES] >= 2 * size * size:
        score = 2 * _area(board, size, stack) - now[_KOMI]
        return -2 + (1 if score > 0 else -1 if score < 0 else 0)
    now[_ACTOR] = 1 - player
    return _list_legal(board, now, actions, stack)


@kernel
def _put(board, now, point, stone, stack):  # type: ignore[no-untyped-def]
    """Put a stone down and take what has no liberty; where that is one stone, and all beside were others', a ko."""
    side, taken, eye = now[_SIZE] + 2, 0, True
    board[point] = stone
    for q in (point - side, point - 1, point + 1, point + side):
        eye = eye and board[q] >= 3 - stone and board[q] != stone
    for q in (point - side, point - 1, point + 1, point + side):
        if board[q] == 3 - stone:
            count, free = _chain(board, side, q, 1, stack)
            if free == 0:
                for k in range(count):
                    board[stack[k]] = 0
                taken += count
                now[_KO] = q
    now[_STONES] += 1 - taken
    now[_TAKEN] += taken
    if not (eye and taken == 1):
        now[_KO] = 0


@kernel
def _chain(board, side, start, enough, stack):  # type: ignore[no-untyped-def]
    """List in `stack` the chain that a stone is in, until `enough` of its liberties are found: (stones, liberties)."""
    stone, count, free, seen, at = board[start], 1, 0, -1, 0
    # A stone in the stack is marked on the board meanwhile.
    stack[0], board[start] = start, -1
    while at < count and free < enough:
        p = stack[at]
        at += 1
        for q in (p - side, p - 1, p + 1, p + side):
            if board[q] == stone:
                stack[count], board[q] = q, -1
                count += 1
            elif board[q] == 0 and q != seen:
                free, seen = free + 1, q
    for k in range(count):
        board[stack[k]] = stone
    return count, free


@kernel
def _list_legal(board, now, actions, stack):  # type: ignore[no-untyped-def]
    """Write the legal actions: empty points that are neither a ko nor suicide, and the pass; how many."""
    size, stone, count = now[_SIZE], 1 + now[_ACTOR], 0
    side = size + 2
    for action in range(size * size):
        p = (action // size + 1) * side + action % size + 1
        if board[p] != 0 or p == now[_KO]:
            continue
        legal = board[p - side] == 0 or board[p - 1] == 0 or board[p + 1] == 0 or board[p + side] == 0
        # Closely surrounded: an own chain must have another liberty, or one of the other's no other.
        if not legal:
            for q in (p - side, p - 1, p + 1, p + side):
                if board[q] == _EDGE or legal:
                    continue
                free = _chain(board, side, q, 2, stack)[1]
                legal = free > 1 if board[q] == stone else free == 1
        if legal:
            actions[count] = action
            count += 1
    actions[count] = size * size
    return count + 1


@kernel
def _was_there(number, points, row):  # type: ignore[no-untyped-def]
    """Whether the whole board of a row is that of a position before it."""
    now = number[row]
    # Until a stone is taken every board has one stone more than the one before.
    if now[_TAKEN] == 0:
        return False
    past = now[_BEFORE]
    while past >= 0:
        if number[past, _STONES] == now[_STONES]:
            point = points.shape[1] - 1
            while point >= 0 and points[past, point] == points[row, point]:
                point -= 1
            if point < 0:
                return True
        past = number[past, _BEFORE]
    return False


@kernel
def _area(board, size, stack):  # type: ignore[no-untyped-def]
    """Black's stones and empty regions that only Black touches, less White's. The board is spoilt."""
    score, side = 0, size + 2
    for action in range(size * size):
        start = (action // size + 1) * side + action % size + 1
        if board[start] == 1 or board[start] == 2:
            score += 3 - 2 * board[start]
        if board[start] != 0:
            continue
        count, at, black, white = 1, 0, False, False
        stack[0], board[start] = start, -1
        while at < count:
            p = stack[at]
            at += 1
            for q in (p - side, p - 1, p + 1, p + side):
                black, white = black or board[q] == 1, white or board[q] == 2
                if board[q] == 0:
                    stack[count], board[q] = q, -1
                    count += 1
        score += count * (black - white)
    for action in range(size * size):
        p = (action // size + 1) * side + action % size + 1
        board[p] = max(board[p], 0)
    return score


@kernel
def write_stones(numbers, cells, rows, out):  # type: ignore[no-untyped-def]
    """The planes of inputs=stones of the positions in `rows`: see games/cells.py; zeros where the game is over."""
    for b in range(len(rows)):
        now = numbers[rows[b]]
        if now[_ACTOR] != _OVER:
            planes = out[b].reshape(6, now[_SIZE], now[_SIZE])
            _mark_stones(numbers, cells, rows[b], planes)
            _mark_game(now, planes)


@kernel
def write_liberties(numbers, cells, rows, out):  # type: ignore[no-untyped-def]
    """As `write_stones`, of inputs=liberties."""
    for b in range(len(rows)):
        now = numbers[rows[b]]
        if now[_ACTOR] != _OVER:
            planes = out[b].reshape(12, now[_SIZE], now[_SIZE])
            _mark_stones(numbers, cells, rows[b], planes)
            _mark_liberties(cells[rows[b]], now, planes[4:10])
            _mark_game(now, planes)


@kernel
def _mark_stones(numbers, cells, row, planes):  # type: ignore[no-untyped-def]
    """The mover's stones in the two latest positions, then the opponent's."""
    player, size = numbers[row, _ACTOR], numbers[row, _SIZE]
    for t in range(2):
        if row < 0:
            break
        board = cells[row].reshape(size + 2, size + 2)
        for i in range(size):
            for j in range(size):
                planes[t, i, j] = board[i + 1, j + 1] == 1 + player
                planes[2 + t, i, j] = board[i + 1, j + 1] == 2 - player
        row = numbers[row, _BEFORE]


@kernel
def _mark_game(now, planes):  # type: ignore[no-untyped-def]
    """The last two planes: the komi as the mover sees it, and ones where Black acts."""
    planes[-2] = now[_SHOWN + 1 - now[_ACTOR]] / 100.0
    planes[-1] = now[_ACTOR] == 0


@kernel
def _mark_liberties(cells, now, planes):  # type: ignore[no-untyped-def]
    """Stones whose chain has 1, 2, 3 liberties: the mover's in planes 0 to 2, the opponent's in planes 3 to 5."""
    size, mover = now[_SIZE], 1 + now[_ACTOR]
    side, board = size + 2, cells.copy()
    chain, free = np.empty(size * size, dtype=np.int16), np.empty(size * size, dtype=np.int16)
    for start in range(side, side * (size + 1)):
        stone = board[start]
        if stone != 1 and stone != 2:
            continue
        # Walk through the chain; its stones are erased to the edge's code, and its liberties marked meanwhile.
        count, liberties, at = 1, 0, 0
        chain[0], board[start] = start, _EDGE
        while at < count:
            p = chain[at]
            at += 1
            for q in (p - side, p - 1, p + 1, p + side):
                if board[q] == stone:
                    chain[count], board[q] = q, _EDGE
                    count += 1
                elif board[q] == 0:
                    free[liberties], board[q] = q, -1
                    liberties += 1
        for k in range(liberties):
            board[free[k]] = 0
        if liberties <= 3:
            plane = liberties - 1 + (0 if stone == mover else 3)
            for k in range(count):
                planes[plane, chain[k] // side - 1, chain[k] % side - 1] = 1.0
