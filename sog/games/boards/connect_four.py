"""Connect four on OpenSpiel's rules, with planes for the network."""

from __future__ import annotations

from typing import Final, cast

import numpy as np
import pyspiel

from sog.arrays import Array, Float32
from sog.games.base import State
from sog.games.boards.positions import HISTORY, Position, PositionGame, stone_planes
from sog.games.symmetries import mirrored_columns

_ROWS: Final = 6
_COLUMNS: Final = 7
_CODES: Final = np.zeros(256, dtype=np.int8)
_CODES[[ord("x"), ord("o")]] = 1, 2


class ConnectFour(PositionGame):
    """Four in a line on 6 x 7; action a drops a piece into column a, player 0 (x) moves first.

    Planes, float32[17, 6, 7], as AlphaGo Zero's for Go: the mover's pieces in the 8 latest positions, the
    opponent's, and ones where player 0 acts. Row 0 is the top one.
    """

    def __init__(self) -> None:
        spiel = pyspiel.load_game("connect_four")
        planes = (2 * HISTORY + 1, _ROWS, _COLUMNS)
        super().__init__("connect_four", spiel, spiel.new_initial_state(), planes)
        self.symmetries = mirrored_columns(_ROWS, _COLUMNS, planes[0])

    def write_planes(self, position: Position, out: Float32) -> None:
        stone_planes([_board(past) for past in position.latest()], position.actor, out)

    def state_name(self, s: State) -> str:
        line = "".join(str(action + 1) for action in cast(Position, s).spiel.history())
        return line or "start"

    def picture(self, s: State) -> str:
        rows = str(cast(Position, s).spiel).split("\n")[:_ROWS]
        return "\n".join([*(" ".join(row) for row in rows), " ".join(str(c + 1) for c in range(_COLUMNS))])

    def action_name(self, s: State, action: int) -> str:
        return str(action + 1)


def _board(position: Position) -> Array:
    """int8[6, 7]: 1 for x, 2 for o."""
    if position.view is None:
        letters = str(position.spiel).replace("\n", "").encode()[: _ROWS * _COLUMNS]
        position.view = _CODES[np.frombuffer(letters, dtype=np.uint8)].reshape(_ROWS, _COLUMNS)
    return cast(Array, position.view)
