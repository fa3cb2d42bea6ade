"""King and queen, or king and rook, against king: the exact distance to mate of every position, by retrograde analysis.

After Thompson, "Retrograde analysis of certain endgames" (ICCA Journal, 1986).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from sog.arrays import Array
from sog.errors import GameError
from sog.searches.kernels.jit import inlined, njit

__all__ = ["DRAWN", "ILLEGAL", "Endgame", "Three", "endgame"]

DRAWN: Final = -1
ILLEGAL: Final = -2
_UNKNOWN: Final = -3
_RAYS: Final = {
    "R": np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]),
    "Q": np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [-1, 1], [-1, -1]]),
}


@dataclass(frozen=True)
class Three:
    """A position.  king, piece: the stronger side's.  weak: the lone king.  strong_moves: whose move it is.

    Squares are file * 8 + rank.
    """

    king: int
    piece: int
    weak: int
    strong_moves: bool


@dataclass(frozen=True, eq=False)
class Endgame:
    """One piece against the lone king.

    plies: int16[2, 64, 64, 64], half moves to mate with best play, DRAWN, or ILLEGAL; by whether the stronger side is
    to move, then its king's, its piece's and the lone king's square.
    """

    piece: str
    plies: Array

    def distance(self, at: Three) -> int:
        """Half moves to mate, DRAWN or ILLEGAL."""
        return int(self.plies[int(at.strong_moves), at.king, at.piece, at.weak])

    @property
    def longest(self) -> int:
        """Half moves to mate at most, the stronger side to move."""
        return int(self.plies[1].max())


@lru_cache(maxsize=2)
def endgame(piece: str) -> Endgame:
    """The table of Q or R; made once, in a second or two. GameError for other pieces."""
    if piece not in _RAYS:
        raise GameError(f"there is a table of {' and '.join(_RAYS)} against the king, not of {piece}")
    plies = np.full((2, 64, 64, 64), _UNKNOWN, dtype=np.int16)
    _begin(plies, _RAYS[piece])
    depth = 1
    while _step(plies, _RAYS[piece], depth):
        depth += 1
    plies[plies == _UNKNOWN] = DRAWN
    return Endgame(piece, plies)


@inlined
def _near(a: int, b: int) -> bool:
    """Whether a king on one square attacks the other, or is there."""
    return abs(a // 8 - b // 8) <= 1 and abs(a % 8 - b % 8) <= 1


@inlined
def _hits(rays: Array, piece: int, king: int, target: int) -> bool:
    """Whether the piece attacks a square that its own king does not shield. rays: int64[R, 2], files and ranks."""
    hit = False
    for r in range(rays.shape[0]):
        x, y = piece // 8 + rays[r, 0], piece % 8 + rays[r, 1]
        while 0 <= x < 8 and 0 <= y < 8:
            at = x * 8 + y
            if at == target:
                hit = True
            if at in (king, target):
                break
            x, y = x + rays[r, 0], y + rays[r, 1]
    return hit


@njit
def _begin(plies: Array, rays: Array) -> None:
    """Mark illegal positions, and mates with 0; the rest is as it was."""
    for king in range(64):
        for piece in range(64):
            for weak in range(64):
                if king == piece or piece == weak or _near(king, weak):
                    plies[:, king, piece, weak] = ILLEGAL
                elif _hits(rays, piece, king, weak):
                    plies[1, king, piece, weak] = ILLEGAL  # the side that has moved is in check
    for king in range(64):
        for piece in range(64):
            for weak in range(64):
                if plies[0, king, piece, weak] == _UNKNOWN:
                    escapes, _, taken = _replies(plies, king, piece, weak)
                    if escapes == 0 and not taken:
                        plies[0, king, piece, weak] = 0 if _hits(rays, piece, king, weak) else DRAWN


@inlined
def _replies(plies: Array, king: int, piece: int, weak: int) -> tuple[int, int, bool]:
    """Of the lone king: moves that do not take, the longest of them (_UNKNOWN where one is not lost), whether it takes.

    A taken piece, or a square that is not attacked once the king has left its own, is all that legality needs.
    """
    escapes, longest, taken = 0, 0, False
    for dx in range(-1, 2):
        for dy in range(-1, 2):
            x, y = weak // 8 + dx, weak % 8 + dy
            if (dx == 0 and dy == 0) or x < 0 or x > 7 or y < 0 or y > 7:
                continue
            to = x * 8 + y
            if _near(king, to):
                continue
            if to == piece:
                taken = True
                continue
            after = plies[1, king, piece, to]
            if after == ILLEGAL:
                continue
            escapes += 1
            if after < 0:
                longest = _UNKNOWN
            elif longest != _UNKNOWN and after > longest:
                longest = after
    return escapes, longest, taken


@njit
def _step(plies: Array, rays: Array, depth: int) -> bool:
    """Find the positions that are `depth` half moves from mate, given all nearer ones; whether there are any."""
    some = False
    strong = depth % 2 == 1
    for king in range(64):
        for piece in range(64):
            for weak in range(64):
                if plies[int(strong), king, piece, weak] != _UNKNOWN:
                    continue
                if strong:
                    at_depth = _reaches(plies, rays, king, piece, weak, depth - 1)
                else:
                    escapes, longest, taken = _replies(plies, king, piece, weak)
                    at_depth = escapes > 0 and not taken and longest == depth - 1
                if at_depth:
                    plies[int(strong), king, piece, weak] = depth
                    some = True
    return some


@inlined
def _reaches(plies: Array, rays: Array, king: int, piece: int, weak: int, wanted: int) -> bool:
    """Whether a move of the stronger side leads to a position this many half moves from mate."""
    reached = False
    for dx in range(-1, 2):
        for dy in range(-1, 2):
            x, y = king // 8 + dx, king % 8 + dy
            to = x * 8 + y
            if x < 0 or x > 7 or y < 0 or y > 7 or to in (king, piece):
                continue
            if plies[0, to, piece, weak] == wanted:
                reached = True
    for r in range(rays.shape[0]):
        x, y = piece // 8 + rays[r, 0], piece % 8 + rays[r, 1]
        while 0 <= x < 8 and 0 <= y < 8:
            at = x * 8 + y
            if at in (king, weak):
                break
            if plies[0, king, at, weak] == wanted:
                reached = True
            x, y = x + rays[r, 0], y + rays[r, 1]
    return reached
