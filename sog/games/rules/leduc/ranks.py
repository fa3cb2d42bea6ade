"""Leduc poker with any number of ranks and its suits folded away, for measurements that need a growing deck.

Two cards of each rank. Suits never decide anything, so hands and boards are ranks, and W counts the cards: with three
ranks this is Leduc poker itself, in a third of the public states and half of the infostates.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakValueDictionary

import numpy as np

from sog.arrays import Float32, Float64, Int32
from sog.errors import GameError
from sog.games.base import NATURE, Fan, Game, Operator, Scaled, State, plain_moves
from sog.games.rules.leduc.game import Leduc, LeducState

_SUITS: Final = 2
_BETTING: Final = Leduc()
_BOARD_FEATURES: Final = 3  # of plain Leduc; all its other features are kept


def chances(ranks: int, board: int) -> Float64:
    """float64[R, R]: the probability of each pair of ranks, and of the board's rank where there is one."""
    cards = _SUITS * ranks
    same = np.eye(ranks)
    pairs = _SUITS * (_SUITS - same) / (cards * (cards - 1))
    if board >= 0:
        pairs *= (_SUITS - same[board][:, None] - same[board][None, :]) / (cards - 2)
    return pairs


def showdown(ranks: int, board: int) -> Float64:
    """float64[R, R]: 1 where player 0's rank wins, -1 where it loses, 0 for a tie. A pair beats all else."""
    strength = np.arange(ranks)
    strength[board] = ranks
    signs: Float64 = np.sign(strength[:, None] - strength[None, :]).astype(np.float64)
    return signs


def plain_state(s: State) -> LeducState:
    """A state of plain Leduc with the same betting, its board of the lowest rank where there is one."""
    assert isinstance(s, LeducState)
    return LeducState(s.first, min(s.board, 0), s.second)


class LeducRanks(Game):
    """Leduc poker with `ranks` ranks. A state is a LeducState whose board is a rank; infostates are ranks.

    Pair operators live as long as a tree that uses them: the game itself keeps none.
    """

    def __init__(self, ranks: int = 3) -> None:
        """Raises GameError below 2 ranks."""
        if ranks < 2:
            raise GameError(f"leduc_ranks needs ranks >= 2, not {ranks}")
        self.name = f"leduc_ranks(ranks={ranks})"
        self.ranks = ranks
        self.u_max, self.num_actions, self.unit = _BETTING.u_max, _BETTING.num_actions, _BETTING.unit
        self.num_slots = (ranks, ranks)
        self.num_features = ranks + _BETTING.num_features - _BOARD_FEATURES
        self.crossed = tuple(range(ranks))
        self._operators: WeakValueDictionary[tuple[str, int], Operator] = WeakValueDictionary()

    def root(self) -> State:
        return LeducState()

    def actor(self, s: State) -> int:
        return _BETTING.actor(plain_state(s))

    def num_infostates(self, s: State) -> tuple[int, int]:
        return self.ranks, self.ranks

    def actions(self, s: State) -> Int32:
        return _BETTING.actions(plain_state(s))

    def fan(self, s: State) -> Fan:
        assert isinstance(s, LeducState)
        if self.actor(s) == NATURE:
            return Fan([LeducState(s.first, b) for b in range(self.ranks)])
        after = _BETTING.fan(plain_state(s)).children
        children = [LeducState(c.first, s.board, c.second) for c in after if isinstance(c, LeducState)]
        return Fan(children, plain_moves(self.ranks, len(children)))

    def weights(self, s: State) -> Scaled:
        assert isinstance(s, LeducState)
        return Scaled(self._operator("chances", s.board))

    def payoff(self, s: State) -> Scaled:
        assert isinstance(s, LeducState)
        kind = "chances" if s.line.endswith("f") else "showdown"
        return Scaled(self._operator(kind, s.board), _BETTING.payoff(plain_state(s)).scale)

    def _operator(self, kind: str, board: int) -> Operator:
        operator = self._operators.get((kind, board))
        if operator is None:
            utilities = showdown(self.ranks, board) if kind == "showdown" else 1.0
            self._operators[kind, board] = operator = Operator(chances(self.ranks, board) * utilities)
        return operator

    def features(self, s: State) -> Float32:
        """The board's rank (R), then plain Leduc's features of the betting."""
        assert isinstance(s, LeducState)
        board = np.zeros(self.ranks, dtype=np.float32)
        if s.board >= 0:
            board[s.board] = 1.0
        return np.concatenate([board, _BETTING.features(plain_state(s))[_BOARD_FEATURES:]])

    def value_unit(self, s: State) -> float:
        return _BETTING.value_unit(plain_state(s))

    def state_name(self, s: State) -> str:
        assert isinstance(s, LeducState)
        return _BETTING.state_name(plain_state(s)).replace("board Js", f"board {s.board}")

    def action_name(self, s: State, action: int) -> str:
        return _BETTING.action_name(plain_state(s), action)
