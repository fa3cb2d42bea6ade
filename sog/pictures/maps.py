"""A map of stations as SVG: links by transport, who is where, and how likely somebody hidden is at each station."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sog.pictures.svg import Style, SvgPicture, document, escaped, tag, words

__all__ = ["MapStation", "map_picture"]

_UNIT: Final = 20.0  # of a place's unit
_RADIUS: Final = 5.2
_MARGIN: Final = 9.0
_LINKS: Final = {"taxi": ("#b8901c", 0.9), "bus": ("#2d8a5c", 1.5), "underground": ("#c0504d", 2.2)}
_OTHER_LINK: Final = ("#7a8594", 1.4)
_PAPER, _EDGE = "#fdfdfb", "#555555"
_POSSIBLE, _LIKELY, _HELD, _HERE = (233, 222, 250), (91, 58, 156), "#1f5fae", "#d0242b"


@dataclass(frozen=True)
class MapStation:
    """A station.

    share: how likely the hidden player is here, 0 where that is not known; None where it cannot be here.
    held: who else is here, in a letter or two.  here: whether the hidden player is shown here.
    words: what a person should know of it.
    """

    name: str
    place: tuple[float, float]
    share: float | None = None
    held: str = ""
    here: bool = False
    words: str = ""


def map_picture(
    title: str, stations: Sequence[MapStation], links: Mapping[str, Sequence[tuple[int, int]]]
) -> SvgPicture:
    """A map, darkest at the likeliest station.  links: by transport, the wide ones below."""
    left, top = (min(station.place[k] for station in stations) for k in (0, 1))
    at = [(_MARGIN + _UNIT * (s.place[0] - left), _MARGIN + _UNIT * (s.place[1] - top)) for s in stations]
    inside = []
    for kind in sorted(links, key=lambda kind: -_LINKS.get(kind, _OTHER_LINK)[1]):
        colour, width = _LINKS.get(kind, _OTHER_LINK)
        path = "".join(f"M{at[a][0]:.1f} {at[a][1]:.1f}L{at[b][0]:.1f} {at[b][1]:.1f}" for a, b in links[kind])
        inside.append(tag("path", {"d": path, "stroke": colour, "stroke-width": width, "class": kind}))
    most = max((station.share or 0.0 for station in stations), default=0.0) or 1.0
    inside += [_station(station, most, *place) for station, place in zip(stations, at, strict=True)]
    width, bottom = max(x for x, _ in at) + _MARGIN, max(y for _, y in at) + _MARGIN
    if len(links) > 1:
        inside += _legend(list(links), bottom)
        bottom += 8
    is_known = any(station.share for station in stations)
    shares = [s.share if is_known and s.share is not None else "" for s in stations]
    rows = [(s.name, s.held, int(s.here), int(s.share is not None), x) for s, x in zip(stations, shares, strict=True)]
    svg = document((width, bottom), title, *inside, kind="map")
    return SvgPicture(svg, ("station", "held", "here", "possible", "probability"), rows)


def _legend(kinds: Sequence[str], y: float) -> list[str]:
    """What each colour of a link is, in a line."""
    out, x = list[str](), _MARGIN / 2
    for kind in kinds:
        colour, width = _LINKS.get(kind, _OTHER_LINK)
        out.append(tag("path", {"d": f"M{x:g} {y:g}h9", "stroke": colour, "stroke-width": width}))
        out.append(words((x + 11, y + 2), kind, 6))
        x += 20 + 3.4 * len(kind)
    return out


def _station(station: MapStation, most: float, x: float, y: float) -> str:
    """A disc with its number; a square where somebody is, and a ring around the hidden player."""
    fill = _PAPER if station.share is None else _between(station.share / most)
    inside = [tag("title", {}, escaped(station.words or station.name))]
    if station.here:
        inside.append(tag("circle", {"cx": x, "cy": y, "r": _RADIUS + 2, "fill": _HERE}))
    edge: Style = {"stroke": _EDGE, "stroke-width": 0.4}
    if station.held:
        side = 2 * _RADIUS
        inside.append(
            tag("rect", {**edge, "x": x - side / 2, "y": y - side / 2, "width": side, "height": side, "fill": _HELD})
        )
    else:
        inside.append(tag("circle", {**edge, "cx": x, "cy": y, "r": _RADIUS, "fill": fill}))
    ink = "#ffffff" if station.held else _ink(fill)
    middle = {"text-anchor": "middle", "fill": ink}
    if station.held:
        inside.append(words((x, y - 0.4), station.held, 4.2, {**middle, "font-weight": "bold"}))
        inside.append(words((x, y + 4.0), station.name, 4.2, middle))
    else:
        inside.append(words((x, y + 1.8), station.name, 5.0 if len(station.name) > 2 else 5.6, middle))
    return tag("g", {}, *inside)


def _between(share: float) -> str:
    """From the colour of what is possible to that of what is likely."""
    share = min(max(share, 0.0), 1.0)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(_POSSIBLE, _LIKELY, strict=True))


def _ink(fill: str) -> str:
    """Black or white, whichever stands out more on a colour."""
    parts = [int(fill[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    bright = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if bright > 0.179 else "#ffffff"
