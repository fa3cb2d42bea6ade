"""Openings of a tournament from a file of games: PGN of chess, SGF of Go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sog.errors import GameError, SettingError
from sog.files import open_regular, read_bounded, shown
from sog.games.base import Game
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.games.boards.pgn_reader import pgn_actions, read_pgn
from sog.games.boards.sgf_reader import read_sgf
from sog.play.move_tree import MoveTree

__all__ = ["MOST_GAMES", "openings_in"]

MOST_GAMES: Final = 100_000  # of a file
_LARGEST: Final = 2**26  # bytes


def openings_in(path: Path, game: Game, plies: int | None) -> tuple[tuple[int, ...], ...]:
    """The different main lines of a file's games in its order, each cut after `plies` moves where that is given.

    SettingError where the file cannot be read, a game begins elsewhere or has an illegal move, or a line ends the game.
    """
    text, found, tree = _text(path), dict[tuple[int, ...], None](), MoveTree(game)
    games, number = _lines(text, game, plies), 1
    try:
        while (line := next(games, None)) is not None:
            if number > MOST_GAMES:
                raise GameError(f"more games than {MOST_GAMES:,} are not read")
            if tree.result(tree.node_after(line)) is not None:
                raise GameError("the opening ends the game; `plies` says after how many moves it is cut")
            found[line], number = None, number + 1
    except GameError as error:
        raise SettingError(f"openings = {shown(path)}, game {number}: {error}") from error
    if not found:
        raise SettingError(f"openings = {shown(path)} has no games")
    return tuple(found)


def _text(path: Path) -> str:
    try:
        with open_regular(path, _LARGEST) as (file, size):
            return read_bounded(file, size).decode()
    except OSError as error:
        raise SettingError(f"openings = {shown(path)} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise SettingError(f"openings = {shown(path)} is no text: {error}") from error


def _lines(text: str, game: Game, plies: int | None) -> Iterator[tuple[int, ...]]:
    if isinstance(game, Chess):
        for played in read_pgn(text):
            if "FEN" in played.tags:
                raise GameError("it begins from a FEN: name that position as the tournament's game")
            yield tuple(pgn_actions(game, played.words[:plies]))
    elif isinstance(game, Go):
        for record in _collection(text):
            read = read_sgf(record)
            if read.size != game.size:
                raise GameError(f"it is on a board of {read.size}, not {game.size}")
            moves = read.plays[:plies]
            if any(not is_move or colour != k % 2 for k, (colour, _, is_move) in enumerate(moves)):
                raise GameError("its players do not take turns from an empty board")
            yield tuple(action for _, action, _ in moves)
    else:
        raise SettingError(f"a file of openings is PGN of chess or SGF of Go; list the moves of {game.name}")


def _collection(text: str) -> Iterator[str]:
    """The games of a collection: from an outermost bracket to its end; brackets in values do not count."""
    depth, start, quoted, escaped = 0, 0, False, False
    for at, character in enumerate(text):
        if quoted:  # inside [a value], in which \\ takes the next character as it is
            quoted = escaped or character != "]"
            escaped = character == "\\" and not escaped
        elif character == "[":
            quoted = True
        elif character == "(":
            start, depth = (at if depth == 0 else start), depth + 1
        elif character == ")" and depth:
            depth -= 1
            if depth == 0:
                yield text[start : at + 1]
    if depth or (start == 0 and not text.lstrip("\ufeff \t\r\n").startswith("(")):
        raise GameError("no SGF")
