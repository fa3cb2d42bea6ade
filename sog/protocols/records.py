"""Finished games as text: PGN for chess, SGF for Go, a plain list of moves for others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sog.games.base import Game, State
from sog.games.boards.chess import START, WHITE, Chess
from sog.games.boards.go import Go
from sog.games.boards.positions import Position
from sog.play.match import Played
from sog.play.player import MoveTree

_WIDTH = 80


@dataclass(frozen=True)
class Heading:
    """What a record says above the moves: who sat where (player 0, player 1), when, and the game's number."""

    players: tuple[str, str]
    date: str
    event: str
    round: str


def suffix(game: Game) -> str:
    """How the name of a record's file ends."""
    return ".pgn" if isinstance(game, Chess) else ".sgf" if isinstance(game, Go) else ".txt"


def write_record(game: Game, played: Played, heading: Heading) -> str:
    """The game's record in its usual format."""
    if isinstance(game, Chess):
        return _pgn(game, played, heading)
    if isinstance(game, Go):
        return _sgf(game, played, heading)
    return _plain(game, played, heading)


def states_of(game: Game, moves: Sequence[int]) -> list[State]:
    """The state before each of these moves."""
    tree = MoveTree(game)
    return [tree.public.states[tree.node_after(moves[:k])] for k in range(len(moves))]


def _pgn(game: Chess, played: Played, heading: Heading) -> str:
    result = {1.0: "0-1", -1.0: "1-0"}.get(played.utility, "1/2-1/2")  # player 0 is Black
    tags = {
        "Event": heading.event,
        "Site": "?",
        "Date": heading.date.replace("-", "."),
        "Round": heading.round,
        "White": heading.players[WHITE],
        "Black": heading.players[1 - WHITE],
        "Result": result,
        "Termination": played.why,
    }
    if game.fen != START:
        tags |= {"SetUp": "1", "FEN": game.fen}
    words: list[str] = []
    fields = game.fen.split()
    number, white = int(fields[5]), fields[1] == "w"
    for k, (state, action) in enumerate(zip(states_of(game, played.moves), played.moves, strict=True)):
        if white or k == 0:
            words.append(f"{number}." if white else f"{number}...")
        assert isinstance(state, Position)
        words.append(str(state.spiel.action_to_string(state.actor, action)))
        number, white = number + (not white), not white
    head = "".join(f'[{tag} "{_quoted(value)}"]\n' for tag, value in tags.items())
    return f"{head}\n{_wrapped([*words, result])}\n"


def _sgf(game: Go, played: Played, heading: Heading) -> str:
    size = game.size
    result = "0" if played.utility == 0 else f"{'B' if played.utility > 0 else 'W'}+"
    properties = {
        "GM": "1", "FF": "4", "CA": "UTF-8", "AP": "sog", "SZ": str(size), "KM": f"{game.komi:g}", "RU": "Chinese",
        "PB": heading.players[0], "PW": heading.players[1], "DT": heading.date, "EV": heading.event,
        "RO": heading.round, "RE": result, "C": played.why,
    }  # fmt: skip
    head = "".join(f"{key}[{_escaped(value)}]" for key, value in properties.items())
    moves = []
    for k, action in enumerate(played.moves):
        row, column = size - 1 - action // size, action % size
        point = "" if action == size * size else "abcdefghijklmnopqrs"[column] + "abcdefghijklmnopqrs"[row]
        moves.append(f";{'BW'[k % 2]}[{point}]")
    return f"(;{head}\n{''.join(moves)})\n"


def _plain(game: Game, played: Played, heading: Heading) -> str:
    names = [
        game.action_name(state, action)
        for state, action in zip(states_of(game, played.moves), played.moves, strict=True)
    ]
    lines = [
        f"game: {game.name}",
        f"event: {heading.event}, round {heading.round}, {heading.date}",
        f"player 0: {heading.players[0]}",
        f"player 1: {heading.players[1]}",
        f"player 0 wins: {played.utility:g} ({played.why})",
        "",
        _wrapped(names),
    ]
    return "\n".join(lines) + "\n"


def _wrapped(words: Sequence[str]) -> str:
    """Words in lines of at most 80 letters."""
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > _WIDTH:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def _quoted(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
