"""Kuhn poker: three cards, one bet; the smallest game with a bluff. Value -1/18 for player 0."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float32, Int32
from sog.games.base import TERMINAL, Fan, Game, Operator, Scaled, State, plain_moves

_CARDS = 3
_DEAL = np.where(np.eye(_CARDS, dtype=bool), 0.0, 1.0 / 6.0)
_HIGHER = np.sign(np.arange(_CARDS)[:, None] - np.arange(_CARDS)[None, :]).astype(float)
_TERMINALS = {"pp", "pbp", "pbb", "bp", "bb"}


class Kuhn(Game):
    """Kuhn poker on OpenSpiel's rules; a public state is the betting line, such as "pb".

    Infostates are the cards jack, queen, king. Actions: 0 pass, 1 bet.
    """

    def __init__(self) -> None:
        self.name = "kuhn_poker"
        self.u_max = 2.0
        self.num_actions = 2
        self.num_slots = (_CARDS, _CARDS)
        self.num_features = 6
        self._deal = Operator(_DEAL)
        self._showdown = Operator(_DEAL * _HIGHER)

    def root(self) -> State:
        return ""

    def actor(self, s: State) -> int:
        line = str(s)
        return TERMINAL if line in _TERMINALS else len(line) % 2

    def num_infostates(self, s: State) -> tuple[int, int]:
        return _CARDS, _CARDS

    def actions(self, s: State) -> Int32:
        return np.arange(0 if s in _TERMINALS else 2, dtype=np.int32)

    def fan(self, s: State) -> Fan:
        return Fan([f"{s}p", f"{s}b"], plain_moves(_CARDS, 2))

    def weights(self, s: State) -> Scaled:
        return Scaled(self._deal)

    def payoff(self, s: State) -> Scaled:
        if s == "pp":
            return Scaled(self._showdown)
        if s in ("pbb", "bb"):
            return Scaled(self._showdown, 2.0)
        return Scaled(self._deal, 1.0 if s == "bp" else -1.0)  # the last to pass folds

    def features(self, s: State) -> Float32:
        x = np.zeros(self.num_features, dtype=np.float32)
        for k, letter in enumerate(str(s)):
            x[2 * k + (letter == "b")] = 1.0
        return x

    def state_name(self, s: State) -> str:
        return "start" if s == "" else " ".join("pass" if a == "p" else "bet" for a in str(s))

    def action_name(self, s: State, action: int) -> str:
        return ("pass", "bet")[action]

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return "JQK"[i]

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        return [i0, i1, *(int(a == "b") for a in str(s))]
