"""How long to think, from a game clock."""

from __future__ import annotations

__all__ = ["MARGIN", "MOVES_LEFT", "share_of_clock"]

# Seconds kept back for what happens between our answer and the other side's clock.
MARGIN = 0.05
# A game is taken to last this many more moves where nothing says when more time comes.
MOVES_LEFT = 30


def share_of_clock(left: float, increment: float = 0.0, moves_to_go: int | None = None) -> float:
    """Seconds for this move, with `left` seconds on the clock, `increment` more a move or `moves_to_go` to make.

    Never more than what is left without the margin, never below a millisecond.
    """
    share = left / max(1, moves_to_go or MOVES_LEFT) + 0.8 * increment
    return max(0.001, min(share, left - MARGIN))
