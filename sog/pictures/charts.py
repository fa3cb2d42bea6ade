"""Charts as SVG: bars of probabilities, policies as stacked bars, curves over time with axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sog.pictures.svg import ACTORS, ON_COLOUR, Style, SvgPicture, action_colours, document, fitted, tag, words

__all__ = ["Curve", "bar_chart", "curve_chart", "legend", "likeliest", "policy_chart"]

_WIDTH: Final = 420.0
_LABELS: Final = 130.0  # width of the labels at the left
_ROW: Final = 20.0
_LETTER: Final = 6.6  # width of a letter, at most
_LETTERS: Final = 20  # of a label, at most
_LEFT, _TOP, _RIGHT, _BOTTOM = 58.0, 14.0, 10.0, 36.0  # around a panel of curves
_HEIGHT: Final = 240.0
_MOST_DOTS: Final = 60  # points of a curve that get dots, at most; a point without neighbours always does


@dataclass(frozen=True)
class Curve:
    """A line of (x, y) points in order; those whose y is NaN are left out.  label: in the legend."""

    label: str
    points: Sequence[tuple[float, float]]


def _label(text: str, row: int, top: float) -> str:
    return fitted((_LABELS - 6, top + _ROW * row + 14), text, _LETTERS, {"text-anchor": "end"})


def likeliest(drawn: int, count: int) -> str:
    """What is said of a picture or a table that has the likeliest rows alone; "" where it has all."""
    return f"the {drawn:,} likeliest of {count:,}" if drawn < count else ""


def _bar(x: float, y: float, width: float, colour: str) -> str:
    return tag("rect", {"x": x, "y": y, "width": max(width, 0.0), "height": _ROW - 4, "fill": colour})


def bar_chart(title: str, rows: Sequence[tuple[str, float]], most: int | None = None) -> SvgPicture:
    """One bar for each row: its label and its probability, which is written at the bar's end.

    most: how many are drawn, of rows with the likeliest first; the table has all.
    """
    room, inside, drawn = _WIDTH - _LABELS - 52, list[str](), rows[:most]
    for k, (label, value) in enumerate(drawn):
        length = room * min(max(value, 0.0), 1.0)
        inside += [_label(label, k, 0), _bar(_LABELS, _ROW * k + 2, length, ACTORS[0])]
        inside.append(words((_LABELS + length + 5, _ROW * k + 14), f"{value:.1%}", 12))
    svg = _with_note(likeliest(len(drawn), len(rows)), _ROW * len(drawn) + 2, title, inside)
    return SvgPicture(svg, ("name", "probability"), rows)


def _with_note(note: str, height: float, title: str, inside: Sequence[str]) -> str:
    """A picture with a line below that says which of its rows are drawn, where not all are."""
    below = [words((_LABELS, height + 12), note, 12)] if note else []
    return document((_WIDTH, height + _ROW * len(below)), title, *inside, *below, kind="chart")


def legend(names: Sequence[str], colours: Sequence[str], width: float) -> tuple[list[str], float]:
    """What each colour is, in lines of this width, and how high they are."""
    inside, x, line = list[str](), 0.0, 0
    for name, colour in zip(names, colours, strict=True):
        letters = int((width - 20) / _LETTER)
        wide = 20 + _LETTER * min(len(name), letters)
        if x > 0 and x + wide > width:
            x, line = 0.0, line + 1
        inside += [_bar(x, 18.0 * line, 12, colour), fitted((x + 16, 18.0 * line + 12), name, letters)]
        x += wide + 8
    return inside, 18.0 * (line + 1) + 4 if names else 0.0


def policy_chart(
    title: str,
    actions: Sequence[str],
    rows: Sequence[tuple[str, Sequence[float]]],
    drawn: Sequence[int] | None = None,
    note: str = "",
) -> SvgPicture:
    """One stacked bar for each row: its label and each action's probability; above, what each colour is.

    drawn: the rows that are, by default all; the table has all.  note: which they are, in words.
    """
    colours = action_colours(list(actions))
    (inside, top), room = legend(actions, colours, _WIDTH), _WIDTH - _LABELS
    shown = rows if drawn is None else [rows[i] for i in drawn]
    for k, (label, policy) in enumerate(shown):
        inside.append(_label(label, k, top))
        x = _LABELS
        for share, colour in zip(policy, colours, strict=True):
            width = room * min(max(share, 0.0), 1.0)
            if width > 0.2:
                inside.append(_bar(x, top + _ROW * k + 2, width, colour))
            if width > 34:
                middle = {"text-anchor": "middle", "fill": ON_COLOUR}
                inside.append(words((x + width / 2, top + _ROW * k + 14), f"{share:.0%}", 11, middle))
            x += width
    svg = _with_note(note, top + _ROW * len(shown) + 2, title, inside)
    return SvgPicture(svg, ("infostate", *actions), [(label, *policy) for label, policy in rows])


def curve_chart(title: str, curves: Sequence[Curve], axes: tuple[str, str], log: bool = False) -> SvgPicture:
    """Curves with axes, ticks and a legend.  axes: what x and y are.  log: y by powers of ten, if all are above 0."""
    drawn = [[(x, y) for x, y in curve.points if math.isfinite(x) and math.isfinite(y)] for curve in curves]
    every = [point for points in drawn for point in points]
    if not every:
        svg = document((_WIDTH, 40), title, words((10, 24), "no point yet", 13), kind="chart")
        return SvgPicture(svg, ("curve", *axes), ())
    log = log and min(y for _, y in every) > 0
    x_axis = _Axis(min(x for x, _ in every), max(x for x, _ in every), False)
    y_axis = _Axis(min(y for _, y in every), max(y for _, y in every), log)
    legend = 18.0 * len(curves)
    top, bottom, right = _TOP + legend, _TOP + legend + _HEIGHT, _WIDTH - _RIGHT

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return _LEFT + (right - _LEFT) * x_axis.place(point[0]), bottom - (bottom - top) * y_axis.place(point[1])

    inside = _frame(x_axis, y_axis, (top, bottom), axes)
    colours, room = (ACTORS[0], ACTORS[1], *("#2d6e3a", "#7d1f57")), int((right - _LEFT - 20) / _LETTER)
    for k, (curve, points) in enumerate(zip(curves, drawn, strict=True)):
        colour = colours[k % len(colours)]
        inside += [_bar(_LEFT, 18.0 * k + 1, 14, colour), fitted((_LEFT + 20, 18.0 * k + 13), curve.label, room)]
        placed = [at(point) for point in points]
        way = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
        if len(placed) > 1:
            inside.append(tag("path", {"d": way, "fill": "none", "stroke": colour, "stroke-width": 1.8}))
        if len(placed) <= _MOST_DOTS:
            inside += [tag("circle", {"cx": x, "cy": y, "r": 2.6, "fill": colour}) for x, y in placed]
    rows = [(curve.label, *point) for curve, points in zip(curves, drawn, strict=True) for point in points]
    return SvgPicture(document((_WIDTH, bottom + _BOTTOM), title, *inside, kind="chart"), ("curve", *axes), rows)


def _frame(x_axis: _Axis, y_axis: _Axis, span: tuple[float, float], axes: tuple[str, str]) -> list[str]:
    """The axes with their ticks and names.  span: top and bottom of the panel."""
    (top, bottom), right = span, _WIDTH - _RIGHT
    grid: Style = {"stroke": "currentColor", "stroke-width": 0.4, "opacity": 0.35}
    out = []
    for value in y_axis.ticks():
        y = bottom - (bottom - top) * y_axis.place(value)
        out.append(tag("line", grid | {"x1": _LEFT, "x2": right, "y1": y, "y2": y}))
        out.append(words((_LEFT - 6, y + 4), f"{value:g}", 11, {"text-anchor": "end"}))
    for value in x_axis.ticks():
        x = _LEFT + (right - _LEFT) * x_axis.place(value)
        out.append(tag("line", grid | {"x1": x, "x2": x, "y1": top, "y2": bottom}))
        out.append(words((x, bottom + 15), f"{value:g}", 11, {"text-anchor": "middle"}))
    out.append(words((right, bottom + 30), axes[0], 12, {"text-anchor": "end"}))
    turned = {"text-anchor": "middle", "transform": f"rotate(-90 12 {(top + bottom) / 2:g})"}
    out.append(words((12, (top + bottom) / 2), axes[1], 12, turned))
    return out


class _Axis:
    """Where values lie between the ends of an axis, and which of them are named.  log: by powers of ten."""

    def __init__(self, low: float, high: float, log: bool) -> None:
        self.log = log
        self.low, self.high = (math.log10(low), math.log10(high)) if log else (low, high)
        if self.high - self.low < 1e-9 * max(1.0, abs(self.high)):
            # Around a single value; no axis of minutes or losses goes below 0.
            least = 0.0 if not log and self.low >= 0.0 else -math.inf
            self.low, self.high = max(self.low - 0.5, least), self.high + 0.5

    def place(self, value: float) -> float:
        """From 0 to 1."""
        return ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round values between the ends, at most about six."""
        span = self.high - self.low
        if self.log and span >= 1:
            every, digits = max(1, math.ceil(span / 6)), (1, 2, 5) if span < 2.5 else (1,)
            powers = range(math.floor(self.low), math.ceil(self.high) + 1, every)
            ticks = [digit * 10.0**k for k in powers for digit in digits]
            return [x for x in ticks if self.low - 1e-9 <= math.log10(x) <= self.high + 1e-9]
        low, high = (10**self.low, 10**self.high) if self.log else (self.low, self.high)
        rough = (high - low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [float(f"{step * k:.12g}") for k in range(first, last + 1)]
