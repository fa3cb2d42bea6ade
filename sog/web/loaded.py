"""Reads games that a browser uploads: PGN of chess, SGF of Go, and our own record of every game."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, Final

from sog.errors import GameError, SettingError, SogError
from sog.files import bounded_json
from sog.games.base import TERMINAL, Game
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.games.boards.pgn_reader import pgn_actions, read_pgn
from sog.games.boards.sgf_reader import read_sgf
from sog.web.offers import Offers

__all__ = ["SavedGame", "read_game"]

_FORM: Final = 1  # of our own record
_MOST: Final = 2_000  # moves


@dataclass(frozen=True)
class SavedGame:
    """The record of a game: its name, its seed, which decides chance (None without chance), and its moves.

    columns: each move's place among the actions of its public state.
    """

    game: str
    seed: int | None
    columns: tuple[int, ...]

    def text(self) -> str:
        """Our own record of it."""
        return json.dumps({"record": _FORM, "game": self.game, "seed": self.seed, "columns": self.columns}) + "\n"


def read_game(text: str, offers: Offers) -> SavedGame:
    """The game of a text in whichever format it is, one that is offered. SettingError, in a line, for anything else."""
    start = text.lstrip("\ufeff \t\r\n")
    if not start:
        raise SettingError("nothing was uploaded: choose a file, or paste a game")
    read = _own if start[0] == "{" else _sgf if start[0] == "(" else _pgn
    try:
        game = read(start, offers)
    except SettingError:
        raise
    except SogError as error:
        raise SettingError(f"this game cannot be read: {error}") from error
    if len(game.columns) > _MOST:
        raise SettingError(f"a game that is loaded has at most {_MOST:,} moves")
    return game


def _own(text: str, offers: Offers) -> SavedGame:
    try:
        record: Any = bounded_json(text.encode())
        form, name, seed, columns = record["record"], record["game"], record["seed"], record["columns"]
        if form != _FORM or not isinstance(name, str) or not all(type(column) is int for column in columns):
            raise ValueError("it is of another form")
        if seed is not None and not (type(seed) is int and 0 <= seed < 2**62):
            raise ValueError("its seed is no whole number of 62 bits")
    except (ValueError, KeyError, TypeError) as error:
        raise SettingError(f"no record of this program: {error}") from error
    return SavedGame(offers.game(name).name, seed, tuple(columns))


def _sgf(text: str, offers: Offers) -> SavedGame:
    """The main line; stones that are set up first are no game that is played here."""
    sgf = read_sgf(text)
    names = [name for name in offers.games if name.startswith("go(")]
    games = [game for name in names if isinstance(game := offers.game(name), Go)]
    komi = sgf.komi
    fitting = [game for game in games if game.size == sgf.size and komi in (None, game.komi)]
    if not fitting:
        wanted = f"go(board_size={sgf.size},komi={7.5 if komi is None else komi:g})"
        raise SettingError(f"this board is not offered here: begin with `sog serve {quote(wanted)}`")
    if any(not is_move or colour != k % 2 for k, (colour, _, is_move) in enumerate(sgf.plays)):
        raise SettingError("only games from an empty board, in which Black and White take turns, can be loaded")
    return SavedGame(fitting[0].name, None, _columns(fitting[0], [action for _, action, _ in sgf.plays]))


def _pgn(text: str, offers: Offers) -> SavedGame:
    """The first game's main line."""
    first = next(read_pgn(text), None)
    if first is None:
        raise SettingError("neither PGN, nor SGF, nor a record of this program")
    names = _chess_names(first.tags)
    game = next((each for name in names if name in offers.games for each in [offers.game(name)]), None)
    if not isinstance(game, Chess):
        raise SettingError(f"this position is not offered here: begin with `sog serve {quote(names[-1])}`")
    return SavedGame(game.name, None, _columns(game, pgn_actions(game, first.words[: _MOST + 1])))


def _chess_names(tags: Mapping[str, str]) -> list[str]:
    """The games that begin where a PGN does."""
    fen = tags.get("FEN", "")
    if len(fen) > 100 or not re.fullmatch(r"[\w/ -]*", fen):
        raise SettingError("its FEN is malformed")
    return [f"chess(fen={fen})", f'chess(fen="{fen}")'] if fen else ["chess"]


def _columns(game: Game, actions: Sequence[int]) -> tuple[int, ...]:
    """Places of actions among those of their states; GameError where one is illegal."""
    columns, state = list[int](), game.root()
    for action in actions[: _MOST + 1]:
        legal = [] if game.actor(state) == TERMINAL else game.actions(state).tolist()
        if action not in legal:
            raise GameError(f"move {len(columns) + 1} is not legal")
        columns.append(legal.index(action))
        state = game.child(state, columns[-1])
    return tuple(columns)
