"""The 169 classes of hold'em hands as a 13 x 13 grid: a cell's height is its weight, its colours the actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sog.pictures.charts import legend
from sog.pictures.svg import ON_COLOUR, SvgPicture, action_colours, document, escaped, tag, words

__all__ = ["cell_name", "range_grid"]

_RANKS: Final = "AKQJT98765432"
_CELL: Final = 32.0
_EMPTY: Final = "#4d5560"  # of a cell without weight; its contrast with ON_COLOUR is 7.6

Row = Sequence[float]


def range_grid(
    title: str, weights: Sequence[Row], actions: Sequence[str] = (), taken: Sequence[Sequence[Row]] = ()
) -> SvgPicture:
    """A range, with its policy where actions are given. Suited hands are above the diagonal, pairs on it.

    weights: [13][13], both axes from A to 2, on any scale.  taken: [A][13][13], how often each class takes an action.
    """
    colours = action_colours(list(actions))
    inside, top = legend(actions, colours, 13 * _CELL)
    most, rows = max(max(row) for row in weights) or 1.0, list[tuple[str | float, ...]]()
    for r in range(13):
        for c in range(13):
            shares = [(name, table[r][c], colour) for name, table, colour in zip(actions, taken, colours, strict=True)]
            inside.append(_cell(r, c, top, weights[r][c] / most, shares or [("", 1.0, action_colours(["call"])[0])]))
            rows.append((cell_name(r, c), weights[r][c] / most, *(share for _, share, _ in shares)))
    svg = document((13 * _CELL, top + 13 * _CELL), title, *inside, kind="grid")
    return SvgPicture(svg, ("hands", "weight, of the likeliest", *actions), rows)


def cell_name(row: int, column: int) -> str:
    """A cell's hands, such as AKs; suited ones are above the diagonal."""
    first, second = _RANKS[min(row, column)], _RANKS[max(row, column)]
    return f"{first}{second}{'' if row == column else 's' if column > row else 'o'}"


def _cell(row: int, column: int, top: float, weight: float, shares: Sequence[tuple[str, float, str]]) -> str:
    """One class.  shares: (action, how often, colour)."""
    x, y, side = _CELL * column + 0.5, top + _CELL * row + 0.5, _CELL - 1
    name = cell_name(row, column)
    frequencies = "".join(f", {action} {share:.0%}" for action, share, _ in shares if action and weight > 0)
    inside = [tag("title", {}, escaped(f"{name}: weight {weight:.0%} of the likeliest{frequencies}"))]
    inside.append(tag("rect", {"x": x, "y": y, "width": side, "height": side, "fill": _EMPTY}))
    high, left = side * min(max(weight, 0.0), 1.0), x
    for _, share, colour in shares:
        width = side * min(max(share, 0.0), 1.0)
        if width * high > 0.05:
            inside.append(
                tag("rect", {"x": left, "y": y + side - high, "width": width, "height": high, "fill": colour})
            )
        left += width
    middle = {"text-anchor": "middle", "fill": ON_COLOUR}
    inside.append(words((x + side / 2, y + side / 2 + 4), name, 11.5, middle))
    return tag("g", {}, *inside)
