"""Liar's Dice history by history, on the rules and numbers of OpenSpiel's `liars_dice`."""

from __future__ import annotations

from typing import Final

import numpy as np

from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.errors import GameError
from sog.games.histories.base import HistoryGame
from sog.games.kernels import kernel

__all__ = ["LiarsDiceHistories"]

_NATURE: Final = 2
_TERMINAL: Final = 3

# A state: how many dice are rolled and how many bids made, player 0's dice, player 1's, the bids in their order.
_ROLLED: Final = 0
_BIDS: Final = 1
_DICE: Final = 2


class LiarsDiceHistories(HistoryGame):
    """d dice a player with f faces, the highest wild.

    Action (q - 1) * f + (k - 1) bids q dice of face k, the last action calls.

    A roll's order is forgotten. `inputs`: the viewer's bids, the opponent's and the standing one [3][bids]; then for
    each face whether the viewer has at least 1, 2, ... of it [f][d], and the seat [2].
    """

    def __init__(self, num_dice: int, num_faces: int) -> None:
        """Rules with `num_dice` dice a player and `num_faces` faces a die; GameError where either is below 1."""
        if num_dice < 1 or num_faces < 1:
            raise GameError(f"liars_dice needs numdice >= 1 and dice_sides >= 1, not {num_dice} and {num_faces}")
        self.name = f"liars_dice(numdice={num_dice},dice_sides={num_faces})"
        self.num_dice, self.num_faces, self.num_bids = num_dice, num_faces, 2 * num_dice * num_faces
        self.u_max = 1.0
        self.num_actions = self.num_bids + 1
        self.num_outcomes = num_faces
        self.longest = 2 * num_dice + self.num_bids + 1
        self.num_private = num_dice * num_faces + 2
        self.num_inputs = 3 * self.num_bids + self.num_private

    def begin(self, count: int) -> Int32:
        states = np.full((count, _DICE + self.longest), -1, dtype=np.int32)
        states[:, :_DICE] = 0
        return states

    def actors(self, states: Int32) -> Int32:
        out = np.empty(len(states), dtype=np.int32)
        _actors(self.num_dice, self.num_bids, states, out)
        return out

    def legal(self, states: Int32) -> Bool:
        out = np.zeros((len(states), self.num_actions), dtype=np.bool_)
        _legal(self.num_dice, self.num_bids, states, out)
        return out

    def chances(self, states: Int32) -> Float64:
        waiting = states[:, _ROLLED] < 2 * self.num_dice
        return np.where(waiting, 1.0 / self.num_faces, 0.0)[:, None].repeat(self.num_faces, axis=1)

    def step(self, states: Int32, actions: Array) -> None:
        _step(self.num_dice, states, actions)

    def utilities(self, states: Int32) -> Float64:
        out = np.zeros(len(states))
        _utilities(self.num_dice, self.num_faces, states, out)
        return out

    def inputs(self, states: Int32, viewers: Int32) -> Float32:
        out = np.zeros((len(states), self.num_inputs), dtype=np.float32)
        _inputs(self.num_dice, self.num_bids, states, viewers, out)
        return out

    def public(self, states: Int32) -> Int32:
        rolled = np.arange(2 * self.num_dice) < states[:, :1]
        dice = np.where(rolled, self.num_actions, -1).astype(np.int32)
        return np.concatenate((dice, states[:, _DICE + 2 * self.num_dice :]), axis=1)

    def private(self, states: Int32, viewers: Int32) -> Int32:
        columns = _DICE + self.num_dice * viewers[:, None] + np.arange(self.num_dice)
        return np.sort(np.take_along_axis(states, columns, axis=1), axis=1)


@kernel
def _actor(dice: int, bids: int, row: Array) -> int:
    if row[_ROLLED] < 2 * dice:
        return _NATURE
    made = row[_BIDS]
    return _TERMINAL if made > 0 and row[_DICE + 2 * dice + made - 1] == bids else made % 2


@kernel
def _actors(dice: int, bids: int, states: Array, out: Array) -> None:
    for b in range(len(states)):
        out[b] = _actor(dice, bids, states[b])


@kernel
def _legal(dice: int, bids: int, states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        if _actor(dice, bids, row) < _NATURE:
            made = row[_BIDS]
            first = row[_DICE + 2 * dice + made - 1] + 1 if made > 0 else 0
            for action in range(first, bids + (made > 0)):
                out[b, action] = True


@kernel
def _step(dice: int, states: Array, actions: Array) -> None:
    for b in range(len(states)):
        row, action = states[b], actions[b]
        if action < 0:
            continue
        if row[_ROLLED] < 2 * dice:
            row[_DICE + row[_ROLLED]] = action
            row[_ROLLED] += 1
        else:
            row[_DICE + 2 * dice + row[_BIDS]] = action
            row[_BIDS] += 1


@kernel
def _utilities(dice: int, faces: int, states: Array, out: Array) -> None:
    for b in range(len(states)):
        row = states[b]
        if _actor(dice, 2 * dice * faces, row) != _TERMINAL:
            continue
        made = row[_BIDS]
        bid = row[_DICE + 2 * dice + made - 2]
        showing = 0
        for k in range(2 * dice):
            die = row[_DICE + k]
            showing += die == bid % faces or die == faces - 1
        bidder_wins = showing >= bid // faces + 1
        out[b] = 1.0 if bidder_wins == (made % 2 == 0) else -1.0


@kernel
def _inputs(dice: int, bids: int, states: Array, viewers: Array, out: Array) -> None:
    for b in range(len(states)):
        row, viewer, x = states[b], viewers[b], out[b]
        for k in range(row[_BIDS]):
            bid = row[_DICE + 2 * dice + k]
            if bid < bids:
                x[(0 if k % 2 == viewer else bids) + bid] = 1.0
                if k == row[_BIDS] - 1:
                    x[2 * bids + bid] = 1.0
        for k in range(dice):
            die = row[_DICE + dice * viewer + k]
            if die >= 0:
                at = 3 * bids + dice * die
                while x[at] > 0.0:
                    at += 1
                x[at] = 1.0
        x[len(x) - 2 + viewer] = 1.0
