"""Pair operators of hold'em: too wide for matrices (1,326 x 1,326), so they name what kernels compute."""

from __future__ import annotations

from typing import Final

from sog.arrays import Float64
from sog.games.base import Operator
from sog.games.holdem_cards import disjoint_pairs
from sog.games.holdem_strength import showdown_signs

APART: Final = 0  # 1 for every pair of hands that share no card with each other or the board
SHOWDOWN: Final = 1  # the same times 1 where player 0's hand wins, -1 where it loses, 0 where they tie


class CardOperator(Operator):
    """A pair operator over float64[1326, 1326]; compared by identity, kept by the game.

    kind: APART or SHOWDOWN.  board: the cards on the table; five of them for SHOWDOWN.
    """

    kind: int
    board: tuple[int, ...]

    def __init__(self, kind: int, board: tuple[int, ...]) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "board", board)

    @property
    def matrix(self) -> Float64:
        """float64[1326, 1326]: the operator written out, made anew each time; for checks only."""
        apart = disjoint_pairs(self.board)
        return apart if self.kind == APART else apart * showdown_signs(self.board)
