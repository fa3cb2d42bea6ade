"""Leduc poker whose players see the board through a lossy abstraction (CFR-D, its Fig. 5).

With a jack in hand a queen and a king on the board look the same, with a king a jack and a queen: each player knows
how strong the hand is, and nothing else that the board says. The board is then no longer public: a public state is
the betting alone, and an infostate after the deal is a hand with what its holder sees of the board.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Array, Float32, Float64, Int32
from sog.games.base import NATURE, Fan, Game, Links, Operator, Scaled, State, plain_moves
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.leduc.ranks import chances, plain_state, showdown

_RANKS: Final = 3
_BETTING: Final = Leduc()

# SEEN[hand, board]: the infostate after the deal. J: another card, a jack; Q: J, Q, K; K: another card, a king.
SEEN: Final[Array] = np.array([[1, 0, 0], [2, 3, 4], [5, 5, 6]], dtype=np.int32)
_INFOSTATES: Final = 7
_DEAL: Final = Links(
    source=np.array([0, 0, 1, 1, 1, 2, 2], dtype=np.int32), target=np.arange(_INFOSTATES, dtype=np.int32)
)


def _over_boards(signed: bool) -> Float64:
    """float64[7, 7]: W after the deal, or W times player 0's sign at the showdown, summed over the boards."""
    out = np.zeros((_INFOSTATES, _INFOSTATES))
    for board in range(_RANKS):
        pairs = chances(_RANKS, board) * (showdown(_RANKS, board) if signed else 1.0)
        seen = SEEN[:, board]
        out[np.ix_(seen, seen)] += pairs
    return out


class AbstractLeduc(Game):
    """Abstract Leduc; a state is a LeducState whose board is 0 once a board lies there that nobody fully sees."""

    def __init__(self) -> None:
        self.name = "abstract_leduc"
        self.u_max, self.num_actions, self.unit = _BETTING.u_max, _BETTING.num_actions, _BETTING.unit
        self.num_slots = (_INFOSTATES, _INFOSTATES)
        self.num_features = _BETTING.num_features
        self._deal = Operator(chances(_RANKS, -1))
        self._seen = Operator(_over_boards(signed=False))
        self._showdown = Operator(_over_boards(signed=True))

    def root(self) -> State:
        return LeducState()

    def actor(self, s: State) -> int:
        return _BETTING.actor(s)

    def num_infostates(self, s: State) -> tuple[int, int]:
        assert isinstance(s, LeducState)
        return (_RANKS, _RANKS) if s.board < 0 else (_INFOSTATES, _INFOSTATES)

    def actions(self, s: State) -> Int32:
        return _BETTING.actions(s)

    def fan(self, s: State) -> Fan:
        assert isinstance(s, LeducState)
        if self.actor(s) == NATURE:
            return Fan([LeducState(s.first, 0)], carry=[(_DEAL, _DEAL)])
        children = list(_BETTING.fan(s).children)
        return Fan(children, plain_moves(self.num_infostates(s)[0], len(children)))

    def weights(self, s: State) -> Scaled:
        assert isinstance(s, LeducState)
        return Scaled(self._deal if s.board < 0 else self._seen)

    def payoff(self, s: State) -> Scaled:
        assert isinstance(s, LeducState)
        scale = _BETTING.payoff(plain_state(s)).scale
        return Scaled(self._showdown, scale) if not s.line.endswith("f") else Scaled(self.weights(s).operator, scale)

    def features(self, s: State) -> Float32:
        return _BETTING.features(s)


def real_columns(s: LeducState) -> Array:
    """int32[3]: for each rank held at a state of LeducRanks(3), the infostate of the abstract game's state."""
    return np.arange(_RANKS, dtype=np.int32) if s.board < 0 else SEEN[:, s.board]
