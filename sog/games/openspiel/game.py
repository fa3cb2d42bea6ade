"""Any two-player zero-sum OpenSpiel game that can be enumerated, compiled into public states."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from sog.arrays import Float32, Float64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, State
from sog.games.compiled.game import CompiledGame
from sog.games.openspiel.histories import LIMIT, list_histories, observed_tensor, public_observer
from sog.games.openspiel.partition import partition
from sog.games.strings import OPENSPIEL

_SAMPLE = 32  # histories whose tensors make the features of a public state
_CODE = 1024  # public states that get a feature each where OpenSpiel has no tensors


class OpenSpielGame(CompiledGame):
    """An OpenSpiel game over public states; simultaneous moves are made in turns, unseen by the other.

    `way` says how its public states were found (see partition.py). Features are OpenSpiel's public tensor, else the
    mean of both players' tensors over some histories of the state, else the state's number; then who acts and depth.
    """

    def __init__(self, name: str, limit: int = LIMIT) -> None:
        """Compile the game that OpenSpiel's game string names.

        Raises GameError, in one line, where OpenSpiel does not know it, it is not a two-player zero-sum game,
        lacks perfect recall, has private turns, or has more than `limit` histories.
        """
        name = name.strip()
        self.name = OPENSPIEL + name
        self._h = h = list_histories(name, limit)
        if (h.actor == TERMINAL).all():  # chance may have drawn one of several ends
            raise GameError(f"{name} ends before anybody acts")
        parts = partition(h)
        self.way = parts.way
        self.recalls = h.recalls
        self.num_histories = len(h.parent)
        self.compile(h, parts)
        self.num_actions = h.game.num_distinct_actions()
        self._observer = public_observer(h.game)
        self.num_features = len(self._shown(int(np.flatnonzero(h.actor != TERMINAL)[0]))) + 5

    @property
    def num_acting_infostates(self) -> int:
        """Infostates of both players at their own turns."""
        own = self.tree.actor[:, None] == np.arange(2)
        return int(self.tree.sizes[own].sum())

    @property
    def spiel_game(self) -> Any:
        """OpenSpiel's game, in turns."""
        return self._h.game

    # --- what the network sees ---

    def features(self, s: State) -> Float32:
        """float32[num_features]: see the class; zeros for what comes after the end."""
        x = np.zeros(self.num_features)
        actor = self.actor(s)
        x[self.num_features - 5 + actor] = 1.0
        m = self.moments_of(cast(int, s))[0]
        x[-1] = self._h.depth[m[0]] / max(1, int(self._h.depth.max()))
        live = m[self._h.actor[m] != TERMINAL]
        if len(live):
            some = live[np.unique(np.linspace(0, len(live) - 1, min(_SAMPLE, len(live))).astype(np.int64))]
            x[: self.num_features - 5] = np.mean([self._shown(int(k)) for k in some], axis=0)
        return x.astype(np.float32)

    def _shown(self, moment: int) -> Float64:
        """float64[*]: what OpenSpiel's tensors show of a decision moment."""
        kind = self._h.game.get_type()
        state = self._replayed(moment)
        if self._observer is not None:
            tensor = observed_tensor(self._observer, state)
            if len(tensor):
                return tensor
        if kind.provides_information_state_tensor:
            return np.concatenate([state.information_state_tensor(p) for p in (0, 1)])
        if kind.provides_observation_tensor:
            return np.concatenate([state.observation_tensor(p) for p in (0, 1)])
        code = np.zeros(min(_CODE, int(self.tree.state.max()) + 1))
        code[self.tree.state[moment] % len(code)] = 1.0
        return code

    def _replayed(self, moment: int) -> Any:
        """OpenSpiel's state at a moment."""
        state = self._h.game.new_initial_state()
        for action in self._actions_to(moment):
            state.apply_action(action)
        return state

    def _actions_to(self, moment: int) -> list[int]:
        back: list[tuple[int, ...]] = []
        while moment >= 0:
            back.append(self._h.steps[moment])
            moment = int(self._h.parent[moment])
        return [action for steps in reversed(back) for action in steps]

    # --- words for people, and the way to OpenSpiel ---

    def information_states(self, s: State, p: int) -> list[str]:
        """What OpenSpiel shows player p at each infostate of a decision state; "" where it shows nothing.

        For the actor these are OpenSpiel's infostates, or its observations where `recalls` is false.
        """
        m, place = self.moments_of(cast(int, s))
        words = np.zeros(self.num_infostates(s)[p], dtype=np.int32)
        words[place[:, p]] = self._h.words[m, p]
        return [self._h.vocabulary[word] for word in words.tolist()]

    def state_name(self, s: State) -> str:
        state = cast(int, s)
        m = int(self.moments_of(state)[0][0])
        if self._h.public is not None and self.actor(s) in (0, 1):
            text = " ".join(self._h.vocabulary[self._h.public[m]].split())
            return f"{text} (state {state})"
        return f"state {state} at depth {self._h.depth[m]}"

    def action_name(self, s: State, action: int) -> str:
        for m in self.tree.from_state.at(cast(int, s)).tolist():
            if self._h.action[m] == action:
                parent = self._replayed(int(self._h.parent[m]))
                return str(parent.action_to_string(parent.current_player(), action))
        return str(action)

    def infostate_name(self, s: State, p: int, i: int) -> str:
        if self.actor(s) in (0, 1):
            return " ".join(self.information_states(s, p)[i].split()) or str(i)
        return str(i)

    def history(self, s: State, i0: int, i1: int) -> list[int] | None:
        """OpenSpiel's actions of one history of the pair; at NATURE, up to the move before it."""
        state = cast(int, s)
        m, place = self.moments_of(state)
        moments = m[(place[:, 0] == i0) & (place[:, 1] == i1)]
        if not len(moments):
            return None
        first = int(moments[0])
        if self.actor(s) != NATURE:
            return self._actions_to(first)
        parent = int(self._h.parent[first])
        return [] if parent < 0 else [*self._actions_to(parent), int(self._h.action[first])]
