"""A tree's drawing is measured whole: all of its nodes are counted, at most two hundred are drawn."""

from __future__ import annotations

from sog.games.catalog import make_game
from soglab.bench.drawing import drawings_of


def test_rows_by_simulations() -> None:
    small, large = drawings_of(make_game("connect_four"), [50, 2_000])
    assert small.drawn == small.nodes <= 50 and large.drawn == 200 and large.nodes > 1_500
    assert large.milliseconds > 0 and str(large).startswith(f"connect_four | {large.nodes:,} | 200 | ")
