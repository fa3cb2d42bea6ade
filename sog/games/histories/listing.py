"""Every history of a small game, or of one public state, found from the root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Array, Int32, Int64
from sog.games.base import TERMINAL
from sog.games.histories.base import HistoryGame, TooManyHistories, beginnings_of, uniform_weights

__all__ = ["Histories", "HistoryChildren", "children", "histories_of", "list_histories"]


_PART: Final = 4_096  # histories that are made longer at once


@dataclass(frozen=True, eq=False)
class HistoryChildren:
    """Every history that is one action longer: parent int64[E], action int32[E], states int32[E, K]."""

    parent: Int64
    action: Int32
    states: Int32


@dataclass(frozen=True, eq=False)
class Histories:
    """Histories of a game: states int32[H, K] and the actions, chance's included, that lead there, int16[H, T]."""

    states: Int32
    actions: Array

    def __len__(self) -> int:
        return len(self.states)


def children(game: HistoryGame, states: Int32) -> HistoryChildren:
    """The children of histories, parents in their order and each one's actions ascending."""
    parent, action = np.nonzero(uniform_weights(game, states, game.actors(states)))
    after = states[parent]
    game.step(after, action.astype(np.int32))
    return HistoryChildren(parent, action.astype(np.int32), after)


def list_histories(game: HistoryGame, most: int = 1_000_000) -> Histories:
    """All histories, shorter ones first, chance's and those that are over included; TooManyHistories above `most`."""
    level = Histories(game.begin(1), np.full((1, game.longest), -1, dtype=np.int16))
    levels, count = [level], 1
    while len(level := _longer(game, level, len(levels) - 1)):
        levels.append(level)
        count += len(level)
        if count > most:
            raise TooManyHistories(f"{game.name} has more than {most:,} histories")
    return Histories(
        np.concatenate([level.states for level in levels]), np.concatenate([level.actions for level in levels])
    )


def histories_of(game: HistoryGame, public: Int32, most: int = 1_000_000, breadth: int = 1) -> Histories:
    """The histories of the public state with this public row, int32[P]; TooManyHistories above `most`.

    From the game's own constraints where it has them. Otherwise it follows every history that has shown a beginning of
    the row, so it serves where few are possible early on: TooManyHistories where they become more than breadth * most.
    """
    known = game.consistent(public, most)
    if known is not None:
        states = game.begin(len(known))
        for column in known.T:
            game.step(states, column)
        return Histories(states, known)
    listed = _followed(game, public, breadth * most)
    if len(listed) > most:
        raise TooManyHistories(f"{game.name}: {len(listed):,} histories lead to this public state, more than {most:,}")
    return listed


def _followed(game: HistoryGame, public: Int32, most: int) -> Histories:
    """`histories_of` breadth-first from the root."""
    level = Histories(game.begin(1), np.full((1, game.longest), -1, dtype=np.int16))
    parts: list[Histories] = []
    for depth in range(game.longest + 1):
        whole = (game.public(level.states) == public).all(axis=1)
        parts.append(Histories(level.states[whole], level.actions[whole]))
        level = _longer_beginnings(game, level, depth, public, most)
    return Histories(np.concatenate([part.states for part in parts]), np.concatenate([part.actions for part in parts]))


def _longer_beginnings(game: HistoryGame, level: Histories, depth: int, public: Int32, most: int) -> Histories:
    """`_longer`, those that show a beginning of the public row; part by part, so that few others are held at once."""
    parts, count = [_longer(game, Histories(level.states[:0], level.actions[:0]), depth)], 0
    for k in range(0, len(level), _PART):
        longer = _longer(game, Histories(level.states[k : k + _PART], level.actions[k : k + _PART]), depth)
        beginnings = beginnings_of(game.public(longer.states), public)
        parts.append(Histories(longer.states[beginnings], longer.actions[beginnings]))
        count += int(beginnings.sum())
        if count > most:
            raise TooManyHistories(f"{game.name}: more than {most:,} histories lead to this public state")
    return Histories(np.concatenate([part.states for part in parts]), np.concatenate([part.actions for part in parts]))


def _longer(game: HistoryGame, level: Histories, depth: int) -> Histories:
    """The histories of `depth` actions made one action longer."""
    going = game.actors(level.states) != TERMINAL
    if not going.any():
        return Histories(level.states[:0], level.actions[:0])
    longer = children(game, level.states[going])
    actions = level.actions[going][longer.parent]
    actions[:, depth] = longer.action
    return Histories(longer.states, actions)
