"""What networks of chess see by default: the pieces, the squares that each kind attacks, and who has more of which.

Hand-made inputs. They follow from the board alone, and a small network would need most of its layers to find them out.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.games.kernels import kernel

__all__ = ["TACTICS_PLANES", "write_tactics"]

# A position's numbers and codes are those of chess_cells.py: a kernel uses no constants but its own file's.
_OVER: Final = 3
_ACTOR, _CASTLING, _PASSED, _QUIET, _STOOD = 0, 2, 3, 4, 6
_KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = 2, 3, 4, 5, 6

# Where each group of planes begins; of those with two sides the mover's come first.
_PIECES: Final = 0  # 12: pawn, knight, bishop, rook, queen and king of each side
_REPEATED: Final = 12  # 2: the position has occurred twice, three times
_RIGHTS: Final = 14  # 4: castling to the king's and the queen's side, of each side
_PASSING: Final = 18  # 1: where a pawn can be taken en passant
_PROGRESS: Final = 19  # 1: half moves without a capture or a pawn's move, in hundreds
_ATTACKS: Final = 20  # 10: squares attacked by pawns, knights and bishops, rooks, queens, the king of each side
_TWICE: Final = 30  # 2: squares attacked by two or more pieces of each side
_MATERIAL: Final = 32  # 5: pawns, knights, bishops, rooks, queens of the mover less the opponent's, in halves
_BLACK: Final = 37  # 1: ones where Black acts, as every game's last plane says of player 0
TACTICS_PLANES: Final = 38

_KIND: Final = np.array([0, 0, 1, 1, 2, 3, 4])  # a piece's plane among the five of its side's attacks
_JUMPS: Final = np.array([(-2, -1), (-2, 1), (-1, -2), (-1, 2), (2, -1), (2, 1), (1, -2), (1, 2)])
_STRAIGHT: Final = np.array([(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)])  # then diagonal


@kernel
def write_tactics(numbers, cells, rows, out):  # type: ignore[no-untyped-def]
    """The planes of the positions in `rows`: see games/cells.py; zeros where the game is over."""
    for b in range(len(rows)):
        now, board = numbers[rows[b]], cells[rows[b]]
        if now[_ACTOR] == _OVER:
            continue
        planes = out[b].reshape(TACTICS_PLANES, 64)
        for stood in range(2, min(now[_STOOD], 3) + 1):
            planes[_REPEATED + stood - 2] = 1.0
        for k in range(4):
            planes[_RIGHTS + k] = (now[_CASTLING] >> k) & 1
        if now[_PASSED] >= 0:
            planes[_PASSING, 8 * now[_PASSED] + 5] = 1.0
        planes[_PROGRESS] = now[_QUIET] / 100.0
        planes[_BLACK] = now[_ACTOR] == 0
        for square in range(64):
            piece = board[square]
            if piece == 0:
                continue
            planes[_PIECES + piece - 1, square] = 1.0
            side = 1 if piece > _KING else 0
            kind = piece - _KING * side
            if kind < _KING:
                planes[_MATERIAL + kind - 1] += 0.5 - side
            attacks = planes[_ATTACKS + 5 * side : _ATTACKS + 5 * side + 5]
            _attack(board, square, kind, side, attacks, planes[_TWICE + side])


@kernel
def _attack(board, square, kind, side, attacks, twice):  # type: ignore[no-untyped-def]
    """Mark the squares that a piece attacks.

    kind: 1 to 6, pawn to king.  side: 0, the mover's, or 1.  attacks, twice: float32[5, 64], float32[64], of its side.
    """
    own = _KIND[kind]
    file, rank = square // 8, square % 8
    if kind == _KNIGHT:
        for k in range(8):
            _mark(file + _JUMPS[k, 0], rank + _JUMPS[k, 1], own, attacks, twice)
        return
    # The mover's pawns go up the ranks, the opponent's down.
    if kind < _KNIGHT:
        for files in (-1, 1):
            _mark(file + files, rank + 1 - 2 * side, own, attacks, twice)
        return
    for k in range(4 if kind == _BISHOP else 0, 4 if kind == _ROOK else 8):
        f, r = file + _STRAIGHT[k, 0], rank + _STRAIGHT[k, 1]
        # A line ends at the first piece, which is attacked or defended too.
        while _mark(f, r, own, attacks, twice) and kind != _KING and board[f * 8 + r] == 0:
            f, r = f + _STRAIGHT[k, 0], r + _STRAIGHT[k, 1]


@kernel
def _mark(file, rank, own, attacks, twice):  # type: ignore[no-untyped-def]
    """Mark one square as attacked, in row `own` of `attacks`; whether it is on the board."""
    if not (0 <= file < 8 and 0 <= rank < 8):
        return False
    square = file * 8 + rank
    for k in range(5):
        if attacks[k, square] > 0.0:
            twice[square] = 1.0
    attacks[own, square] = 1.0
    return True
