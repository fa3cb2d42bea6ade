"""Tic-tac-toe: the smallest game of perfect information; one infostate a player everywhere."""

from __future__ import annotations

from typing import TypeAlias, cast

import numpy as np

from sog.arrays import Float32, Int32
from sog.games.base import TERMINAL, Fan, Game, Operator, Scaled, State, plain_moves
from sog.games.symmetries import of_square

Squares: TypeAlias = tuple[int, ...]

_LINES = (
    *({3 * row, 3 * row + 1, 3 * row + 2} for row in range(3)),
    *({column, column + 3, column + 6} for column in range(3)),
    {0, 4, 8},
    {2, 4, 6},
)


class TicTacToe(Game):
    """Tic-tac-toe on OpenSpiel's numbers; a public state is the tuple of squares taken so far.

    Squares and actions are 0..8, row by row. Player 0 plays x and moves first.
    """

    def __init__(self) -> None:
        self.name = "tic_tac_toe"
        self.u_max = 1.0
        self.num_actions = 9
        self.num_slots = (1, 1)
        self.num_features = 20
        self.perfect_information = self.deterministic = True
        self.symmetries = of_square(3, 2, others=2)
        self._one = Operator(np.ones((1, 1)))

    def root(self) -> State:
        return ()

    def actor(self, s: State) -> int:
        taken = cast(Squares, s)
        return TERMINAL if len(taken) == 9 or _has_line(taken) else len(taken) % 2

    def num_infostates(self, s: State) -> tuple[int, int]:
        return 1, 1

    def actions(self, s: State) -> Int32:
        if self.actor(s) == TERMINAL:
            return np.empty(0, dtype=np.int32)
        taken = cast(Squares, s)
        return np.array([square for square in range(9) if square not in taken], dtype=np.int32)

    def fan(self, s: State) -> Fan:
        actions = self.actions(s).tolist()
        return Fan([(*cast(Squares, s), square) for square in actions], plain_moves(1, len(actions)))

    def weights(self, s: State) -> Scaled:
        return Scaled(self._one)

    def payoff(self, s: State) -> Scaled:
        taken = cast(Squares, s)
        if not _has_line(taken):
            return Scaled(self._one, 0.0)
        return Scaled(self._one, 1.0 if len(taken) % 2 == 1 else -1.0)

    def features(self, s: State) -> Float32:
        """float32[20]: x's squares, o's squares, and the player whose turn it is, one-hot."""
        taken = cast(Squares, s)
        x = np.zeros(self.num_features, dtype=np.float32)
        x[list(taken[0::2])] = 1.0
        x[[9 + square for square in taken[1::2]]] = 1.0
        x[18 + len(taken) % 2] = 1.0
        return x

    def state_name(self, s: State) -> str:
        board = ["."] * 9
        for turn, square in enumerate(cast(Squares, s)):
            board[square] = "xo"[turn % 2]
        return "/".join("".join(board[row : row + 3]) for row in (0, 3, 6))

    def picture(self, s: State) -> str:
        rows = self.state_name(s).split("/")
        return "\n".join([*(f"{3 - k} {' '.join(row)}" for k, row in enumerate(rows)), "  a b c"])

    def action_name(self, s: State, action: int) -> str:
        return f"{'abc'[action % 3]}{3 - action // 3}"

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return "nothing"

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        return list(cast(Squares, s))


def _has_line(taken: Squares) -> bool:
    """Whether whoever moved last holds a full line."""
    mine = set(taken[(len(taken) - 1) % 2 :: 2]) if taken else set()
    return any(line <= mine for line in _LINES)
