"""Any two-player zero-sum OpenSpiel game that can be enumerated, compiled into public states."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from sog.arrays import Array, Float32, Float64, Int32, Int64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Carry, Fan, Game, Links, Moves, Operator, Scaled, State
from sog.games.names import OPENSPIEL
from sog.games.openspiel.histories import LIMIT, list_histories, observed_tensor, public_observer
from sog.games.openspiel.partition import partition
from sog.games.openspiel.tree import public_tree

_SAMPLE = 32  # histories whose tensors make the features of a public state
_CODE = 1024  # public states that get a feature each where OpenSpiel has no tensors


class OpenSpielGame(Game):
    """An OpenSpiel game over public states; simultaneous moves are made in turns, unseen by the other.

    A public state is a number. `way` says how they were found (see openspiel_partition). A pair may stand
    for several histories: weights and payoffs are their sums. Nothing is shown at a terminal state, where
    an infostate is the last one with the last action. Features are OpenSpiel's public tensor, else the mean of
    both players' tensors over some histories of the state, else the state's number; then who acts and depth.
    """

    def __init__(self, name: str, limit: int = LIMIT) -> None:
        """Compile the game that OpenSpiel's game string names.

        Raises GameError, in one line, where OpenSpiel does not know it, it is not a two-player zero-sum game,
        lacks perfect recall, has private turns, or has more than `limit` histories.
        """
        name = name.strip()
        self.name = OPENSPIEL + name
        self._h = h = list_histories(name, limit)
        if h.actor[0] == TERMINAL and len(h.actor) == 1:
            raise GameError(f"{name} ends before anybody acts")
        parts = partition(h)
        self.way = parts.way
        self.recalls = h.recalls
        self.num_histories = len(h.parent)
        self._tree = public_tree(h, parts)
        self.u_max = float(np.abs(h.utility).max()) or 1.0
        self.num_actions = h.game.num_distinct_actions()
        live = self._tree.sizes[self._tree.actor != TERMINAL]
        self.num_slots = (int(live[:, 0].max()), int(live[:, 1].max()))
        self.perfect_information = bool((self._tree.sizes == 1).all())
        self._operators: dict[tuple[int, bytes], Operator] = {}
        self._observer = public_observer(h.game)
        self.num_features = len(self._shown(int(np.flatnonzero(h.actor != TERMINAL)[0]))) + 5

    @property
    def num_states(self) -> int:
        """Public states, terminal ones and NATURE's included."""
        return len(self._tree.actor)

    @property
    def num_acting_infostates(self) -> int:
        """Infostates of both players at their own turns."""
        own = self._tree.actor[:, None] == np.arange(2)
        return int(self._tree.sizes[own].sum())

    @property
    def spiel_game(self) -> Any:
        """OpenSpiel's game, in turns."""
        return self._h.game

    def root(self) -> State:
        return self._tree.root

    def actor(self, s: State) -> int:
        return int(self._tree.actor[cast(int, s)])

    def num_infostates(self, s: State) -> tuple[int, int]:
        i0, i1 = self._tree.sizes[cast(int, s)]
        return int(i0), int(i1)

    def actions(self, s: State) -> Int32:
        return np.unique(self._h.action[self._tree.from_state.at(cast(int, s))])

    # --- edges ---

    def fan(self, s: State) -> Fan:
        state = cast(int, s)
        if self.actor(s) == NATURE:
            return self._shown_by_nature(state)
        return self._played(state, self.actor(s))

    def _played(self, s: int, actor: int) -> Fan:
        """The moves at a decision state: straight to what comes next, or to NATURE who shows it."""
        tree = self._tree
        m = tree.from_state.at(s)
        next_state = np.where(tree.nature[m] >= 0, tree.nature[m], tree.state[m])
        next_place = np.where(tree.nature[m, None] >= 0, tree.nature_place[m], tree.place[m])
        before, edge = tree.place[self._h.parent[m]], tree.edge[m]
        children = np.zeros(int(edge.max()) + 1, dtype=np.int64)
        children[edge] = next_state
        actions, column = np.unique(self._h.action[m], return_inverse=True)
        edges = np.full((tree.sizes[s, actor], len(actions)), -1, dtype=np.int32)
        edges[before[:, actor], column] = edge
        target = np.full_like(edges, -1)
        target[before[:, actor], column] = next_place[:, actor]
        same = np.array_equal(before[:, actor], next_place[:, actor])
        same = same and bool((tree.sizes[children, actor] == tree.sizes[s, actor]).all())
        other = 1 - actor
        links = [
            _links(before[edge == e, other], next_place[edge == e, other], self._size(s, other), self._size(c, other))
            for e, c in enumerate(children.tolist())
        ]
        carry: list[tuple[Carry, Carry]] = [(None, link) if actor == 0 else (link, None) for link in links]
        return Fan(children.tolist(), Moves(edges, None if same else target), carry if any(map(any, carry)) else None)

    def _shown_by_nature(self, s: int) -> Fan:
        """One edge for each public state that chance or the infostates of both lead to."""
        tree = self._tree
        m = tree.at_nature.at(s)
        children, edge = np.unique(tree.state[m], return_inverse=True)
        carry = []
        for e, c in enumerate(children.tolist()):
            on = m[edge == e]
            first, second = (
                _links(tree.nature_place[on, p], tree.place[on, p], self._size(s, p), self._size(c, p)) for p in (0, 1)
            )
            carry.append((first, second))
        return Fan(children.tolist(), None, carry if any(map(any, carry)) else None)

    def _size(self, s: int, p: int) -> int:
        return int(self._tree.sizes[s, p])

    # --- weights and payoffs ---

    def weights(self, s: State) -> Scaled:
        m, place = self._moments(cast(int, s))
        return self._summed(cast(int, s), place, self._h.chance[m])

    def payoff(self, s: State) -> Scaled:
        m, place = self._moments(cast(int, s))
        payoff = self._summed(cast(int, s), place, self._h.chance[m] * self._h.utility[m])
        return payoff if payoff.scale else Scaled(self.weights(s).operator, 0.0)

    def _moments(self, s: int) -> tuple[Int64, Int64]:
        """int64[K], int64[K, 2]: the moments of a state, or after one of NATURE, and their infostates there."""
        if self._tree.actor[s] == NATURE:
            m = self._tree.at_nature.at(s)
            return m, self._tree.nature_place[m]
        m = self._tree.at_state.at(s)
        return m, self._tree.place[m]

    def _summed(self, s: int, place: Int64, values: Float64) -> Scaled:
        """The sums of values by pair, as an operator whose first largest entry is 1, so that many states share it."""
        matrix = np.zeros(self.num_infostates(s))
        np.add.at(matrix, (place[:, 0], place[:, 1]), values)
        scale = float(matrix.ravel()[np.argmax(np.abs(matrix))])
        if scale == 0.0:
            return Scaled(Operator(matrix), 0.0)
        matrix /= scale
        key = (matrix.shape[0], matrix.tobytes())
        return Scaled(self._operators.setdefault(key, Operator(matrix)), scale)

    # --- what the network sees ---

    def features(self, s: State) -> Float32:
        """float32[num_features]: see the class; zeros for what comes after the end."""
        x = np.zeros(self.num_features)
        actor = self.actor(s)
        x[self.num_features - 5 + actor] = 1.0
        m = self._moments(cast(int, s))[0]
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
        code = np.zeros(min(_CODE, int(self._tree.state.max()) + 1))
        code[self._tree.state[moment] % len(code)] = 1.0
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
        m, place = self._moments(cast(int, s))
        words = np.zeros(self.num_infostates(s)[p], dtype=np.int32)
        words[place[:, p]] = self._h.words[m, p]
        return [self._h.vocabulary[word] for word in words.tolist()]

    def state_name(self, s: State) -> str:
        state = cast(int, s)
        m = int(self._moments(state)[0][0])
        if self._h.public is not None and self.actor(s) in (0, 1):
            told = " ".join(self._h.vocabulary[self._h.public[m]].split())
            return f"{told} (state {state})"
        return f"state {state} at depth {self._h.depth[m]}"

    def action_name(self, s: State, action: int) -> str:
        for m in self._tree.from_state.at(cast(int, s)).tolist():
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
        m, place = self._moments(state)
        found = m[(place[:, 0] == i0) & (place[:, 1] == i1)]
        if not len(found):
            return None
        first = int(found[0])
        if self.actor(s) != NATURE:
            return self._actions_to(first)
        parent = int(self._h.parent[first])
        return [] if parent < 0 else [*self._actions_to(parent), int(self._h.action[first])]


def _links(source: Array, target: Array, before: int, after: int) -> Carry:
    """The different links, or None where every infostate keeps its index."""
    if before == after == 1:
        return None
    pairs = np.unique(source.astype(np.int64) * after + target)
    first, second = pairs // after, pairs % after
    kept = np.arange(before)
    if before == after and np.array_equal(first, kept) and np.array_equal(second, kept):
        return None
    return Links(first.astype(np.int32), second.astype(np.int32))
