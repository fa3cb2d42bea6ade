"""Whether a FEN is a position of chess that play could continue from.

OpenSpiel believes a FEN: castling without a rook or a passed square without its pawn end in an error of its own, a
king that can be taken in worse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from sog.errors import GameError

__all__ = ["checked_fen"]

# The piece's letter on each square (file, rank), both from 0.
_Board: TypeAlias = Mapping[tuple[int, int], str]

_FEN: Final = re.compile(
    r"([1-8pnbrqkPNBRQK]+/){7}[1-8pnbrqkPNBRQK]+ [wb] (-|(?=[KQkq])K?Q?k?q?) (-|[a-h][36]) [0-9]{1,4} [0-9]{1,4}"
)
_LONGEST: Final = 128
_STRAIGHT: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
_SLANTING: Final = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_LEAPS: Final = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
# Where a right to castle has its king and its rook.
_AT_HOME: Final = {"K": ("K", 7, 0), "Q": ("K", 0, 0), "k": ("k", 7, 7), "q": ("k", 0, 7)}


def checked_fen(fen: str) -> str:
    """The FEN itself; GameError, in one line that says why, where it is not a position of chess."""
    if len(fen) > _LONGEST or not _FEN.fullmatch(fen):
        raise GameError(f"not a chess position in FEN's six fields: {fen[:_LONGEST]!r}")
    placed, mover, castling, passed, _, _ = fen.split(" ")
    rows = [re.sub(r"[1-8]", lambda digit: "." * int(digit[0]), row) for row in placed.split("/")]
    fault = _fault_of_rows(rows)
    if not fault:
        board = {(x, 7 - k): piece for k, row in enumerate(rows) for x, piece in enumerate(row) if piece != "."}
        white = mover == "w"
        fault = _fault_of_castling(board, castling) or _fault_of_passing(board, passed, white)
        if not fault and _attacked(board, white):
            fault = "the side that is not to move is in check"
    if fault:
        raise GameError(f"not a chess position: {fault}: {fen!r}")
    return fen


def _fault_of_rows(rows: list[str]) -> str:
    """What is wrong with the number of squares and pieces, else nothing."""
    whole = "".join(rows)
    if any(len(row) != 8 for row in rows):
        return "a rank has not eight squares"
    if whole.count("K") != 1 or whole.count("k") != 1:
        return "each side has one king"
    if set(rows[0] + rows[7]) & set("pP"):
        return "a pawn stands on the first or the last rank"
    for side, pawn in ((str.isupper, "P"), (str.islower, "p")):
        if sum(map(side, whole)) > 16 or whole.count(pawn) > 8:
            return "a side has more than sixteen pieces or eight pawns"
    return ""


def _fault_of_castling(board: _Board, castling: str) -> str:
    for right in castling.replace("-", ""):
        king, rook_file, rank = _AT_HOME[right]
        rook = "R" if king == "K" else "r"
        if board.get((4, rank)) != king or board.get((rook_file, rank)) != rook:
            return f"castling {right} without king and rook at home"
    return ""


def _fault_of_passing(board: _Board, passed: str, white: bool) -> str:
    """Of the square that a pawn has just passed: it and the one behind are empty, and the pawn is before it."""
    if passed == "-":
        return ""
    x, y = ord(passed[0]) - ord("a"), int(passed[1]) - 1
    ahead = 1 if white else -1
    if y != (5 if white else 2) or (x, y) in board or (x, y + ahead) in board:
        return f"no pawn can have passed {passed}"
    return "" if board.get((x, y - ahead)) == ("p" if white else "P") else f"no pawn can have passed {passed}"


def _attacked(board: _Board, by_white: bool) -> bool:
    """Whether White, or else Black, attacks the other side's king."""
    x, y = next(square for square, piece in board.items() if piece == ("k" if by_white else "K"))

    def is_one_of(square: tuple[int, int], pieces: str) -> bool:
        return board.get(square, "") in tuple(pieces if by_white else pieces.lower())

    behind = -1 if by_white else 1
    leaps = [((x + dx, y + dy), "N") for dx, dy in _LEAPS]
    steps = [((x + dx, y + dy), "K") for dx, dy in _STRAIGHT + _SLANTING]
    pawns = [((x + dx, y + behind), "P") for dx in (-1, 1)]
    if any(is_one_of(square, piece) for square, piece in (*leaps, *steps, *pawns)):
        return True
    for directions, pieces in ((_STRAIGHT, "RQ"), (_SLANTING, "BQ")):
        for dx, dy in directions:
            line = ((x + k * dx, y + k * dy) for k in range(1, 8))
            met = next((square for square in line if square in board), None)
            if met is not None and is_one_of(met, pieces):
                return True
    return False
