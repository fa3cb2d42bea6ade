"""Perfect-information games on OpenSpiel's rules: positions cloned on demand."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast, overload

import numpy as np
import pyspiel

from sog.arrays import Float32, Int32
from sog.errors import GameError
from sog.games.base import TERMINAL, Fan, Game, Moves, Operator, Scaled, State

HISTORY: Final = 8  # positions that the planes show, the latest first (AlphaZero, "Representation")

_ONE: Final = Operator(np.ones((1, 1)))
_NO_ACTIONS: Final = np.zeros(0, dtype=np.int32)


class BoardPosition:
    """A public state: OpenSpiel's state and the line that led to it; compared by identity and never changed.

    spiel: pyspiel.State.  parent: the position before, None at the root.  actor: as Game.actor.
    legal: int32[A], OpenSpiel's legal actions.  view: what the game's planes need of it, filled in when first needed.
    """

    __slots__ = ("__weakref__", "actor", "legal", "parent", "spiel", "view")

    def __init__(self, spiel: Any, parent: BoardPosition | None = None) -> None:
        self.spiel, self.parent = spiel, parent
        player: int = spiel.current_player()
        self.actor = TERMINAL if player < 0 else player
        self.legal: Int32 = np.array(spiel.legal_actions(), dtype=np.int32) if player >= 0 else _NO_ACTIONS
        self.view: Any = None

    def play(self, action: int) -> BoardPosition:
        """The position after a legal action."""
        return BoardPosition(self.spiel.child(action), self)

    def latest(self, count: int = HISTORY) -> list[BoardPosition]:
        """This position and those before it, the latest first, at most `count` of them."""
        out: list[BoardPosition] = []
        at: BoardPosition | None = self
        while at is not None and len(out) < count:
            out.append(at)
            at = at.parent
        return out


class ChildPositions(Sequence[State]):
    """The children of a position, each made anew whenever it is needed."""

    def __init__(self, position: BoardPosition) -> None:
        self.position = position

    def __len__(self) -> int:
        return len(self.position.legal)

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[State]: ...
    def __getitem__(self, index: int | slice) -> State | Sequence[State]:
        if isinstance(index, slice):
            return [self.position.play(int(action)) for action in self.position.legal[index]]
        return self.position.play(int(self.position.legal[index]))

    def __iter__(self) -> Iterator[State]:
        return (self.position.play(int(action)) for action in self.position.legal)


class PositionGame(Game):
    """A two-player zero-sum game of perfect information whose rules are OpenSpiel's.

    Players, actions and results are OpenSpiel's. Features are `planes`, float32[C, H, W] made flat, from the mover's
    side: the latest positions and then planes of one value, the last of them ones where player 0 acts.
    """

    def __init__(
        self, name: str, spiel: pyspiel.Game, start: Any, shape: tuple[int, ...], policy_planes: int = 0
    ) -> None:
        """`start`: the pyspiel.State that play begins with.  shape: of the planes, or (F,) of features without any."""
        self.name, self.u_max = name, 1.0
        self.num_actions, self.num_slots = int(spiel.num_distinct_actions()), (1, 1)
        self.planes, self.policy_planes = shape if len(shape) == 3 else None, policy_planes
        self._shape, self.num_features = shape, math.prod(shape)
        self.perfect_information = self.deterministic = True
        self._root = BoardPosition(start)

    def root(self) -> State:
        return self._root

    def actor(self, s: State) -> int:
        return cast(BoardPosition, s).actor

    def num_infostates(self, s: State) -> tuple[int, int]:
        return 1, 1

    def actions(self, s: State) -> Int32:
        return cast(BoardPosition, s).legal

    def fan(self, s: State) -> Fan:
        position = cast(BoardPosition, s)
        return Fan(ChildPositions(position), Moves(np.arange(len(position.legal), dtype=np.int32)[None, :]))

    def child(self, s: State, edge: int) -> State:
        position = cast(BoardPosition, s)
        if not 0 <= edge < len(position.legal):
            raise GameError(f"{self.name}: of the position's {len(position.legal)} moves, from 0 on, none is {edge}")
        return position.play(position.legal.item(edge))

    def weights(self, s: State) -> Scaled:
        return Scaled(_ONE)

    def payoff(self, s: State) -> Scaled:
        return Scaled(_ONE, float(cast(BoardPosition, s).spiel.player_return(0)))

    def features(self, s: State) -> Float32:
        out = np.zeros(self._shape, dtype=np.float32)
        position = cast(BoardPosition, s)
        if position.actor != TERMINAL:
            self.write_planes(position, out)
        return out.reshape(-1)

    @abstractmethod
    def write_planes(self, position: BoardPosition, out: Float32) -> None:
        """Write what a position shows where a player acts into float32[C, H, W], or float32[F], which holds zeros."""

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        return [int(action) for action in cast(BoardPosition, s).spiel.history()]

    def infostate_name(self, s: State, p: int, i: int) -> str:
        return "nothing"
