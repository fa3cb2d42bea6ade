"""Chess positions where one side has more, drawn at random, as FENs: endgames, and the first without some pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sog.errors import GameError
from sog.games.boards.fen import checked_fen

__all__ = ["STRONG", "fen_of", "random_endgame", "uneven_start"]

STRONG: Final = "QR"  # what the stronger side has
_MOST: Final = 3  # of them: with three even poor play mates now and then, from which self-play learns to with one
_RIM: Final = (0, 7)
_STEPS: Final = 3

_FIRST: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"


def random_endgame(rng: np.random.Generator, near: bool = False) -> str:
    """One to three queens or rooks, their colour, the player to move and all squares uniform among legal positions.

    near: only among those where the lone king is on the rim and the other king is at most three steps away: with a
    queen 90% of these are won within four moves, of all positions 25%.
    The game may be over there, by mate or by stalemate.
    """
    while True:
        pieces = "".join(STRONG[k] for k in rng.integers(2, size=rng.integers(1, _MOST + 1)))
        white_strong, white_moves = rng.integers(2, size=2)
        squares = rng.choice(64, size=len(pieces) + 2, replace=False).tolist()
        if near and not _is_near(squares[0], squares[-1]):
            continue
        try:
            return checked_fen(fen_of(pieces, squares, bool(white_strong), bool(white_moves)))
        except GameError:
            continue


def _is_near(king: int, lone: int) -> bool:
    """Whether the lone king is on the rim and the other at most three steps away."""
    (file, rank), (other_file, other_rank) = divmod(lone, 8), divmod(king, 8)
    return (file in _RIM or rank in _RIM) and max(abs(file - other_file), abs(rank - other_rank)) <= _STEPS


def uneven_start(rng: np.random.Generator) -> str:
    """The first position of chess with a drawn share of each side's pieces; White moves, and nobody may castle."""
    shares = rng.random(2)
    letters = [c if c in "Kk/8" or rng.random() < shares[int(c.islower())] else "." for c in _FIRST]
    rows = "".join(letters).replace("8", "." * 8).split("/")
    return f"{'/'.join(map(_written, rows))} w - - 0 1"


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
