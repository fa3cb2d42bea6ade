"""Reads the main line of a game of Go in SGF: the board's size, the komi, and the stones in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sog.errors import GameError

__all__ = ["SgfGame", "read_sgf"]

_TOKEN: Final = re.compile(r"\s*(?:([();])|([A-Za-z]+)|\[((?:\\.|[^\]\\])*)\])", re.DOTALL)
_LETTERS: Final = "abcdefghijklmnopqrs"
_KNOWN: Final = frozenset({"B", "W", "AB", "AW", "AE", "SZ", "KM"})


@dataclass(frozen=True)
class SgfGame:
    """Stones and passes in order, each a colour (0 Black, 1 White), an action of Go, and whether it is a move.

    komi: None where the file names none. Stones that were not played are set up.
    """

    size: int
    komi: float | None
    plays: tuple[tuple[int, int, bool], ...]


def read_sgf(text: str) -> SgfGame:
    """The main line; GameError for text that is not SGF, or that takes stones away."""
    size, komi, plays = 19, None, list[tuple[int, int, bool]]()
    # A node's properties are in any order: points are read once the size is known.
    for name, value in sorted(_main_line(text), key=lambda entry: entry[0] != "SZ"):
        try:
            if name == "SZ":
                size = int(value)
            elif name == "KM":
                komi = float(value)
            elif name == "AE":
                raise GameError("the file takes stones away")
            elif name in ("AB", "AW"):
                plays += [(("AB", "AW").index(name), action, False) for action in _points(value, size)]
            elif name in ("B", "W"):
                plays.append(("BW".index(name), _point(value, size), True))
        except ValueError as error:
            raise GameError(f"no SGF: {name}[{value[:20]}]") from error
    return SgfGame(size, komi, tuple(plays))


def _main_line(text: str) -> Iterator[tuple[str, str]]:
    """Properties and their values up to the end of the first variation; GameError where the text is not SGF."""
    at, name, nodes = 0, "", 0
    while (token := _TOKEN.match(text, at)) is not None:
        mark, letters, value = token.groups()
        at = token.end()
        nodes += mark == ";"
        if mark == ")":
            break
        if letters is not None:
            name = "".join(c for c in letters if c.isupper())  # FF[3] has small letters, too
        elif value is not None and nodes and name in _KNOWN:
            yield name, value.strip()
    if not nodes or token is None:
        raise GameError("no SGF")


def _point(value: str, size: int) -> int:
    """The action of a point of SGF, counted from the top left; nothing, and tt on boards up to 19, is a pass."""
    if value in ("", "tt"):
        return size * size
    column, row = map(_LETTERS.index, value)
    if column >= size or row >= size:
        raise ValueError(value)
    return (size - 1 - row) * size + column


def _points(value: str, size: int) -> list[int]:
    """The points of a value that may be a rectangle, such as aa:cc."""
    first, _, last = value.partition(":")
    (x0, y0), (x1, y1) = (tuple(map(_LETTERS.index, corner)) for corner in (first, last or first))
    corners = [_LETTERS[x] + _LETTERS[y] for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]
    return [_point(corner, size) for corner in corners]
