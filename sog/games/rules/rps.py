"""Rock-paper-scissors where scissors count double (ReBeL, figure 1a), as a game of hidden moves."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float32, Int32
from sog.games.base import TERMINAL, Fan, Game, Moves, Operator, Scaled, State, plain_moves

_NAMES = ("rock", "paper", "scissors")
# Player 0's utility: rows are player 0's choice, columns player 1's.
_PAYOFF = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -2.0], [-2.0, 2.0, 0.0]])


class RockPaperScissors(Game):
    """Player 0 picks in secret, then player 1; whoever wins a play with scissors in it wins two.

    A public state is "" (player 0 to pick), "?" (player 1 to pick) or "?r", "?p", "?s" (over).
    Player 0's infostates after the pick are its choices. The equilibrium of both players is
    (0.4, 0.4, 0.2) and the value 0.
    """

    def __init__(self) -> None:
        self.name = "rps"
        self.u_max = 2.0
        self.num_actions = 3
        self.num_slots = (3, 1)
        self.num_features = 2
        self._start = Operator(np.ones((1, 1)))
        self._picked = Operator(np.ones((3, 1)))
        self._payoffs = [Operator(_PAYOFF[:, [b]].copy()) for b in range(3)]
        self._hidden_pick = Fan(
            ["?"], Moves(np.zeros((1, 3), dtype=np.int32), np.arange(3, dtype=np.int32).reshape(1, 3))
        )

    def root(self) -> State:
        return ""

    def actor(self, s: State) -> int:
        return (0, 1, TERMINAL)[len(str(s))]

    def num_infostates(self, s: State) -> tuple[int, int]:
        return (1, 1) if s == "" else (3, 1)

    def actions(self, s: State) -> Int32:
        return np.arange(0 if len(str(s)) == 2 else 3, dtype=np.int32)

    def fan(self, s: State) -> Fan:
        return self._hidden_pick if s == "" else Fan(["?r", "?p", "?s"], plain_moves(1, 3))

    def weights(self, s: State) -> Scaled:
        return Scaled(self._start if s == "" else self._picked)

    def payoff(self, s: State) -> Scaled:
        return Scaled(self._payoffs["rps".index(str(s)[1])])

    def features(self, s: State) -> Float32:
        """float32[2]: who is to pick, one-hot."""
        x = np.zeros(self.num_features, dtype=np.float32)
        if self.actor(s) != TERMINAL:
            x[self.actor(s)] = 1.0
        return x

    def state_name(self, s: State) -> str:
        line = str(s)
        if len(line) < 2:
            return "start" if line == "" else "hidden pick"
        return f"hidden pick, {_NAMES['rps'.index(line[1])]}"

    def action_name(self, s: State, action: int) -> str:
        return _NAMES[action]

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return _NAMES[i] if p == 0 and s != "" else "nothing"
