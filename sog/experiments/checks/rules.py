"""Rules through our own encodings: perft through chess moves and back, random games beside OpenSpiel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import pyspiel
from open_spiel.python.observation import make_observation

from sog.arrays import Array
from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards import chess_moves
from sog.games.boards.chess import BLACK, START, Chess
from sog.games.boards.positions import Position, PositionGame

Report = Callable[[int, str], None]
# The names of chess moves by (action * 13 + board code of the piece) * 2, and 1 more where Black moves.
Spoken = dict[int, str]

# OpenSpiel's twelve pieces among the planes of the mover's and the opponent's.
_WHITES_ORDER: Final = np.array([piece + side for piece in range(5, -1, -1) for side in (0, 6)])
_BLACKS_ORDER: Final = (_WHITES_ORDER + 6) % 12


@dataclass(frozen=True)
class PerftPosition:
    """A position with its counts at depths 1, 2, ... (Chess Programming Wiki, "Perft Results")."""

    fen: str
    counts: tuple[int, ...]


POSITIONS: Final = {
    "start": PerftPosition(START, (20, 400, 8_902, 197_281)),
    "kiwipete": PerftPosition(
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", (48, 2_039, 97_862)
    ),
    "position 3": PerftPosition("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", (14, 191, 2_812, 43_238)),
    "position 4": PerftPosition(
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", (6, 264, 9_467)
    ),
    "position 5": PerftPosition("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", (44, 1_486, 62_379)),
}


def perft(game: Chess, depth: int, report: Report = lambda done, note: None) -> int:
    """The number of lines of `depth` half moves; every move goes to UCI's notation and back on its way.

    report: called with the lines counted after each of the root's moves. GameError where a move comes back as another.
    """
    if depth == 0:
        return 1
    root, count = cast(Position, game.root()), 0
    for action in _moves(game, root):
        count += _lines(game, root.play(action), depth - 1)
        report(count, game.action_name(root, action))
    return count


def _lines(game: Chess, position: Position, depth: int) -> int:
    if depth == 0:
        return 1
    moves = _moves(game, position)
    if depth == 1:
        return len(moves)
    return sum(_lines(game, position.play(action), depth - 1) for action in moves)


def _moves(game: Chess, position: Position) -> list[int]:
    """The legal actions, each through its name and back."""
    actions: list[int] = position.legal.tolist()
    names = {game.action_name(position, action): action for action in actions}
    for name, action in names.items():
        if game.action(position, name) != action:
            raise GameError(f"{game.state_name(position)}: {name} is read as another move")
    if len(names) != len(actions):
        raise GameError(f"{game.state_name(position)}: two moves have one name")
    return actions


def random_game(game: PositionGame, rng: np.random.Generator, spoken: Spoken | None = None) -> int:
    """Play one game of random moves on our positions and on an OpenSpiel state; the number of moves.

    At every position: who acts, the legal actions, the names of moves and the board that the planes show, rebuilt
    from OpenSpiel's observation. At the end the result. GameError at the first difference.
    spoken: the names of chess moves that games before have taken there and back; more are added.
    """
    position = cast(Position, game.root())
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


def _compare(game: PositionGame, position: Position, spiel: pyspiel.State, observed: Array, spoken: Spoken) -> None:
    """`observed`: OpenSpiel's observation, float32[*]."""
    alike = position.actor == spiel.current_player() and position.legal.tolist() == spiel.legal_actions()
    if isinstance(game, Chess):
        _speak(game, position, spoken)
        shown = _chess_pieces(game, position)
        pieces = observed.reshape(-1, 8, 8)[:12]
    else:
        shown = _stones(game, position)
        height, width = game.planes[1:]
        pieces = observed.reshape(-1, height, width)[:2]
        pieces = pieces[:, ::-1] if game.name == "connect_four" else pieces
    if not alike or not (shown == pieces).all():
        raise GameError(f"{game.name} after {spiel.history()}: another position than OpenSpiel's")


def _speak(game: Chess, position: Position, spoken: Spoken) -> None:
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


def _stones(game: PositionGame, position: Position) -> Array:
    """[2, H, W]: player 0's and player 1's stones from the planes."""
    planes = game.features(position).reshape(game.planes)
    boards = 1 if game.name == "connect_four" else (game.planes[0] - 1) // 2  # boards that the planes show
    latest = [0, boards]  # the mover's and the opponent's
    stones: Array = planes[latest if position.actor == 0 else latest[::-1]]
    return stones


def _chess_pieces(game: Chess, position: Position) -> Array:
    """[12, 8, 8] in OpenSpiel's order, White's and Black's king first and pawns last, ranks by files."""
    planes = game.features(position).reshape(game.planes)
    black = position.actor == BLACK
    pieces: Array = planes[_BLACKS_ORDER, :, ::-1] if black else planes[_WHITES_ORDER]
    return pieces.swapaxes(1, 2)
