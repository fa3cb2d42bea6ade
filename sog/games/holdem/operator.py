"""Pair operators of hold'em: too wide for matrices (1,326 x 1,326), so they name what kernels compute."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.games.base import Operator
from sog.games.holdem.cards import CARDS, HANDS, HIGH, LOW, disjoint_pairs, live_hands
from sog.games.holdem.strength import ladder, showdown_signs

# Kinds of operators beside base.DENSE.
APART: Final = 1  # 1 for every pair of hands that share no card with each other or the board
SHOWDOWN: Final = 2  # the same times 1 where player 0's hand wins, -1 where it loses, 0 where they tie


class CardOperator(Operator):
    """A pair operator over float64[1326, 1326]; compared by identity, kept by the game.

    kind: APART or SHOWDOWN.  board: the cards on the table; five of them for SHOWDOWN.
    """

    board: tuple[int, ...]
    _kind: int

    def __init__(self, kind: int, board: tuple[int, ...]) -> None:
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "board", board)

    @property
    def kind(self) -> int:
        return self._kind

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix, which is never made in a search."""
        return HANDS, HANDS

    def packed(self) -> Float64:
        """float64[*]: what sog.searches.tree.cards.apply_card reads, one block after another.

        52 places of scratch; the hands' low cards and high cards (1,326 each, -1 for dead hands); and for
        SHOWDOWN the number of live hands, those hands from the weakest on, the ends of runs of equals, and the
        run that each of the 1,326 hands is in, counted from the weakest.
        """
        live = live_hands(self.board)
        blocks = [np.zeros(CARDS), np.where(live, LOW, -1), np.where(live, HIGH, -1)]
        if self.kind == SHOWDOWN:
            order = ladder(self.board)
            blocks += [np.array([len(order.hands)]), order.hands, order.ends, order.places()]
        out: Float64 = np.concatenate(blocks).astype(np.float64)
        return out

    def entry(self, i0: int, i1: int) -> float:
        """The matrix at (i0, i1), which is not made for it."""
        held = {*self.board, *(int(side[i]) for side in (LOW, HIGH) for i in (i0, i1))}
        if len(held) < len(self.board) + 4:
            return 0.0
        if self.kind == APART:
            return 1.0
        place = ladder(self.board).places()
        return float(np.sign(place[i0] - place[i1]))

    @property
    def matrix(self) -> Float64:
        """float64[1326, 1326]: the operator written out, made anew each time; for checks only."""
        apart = disjoint_pairs(self.board)
        return apart if self.kind == APART else apart * showdown_signs(self.board)
