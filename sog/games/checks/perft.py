"""Perft: counts lines of chess moves, each move written in UCI's notation and read back on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from sog.errors import GameError
from sog.games.boards.chess import START, Chess
from sog.games.boards.positions import BoardPosition

__all__ = ["POSITIONS", "PerftPosition", "perft"]

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
    "position 4": PerftPosition("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", (6, 264, 9_467)),
    "position 5": PerftPosition("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", (44, 1_486, 62_379)),
}


def perft(game: Chess, depth: int, report: Report = lambda done, note: None) -> int:
    """The number of lines of `depth` half moves; every move goes to UCI's notation and back on its way.

    report: called with the lines counted after each of the root's moves. GameError where a move comes back as another.
    """
    if depth == 0:
        return 1
    root, count = cast(BoardPosition, game.root()), 0
    for action in _moves(game, root):
        count += _lines(game, root.play(action), depth - 1)
        report(count, game.action_name(root, action))
    return count


def _lines(game: Chess, position: BoardPosition, depth: int) -> int:
    if depth == 0:
        return 1
    moves = _moves(game, position)
    if depth == 1:
        return len(moves)
    return sum(_lines(game, position.play(action), depth - 1) for action in moves)


def _moves(game: Chess, position: BoardPosition) -> list[int]:
    """The legal actions, each through its name and back."""
    actions: list[int] = position.legal.tolist()
    names = {game.action_name(position, action): action for action in actions}
    for name, action in names.items():
        if game.action(position, name) != action:
            raise GameError(f"{game.state_name(position)}: {name} is read as another move")
    if len(names) != len(actions):
        raise GameError(f"{game.state_name(position)}: two moves have one name")
    return actions
