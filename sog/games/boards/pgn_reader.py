"""Reads games of chess in PGN: tags, the main line's words, and the moves that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sog.errors import GameError
from sog.games.base import TERMINAL, State
from sog.games.boards.chess import Chess

__all__ = ["PgnGame", "pgn_actions", "read_pgn"]

# A tag on a line of its own, or a comment, in which a line may look like one.
_TAG: Final = re.compile(r'\{[^}]*\}|^\s*\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]\s*$', re.MULTILINE)
_ASIDE: Final = re.compile(r"\{[^}]*\}|;[^\n]*|^%[^\n]*|\$\d+", re.MULTILINE)
_RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")
_SAN: Final = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)x?([a-h][1-8])(?:=?([QRBN]))?[+#]?[!?]{0,2}")
_CASTLING: Final = {"O-O": "g", "O-O-O": "c", "0-0": "g", "0-0-0": "c"}


@dataclass(frozen=True)
class PgnGame:
    """A game's tags and its main line in words, without numbers, variations, comments and the result."""

    tags: Mapping[str, str]
    words: tuple[str, ...]


def read_pgn(text: str) -> Iterator[PgnGame]:
    """The games of a text, one after the other; none where it has neither tags nor moves."""
    tags, at = dict[str, str](), 0
    for tag in (*(match for match in _TAG.finditer(text) if match[1] is not None), None):
        # Moves before a tag end the game before it.
        between = _ASIDE.sub(" ", text[at : len(text) if tag is None else tag.start()])
        if between.strip():
            for line in _lines(between):
                yield PgnGame(tags, line)
                tags = {}
        if tag is not None:
            tags, at = {**tags, tag[1]: tag[2]}, tag.end()
    if tags:
        yield PgnGame(tags, ())


def _lines(text: str) -> Iterator[tuple[str, ...]]:
    """The main lines of games without tags between them: a result ends each, the end of the text the last."""
    depth, words, ended = 0, list[str](), True
    for token in re.findall(r"[()]|[^\s()]+", text):
        depth += (token == "(") - (token == ")")
        if depth or token == ")":
            continue
        word = re.sub(r"^\d+\.+", "", token)
        ended = word in _RESULTS
        if ended:
            yield tuple(words)
            words = []
        elif word and not re.fullmatch(r"\d+|\.+", word):
            words.append(word)
    if not ended or depth:
        yield tuple(words)


def pgn_actions(game: Chess, words: Sequence[str]) -> list[int]:
    """The actions from the game's start that words of standard algebraic notation mean; GameError for others."""
    actions, state = list[int](), game.root()
    for word in words:
        if game.actor(state) == TERMINAL:
            raise GameError("this game has moves after its end")
        actions.append(_meant(game, state, word))
        state = game.child(state, game.actions(state).tolist().index(actions[-1]))
    return actions


def _meant(game: Chess, state: State, word: str) -> int:
    """The only legal action that a word of standard algebraic notation can mean."""
    mover = game.state_name(state).split()[1]
    rows = [re.sub(r"\d", lambda n: "." * int(n[0]), row) for row in game.state_name(state).split()[0].split("/")]
    fitting = []
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
            fitting.append(int(action))
    if len(fitting) != 1:
        shown = re.sub(r"[^ -~]", "?", word[:12])
        raise GameError(f"{shown} is {'no legal move' if not fitting else 'more than one move'} where it is played")
    return fitting[0]
