"""Leduc poker history by history, on OpenSpiel's rules and numbers (SePoT, B.1)."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.games.base import Unit
from sog.games.histories.base import HistoryGame
from sog.games.kernels import kernel

__all__ = ["LeducHistories"]

_NATURE: Final = 2
_TERMINAL: Final = 3
_FOLD: Final = 0
_CALL: Final = 1
_RAISE: Final = 2
_CARDS: Final = 6
_LINE: Final = 4  # the longest line of one round: call, raise, raise, call
_DEALT: Final = 3  # in the public row: a private card is dealt
_BOARD: Final = 4  # in the public row: the first of six, a board card

# A state: both private cards and the board card (-1 before they are dealt), both lines' lengths, both lines.
_LENGTHS: Final = 3
_LINES: Final = 5
_SIZE: Final = 13
_PUBLIC_INPUTS: Final = 3 + 4 * _LINE + 2
_PRIVATE_INPUTS: Final = 3 + 2


class LeducHistories(HistoryGame):
    """Leduc poker: cards 0..5, two of each rank; fold 0, call 1, raise 2.

    `inputs` show ranks, not suits, which decide nothing: from the viewer's side the board's rank [3], both lines
    [2][4][call or raise], the viewer's and the opponent's chips over 13 [2]; then the viewer's rank [3] and seat [2].
    """

    def __init__(self) -> None:
        self.name = "leduc_poker"
        self.u_max = 13.0
        self.unit = Unit("mbb/h", 1000.0)
        self.num_actions = 3
        self.num_outcomes = _CARDS
        self.longest = 3 + 2 * _LINE
        self.num_inputs = _PUBLIC_INPUTS + _PRIVATE_INPUTS
        self.num_private = _PRIVATE_INPUTS

    def begin(self, count: int) -> Int32:
        states = np.full((count, _SIZE), -1, dtype=np.int32)
        states[:, _LENGTHS:_LINES] = 0
        return states

    def actors(self, states: Int32) -> Int32:
        out = np.empty(len(states), dtype=np.int32)
        _actors(states, out)
        return out

    def legal(self, states: Int32) -> Bool:
        out = np.zeros((len(states), 3), dtype=np.bool_)
        _legal(states, out)
        return out

    def chances(self, states: Int32) -> Float64:
        out = np.zeros((len(states), _CARDS))
        _chances(states, out)
        return out

    def step(self, states: Int32, actions: Array) -> None:
        _step(states, actions)

    def utilities(self, states: Int32) -> Float64:
        out = np.zeros(len(states))
        _utilities(states, out)
        return out

    def inputs(self, states: Int32, viewers: Int32) -> Float32:
        out = np.zeros((len(states), self.num_inputs), dtype=np.float32)
        _inputs(states, viewers, out)
        return out

    def public(self, states: Int32) -> Int32:
        out = np.full((len(states), self.longest), -1, dtype=np.int32)
        _public(states, out)
        return out

    def private(self, states: Int32, viewers: Int32) -> Int32:
        own: Int32 = states[np.arange(len(states)), viewers][:, None]
        return own


@kernel
def _round(row: Array) -> int:
    return 0 if row[2] < 0 else 1


@kernel
def _last(row: Array) -> int:
    """The last action of the line being played; -1 where it is empty."""
    r = _round(row)
    return row[_LINES + _LINE * r + row[_LENGTHS + r] - 1] if row[_LENGTHS + r] > 0 else -1


@kernel
def _over(row: Array) -> bool:
    """Whether the line being played ended by a call."""
    over: bool = row[_LENGTHS + _round(row)] >= 2 and _last(row) == _CALL
    return over


@kernel
def _actor(row: Array) -> int:
    if row[1] < 0:
        return _NATURE
    if _last(row) == _FOLD:
        return _TERMINAL
    if _over(row):
        return _NATURE if row[2] < 0 else _TERMINAL
    return int(row[_LENGTHS + _round(row)] % 2)


@kernel
def _actors(states: Array, out: Array) -> None:
    for b in range(len(states)):
        out[b] = _actor(states[b])


@kernel
def _legal(states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        if _actor(row) < _NATURE:
            r, raises = _round(row), 0
            for k in range(row[_LENGTHS + r]):
                raises += row[_LINES + _LINE * r + k] == _RAISE
            out[b, _FOLD] = _last(row) == _RAISE
            out[b, _CALL] = True
            out[b, _RAISE] = raises < 2


@kernel
def _chances(states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        if _actor(row) == _NATURE:
            left = _CARDS - (row[0] >= 0) - (row[1] >= 0)
            for card in range(_CARDS):
                if card != row[0] and card != row[1]:
                    out[b, card] = 1.0 / left


@kernel
def _step(states: Array, actions: Array) -> None:
    for b in range(len(states)):
        row, action = states[b], actions[b]
        if action < 0:
            continue
        if _actor(row) == _NATURE:
            place = 0 if row[0] < 0 else 1 if row[1] < 0 else 2
            row[place] = action
        else:
            r = _round(row)
            row[_LINES + _LINE * r + row[_LENGTHS + r]] = action
            row[_LENGTHS + r] += 1


@kernel
def _chips(row: Array, p: int) -> int:
    """What player p has put in."""
    mine, theirs = 1, 1
    for r in range(2):
        for k in range(row[_LENGTHS + r]):
            action, bet = row[_LINES + _LINE * r + k], 2 * (r + 1)
            if action != _FOLD:
                if k % 2 == p:
                    mine = theirs + (bet if action == _RAISE else 0)
                else:
                    theirs = mine + (bet if action == _RAISE else 0)
    return mine


@kernel
def _strength(card: int, board: int) -> int:
    return 10 if card // 2 == board // 2 else card // 2


@kernel
def _utilities(states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        if _actor(row) != _TERMINAL:
            continue
        if _last(row) == _FOLD:
            folder = (row[_LENGTHS + _round(row)] - 1) % 2
            out[b] = -_chips(row, 0) if folder == 0 else _chips(row, 1)
        else:
            ahead = _strength(row[0], row[2]) - _strength(row[1], row[2])
            out[b] = _chips(row, 0) * ((ahead > 0) - (ahead < 0))


@kernel
def _inputs(states: Array, viewers: Array, out: Array) -> None:
    for b in range(len(states)):
        row, viewer, x = states[b], viewers[b], out[b]
        if row[2] >= 0:
            x[row[2] // 2] = 1.0
        for r in range(2):
            for k in range(row[_LENGTHS + r]):
                action = row[_LINES + _LINE * r + k]
                if action != _FOLD:
                    x[3 + 2 * (_LINE * r + k) + (action == _RAISE)] = 1.0
        x[3 + 4 * _LINE] = _chips(row, viewer) / 13.0
        x[4 + 4 * _LINE] = _chips(row, 1 - viewer) / 13.0
        if row[viewer] >= 0:
            x[_PUBLIC_INPUTS + row[viewer] // 2] = 1.0
        x[_PUBLIC_INPUTS + 3 + viewer] = 1.0


@kernel
def _public(states: Array, out: Array) -> None:
    for b in range(len(states)):
        row, seen, at = states[b], out[b], 0
        for p in range(2):
            if row[p] >= 0:
                seen[at] = _DEALT
                at += 1
        for r in range(2):
            if r == 1 and row[2] >= 0:
                seen[at] = _BOARD + row[2]
                at += 1
            for k in range(row[_LENGTHS + r]):
                seen[at] = row[_LINES + _LINE * r + k]
                at += 1
