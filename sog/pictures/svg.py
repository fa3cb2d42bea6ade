"""SVG as text: elements with escaped attributes, documents with a title, and the colours of all pictures.

The same arguments give the same text in every process. Colours are attributes, so that a picture is whole without a
style sheet; classes let a page's style sheet change them.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Final, TypeAlias

__all__ = [
    "ACTIONS",
    "ACTORS",
    "ON_COLOUR",
    "Attributes",
    "Style",
    "SvgPicture",
    "action_colours",
    "document",
    "escaped",
    "fitted",
    "number",
    "tag",
    "words",
]

Attributes: TypeAlias = Mapping[str, str | float]
# Attributes that others are added to.
Style: TypeAlias = dict[str, str | float]

# Words on a filled shape are of ON_COLOUR; its contrast with each colour below is at least 4.5 (tests/pictures).
ON_COLOUR: Final = "#ffffff"
# Who acts: players 0 and 1, chance, nobody.
ACTORS: Final = ("#2b5fa8", "#a3470b", "#5c6670", "#3d4450")
# Folding is blue, checking and calling are green, bets are red; actions of other games take all in turn.
ACTIONS: Final = ("#2b5fa8", "#2d6e3a", "#a3262c", "#7a5200", "#7d1f57", "#44606a", "#5b4a9c")
_POKER: Final = {"fold": 0, "check": 1, "call": 1, "pass": 1}
_BETS: Final = ("#a3262c", "#82171f", "#b3402a", "#6d1030")


@dataclass(frozen=True)
class SvgPicture:
    """A picture with the table of the figures that it draws.  columns: what each column of `rows` is."""

    svg: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | float]]

    def csv(self) -> str:
        """The table as CSV."""
        return csv_of(self.columns, self.rows)


def csv_of(columns: Sequence[str], rows: Sequence[Sequence[str | float]]) -> str:
    """A table as CSV, numbers with nine digits."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows([f"{x:.9g}" if isinstance(x, float) else x for x in row] for row in rows)
    return text.getvalue()


def number(value: str | float) -> str:
    """A number with at most two decimals; words as they are."""
    if isinstance(value, str):
        return value
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def tag(name: str, attributes: Attributes, *inside: str) -> str:
    """An element; what is inside is SVG already."""
    written = "".join(f' {key}="{escape(number(value))}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def escaped(text: str) -> str:
    """Words inside an element."""
    return escape(text, quote=False)


def words(at: tuple[float, float], text: str, size: float, attributes: Attributes | None = None) -> str:
    """A line of text with its left end at a point, or where `text-anchor` says; in the page's colour by default."""
    x, y = at
    given: Style = {"x": x, "y": y, "font-size": size, "font-family": "system-ui, sans-serif", "fill": "currentColor"}
    return tag("text", {**given, **(attributes or {})}, escape(text))


def fitted(at: tuple[float, float], text: str, letters: int, attributes: Attributes | None = None) -> str:
    """A line of text, shortened where it has more letters than these; its title is then the whole of it."""
    if len(text) <= letters:
        return words(at, text, 12, attributes)
    return tag("g", {}, tag("title", {}, escaped(text)), words(at, f"{text[: letters - 1]}…", 12, attributes))


def document(size: tuple[float, float], title: str, *inside: str, kind: str = "picture") -> str:
    """A whole picture of this width and height, as wide as the place that it is put in.  kind: its class."""
    width, height = size
    given = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {number(width)} {number(height)}",
        "class": kind,
        "role": "img",
        "aria-label": title,
    }
    return tag("svg", given, tag("title", {}, escape(title)), *inside)


def action_colours(names: list[str]) -> list[str]:
    """A colour for each action by its name."""
    first = [name.split()[0] if name.split() else "" for name in names]
    if not any(name in _POKER for name in first):
        return [ACTIONS[k % len(ACTIONS)] for k in range(len(names))]
    colours, bets = [], 0
    for name in first:
        if name in _POKER:
            colours.append(ACTIONS[_POKER[name]])
        else:
            colours.append(_BETS[bets % len(_BETS)])
            bets += 1
    return colours
