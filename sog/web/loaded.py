"""Reads games that a browser uploads: PGN of chess, SGF of Go, and our own record of every game."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sog.errors import GameError, SettingError, SogError
from sog.files import bounded_json
from sog.games.base import TERMINAL, Game, State
from sog.games.boards.chess import Chess
from sog.games.boards.go import Go
from sog.games.boards.sgf_reader import read_sgf
from sog.web.offers import Offers

__all__ = ["SavedGame", "read_game"]

_FORM: Final = 1  # of our own record
_MOST: Final = 2_000  # moves
_TAG: Final = re.compile(r'^\s*\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*$', re.MULTILINE)
_ASIDE: Final = re.compile(r"\{[^}]*\}|;[^\n]*|^%[^\n]*|\$\d+", re.MULTILINE)
_RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")
_SAN: Final = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)x?([a-h][1-8])(?:=?([QRBN]))?[+#]?[!?]{0,2}")
_CASTLING: Final = {"O-O": "g", "O-O-O": "c", "0-0": "g", "0-0-0": "c"}


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
        found = read(start, offers)
    except SettingError:
        raise
    except SogError as error:
        raise SettingError(f"this game cannot be read: {error}") from error
    if len(found.columns) > _MOST:
        raise SettingError(f"a game that is loaded has at most {_MOST:,} moves")
    return found


def _own(text: str, offers: Offers) -> SavedGame:
    try:
        found: Any = bounded_json(text.encode())
        form, name, seed, columns = found["record"], found["game"], found["seed"], found["columns"]
        if form != _FORM or not isinstance(name, str) or not all(type(column) is int for column in columns):
            raise ValueError("it is of another form")
        if seed is not None and not (type(seed) is int and 0 <= seed < 2**62):
            raise ValueError("its seed is no whole number of 62 bits")
    except (ValueError, KeyError, TypeError) as error:
        raise SettingError(f"no record of this program: {error}") from error
    return SavedGame(offers.game(name).name, seed, tuple(columns))


def _sgf(text: str, offers: Offers) -> SavedGame:
    """The main line; stones that are set up first are no game that is played here."""
    found = read_sgf(text)
    names = [name for name in offers.games if name.startswith("go(")]
    games = [game for name in names if isinstance(game := offers.game(name), Go)]
    komi = found.komi
    fitting = [game for game in games if game.size == found.size and komi in (None, game.komi)]
    if not fitting:
        wanted = f"go(board_size={found.size},komi={7.5 if komi is None else komi:g})"
        raise SettingError(f"this board is not offered here: begin with `sog serve '{wanted}'`")
    if any(not is_move or colour != k % 2 for k, (colour, _, is_move) in enumerate(found.plays)):
        raise SettingError("only games from an empty board, in which Black and White take turns, can be loaded")
    return SavedGame(fitting[0].name, None, _columns(fitting[0], [action for _, action, _ in found.plays]))


def _pgn(text: str, offers: Offers) -> SavedGame:
    """The first game's main line."""
    tags = dict(_TAG.findall(text))
    words = _main_line(_ASIDE.sub(" ", _TAG.sub("", text, count=len(tags))))
    if not tags and not words:
        raise SettingError("neither PGN, nor SGF, nor a record of this program")
    game = next((each for name in _chess_names(tags) if name in offers.games for each in [offers.game(name)]), None)
    if not isinstance(game, Chess):
        raise SettingError(f"this position is not offered here: begin with `sog serve '{_chess_names(tags)[-1]}'`")
    actions, state = list[int](), game.root()
    for word in words:
        if game.actor(state) == TERMINAL or len(actions) > _MOST:
            raise SettingError("this game has moves after its end")
        actions.append(_san(game, state, word))
        state = game.child(state, game.actions(state).tolist().index(actions[-1]))
    return SavedGame(game.name, None, _columns(game, actions))


def _chess_names(tags: dict[str, str]) -> list[str]:
    """The games that begin where a PGN does."""
    fen = tags.get("FEN", "")
    if len(fen) > 100 or not re.fullmatch(r"[\w/ -]*", fen):
        raise SettingError("its FEN is malformed")
    return [f"chess(fen={fen})", f'chess(fen="{fen}")'] if fen else ["chess"]


def _main_line(text: str) -> list[str]:
    """The moves, without numbers, variations and the result; the first result ends it."""
    depth, found = 0, list[str]()
    for token in re.findall(r"[()]|[^\s()]+", text):
        depth += (token == "(") - (token == ")")
        if depth or token == ")":
            continue
        word = re.sub(r"^\d+\.+", "", token)
        if word in _RESULTS:
            break
        if word and not re.fullmatch(r"\d+|\.+", word):
            found.append(word)
    return found


def _san(game: Chess, state: State, word: str) -> int:
    """The only legal action that a word of standard algebraic notation can mean."""
    mover = game.state_name(state).split()[1]
    rows = [re.sub(r"\d", lambda n: "." * int(n[0]), row) for row in game.state_name(state).split()[0].split("/")]
    found = []
    castled, match = _CASTLING.get(word.rstrip("+#!?")), _SAN.fullmatch(word)
    for action in game.actions(state).tolist():
        name = game.action_name(state, action)
        piece = rows[8 - int(name[1])]["abcdefgh".index(name[0])].upper()
        if castled is not None:
            rank = "1" if mover == "w" else "8"
            fits = piece == "K" and name == f"e{rank}{castled}{rank}"
        elif match is not None:
            kind, file, rank, goal, promoted = match.groups()
            fits = (piece, name[2:4], name[4:].upper()) == (kind or "P", goal, promoted or "")
            fits = fits and name[0] in (file or name[0]) and name[1] in (rank or name[1])
        else:
            fits = False
        if fits:
            found.append(int(action))
    if len(found) != 1:
        shown = re.sub(r"[^ -~]", "?", word[:12])
        raise GameError(f"{shown} is {'no legal move' if not found else 'more than one move'} where it is played")
    return found[0]


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
