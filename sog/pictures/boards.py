"""Boards of tic-tac-toe, connect four, Go, chess, Battleship as SVG; a cell is 10 x 10, with half a cell around all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from string import ascii_lowercase
from typing import Final

from sog.pictures.svg import Style, SvgPicture, document, tag, words

__all__ = ["BOARDS", "board_picture"]

_MARGIN: Final = 5.0
_WOOD, _LINE, _FELT = "#d9a95a", "#3a2a10", "#1f4f8f"
_LIGHT, _DARK = "#ecd9b9", "#ae8560"
_WHITE, _BLACK, _EDGE = "#fdfdfb", "#1d1d1d", "#222222"
_DISCS: Final = {"x": "#f2c230", "o": "#cf3b2e"}
_MARK: Final = "#e0332b"
_SEA, _SHIP, _HIT, _SUNK = "#2b5f8a", "#aab4be", "#c8281e", "#6d1030"
_LETTERS: Final = "ABCDEFGHJKLMNOPQRST"
_STARS: Final = {7: (3,), 9: (2, 4, 6), 13: (3, 6, 9), 19: (3, 9, 15)}

# A chess piece's outline in a cell, drawn for this project.
_PIECES: Final = {
    "p": "M5 1.7A1.5 1.5 0 0 1 5.9 4.4L6.9 8.3H3.1L4.1 4.4A1.5 1.5 0 0 1 5 1.7Z",
    "r": "M3 8.3V7.2L3.6 6.8V4.2L3 3.8V2H4V2.8H4.6V2H5.4V2.8H6V2H7V3.8L6.4 4.2V6.8L7 7.2V8.3Z",
    "n": "M3.2 8.3C3.2 6.3 4.6 5.6 4.8 4.6L3.4 5.5L2.6 4.7L4.1 2.7L4.5 1.7L5.2 2.4C7.1 2.8 7.5 5 7.2 8.3Z",
    "b": "M3.1 8.3L3.6 7.4H4.2C2.9 5.9 3.5 4.3 4.7 2.8A.6 .6 0 1 1 5.3 2.8C6.5 4.3 7.1 5.9 5.8 7.4H6.4L6.9 8.3Z",
    "q": "M3.1 8.3L3.4 7L2.2 3.1L3.9 4.8L4.1 2.1L5 4.4L5.9 2.1L6.1 4.8L7.8 3.1L6.6 7L6.9 8.3Z",
    "k": "M3.1 8.3L3.4 7.2C1.9 5.6 2.3 4 3.5 4C4.1 4 4.5 4.2 4.7 4.6V3.1H3.9V2.4H4.7V1.5H5.3V2.4H6.1V3.1H5.3V4.6"
    "C5.5 4.2 5.9 4 6.5 4C7.7 4 8.1 5.6 6.6 7.2L6.9 8.3Z",
}

Cell = tuple[int, int]  # row from the top, column from the left


def board_picture(kind: str, rows: Sequence[str], marked: Collection[Cell], title: str) -> SvgPicture:
    """A board.  kind: one of BOARDS.  rows: a letter a cell, `.` where it is empty.  marked: cells of the last move."""
    height, width = len(rows), len(rows[0])
    size = (10.0 * width + 2 * _MARGIN, 10.0 * height + 2 * _MARGIN)
    inside = _GROUNDS[kind](width, height)
    for r, row in enumerate(rows):
        for c, letter in enumerate(row):
            if letter != ".":
                inside.append(_piece(kind, letter, _MARGIN + 10.0 * c, _MARGIN + 10.0 * r))
    for r, c in sorted(marked):
        inside.append(_mark(_MARGIN + 10.0 * c, _MARGIN + 10.0 * r))
    cells = [(r + 1, c + 1, letter) for r, row in enumerate(rows) for c, letter in enumerate(row)]
    return SvgPicture(document(size, title, *inside, kind=f"board {kind}"), ("row", "column", "cell"), cells)


def _rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    return tag("rect", {"x": x, "y": y, "width": width, "height": height, "fill": fill})


def _stroke(x0: float, y0: float, x1: float, y1: float, colour: str, width: float) -> str:
    given: Style = {"x1": x0, "y1": y0, "x2": x1, "y2": y1, "stroke": colour, "stroke-width": width}
    return tag("line", given)


def _lines(width: int, height: int) -> list[str]:
    """Tic-tac-toe's lines between cells."""
    right, down = _MARGIN + 10.0 * width, _MARGIN + 10.0 * height
    across = [_stroke(_MARGIN, _MARGIN + 10.0 * k, right, _MARGIN + 10.0 * k, "currentColor", 0.5) for k in (1, 2)]
    return across + [
        _stroke(_MARGIN + 10.0 * k, _MARGIN, _MARGIN + 10.0 * k, down, "currentColor", 0.5) for k in (1, 2)
    ]


def _slots(width: int, height: int) -> list[str]:
    """Connect four's frame with its holes, and the columns' numbers."""
    frame: Style = {
        "x": 3.0,
        "y": 3.0,
        "width": 10.0 * width + 4,
        "height": 10.0 * height + 4,
        "rx": 2.0,
        "fill": _FELT,
    }
    holes = [
        tag("circle", {"cx": 10.0 + 10 * c, "cy": 10.0 + 10 * r, "r": 4.0, "fill": "#e8eef5"})
        for r in range(height)
        for c in range(width)
    ]
    return [tag("rect", {**frame, "fill": _FELT}), *holes, *_across([str(c + 1) for c in range(width)], 2.3)]


def _across(names: Sequence[str], y: float) -> list[str]:
    """Names of the columns in the margin."""
    middle = {"text-anchor": "middle"}
    return [words((_MARGIN + 10.0 * c + 5, y), name, 2.6, middle) for c, name in enumerate(names)]


def _down(names: Sequence[str]) -> list[str]:
    """Names of the rows in the margin at the left."""
    return [words((2.3, _MARGIN + 10.0 * r + 6), name, 2.6, {"text-anchor": "middle"}) for r, name in enumerate(names)]


def _goban(width: int, height: int) -> list[str]:
    """Go's board: lines through the middle of each cell, stars, names of the lines."""
    far = _MARGIN + 10.0 * width - 5
    out = [_rectangle(_MARGIN, _MARGIN, 10.0 * width, 10.0 * height, _WOOD)]
    for k in range(width):
        at = _MARGIN + 10.0 * k + 5
        out += [_stroke(10, at, far, at, _LINE, 0.3), _stroke(at, 10, at, far, _LINE, 0.3)]
    stars = _STARS.get(width, ())
    out += [
        tag("circle", {"cx": 10.0 + 10 * c, "cy": 10.0 + 10 * r, "r": 0.9, "fill": _LINE}) for r in stars for c in stars
    ]
    return out + _across(_LETTERS[:width], 3.6) + _down([str(height - r) for r in range(height)])


def _checks(width: int, height: int) -> list[str]:
    """Chess's squares with their names in the margin."""
    squares = [
        _rectangle(_MARGIN + 10.0 * c, _MARGIN + 10.0 * r, 10, 10, _DARK if (r + c) % 2 else _LIGHT)
        for r in range(height)
        for c in range(width)
    ]
    return squares + _across("abcdefgh", 3.6) + _down([str(height - r) for r in range(height)])


def _grid(width: int, height: int) -> list[str]:
    """Battleship's cells with their names in the margin."""
    cells = [
        tag(
            "rect",
            {"x": _MARGIN + 10.0 * c + 0.2, "y": _MARGIN + 10.0 * r + 0.2, "width": 9.6, "height": 9.6, "fill": _SEA},
        )
        for r in range(height)
        for c in range(width)
    ]
    return cells + _across(ascii_lowercase[:width], 3.6) + _down([str(r + 1) for r in range(height)])


def _piece(kind: str, letter: str, x: float, y: float) -> str:
    """What is on the cell whose upper left corner is (x, y)."""
    if kind == "chess":
        return _chessman(letter, f"translate({x:g} {y:g})")
    if kind == "battleship":
        return _shot(letter, x, y)
    if kind == "tic_tac_toe":
        pen: Style = {"fill": "none", "stroke": "currentColor", "stroke-width": 1.1, "stroke-linecap": "round"}
        if letter == "o":
            return tag("circle", {**pen, "cx": x + 5, "cy": y + 5, "r": 2.9})
        return tag("path", {**pen, "d": f"M{x + 2.4:g} {y + 2.4:g}l5.2 5.2m0 -5.2l-5.2 5.2"})
    fill = _DISCS[letter] if kind == "connect_four" else _BLACK if letter == "X" else _WHITE
    disc: Style = {"cx": x + 5, "cy": y + 5, "r": 4.0 if kind == "connect_four" else 4.6, "fill": fill}
    return tag("circle", {**disc, "stroke": _EDGE, "stroke-width": 0.25})


def _shot(letter: str, x: float, y: float) -> str:
    """A ship's cell (s), and a shot that missed (-), hit (x) or sank (#): a white dot, a red one, a white cross."""
    if letter == "-":
        return tag("circle", {"cx": x + 5, "cy": y + 5, "r": 1.4, "fill": _WHITE})
    fill = _SUNK if letter == "#" else _SHIP
    ship = tag("rect", {"x": x + 1, "y": y + 1, "width": 8, "height": 8, "rx": 1.5, "fill": fill})
    if letter == "x":
        return ship + tag("circle", {"cx": x + 5, "cy": y + 5, "r": 2.4, "fill": _HIT})
    pen: Style = {"d": f"M{x + 3:g} {y + 3:g}l4 4m0 -4l-4 4", "stroke": _WHITE, "stroke-width": 1.1}
    return ship + tag("path", pen) if letter == "#" else ship


def _chessman(letter: str, moved: str) -> str:
    """A piece of White's, in capitals, or of Black's.  moved: to its square."""
    fill, line = (_WHITE, _EDGE) if letter.isupper() else (_BLACK, "#d0d0d0")
    outline: Style = {"d": _PIECES[letter.lower()], "fill": fill, "stroke": line, "stroke-width": 0.35}
    return tag("path", {**outline, "transform": moved})


def _mark(x: float, y: float) -> str:
    given: Style = {"x": x + 0.5, "y": y + 0.5, "width": 9.0, "height": 9.0, "rx": 1.0}
    return tag("rect", {**given, "fill": "none", "stroke": _MARK, "stroke-width": 0.7, "class": "last"})


_GROUNDS: Final[dict[str, Callable[[int, int], list[str]]]] = {
    "tic_tac_toe": _lines,
    "connect_four": _slots,
    "go": _goban,
    "chess": _checks,
    "battleship": _grid,
}
BOARDS: Final = tuple(_GROUNDS)
