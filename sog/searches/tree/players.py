"""Which players are meant, as a bit mask that kernels take, too."""

from __future__ import annotations

from enum import IntFlag

from sog.searches.kernels.jit import inlined

__all__ = ["Players", "only", "opponents", "within"]


class Players(IntFlag):
    """None, one or both of the players."""

    NOBODY = 0
    FIRST = 1  # player 0
    SECOND = 2  # player 1
    BOTH = 3


@inlined
def only(p: int) -> Players:
    """Player p alone."""
    return Players.FIRST if p == 0 else Players.SECOND


@inlined
def within(p: int, players: Players) -> bool:
    """Whether player p is one of `players`."""
    return bool((players >> p) & 1)


@inlined
def opponents(players: Players) -> int:
    """Those whom the players play against."""
    # Bit p is player p: both bits change places.
    return ((players & 1) << 1) | (players >> 1)
