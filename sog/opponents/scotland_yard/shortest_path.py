"""Players without a search: Mr X runs from the closest detective, detectives take the shortest way to him; and chance.

Nobody but Mr X reads his station. Detectives go where he can be: all to the middle of it, or each to a station of his
own that is drawn anew at each move.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from sog.arrays import Array
from sog.games.scotland_yard.game import ScotlandYard
from sog.opponents.scotland_yard.moves import Cell, list_detective_moves, list_x_moves
from sog.opponents.scotland_yard.player import ChasePlayer
from sog.opponents.scotland_yard.playouts import DETECTIVE_POLICIES, X_POLICIES, PlayoutPolicy, pick_detective, pick_x

__all__ = ["RandomChase", "ShortestPath"]

_DOUBLE: Final = 0.3  # the chance of a double card where the filter lets it pass; ours
_WITHIN: Final = 3.0


class ShortestPath(ChasePlayer):
    """The greedy moves of PimBot's playouts, with no random one among them.

    Mr X moves furthest from the closest detective, by filtered moves. A detective moves nearest to a possible station
    that he draws (`redrawn`), or to all of them together (`total`).
    """

    def __init__(self, game: ScotlandYard, detectives: Literal["redrawn", "total"] = "redrawn", seed: int = 0) -> None:
        super().__init__(game, seed)
        chased = DETECTIVE_POLICIES.index(detectives)
        self._policy = PlayoutPolicy(X_POLICIES.index("closest"), chased, 0.0, _DOUBLE, 1, _WITHIN, 1)
        self._moves = np.zeros(self.board.double + 1, dtype=np.int64)

    def choose(self, rng: Array) -> int:
        """A greedy move; equal ones have the same chance."""
        pick = pick_x if self.position.cells[Cell.TURN] == 0 else pick_detective
        return int(pick(self.board, self.position, self._policy, self._moves, rng))


class RandomChase(ChasePlayer):
    """Plays every legal move with the same probability.

    The double card is one of Mr X's moves, as likely as any other.
    """

    def __init__(self, game: ScotlandYard, seed: int = 0) -> None:
        super().__init__(game, seed)
        self._moves = np.zeros(self.board.double + 1, dtype=np.int64)

    def choose(self, rng: Array) -> int:
        """A random move."""
        turn = int(self.position.cells[Cell.TURN])
        if turn:
            count = list_detective_moves(self.board, self.position, turn, self._moves)
        else:
            count = list_x_moves(self.board, self.position, self._moves)
        return int(np.random.default_rng(rng).choice(self._moves[:count]))
