"""Rules through our own encodings: perft through chess moves and back, random games beside OpenSpiel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import pyspiel

from sog.arrays import Array
from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.chess import BLACK, START, Chess
from sog.games.positions import HISTORY, Position, PositionGame

Report = Callable[[int, str], None]


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

    report: told the lines counted after each of the root's moves. GameError where a move comes back as another.
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


def random_game(game: PositionGame, rng: np.random.Generator) -> int:
    """Play one game of random moves on our positions and on an OpenSpiel state; the number of moves.

    At every position: who acts, the legal actions, the names of moves and the board that the planes show, rebuilt
    from OpenSpiel's observation. At the end the result. GameError at the first difference.
    """
    position = cast(Position, game.root())
    spiel = position.spiel.clone()
    count = 0
    while position.actor != TERMINAL:
        _compare(game, position, spiel)
        action = int(rng.choice(position.legal))
        spiel.apply_action(action)
        position = position.play(action)
        count += 1
    if not spiel.is_terminal() or game.payoff(position).scale != spiel.returns()[0]:
        raise GameError(f"{game.name} after {spiel.history()}: OpenSpiel says {spiel.returns()}")
    return count


def _compare(game: PositionGame, position: Position, spiel: pyspiel.State) -> None:
    alike = position.actor == spiel.current_player() and position.legal.tolist() == spiel.legal_actions()
    if isinstance(game, Chess):
        _moves(game, position)
        shown = _chess_pieces(game, position)
        observed = np.array(spiel.observation_tensor(0)).reshape(-1, 8, 8)[:12]
    else:
        shown = _stones(game, position)
        height, width = game.planes[1:]
        observed = np.array(spiel.observation_tensor(0)).reshape(-1, height, width)[:2]
        observed = observed[:, ::-1] if game.name == "connect_four" else observed
    if not alike or not np.array_equal(shown, observed):
        raise GameError(f"{game.name} after {spiel.history()}: another position than OpenSpiel's")


def _stones(game: PositionGame, position: Position) -> Array:
    """[2, H, W]: player 0's and player 1's stones from the planes."""
    planes = game.features(position).reshape(game.planes)
    return planes[[0, HISTORY]] if position.actor == 0 else planes[[HISTORY, 0]]


def _chess_pieces(game: Chess, position: Position) -> Array:
    """[12, 8, 8] in OpenSpiel's order, White's and Black's king first and pawns last, ranks by files."""
    planes = game.features(position).reshape(game.planes)[:12]
    if position.actor == BLACK:
        planes = np.roll(planes, 6, axis=0)[:, :, ::-1]
    white, black = planes[5::-1], planes[:5:-1]
    return np.stack([white, black], axis=1).reshape(12, 8, 8).swapaxes(1, 2)
