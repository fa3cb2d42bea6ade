"""OpenSpiel's board games that are too large to list, such as Othello, Hex and shogi: positions made on demand."""

from __future__ import annotations

import math
import re
from typing import Any, Final, cast

import numpy as np
import pyspiel

from sog.arrays import Float32
from sog.errors import GameError
from sog.games.base import NATURE, State
from sog.games.boards.positions import BoardPosition, PositionGame
from sog.games.openspiel.histories import LIMIT, estimated_histories, load
from sog.games.strings import OPENSPIEL

__all__ = ["OpenSpielBoard", "large_board"]

_PASSES: Final = 2  # moves without a cell, at most, that a game of moves by cells has after the others
_OUTCOMES: Final = 100  # of a chance event, above which a search leaves it a leaf
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


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
        self.deterministic = spiel.get_type().chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
        self.u_max = max(abs(spiel.min_utility()), abs(spiel.max_utility()))

    def listable(self, s: State) -> bool:
        position = cast(BoardPosition, s)
        return position.actor != NATURE or len(position.legal) <= _OUTCOMES

    def sample_chance(self, s: State, i0: int, i1: int, rng: np.random.Generator) -> tuple[State, int, int]:
        position = cast(BoardPosition, s)
        outcomes, chances = zip(*position.spiel.chance_outcomes(), strict=True)
        return position.play(outcomes[rng.choice(len(outcomes), p=chances)]), 0, 0

    def write_planes(self, position: BoardPosition, out: Float32) -> None:
        seen = position.spiel.observation_tensor(position.actor)
        row = out.reshape(-1)
        row[: len(seen)] = seen
        row[len(seen) :] = position.actor == 0

    def state_name(self, s: State) -> str:
        position = cast(BoardPosition, s)
        moves = position.spiel.history()
        if position.parent is None:
            return "start"
        return f"move {len(moves)}, {self.action_name(position.parent, moves[-1])}"

    def picture(self, s: State) -> str:
        return _COLOURS.sub("", str(cast(BoardPosition, s).spiel)).rstrip()

    def action_name(self, s: State, action: int) -> str:
        """OpenSpiel's name of a move without spaces and commas, which lines of moves have between them."""
        position = cast(BoardPosition, s)
        words = position.spiel.action_to_string(position.spiel.current_player(), action)
        return "_".join(re.split(r"[\s,]+", words.strip()))


def large_board(name: str) -> OpenSpielBoard | None:
    """The board game that an OpenSpiel game string names, where it is one with too many histories to list; else None.

    GameError where OpenSpiel does not know the game or it is not a two-player zero-sum one.
    """
    spiel = load(name)
    if not _is_board(spiel) or estimated_histories(name, spiel) <= LIMIT:
        return None
    return OpenSpielBoard(name, spiel)


def _is_board(spiel: Any) -> bool:
    kind, of = spiel.get_type(), pyspiel.GameType
    return bool(kind.dynamics == of.Dynamics.SEQUENTIAL and kind.information == of.Information.PERFECT_INFORMATION)
