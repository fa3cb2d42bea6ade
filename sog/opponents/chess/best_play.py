"""Perfect play of king and queen or rook against king, as an opponent: the quickest mate, or the longest resistance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from sog.errors import GameError
from sog.games.base import TERMINAL, State
from sog.games.boards.chess import BLACK, WHITE, Chess
from sog.games.boards.chess_starts import STRONG, fen_of
from sog.games.boards.positions import BoardPosition
from sog.opponents.chess.tablebase import Three, endgame
from sog.opponents.rating import Decision, Rated

__all__ = ["Standing", "best_play", "random_wins", "standing"]

_PIECES: Final = ".PNBRQKpnbrqk"  # by board code
_DRAW: Final = 1_000.0  # half moves, more than any mate takes


@dataclass(frozen=True)
class Standing:
    """A position of three pieces.  piece: of STRONG.  strong: the player who has it.  plies: to mate, or below 0."""

    piece: str
    strong: int
    at: Three
    plies: int


def standing(game: Chess, s: State) -> Standing:
    """What the table says of a position; GameError where it is not one of three pieces that have a table."""
    placed = [(_PIECES[code], square) for square, code in enumerate(game.seen(s).board.tolist()) if code]
    square_of, piece = dict(placed), "".join(letter for letter, _ in placed if letter not in "Kk")
    if len(piece) != 1 or piece.upper() not in STRONG:
        raise GameError(f"no table holds {game.state_name(s)}")
    strong = WHITE if piece.isupper() else BLACK
    own, other = ("K", "k") if strong == WHITE else ("k", "K")
    at = Three(square_of[own], square_of[piece], square_of[other], game.actor(s) == strong)
    return Standing(piece.upper(), strong, at, endgame(piece.upper()).distance(at))


def best_play(decision: Decision) -> Rated:
    """Rates a move by the half moves to mate after it: few for the stronger side, many or a draw for the other one."""
    game = cast(Chess, decision.game)
    now = standing(game, decision.state)
    sign = -1.0 if now.at.strong_moves else 1.0
    lengths = [_length(game, cast(BoardPosition, decision.state).play(action)) for action in decision.actions]
    return Rated([sign * n for n in lengths], [0.0 if n == _DRAW else -sign for n in lengths])


def _length(game: Chess, after: BoardPosition) -> float:
    """Half moves to mate; more than any where the position is drawn."""
    if after.actor == TERMINAL:
        return 0.0 if game.payoff(after).scale else _DRAW
    plies = standing(game, after).plies
    return float(plies) if plies >= 0 else _DRAW


def random_wins(piece: str, count: int, seed: int) -> list[str]:
    """FENs: positions with the stronger side to move, which it wins, its colour and the squares drawn uniformly."""
    table, rng = endgame(piece).plies, np.random.default_rng((seed, STRONG.index(piece)))
    won = np.argwhere(table[1] >= 0)
    fens = []
    for row in won[rng.choice(len(won), size=count, replace=False)]:
        white = bool(rng.integers(2))
        fens.append(fen_of(piece, row.tolist(), white, white))
    return fens
