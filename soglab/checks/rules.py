"""Random games of chess, Go and connect four through our own encodings, beside OpenSpiel's states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import numpy as np
import pyspiel
from open_spiel.python.observation import make_observation

from sog.arrays import Array
from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards import chess_moves
from sog.games.boards.chess import BLACK, Chess
from sog.games.boards.positions import BoardPosition, PositionGame

Report = Callable[[int, str], None]
# The names of chess moves by (action * 13 + board code of the piece) * 2, and 1 more where Black moves.
Spoken = dict[int, str]

# OpenSpiel's twelve pieces among the planes of the mover's and the opponent's.
_WHITES_ORDER: Final = np.array([piece + side for piece in range(5, -1, -1) for side in (0, 6)])
_BLACKS_ORDER: Final = (_WHITES_ORDER + 6) % 12


def random_game(game: PositionGame, rng: np.random.Generator, spoken: Spoken | None = None) -> int:
    """Play one game of random moves on our positions and on an OpenSpiel state; the number of moves.

    At every position: who acts, the legal actions, the names of moves and the board that the planes show, rebuilt
    from OpenSpiel's observation. At the end the result. GameError at the first difference.
    spoken: the names of chess moves that games before have taken there and back; more are added.
    """
    position = cast(BoardPosition, game.root())
    spiel = position.spiel.clone()
    observation = make_observation(spiel.get_game())
    spoken = {} if spoken is None else spoken
    count = 0
    while position.actor != TERMINAL:
        observation.set_from(spiel, 0)
        _compare(game, position, spiel, observation.tensor, spoken)
        action = position.legal.item(rng.integers(len(position.legal)))
        spiel.apply_action(action)
        position = position.play(action)
        count += 1
    if not spiel.is_terminal() or game.payoff(position).scale != spiel.returns()[0]:
        raise GameError(f"{game.name} after {spiel.history()}: OpenSpiel says {spiel.returns()}")
    return count


def _compare(
    game: PositionGame, position: BoardPosition, spiel: pyspiel.State, observed: Array, spoken: Spoken
) -> None:
    """`observed`: OpenSpiel's observation, float32[*]."""
    alike = position.actor == spiel.current_player() and position.legal.tolist() == spiel.legal_actions()
    if isinstance(game, Chess):
        _speak(game, position, spoken)
        shown = _chess_pieces(game, position)
        pieces = observed.reshape(-1, 8, 8)[:12]
    else:
        shown = _stones(game, position)
        pieces = observed.reshape(-1, *shown.shape[1:])[:2]
        pieces = pieces[:, ::-1] if game.name == "connect_four" else pieces
    if not alike or not (shown == pieces).all():
        raise GameError(f"{game.name} after {spiel.history()}: another position than OpenSpiel's")


def _speak(game: Chess, position: BoardPosition, spoken: Spoken) -> None:
    """All legal actions through their names and back, and no name twice.

    What a name is, and what is read from it, depends on the action, the mover and the piece alone: each such move
    takes the way there and back once, and its name is kept in `spoken`.
    """
    black, board = position.actor == BLACK, game.seen(position).board
    squares = np.minimum(position.legal // chess_moves.PLANES, 63)  # castling has no square, and needs none
    pieces = board[squares ^ 7 if black else squares]
    moves = ((position.legal * 13 + pieces) * 2 + black).tolist()
    for move, action in zip(moves, position.legal.tolist(), strict=True):
        if move not in spoken:
            name = game.action_name(position, action)
            if game.action(position, name) != action:
                raise GameError(f"{game.state_name(position)}: {name} is read as another move")
            spoken[move] = name
    if len({spoken[move] for move in moves}) != len(moves):
        raise GameError(f"{game.state_name(position)}: two moves have one name")


def _stones(game: PositionGame, position: BoardPosition) -> Array:
    """[2, H, W]: player 0's and player 1's stones from the planes."""
    assert game.planes is not None
    planes = game.features(position).reshape(game.planes)
    boards = 1 if game.name == "connect_four" else (len(planes) - 1) // 2  # boards that the planes show
    latest = [0, boards]  # the mover's and the opponent's
    stones: Array = planes[latest if position.actor == 0 else latest[::-1]]
    return stones


def _chess_pieces(game: Chess, position: BoardPosition) -> Array:
    """[12, 8, 8] in OpenSpiel's order, White's and Black's king first and pawns last, ranks by files."""
    planes = game.features(position).reshape(game.planes)
    black = position.actor == BLACK
    pieces: Array = planes[_BLACKS_ORDER, :, ::-1] if black else planes[_WHITES_ORDER]
    return pieces.swapaxes(1, 2)
