"""Games of Go as SGF, the format that Go programs read."""

from __future__ import annotations

from typing import Final

from sog.games.game_records import GameRecord
from sog.games.strings import number_text

__all__ = ["sgf_record"]

_LETTERS: Final = "abcdefghijklmnopqrs"
_RESULTS: Final = {None: "?", 0: "0", 1: "B+", -1: "W+"}


def sgf_record(record: GameRecord, size: int, komi: float) -> str:
    """The game of Go as SGF."""
    properties = {
        "GM": "1",
        "FF": "4",
        "CA": "UTF-8",
        "AP": "sog",
        "SZ": str(size),
        "KM": number_text(komi),
        "RU": "Chinese",
        "PB": record.players[0],
        "PW": record.players[1],
        "DT": record.date,
        "EV": record.event,
        "RO": record.round,
        "RE": _RESULTS[None if record.utility is None else (record.utility > 0) - (record.utility < 0)],
        "C": record.why,
    }
    head = "".join(f"{key}[{_escaped(value)}]" for key, value in properties.items())
    moves = []
    for k, action in enumerate(record.moves):
        row, column = size - 1 - action // size, action % size
        point = "" if action == size * size else _LETTERS[column] + _LETTERS[row]
        moves.append(f";{'BW'[k % 2]}[{point}]")
    return f"(;{head}\n{''.join(moves)})\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
