"""Positions of chess in which a right to take en passant is there only where the capture is legal.

OpenSpiel keeps the right where an enemy pawn is next to the one that passed, though that pawn may be pinned. The
position without it would then count as another one, and the third repetition be missed. A pawn's double step comes
after nothing that can be repeated, so the position may be the first of a new OpenSpiel state.
"""

from __future__ import annotations

from typing import Any, Final

from sog.games.boards.chess_moves import PLANE_STEPS, PLANES
from sog.games.boards.positions import BoardPosition

__all__ = ["ChessPosition"]

_SECOND_RANK: Final = 1
_PASSING: Final = PLANE_STEPS.index((0, 2))
_TAKING_FROM: Final = 4  # the rank, counted from the mover's side, of a pawn that takes en passant


class ChessPosition(BoardPosition):
    """A position of chess.

    earlier: the actions before the first of `spiel`'s history.
    """

    __slots__ = ("earlier",)

    def __init__(self, spiel: Any, parent: ChessPosition | None = None, passed: bool = True) -> None:
        """passed: whether the move before may have been a pawn's double step."""
        self.earlier: tuple[int, ...] = () if parent is None else parent.earlier
        if passed and (fen := _without_false_right(spiel)) is not None:
            self.earlier += tuple(int(action) for action in spiel.history())
            spiel = spiel.get_game().new_initial_state(fen)
        super().__init__(spiel, parent)

    def play(self, action: int) -> ChessPosition:
        """The position after a legal action."""
        square, plane = divmod(action, PLANES)
        passed = plane == _PASSING and square % 8 == _SECOND_RANK
        return ChessPosition(self.spiel.child(action), self, passed)


def _without_false_right(spiel: Any) -> str | None:
    """The FEN without the right to take en passant, where there is one and no capture is legal; else None."""
    placed, mover, castling, passed, quiet, number = spiel.board().to_fen().split(" ")
    if passed == "-":
        return None
    rows = ["".join("." * int(c) if c.isdigit() else c for c in row) for row in placed.split("/")]
    row, pawn = (rows[3], "P") if mover == "w" else (rows[4], "p")
    file, legal = ord(passed[0]) - ord("a"), set(spiel.legal_actions())
    for side in (-1, 1):
        start, plane = file - side, PLANE_STEPS.index((side, 1), 9)
        if 0 <= start < 8 and row[start] == pawn and (8 * start + _TAKING_FROM) * PLANES + plane in legal:
            return None
    return f"{placed} {mover} {castling} - {quiet} {number}"
