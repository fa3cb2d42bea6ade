"""OpenSpiel's games with nothing hidden that are too large to list: Othello, Hex, shogi, and with dice backgammon."""

from __future__ import annotations

import math
import re
from typing import Any, Final, cast
from weakref import WeakValueDictionary

import numpy as np
import pyspiel

from sog.arrays import Float32, Int32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Fan, Scaled, State
from sog.games.boards.positions import BoardPosition, ChildPositions, PositionGame
from sog.games.openspiel.histories import LIMIT, estimated_histories, load
from sog.games.strings import OPENSPIEL

__all__ = ["OpenSpielBoard", "OpenSpielChanceBoard", "board_of", "large_board"]

_PASSES: Final = 2  # moves without a cell, at most, that a game of moves by cells has after the others
_OUTCOMES: Final = 100  # of a chance event, above which a search leaves it a leaf
_UNLIKELY: Final = 1e-290  # how likely a line is at least: smaller numbers leave the range of float64
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_NO_ACTIONS: Final = np.zeros(0, dtype=np.int32)


class OpenSpielBoard(PositionGame):
    """An OpenSpiel game of two players, perfect information and no chance, of any size.

    The network sees OpenSpiel's observation tensor, as the mover's, and whether player 0 acts. A tensor of three
    dimensions is planes of a board, and moves are its policy planes where there are as many moves as cells, or a
    multiple of that and up to two more, as OpenSpiel numbers moves by cells; any other tensor is a row of features.
    """

    def __init__(self, name: str, spiel: pyspiel.Game) -> None:
        """name: OpenSpiel's game string.  spiel: the game that it names.

        GameError where the game gives no observation tensor.
        """
        if not spiel.get_type().provides_observation_tensor:
            raise GameError(f"OpenSpiel has no observation tensor of {name}, which a network could see")
        shape = tuple(spiel.observation_tensor_shape())
        planes = (shape[0] + 1, *shape[1:]) if len(shape) == 3 else (math.prod(shape) + 1,)
        kinds, passes = divmod(int(spiel.num_distinct_actions()), math.prod(planes[1:]))
        by_cells = len(planes) == 3 and passes <= _PASSES
        super().__init__(OPENSPIEL + name, spiel, spiel.new_initial_state(), planes, kinds if by_cells else 0)
        self.u_max = max(abs(spiel.min_utility()), abs(spiel.max_utility()))

    def write_planes(self, position: BoardPosition, out: Float32) -> None:
        seen = position.spiel.observation_tensor(position.actor)
        row = out.reshape(-1)
        row[: len(seen)] = seen
        row[len(seen) :] = position.actor == 0

    def state_name(self, s: State) -> str:
        position = cast(BoardPosition, s)
        if position.parent is None:
            return "start"
        moves = position.spiel.history()
        return f"{self.action_name(position.parent, moves[-1])} (move {len(moves)})"

    def picture(self, s: State) -> str:
        return _COLOURS.sub("", str(cast(BoardPosition, s).spiel)).rstrip()

    def action_name(self, s: State, action: int) -> str:
        """OpenSpiel's name of a move without spaces and commas, which lines of moves have between them."""
        spiel = cast(BoardPosition, s).spiel
        words: str = spiel.action_to_string(spiel.current_player(), action)
        return "_".join(re.split(r"[\s,]+", words.strip()))


class ChancePosition(BoardPosition):
    """A position of a game with chance; of those after it each is made once while it is in use, drawn or listed.

    legal: where NATURE acts, its outcomes.  chance: how likely chance makes the line.  after: by action or outcome.
    """

    __slots__ = ("after", "chance")

    def __init__(self, spiel: Any, parent: BoardPosition | None = None, chance: float = 1.0) -> None:
        super().__init__(spiel, parent)
        self.chance = chance
        self.after: WeakValueDictionary[int, ChancePosition] | None = None
        if chance < _UNLIKELY:
            self.actor, self.legal = TERMINAL, _NO_ACTIONS
        elif spiel.is_chance_node():
            self.actor, self.legal = NATURE, np.array(spiel.legal_actions(), dtype=np.int32)

    def play(self, action: int) -> ChancePosition:
        if self.after is None:
            self.after = WeakValueDictionary()
        position = self.after.get(action)
        if position is None:
            likely = dict(self.spiel.chance_outcomes())[action] if self.actor == NATURE else 1.0
            position = self.after[action] = ChancePosition(self.spiel.child(action), self, self.chance * likely)
        return position


class OpenSpielChanceBoard(OpenSpielBoard):
    """The same with chance, such as dice: where it acts, each outcome is an edge, unless there are more than 100.

    A game in which chance has made a line of a probability below 1e-290, as 200 rolls of two dice do, ends in a draw.
    """

    def __init__(self, name: str, spiel: pyspiel.Game) -> None:
        super().__init__(name, spiel)
        self.deterministic = False
        self._root = ChancePosition(spiel.new_initial_state())

    def actions(self, s: State) -> Int32:
        position = cast(ChancePosition, s)
        return _NO_ACTIONS if position.actor == NATURE else position.legal

    def fan(self, s: State) -> Fan:
        position = cast(ChancePosition, s)
        return Fan(ChildPositions(position)) if position.actor == NATURE else super().fan(s)

    def weights(self, s: State) -> Scaled:
        return Scaled(super().weights(s).operator, cast(ChancePosition, s).chance)

    def payoff(self, s: State) -> Scaled:
        ends, position = super().payoff(s), cast(ChancePosition, s)
        return Scaled(ends.operator, ends.scale * position.chance if position.spiel.is_terminal() else 0.0)

    def features(self, s: State) -> Float32:
        if self.actor(s) == NATURE:
            return np.zeros(self.num_features, dtype=np.float32)
        return super().features(s)

    def listable(self, s: State) -> bool:
        position = cast(ChancePosition, s)
        return position.actor != NATURE or len(position.legal) <= _OUTCOMES

    def sample_chance(self, s: State, i0: int, i1: int, rng: np.random.Generator) -> tuple[State, int, int]:
        position = cast(ChancePosition, s)
        outcomes, chances = zip(*position.spiel.chance_outcomes(), strict=True)
        return position.play(outcomes[rng.choice(len(outcomes), p=chances)]), 0, 0


def large_board(name: str) -> OpenSpielBoard | None:
    """The game that an OpenSpiel game string names, where nothing is hidden and it is too large to list; else None.

    GameError where OpenSpiel does not know the game or it is not a two-player zero-sum one.
    """
    spiel = load(name)
    kind, of = spiel.get_type(), pyspiel.GameType
    in_turns = kind.dynamics == of.Dynamics.SEQUENTIAL
    if not (in_turns and kind.information == of.Information.PERFECT_INFORMATION):
        return None
    return board_of(name, spiel) if estimated_histories(name, spiel) > LIMIT else None


def board_of(name: str, spiel: pyspiel.Game) -> OpenSpielBoard:
    """A game with nothing hidden, of any size.  spiel: the game that the OpenSpiel game string names."""
    chance = spiel.get_type().chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
    return (OpenSpielChanceBoard if chance else OpenSpielBoard)(name, spiel)
