"""Connect four as kernels play it, cell by cell."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from sog.games.cells import CellRules, play_function
from sog.games.kernels import Kernel, kernel

ROWS: Final = 6
COLUMNS: Final = 7

_OVER: Final = 3  # games.base.TERMINAL
_CELLS: Final = ROWS * COLUMNS
# int64[69, 4, 2]: the row and column of each cell of every line of four.
_LINES: Final = np.array(
    [
        [(row + k * down, column + k * right) for k in range(4)]
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        for row in range(ROWS - 3 * down)
        for column in range(COLUMNS)
        if 0 <= column + 3 * right < COLUMNS
    ]
)


def connect_four_cells(line: list[int], planes: Kernel) -> CellRules:
    """The rules after a line of columns.  planes: see CellRules.write_planes.

    A row's only number is who acts; its cells, int8[6, 7], are 0, 1 for player 0's pieces and 2 for player 1's, row 0
    the top one.
    """
    empty = np.zeros(1, dtype=np.int64), np.zeros(_CELLS, dtype=np.int8)
    return CellRules(_address(), planes, *empty, line, COLUMNS)


@cache
def _address() -> int:
    return play_function(_play)


def _play(numbers, cells, width, above, action, below, actions):  # type: ignore[no-untyped-def]
    """The position after a column: see games/cells.py."""
    number, board = carray(numbers, (below + 1, 1)), carray(cells, (below + 1, _CELLS))
    player = number[above, 0]
    board[below] = board[above]
    row = ROWS - 1
    while board[below, row * COLUMNS + action] != 0:
        row -= 1
    board[below, row * COLUMNS + action] = 1 + player
    number[below, 0] = _OVER
    if _completes(board[below], row, action, 1 + player):
        return -1 - 2 * player
    count = 0
    for column in range(COLUMNS):
        if board[below, column] == 0:
            actions[count] = column
            count += 1
    if count == 0:
        return -2
    number[below, 0] = 1 - player
    return count


@kernel
def _completes(board, row, column, stone):  # type: ignore[no-untyped-def]
    """Whether the stone on a cell is in a line of four of its kind."""
    for direction in range(4):
        down, right = (0, 1, 1, 1)[direction], (1, 0, 1, -1)[direction]
        length = 1
        for sign in (-1, 1):
            r, c = row + sign * down, column + sign * right
            while 0 <= r < ROWS and 0 <= c < COLUMNS and board[r * COLUMNS + c] == stone:
                length += 1
                r, c = r + sign * down, c + sign * right
        if length >= 4:
            return True
    return False


@kernel
def write_threats(numbers, cells, rows, out):  # type: ignore[no-untyped-def]
    """The planes of inputs=threats of the positions in `rows`: see games/cells.py; zeros where the game is over."""
    for b in range(len(rows)):
        player = numbers[rows[b], 0]
        if player == _OVER:
            continue
        planes, board = out[b].reshape(6, ROWS, COLUMNS), cells[rows[b]].reshape(ROWS, COLUMNS)
        _mark_stones(board, player, planes)
        for k in range(2):
            _mark_threats(board, 1 + player if k == 0 else 2 - player, planes[2 + k])
        planes[4, 1::2] = 1.0
        planes[5] = player == 0


@kernel
def write_stones(numbers, cells, rows, out):  # type: ignore[no-untyped-def]
    """As `write_threats`, of inputs=stones."""
    for b in range(len(rows)):
        player = numbers[rows[b], 0]
        if player != _OVER:
            planes = out[b].reshape(3, ROWS, COLUMNS)
            _mark_stones(cells[rows[b]].reshape(ROWS, COLUMNS), player, planes)
            planes[2] = player == 0


@kernel
def _mark_stones(board, player, out):  # type: ignore[no-untyped-def]
    """Write 1 where int8[6, 7] has the player's stones into out[0], and where it has the opponent's into out[1]."""
    for row in range(ROWS):
        for column in range(COLUMNS):
            out[0, row, column] = board[row, column] == 1 + player
            out[1, row, column] = board[row, column] == 2 - player


@kernel
def _mark_threats(board, stone, out):  # type: ignore[no-untyped-def]
    """Write 1 into float32[6, 7] where a stone of this kind would complete a line of four on int8[6, 7]."""
    for line in _LINES:
        stones, row, column = 0, -1, -1
        for cell in line:
            occupant = board[cell[0], cell[1]]
            if occupant == stone:
                stones += 1
            elif occupant == 0:
                row, column = cell
        if stones == 3 and row >= 0:
            out[row, column] = 1.0
