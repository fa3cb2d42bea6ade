"""Openings of a tournament from a file: games in PGN or positions in FEN or EPD of chess, games in SGF of Go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sog.errors import GameError, SettingError
from sog.files import open_regular, read_bounded, shown
from sog.games.base import TERMINAL, Game
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.games.boards.pgn_reader import pgn_actions, read_pgn
from sog.games.boards.sgf_reader import read_sgf

__all__ = ["MOST_GAMES", "Opening", "openings_in"]

MOST_GAMES: Final = 100_000  # of a file
_LARGEST: Final = 2**26  # bytes
# A position's line: eight ranks and the side to move.
_POSITION: Final = re.compile(r"^\s*(?:[1-8a-zA-Z]+/){7}[1-8a-zA-Z]+\s+[wb]\s", re.MULTILINE)


@dataclass(frozen=True)
class Opening:
    """Where a game of a tournament begins: after moves from the position of a FEN, "" for the game's own start."""

    moves: tuple[int, ...] = ()
    fen: str = ""

    def start(self, game: Game) -> Game:
        """The game that begins there, which is `game` itself without a FEN."""
        return Chess(self.fen, game.inputs) if self.fen and isinstance(game, Chess) else game


def openings_in(path: Path, game: Game, plies: int | None) -> tuple[Opening, ...]:
    """The different openings of a file in its order: main lines of games, each cut after `plies` moves where that is
    given, or positions.

    SettingError where the file cannot be read, has an illegal move or a position that is none, or a line ends the game.
    """
    text, distinct = _text(path), dict[Opening, None]()
    openings, number = _openings(text, game, plies), 1
    try:
        while (opening := next(openings, None)) is not None:
            if number > MOST_GAMES:
                raise GameError(f"more games than {MOST_GAMES:,} are not read")
            if _ends(opening.start(game), opening.moves):
                raise GameError("the opening ends the game; `plies` says after how many moves it is cut")
            distinct[opening], number = None, number + 1
    except GameError as error:
        raise SettingError(f"openings = {shown(path)}, game {number}: {error}") from error
    if not distinct:
        raise SettingError(f"openings = {shown(path)} has no games")
    return tuple(distinct)


def _ends(game: Game, moves: Sequence[int]) -> bool:
    """Whether moves end a game; GameError where one is illegal."""
    state = game.root()
    for action in moves:
        actions = game.actions(state).tolist()
        if action not in actions:
            raise GameError(f"action {action} is illegal in {game.state_name(state)}")
        state = game.child(state, actions.index(action))
    return game.actor(state) == TERMINAL


def _text(path: Path) -> str:
    try:
        with open_regular(path, _LARGEST) as (file, size):
            content = read_bounded(file, size)
    except OSError as error:
        raise SettingError(f"openings = {shown(path)} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise SettingError(f"openings = {shown(path)} cannot be read: {error}") from error
    try:
        return content.decode("utf-8-sig")
    except ValueError as error:
        if b"\0" in content:
            raise SettingError(f"openings = {shown(path)} is no text: {error}") from error
        return content.decode("latin-1")  # the PGN standard's own characters


def _openings(text: str, game: Game, plies: int | None) -> Iterator[Opening]:
    if isinstance(game, Chess) and _POSITION.search(text):
        if plies is not None:
            raise GameError("positions have no moves that `plies` could cut: leave it out")
        lines = (line.strip() for line in text.splitlines())
        yield from (Opening(fen=_fen_of(line)) for line in lines if line and not line.startswith("#"))
    elif isinstance(game, Chess):
        for played in read_pgn(text):
            start = Opening(fen=played.tags.get("FEN", "")).start(game)
            assert isinstance(start, Chess)
            yield Opening(tuple(pgn_actions(start, played.words[:plies])), played.tags.get("FEN", ""))
    elif isinstance(game, Go):
        for record in _collection(text):
            read = read_sgf(record)
            if read.size != game.size:
                raise GameError(f"it is on a board of {read.size}, not {game.size}")
            moves = read.plays[:plies]
            if any(not is_move or colour != k % 2 for k, (colour, _, is_move) in enumerate(moves)):
                raise GameError("its players do not take turns from an empty board")
            yield Opening(tuple(action for _, action, _ in moves))
    else:
        raise SettingError(f"openings in a file are PGN, FEN or EPD of chess or SGF of Go; list moves of {game.name}")


def _fen_of(line: str) -> str:
    """The FEN of a line of FEN or EPD, which has the two counters as operations or not at all."""
    fields, counters = line.split(), dict(re.findall(r"\b(hmvc|fmvn)\s+(\d+)\s*;", re.sub(r'"[^"]*"', "", line)))
    if len(fields) >= 6 and fields[4].isdecimal():
        return " ".join(fields[:6]).rstrip(";")
    return " ".join([*fields[:4], counters.get("hmvc", "0"), counters.get("fmvn", "1")])


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
    if depth or (start == 0 and not text.lstrip().startswith("(")):
        raise GameError("no SGF")
