"""Chess endgames of king and queen or rook against king, drawn at random, as FENs; it plays no move."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.errors import GameError
from sog.games.boards.fen import checked_fen

__all__ = ["STRONG", "fen_of", "random_endgame"]

STRONG: Final = "QR"  # the stronger side's piece


def random_endgame(rng: np.random.Generator) -> str:
    """Queen or rook, its colour, the player to move and the squares of the three pieces uniform among legal positions.

    The game may be over there, by mate or by stalemate.
    """
    while True:
        piece, white_strong, white_moves = STRONG[int(rng.integers(2))], bool(rng.integers(2)), bool(rng.integers(2))
        own_king, own_piece, king = (int(square) for square in rng.choice(64, size=3, replace=False))
        try:
            return checked_fen(fen_of(piece, own_king, own_piece, king, white_strong, white_moves))
        except GameError:
            continue


def fen_of(piece: str, own_king: int, own_piece: int, king: int, white_strong: bool, white_moves: bool) -> str:
    """The FEN of a piece of STRONG with its king against a king; squares are file * 8 + rank, all different."""
    strong, weak = ("K" + piece, "k") if white_strong else ("k" + piece.lower(), "K")
    placed = {own_king: strong[0], own_piece: strong[1], king: weak}
    rows = ("".join(placed.get(file * 8 + rank, ".") for file in range(8)) for rank in range(7, -1, -1))
    return f"{'/'.join(map(_written, rows))} {'w' if white_moves else 'b'} - - 0 1"


def _written(row: str) -> str:
    """A rank as FEN has it: runs of empty squares by their length."""
    out, empty = "", 0
    for letter in row:
        if letter == ".":
            empty += 1
            continue
        out, empty = out + (str(empty) if empty else "") + letter, 0
    return out + (str(empty) if empty else "")
