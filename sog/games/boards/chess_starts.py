"""Chess endgames of a king and queens or rooks against a king, drawn at random, as FENs; it plays no move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sog.errors import GameError
from sog.games.boards.fen import checked_fen

__all__ = ["STRONG", "fen_of", "random_endgame"]

STRONG: Final = "QR"  # what the stronger side has
_MOST: Final = 3  # of them: with three even poor play mates now and then, from which self-play learns to with one


def random_endgame(rng: np.random.Generator) -> str:
    """One to three queens or rooks, their colour, the player to move and all squares uniform among legal positions.

    The game may be over there, by mate or by stalemate.
    """
    while True:
        pieces = "".join(STRONG[k] for k in rng.integers(2, size=rng.integers(1, _MOST + 1)))
        white_strong, white_moves = rng.integers(2, size=2)
        squares = rng.choice(64, size=len(pieces) + 2, replace=False)
        try:
            return checked_fen(fen_of(pieces, squares.tolist(), bool(white_strong), bool(white_moves)))
        except GameError:
            continue


def fen_of(pieces: str, squares: Sequence[int], white_strong: bool, white_moves: bool) -> str:
    """The FEN of pieces of STRONG with their king against a king.

    squares: file * 8 + rank, all different: of that king, of each piece, and of the other king.
    """
    strong, weak = ("K" + pieces, "k") if white_strong else ("k" + pieces.lower(), "K")
    placed = dict(zip(squares, strong + weak, strict=True))
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
