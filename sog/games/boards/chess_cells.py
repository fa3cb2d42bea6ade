"""Chess as kernels play it, square by square, always from the mover's side of the board."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from sog.arrays import Array, Int64
from sog.games.cells import CellRules, play_function
from sog.games.kernels import Kernel, kernel

MOST: Final = 256  # moves of a position: 218 at most are legal (Petrovic 1964), and those of one piece are listed first

# Square file * 8 + rank, ranks from the mover's side: 0 empty, 1 to 6 the mover's pieces, 7 to 12 the opponent's.
_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = 1, 2, 3, 4, 5, 6
_OVER: Final = 3  # games.base.TERMINAL
_PLANES: Final = 73  # actions a square: see chess_moves.py
_QUEENSIDE: Final = 64 * _PLANES
_KINGSIDE: Final = _QUEENSIDE + 1
_HISTORY: Final = 8  # positions that the planes show

# A row's numbers.
_ACTOR: Final = 0
_BEFORE: Final = 1  # the row of the position before; -1: none
_CASTLING: Final = 2  # 1 and 2: the mover may to the king's side and to the queen's, 4 and 8: the opponent may
_PASSED: Final = 3  # the file of a pawn that can be taken en passant; -1: none
_QUIET: Final = 4  # half moves since a capture or a pawn's move
_NUMBER: Final = 5  # of the full move
_STOOD: Final = 6  # how often the position has stood, this time included
_NUMBERS: Final = 7

# int64[72, 2]: files and ranks that each plane moves by; directions of a queen and of a knight.
_LINES: Final = ((0, 1), (1, 0), (1, 1), (1, -1))
_JUMPS: Final = np.array([(-2, -1), (-2, 1), (-1, -2), (-1, 2), (2, -1), (2, 1), (1, -2), (1, 2)])
_STEPS: Final = np.array(
    [(side, 1) for _ in range(3) for side in (0, 1, -1)]
    + [(files * k, ranks * k) for files, ranks in _LINES for k in (*range(-7, 0), *range(1, 8))]
    + _JUMPS.tolist()
)
_QUEENS: Final = np.array([(sign * files, sign * ranks) for files, ranks in _LINES for sign in (-1, 1)])
_FIRST: Final = np.array([9 + 14 * line + (6 if sign < 0 else 7) for line in range(4) for sign in (-1, 1)])


def row_of(board: Array, actor: int, before: int, rest: tuple[int, int, int, int, int]) -> tuple[Int64, Array]:
    """A position's row.  board: int8[64] as White sees it, 1 to 6 its pieces.  rest: the numbers from _CASTLING on."""
    return np.array([actor, before, *rest]), board if actor else turned(board)


def turned(board: Array) -> Array:
    """int8[64]: the board from the other side."""
    seen: Array = np.where(board == 0, 0, (board + 5) % 12 + 1)[np.arange(64) ^ 7].astype(np.int8)
    return seen


def chess_cells(first: tuple[Int64, Array], line: list[int], planes: Kernel) -> CellRules:
    """The rules after a line of moves from the position with the row `first`.  planes: see CellRules.write_planes."""
    return CellRules(_address(), planes, *first, line, MOST)


@cache
def _address() -> int:
    return play_function(_play)


def _play(numbers, cells, width, above, action, below, actions):  # type: ignore[no-untyped-def]
    """The position after a move: see games/cells.py."""
    number, squares = carray(numbers, (below + 1, _NUMBERS)), carray(cells, (below + 1, width))
    before, now, board = number[above], number[below], squares[below]
    board[:] = squares[above]
    now[:] = before
    now[_BEFORE], now[_PASSED], now[_STOOD] = above, -1, 1
    now[_NUMBER] += before[_ACTOR] == 0
    _move(board, now, action, before[_PASSED])
    _turn(board, now)
    now[_ACTOR] = 1 - before[_ACTOR]
    count = _list_legal(board, now, actions)
    _count_repetitions(number, squares, below)
    loses = -3 if now[_ACTOR] == 0 else -1
    if not _can_mate(board) or now[_STOOD] >= 3:
        count = -2
    elif count == 0:
        count = loses if _attacked(board, _king(board)) else -2
    elif now[_QUIET] >= 100:
        count = -2
    if count < 0:
        now[_ACTOR] = _OVER
    return count


@kernel
def _move(board, now, action, passed):  # type: ignore[no-untyped-def]
    """Make the mover's move, and bring rights and counters up to date, still from the mover's side."""
    now[_QUIET] += 1
    if action >= _QUEENSIDE:
        side = action == _KINGSIDE
        board[32], board[56 if side else 0] = 0, 0
        board[48 if side else 16], board[40 if side else 24] = _KING, _ROOK
        now[_CASTLING] &= 12
        return
    start, plane = action // _PLANES, action % _PLANES
    end = start + 8 * _STEPS[plane, 0] + _STEPS[plane, 1]
    piece, taken = board[start], board[end]
    board[start], board[end] = 0, piece
    if piece == _PAWN:
        if _STEPS[plane, 0] != 0 and taken == 0:
            board[end - 1] = 0
        if end % 8 == 7:
            board[end] = _QUEEN if plane >= 9 else _ROOK - plane // 3
        if end - start == 2:
            now[_PASSED] = end // 8
    if piece == _PAWN or taken != 0:
        now[_QUIET] = 0
    # Rights go with the king, and with a rook that moves or is taken.
    if piece == _KING:
        now[_CASTLING] &= 12
    for corner, right in ((56, 1), (0, 2)):
        if start == corner:
            now[_CASTLING] &= 15 - right
        if end == corner + 7:
            now[_CASTLING] &= 15 - 4 * right


@kernel
def _turn(board, now):  # type: ignore[no-untyped-def]
    """See the board and the rights to castle from the other side."""
    for file in range(0, 64, 8):
        for rank in range(4):
            low, high = board[file + rank], board[file + 7 - rank]
            board[file + rank] = 0 if high == 0 else high + 6 if high < 7 else high - 6
            board[file + 7 - rank] = 0 if low == 0 else low + 6 if low < 7 else low - 6
    now[_CASTLING] = now[_CASTLING] // 4 + now[_CASTLING] % 4 * 4


@kernel
def _king(board):  # type: ignore[no-untyped-def]
    """Where the mover's king is."""
    square = 0
    while board[square] != _KING:
        square += 1
    return square


@kernel
def _attacked(board, square):  # type: ignore[no-untyped-def]
    """Whether the opponent attacks a square."""
    file, rank = square // 8, square % 8
    for k in range(8):
        f, r = file + _JUMPS[k, 0], rank + _JUMPS[k, 1]
        if 0 <= f < 8 and 0 <= r < 8 and board[f * 8 + r] == _KNIGHT + 6:
            return True
    for k in range(8):
        files, ranks = _QUEENS[k, 0], _QUEENS[k, 1]
        f, r, far = file + files, rank + ranks, 1
        while 0 <= f < 8 and 0 <= r < 8:
            piece = board[f * 8 + r] - 6
            if piece > -6:
                straight = files == 0 or ranks == 0
                if piece == _QUEEN or piece == (_ROOK if straight else _BISHOP) or (piece == _KING and far == 1):
                    return True
                if piece == _PAWN and far == 1 and not straight and ranks == 1:
                    return True
                break
            f, r, far = f + files, r + ranks, far + 1
    return False


@kernel
def _list_legal(board, now, actions):  # type: ignore[no-untyped-def]
    """Write the legal actions, ascending; how many. A pawn that no legal move can take en passant counts as none."""
    king, count, passes = _king(board), 0, False
    check = _attacked(board, king)
    for start in range(64):
        piece = board[start]
        if piece == 0 or piece > 6:
            continue
        first, stop = count, _list_moves(board, start, piece, now[_PASSED], actions, count)
        # A move of another piece than the king bares it only on its lines.
        files, ranks = start // 8 - king // 8, start % 8 - king % 8
        on_line = files == 0 or ranks == 0 or abs(files) == abs(ranks)
        for k in range(first, stop):
            plane = actions[k] % _PLANES
            end = start + 8 * _STEPS[plane, 0] + _STEPS[plane, 1]
            passing = piece == _PAWN and _STEPS[plane, 0] != 0 and board[end] == 0
            if not (check or on_line or passing) or _is_safe(board, start, end, passing, king):
                actions[count] = actions[k]
                count += 1
                passes = passes or passing
        _sort(actions, first, count)
    if not passes:
        now[_PASSED] = -1
    # Castling: an open way, on which the king is attacked nowhere.
    for right, first, step in ((2, 24, -8), (1, 40, 8)):
        open_way = board[first] == 0 and board[first + step] == 0 and (right == 1 or board[8] == 0)
        allowed = now[_CASTLING] & right and open_way and not check
        if allowed and not (_attacked(board, first) or _attacked(board, first + step)):
            actions[count] = _KINGSIDE if right == 1 else _QUEENSIDE
            count += 1
    return count


@kernel
def _list_moves(board, start, piece, passed, actions, count):  # type: ignore[no-untyped-def]
    """Write a piece's moves behind the first `count` actions, whether or not they leave the king attacked; how many."""
    file, rank = start // 8, start % 8
    if piece == _PAWN:
        for side in range(3):
            files = _STEPS[side, 0]
            end = start + 8 * files + 1
            if not 0 <= file + files < 8:
                continue
            takes = board[end] > 6 or (files != 0 and rank == 4 and file + files == passed)
            if takes if files != 0 else board[end] == 0:
                plane = (9 + 7, 9 + 28 + 7, 9 + 42 + 6)[side]
                actions[count] = start * _PLANES + plane
                count += 1
                for under in range(3 if rank == 6 else 0):
                    actions[count] = start * _PLANES + 3 * under + side
                    count += 1
                if files == 0 and rank == 1 and board[end + 1] == 0:
                    actions[count] = start * _PLANES + 9 + 8
                    count += 1
        return count
    if piece == _KNIGHT:
        for k in range(8):
            f, r = file + _JUMPS[k, 0], rank + _JUMPS[k, 1]
            if 0 <= f < 8 and 0 <= r < 8 and (board[f * 8 + r] == 0 or board[f * 8 + r] > 6):
                actions[count] = start * _PLANES + 65 + k
                count += 1
        return count
    for k in range(8):
        files, ranks = _QUEENS[k, 0], _QUEENS[k, 1]
        straight = files == 0 or ranks == 0
        if (piece == _ROOK and not straight) or (piece == _BISHOP and straight):
            continue
        f, r, far = file + files, rank + ranks, 0
        while 0 <= f < 8 and 0 <= r < 8:
            target = board[f * 8 + r]
            if 0 < target < 7:
                break
            # Steps of -7 to -1 and of 1 to 7 lie side by side.
            actions[count] = start * _PLANES + _FIRST[k] + (far if k % 2 == 1 else -far)
            count += 1
            if target != 0 or piece == _KING:
                break
            f, r, far = f + files, r + ranks, far + 1
    return count


@kernel
def _is_safe(board, start, end, passing, king):  # type: ignore[no-untyped-def]
    """Whether the mover's king is not attacked after a move."""
    piece, taken = board[start], board[end]
    board[start], board[end] = 0, piece
    if passing:
        board[end - 1] = 0
    safe = not _attacked(board, end if start == king else king)
    if passing:
        board[end - 1] = _PAWN + 6
    board[start], board[end] = piece, taken
    return safe


@kernel
def _sort(actions, first, stop):  # type: ignore[no-untyped-def]
    """Sort the actions from number `first` on, by insertion."""
    for i in range(first + 1, stop):
        action, k = actions[i], i
        while k > first and actions[k - 1] > action:
            actions[k] = actions[k - 1]
            k -= 1
        actions[k] = action


@kernel
def _count_repetitions(number, squares, row):  # type: ignore[no-untyped-def]
    """Write how often a position has stood since the last capture or pawn's move."""
    now, past = number[row], number[row, _BEFORE]
    for half_moves in range(1, now[_QUIET] + 1):
        if past < 0:
            return
        then = number[past]
        same = half_moves % 2 == 0 and then[_CASTLING] == now[_CASTLING] and then[_PASSED] == now[_PASSED]
        square = 63 if same else 0
        while square > 0 and squares[past, square] == squares[row, square]:
            square -= 1
        if same and square == 0 and squares[past, 0] == squares[row, 0]:
            now[_STOOD] = then[_STOOD] + 1
            return
        past = then[_BEFORE]


@kernel
def _can_mate(board):  # type: ignore[no-untyped-def]
    """Whether there is more than the kings and one knight, or bishops on squares of one colour."""
    knights, light, dark = 0, 0, 0
    for square in range(64):
        piece = board[square] if board[square] < 7 else board[square] - 6
        if piece in (_PAWN, _ROOK, _QUEEN):
            return True
        knights += piece == _KNIGHT
        if piece == _BISHOP:
            if (square // 8 + square % 8) % 2 == 0:
                dark += 1
            else:
                light += 1
    return knights + min(light, 1) + min(dark, 1) > 1


@kernel
def write_planes(numbers, cells, rows, out):  # type: ignore[no-untyped-def]
    """AlphaZero's planes of the positions in `rows`: see games/cells.py; zeros where the game is over."""
    for b in range(len(rows)):
        now, row = numbers[rows[b]], rows[b]
        if now[_ACTOR] == _OVER:
            continue
        planes = out[b].reshape(14 * _HISTORY + 7, 64)
        for t in range(_HISTORY):
            if row < 0:
                break
            for square in range(64):
                piece = cells[row, square]
                if piece > 0 and t % 2 == 0:
                    planes[14 * t + piece - 1, square] = 1.0
                elif piece > 0:
                    planes[14 * t + (piece + 5) % 12, square ^ 7] = 1.0
            for stood in range(2, min(numbers[row, _STOOD], 3) + 1):
                planes[14 * t + 10 + stood] = 1.0
            row = numbers[row, _BEFORE]
        for k in range(4):
            planes[14 * _HISTORY + k] = (now[_CASTLING] >> k) & 1
        planes[-3], planes[-2] = now[_QUIET] / 100.0, min(now[_NUMBER] / 100.0, 2.55)
        planes[-1] = now[_ACTOR] == 0
