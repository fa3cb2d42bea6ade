"""Cards and dice as SVG."""

from __future__ import annotations

from typing import Final

from sog.pictures.svg import Style, document, tag, words

__all__ = ["card_picture", "die_picture"]

_SUITS: Final = {"s": ("♠", "#1d1d1d"), "h": ("♥", "#b3262c"), "d": ("♦", "#1f5fae"), "c": ("♣", "#2d6e3a")}
_PAPER, _EDGE, _BACK = "#fdfdfb", "#555555", "#2b5fa8"
_SPOTS: Final = {
    1: ((5, 5),),
    2: ((3, 3), (7, 7)),
    3: ((3, 3), (5, 5), (7, 7)),
    4: ((3, 3), (7, 3), (3, 7), (7, 7)),
    5: ((3, 3), (7, 3), (5, 5), (3, 7), (7, 7)),
    6: ((3, 3), (7, 3), (3, 5), (7, 5), (3, 7), (7, 7)),
}


def card_picture(name: str, kind: str) -> str:
    """A card such as Ks or, without a suit, K; face down where the name is empty.  kind: its class."""
    if not name:
        pattern: Style = {
            "d": "M3 3H11V17H3ZM3 10L7 3L11 10L7 17Z",
            "fill": "none",
            "stroke": "#ffffff",
            "stroke-width": 0.6,
        }
        return document(
            (14, 20), "a card face down", _paper(_BACK, 20), tag("path", pattern), kind=f"playing-card {kind}"
        )
    rank, suit = name[0], name[1:]
    sign, colour = _SUITS.get(suit, ("", "#1d1d1d"))
    middle = {"text-anchor": "middle", "fill": colour, "font-weight": "bold"}
    at = 8.6 if sign else 12.6
    inside = [_paper(_PAPER, 20), words((7, at), "10" if rank == "T" else rank, 7.4, middle)]
    if sign:
        inside.append(words((7, 16.6), sign, 8, middle))
    return document((14, 20), f"card {name}", *inside, kind=f"playing-card {kind}")


def die_picture(face: int, kind: str) -> str:
    """A die that shows a face, 0 for one under its cup.  kind: its class."""
    paper = _paper(_PAPER if face else _BACK, 14)
    if face not in _SPOTS:
        middle = {"text-anchor": "middle", "fill": "#ffffff" if face == 0 else "#1d1d1d"}
        shown = words((7, 9.8), str(face) if face else "?", 8, middle)
        return document((14, 14), f"die {face}" if face else "a hidden die", paper, shown, kind=f"playing-card {kind}")
    spots = [tag("circle", {"cx": x + 2, "cy": y + 2, "r": 1.0, "fill": "#1d1d1d"}) for x, y in _SPOTS[face]]
    return document((14, 14), f"die {face}", paper, *spots, kind=f"playing-card {kind}")


def _paper(fill: str, height: float) -> str:
    """The rounded sheet under a card or a die."""
    given: Style = {"x": 0.5, "y": 0.5, "width": 13.0, "height": height - 1, "rx": 1.6, "fill": fill}
    return tag("rect", {**given, "stroke": _EDGE, "stroke-width": 0.4})
