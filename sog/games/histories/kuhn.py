"""Kuhn poker history by history: three cards, one bet; the smallest game that a learner can be tested on."""

from __future__ import annotations

import numpy as np

from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.games.base import NATURE, TERMINAL
from sog.games.histories.base import HistoryGame

__all__ = ["KuhnHistories"]

_CARDS = 3
_CODES = np.array([1, 3, 9])  # a line's number: the sum of (action + 1) * code, 0 for an empty line
_PASS, _BET = 0, 1


def _line(*actions: int) -> int:
    return int(sum((action + 1) * code for action, code in zip(actions, _CODES, strict=False)))


_SHOWN_FOR_ONE = [_line(_PASS, _PASS)]
_SHOWN_FOR_TWO = [_line(_BET, _BET), _line(_PASS, _BET, _BET)]
_WON_BY_0, _WON_BY_1 = [_line(_BET, _PASS)], [_line(_PASS, _BET, _PASS)]
_OVER = [*_SHOWN_FOR_ONE, *_SHOWN_FOR_TWO, *_WON_BY_0, *_WON_BY_1]


class KuhnHistories(HistoryGame):
    """Kuhn poker on OpenSpiel's rules: cards 0..2, pass 0, bet 1.

    A state is both cards and up to three actions, -1 where nothing is yet. `inputs`: the line [3][pass or bet]; the
    viewer's card [3] and seat [2].
    """

    def __init__(self) -> None:
        self.name, self.u_max = "kuhn_poker", 2.0
        self.num_actions, self.num_outcomes, self.longest = 2, _CARDS, 5
        self.num_inputs, self.num_private = 11, 5

    def begin(self, count: int) -> Int32:
        return np.full((count, 5), -1, dtype=np.int32)

    def actors(self, states: Int32) -> Int32:
        line = states[:, 2:]
        actors: Int32 = ((line >= 0).sum(axis=1) % 2).astype(np.int32)
        actors[np.isin((line + 1) @ _CODES, _OVER)] = TERMINAL
        actors[states[:, 1] < 0] = NATURE
        return actors

    def legal(self, states: Int32) -> Bool:
        return (self.actors(states) < NATURE)[:, None].repeat(2, axis=1)

    def chances(self, states: Int32) -> Float64:
        left = np.arange(_CARDS) != states[:, :1]
        left[states[:, 1] >= 0] = False
        chances: Float64 = left / np.maximum(left.sum(axis=1, keepdims=True), 1)
        return chances

    def step(self, states: Int32, actions: Array) -> None:
        rows = np.flatnonzero(actions >= 0)
        states[rows, (states[rows] >= 0).sum(axis=1)] = actions[rows]

    def utilities(self, states: Int32) -> Float64:
        code = (states[:, 2:] + 1) @ _CODES
        shown = np.isin(code, _SHOWN_FOR_ONE) + 2.0 * np.isin(code, _SHOWN_FOR_TWO)
        utilities: Float64 = shown * np.sign(states[:, 0] - states[:, 1])
        return utilities + np.isin(code, _WON_BY_0) - np.isin(code, _WON_BY_1)

    def inputs(self, states: Int32, viewers: Int32) -> Float32:
        own = states[np.arange(len(states)), viewers]
        line = (states[:, 2:, None] == np.arange(2)).reshape(-1, 6)
        parts = (line, own[:, None] == np.arange(_CARDS), viewers[:, None] == np.arange(2))
        return np.concatenate(parts, axis=1).astype(np.float32)

    def public(self, states: Int32) -> Int32:
        return np.where((np.arange(5) < 2) & (states >= 0), 2, states)

    def private(self, states: Int32, viewers: Int32) -> Int32:
        own: Int32 = states[np.arange(len(states)), viewers][:, None]
        return own
