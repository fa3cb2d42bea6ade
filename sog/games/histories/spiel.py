"""Any two-player zero-sum OpenSpiel game history by history, one call of OpenSpiel after the other; slow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyspiel

from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.histories.base import HistoryGame
from sog.games.openspiel.loading import load_in_turns
from sog.games.strings import OPENSPIEL

__all__ = ["SpielHistories"]

_MOST_ACTIONS: Final = 2**15 - 1  # what int16 holds, in which histories are kept
_MOST_STATES: Final = 100_000  # OpenSpiel's states that are kept, so that a step need not replay a history

# A state: how many actions were taken, then the actions, then -1.


class SpielHistories(HistoryGame):
    """An OpenSpiel game in turns, also one that is far too large to be listed.

    OpenSpiel has no public observations that all games give, so `public` is empty: everything is one public state.
    `private` is the number of the infostate's string, in the order in which they were met. `inputs` are OpenSpiel's
    infostate tensor, or its observation tensor where there is no other, and the seat [2].
    """

    has_public = False

    def __init__(self, name: str) -> None:
        """The game that OpenSpiel's game string names; GameError where it is unknown, or not of this kind."""
        self.name = OPENSPIEL + name.strip()
        self._game = _load(name.strip())
        kind = self._game.get_type()
        self._by_infostate = kind.provides_information_state_tensor
        shape = self._game.information_state_tensor_size if self._by_infostate else self._game.observation_tensor_size
        self.u_max = max(abs(self._game.max_utility()), abs(self._game.min_utility()))
        self.num_actions = self._game.num_distinct_actions()
        self.num_outcomes = self._game.max_chance_outcomes()
        if max(self.num_actions, self.num_outcomes) > _MOST_ACTIONS:
            raise GameError(f"{self.name} has more than {_MOST_ACTIONS:,} actions, which histories cannot hold")
        self.longest = self._game.max_game_length() + self._game.max_chance_nodes_in_history()
        self.num_inputs = self.num_private = shape() + 2
        self._states: dict[bytes, Any] = {}
        self._numbers: dict[str, int] = {}

    def begin(self, count: int) -> Int32:
        states = np.full((count, 1 + self.longest), -1, dtype=np.int32)
        states[:, 0] = 0
        return states

    def _each(self, states: Int32) -> Iterator[Any]:
        """OpenSpiel's state of each row."""
        for row in states:
            yield self._state(row)

    def _state(self, row: Int32) -> Any:
        key = row.tobytes()
        state = self._states.get(key)
        if state is None:
            state = self._game.new_initial_state()
            for action in row[1 : 1 + row[0]].tolist():
                state.apply_action(action)
            self._keep(key, state)
        return state

    def _keep(self, key: bytes, state: Any) -> None:
        if len(self._states) >= _MOST_STATES:
            self._states.clear()
        self._states[key] = state

    def actors(self, states: Int32) -> Int32:
        return np.array([_actor(state) for state in self._each(states)], dtype=np.int32)

    def legal(self, states: Int32) -> Bool:
        out = np.zeros((len(states), self.num_actions), dtype=np.bool_)
        for b, state in enumerate(self._each(states)):
            if _actor(state) < NATURE:
                out[b, state.legal_actions()] = True
        return out

    def chances(self, states: Int32) -> Float64:
        out = np.zeros((len(states), self.num_outcomes))
        for b, state in enumerate(self._each(states)):
            if state.is_chance_node():
                for outcome, chance in state.chance_outcomes():
                    out[b, outcome] = chance
        return out

    def step(self, states: Int32, actions: Array) -> None:
        for row, action in zip(states, actions.tolist(), strict=True):
            if action >= 0:
                after = self._state(row).child(action)
                row[1 + row[0]] = action
                row[0] += 1
                self._keep(row.tobytes(), after)

    def utilities(self, states: Int32) -> Float64:
        each = self._each(states)
        return np.array([state.returns()[0] if state.is_terminal() else 0.0 for state in each], dtype=np.float64)

    def inputs(self, states: Int32, viewers: Int32) -> Float32:
        out = np.zeros((len(states), self.num_inputs), dtype=np.float32)
        for b, state in enumerate(self._each(states)):
            p = int(viewers[b])
            out[b, :-2] = state.information_state_tensor(p) if self._by_infostate else state.observation_tensor(p)
            out[b, -2 + p] = 1.0
        return out

    def public(self, states: Int32) -> Int32:
        return np.zeros((len(states), 0), dtype=np.int32)

    def private(self, states: Int32, viewers: Int32) -> Int32:
        if not self._game.get_type().provides_information_state_string:
            raise GameError(f"OpenSpiel does not say which infostates of {self.name} are the same")
        names = [state.information_state_string(int(p)) for state, p in zip(self._each(states), viewers, strict=True)]
        numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in names]
        return np.array(numbers, dtype=np.int32)[:, None]


def _load(name: str) -> Any:
    game = load_in_turns(name)
    kind = game.get_type()
    if game.num_players() != 2 or kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
        raise GameError(f"{name} is not a two-player zero-sum game")
    if not (kind.provides_information_state_tensor or kind.provides_observation_tensor):
        raise GameError(f"OpenSpiel has no tensors of {name}, which a network could see")
    return game


def _actor(state: Any) -> int:
    if state.is_terminal():
        return TERMINAL
    return NATURE if state.is_chance_node() else int(state.current_player())
