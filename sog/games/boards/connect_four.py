"""Connect four on OpenSpiel's rules, with planes for the network."""

from __future__ import annotations

from typing import Final, cast

import numpy as np
import pyspiel

from sog.arrays import Array, Float32
from sog.errors import GameError
from sog.games.base import TERMINAL, State
from sog.games.boards.connect_four_cells import COLUMNS, ROWS, connect_four_cells, write_stones, write_threats
from sog.games.boards.positions import BoardPosition, PositionGame
from sog.games.cells import CellRules
from sog.games.parameters import require_inputs
from sog.games.strings import write_game
from sog.games.symmetries import mirrored_columns

THREATS: Final = "threats"
STONES: Final = "stones"
INPUTS: Final = (THREATS, STONES)  # what networks see

_DIGITS: Final = "1234567"
_LATEST: Final = 30  # of the 42 moves, the latest at which self-play begins
_CODES: Final = np.zeros(256, dtype=np.int8)
_CODES[[ord("x"), ord("o")]] = 1, 2


class ConnectFour(PositionGame):
    """Four in a line on 6 x 7; action a drops a piece into column a, player 0 (x) moves first.

    Planes with inputs=threats, float32[6, 6, 7], made by hand: the mover's pieces, the opponent's, the empty cells that
    would complete four of the mover's and of the opponent's, reachable or not, ones in every other row, since in the
    endgame the row decides who is made to play below a threat, and ones where player 0 acts. Row 0 is the top one.
    With the threats a small network loses value half as often after equal training (docs/notes.md).
    With inputs=stones float32[3, 6, 7]: the mover's pieces, the opponent's, and ones where player 0 acts.
    Earlier positions are left out: no rule looks back at them, and a network given eight of them plays worse.
    """

    def __init__(self, moves: str = "", inputs: str = THREATS) -> None:
        """moves: the columns, from 1, that lead to where play begins.  inputs: one of INPUTS.

        GameError where the moves are illegal or end the game, and where inputs is another word.
        """
        require_inputs("connect_four", inputs, INPUTS)
        spiel = pyspiel.load_game("connect_four")
        planes = (6 if inputs == THREATS else 3, ROWS, COLUMNS)
        values = {"moves": (moves, ""), "inputs": (inputs, THREATS)}
        name = write_game("connect_four", {key: value for key, (value, usual) in values.items() if value != usual})
        super().__init__(name, spiel, spiel.new_initial_state(), planes)
        self.inputs, self._write_planes = inputs, write_threats if inputs == THREATS else write_stones
        self.moves = tuple(int(letter) - 1 if letter in _DIGITS else COLUMNS for letter in moves)
        for number, column in enumerate(self.moves, start=1):
            if column not in self._root.legal:
                raise GameError(f"connect_four: move {number} of moves={moves} is not the number of an open column")
            self._root = self._root.play(column)
        if self._root.actor == TERMINAL:
            raise GameError(f"connect_four: moves={moves} ends the game")
        if not moves:  # a position's mirror image is not reached from it
            self.symmetries = mirrored_columns(ROWS, COLUMNS, planes[0])

    def random_start(self, rng: np.random.Generator) -> ConnectFour | None:
        """A position after uniform moves, up to `_LATEST` of them; None from another position than the empty board.

        Good play leads to few of the positions in the middle and at the end of such games.
        """
        if self.moves:
            return None
        while True:
            state, left = self._root.spiel.clone(), int(rng.integers(1, _LATEST + 1))
            while left and not state.is_terminal():
                state.apply_action(int(rng.choice(state.legal_actions())))
                left -= 1
            if not state.is_terminal():
                return ConnectFour("".join(str(column + 1) for column in state.history()), self.inputs)

    def write_planes(self, position: BoardPosition, out: Float32) -> None:
        self._write_planes(
            np.array([[position.actor]]), _board(position).reshape(1, -1), np.zeros(1, dtype=np.int64), out[None]
        )

    def cell_rules(self, s: State) -> CellRules:
        return connect_four_cells(self.history(s, 0, 0), self._write_planes)

    def state_name(self, s: State) -> str:
        line = "".join(str(action + 1) for action in cast(BoardPosition, s).spiel.history())
        return line or "start"

    def picture(self, s: State) -> str:
        rows = str(cast(BoardPosition, s).spiel).split("\n")[:ROWS]
        return "\n".join([*(" ".join(row) for row in rows), " ".join(str(c + 1) for c in range(COLUMNS))])

    def action_name(self, s: State, action: int) -> str:
        return str(action + 1)


def _board(position: BoardPosition) -> Array:
    """int8[6, 7]: 1 for x, 2 for o."""
    if position.view is None:
        letters = str(position.spiel).replace("\n", "").encode()[: ROWS * COLUMNS]
        position.view = _CODES[np.frombuffer(letters, dtype=np.uint8)].reshape(ROWS, COLUMNS)
    return cast(Array, position.view)
