"""A search's tree as an icicle: a row a depth, each node as wide as its share of its parent's visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sog.pictures.svg import ACTORS, ON_COLOUR, SvgPicture, document, escaped, tag, words

__all__ = ["TreeBlock", "drawn_count", "icicle"]

_WIDTH: Final = 420.0
_ROW: Final = 22.0
_LETTER: Final = 6.0  # width of a letter
_NARROWEST: Final = 0.6  # that is drawn


@dataclass(frozen=True)
class TreeBlock:
    """A node of the tree.

    parent: the place of its parent among the blocks, -1 of the root; parents come first.  share: its part of its
    parent's width.  visits: of simulations.  actor: who acts, 0 and 1, 2 for chance, 3 for nobody.  label: what led to
    it, in a word or two.  words: what a person should know of it.
    """

    parent: int
    share: float
    visits: float
    actor: int
    label: str
    words: str


def icicle(title: str, blocks: Sequence[TreeBlock]) -> SvgPicture:
    """The tree from its root at the top."""
    placed = _placed(blocks)
    shown = zip(blocks, placed, strict=True)
    inside = [_drawn(block, x, _ROW * row, width) for block, (x, width, row) in shown if width >= _NARROWEST]
    depth = [row for _, _, row in placed]
    rows = [(n, b.parent, depth[n], b.actor, b.label, b.visits, b.share) for n, b in enumerate(blocks)]
    svg = document((_WIDTH, _ROW * (max(depth, default=0) + 1)), title, *inside, kind="icicle")
    return SvgPicture(svg, ("node", "parent", "depth", "actor", "action", "visits", "share"), rows)


def drawn_count(blocks: Sequence[TreeBlock]) -> int:
    """How many of the nodes are wide enough to be drawn."""
    return sum(width >= _NARROWEST for _, width, _ in _placed(blocks))


def _placed(blocks: Sequence[TreeBlock]) -> list[tuple[float, float, int]]:
    """Where each node begins, how wide it is, and its row."""
    out, used = list[tuple[float, float, int]](), list[float]()
    for block in blocks:
        x, width, row = 0.0, _WIDTH, 0
        if block.parent >= 0:
            x, (_, above, row) = used[block.parent], out[block.parent]
            width, row = above * block.share, row + 1
            used[block.parent] += width
        out.append((x, width, row))
        used.append(x)
    return out


def _drawn(block: TreeBlock, x: float, y: float, width: float) -> str:
    """A node's rectangle, with its label where there is room."""
    gap = min(0.5, width / 4)
    given = {"x": x + gap, "y": y + 1, "width": width - 2 * gap, "height": _ROW - 2, "rx": min(2.0, width / 4)}
    inside = [tag("title", {}, escaped(block.words)), tag("rect", {**given, "fill": ACTORS[block.actor]})]
    room = int((width - 6) / _LETTER)
    if block.label and room >= min(len(block.label), 3):
        shown = block.label if len(block.label) <= room else f"{block.label[: room - 1]}…"
        middle = {"text-anchor": "middle", "fill": ON_COLOUR}
        inside.append(words((x + width / 2, y + 15), shown, 10.5, middle))
    return tag("g", {"class": f"actor{block.actor}"}, *inside)
