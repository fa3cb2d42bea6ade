"""A Go game as GTP's commands build it: colours, vertices, undo."""

from __future__ import annotations

import re
from typing import Final

from sog.arrays import Array
from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards.go import Go
from sog.games.boards.go_area import area
from sog.play.move_tree import MoveTree

__all__ = ["COLOURS", "GoBoard", "read_colour", "read_vertex", "write_score", "write_vertex"]

BLACK, WHITE = 0, 1
COLOURS: Final = ("black", "white")
_LETTERS: Final = "ABCDEFGHJKLMNOPQRST"
_VERTEX: Final = re.compile(r"([a-hj-t])([1-9][0-9]?)", re.IGNORECASE)


class GoBoard:
    """The moves of one game of Go. Our rules alternate colours, so a colour that moves twice makes the other pass."""

    def __init__(self, game: Go) -> None:
        self.game, self.tree = game, MoveTree(game)
        self.moves: list[int] = []
        self._before: list[list[int]] = []  # the moves before each `play`

    @property
    def node(self) -> int:
        return self.tree.node_after(self.moves)

    @property
    def over(self) -> bool:
        return self.is_over(self.moves)

    def is_over(self, moves: list[int]) -> bool:
        """Whether these moves end the game."""
        return self.tree.result(self.tree.node_after(moves)) is not None

    @property
    def stones(self) -> Array:
        """int8[N, N]: 1 for Black's stones, 2 for White's, row 0 at the bottom."""
        return self.game.board(self.tree.public.states[self.node])

    def play(self, colour: int, action: int) -> None:
        """Add a move; GameError where it is illegal, and then nothing changed.

        Bringing a whole-board position back is illegal here (positional superko), as in other Go programs.
        """
        moves = self.turned(colour)
        if self.is_over(moves) or action not in self.tree.actions(self.tree.node_after(moves)):
            raise GameError("illegal move")
        if self.repeats([*moves, action]):
            raise GameError("illegal move")
        self._before.append(self.moves)
        self.moves = [*moves, action]

    def turned(self, colour: int) -> list[int]:
        """The moves so far, with a pass more where it is the other colour's turn.

        Where this colour has just passed, its pass is left out instead: two in a row would end the game.
        """
        if len(self.moves) % 2 == colour:
            return list(self.moves)
        passed = self.moves[-1:] == [self.game.size**2]
        return self.moves[:-1] if passed else [*self.moves, self.game.size**2]

    def repeats(self, moves: list[int]) -> bool:
        """Whether the last of these moves ends the game as a repetition."""
        node = self.tree.node_after(moves)
        longest, passed = 2 * self.game.size**2, moves[-1] == self.game.size**2
        return self.tree.actor(node) == TERMINAL and not passed and len(moves) < longest

    def undo(self) -> None:
        """Take the last move back; GameError where there is none."""
        if not self._before:
            raise GameError("cannot undo")
        self.moves = self._before.pop()

    def take_over(self, other: GoBoard) -> None:
        """The moves of the same game under another komi."""
        self.moves, self._before = list(other.moves), list(other._before)

    def score(self) -> float:
        """Black's points less White's, all stones alive, komi counted."""
        black, white = area(self.stones)
        return black - white - self.game.komi

    def drawing(self) -> str:
        """The board in letters, Black X, White O."""
        size, stones = self.game.size, self.stones
        letters = "   " + " ".join(_LETTERS[:size])
        rows = [f"{row + 1:2} {' '.join('.XO'[stones[row, k]] for k in range(size))} {row + 1}" for row in range(size)]
        return "\n".join([letters, *rows[::-1], letters])


def read_vertex(word: str, size: int) -> int:
    """The action of GTP's vertex, such as C3 or pass; GameError where it is none of this board."""
    if word.lower() == "pass":
        return size * size
    match = _VERTEX.fullmatch(word)
    column, row = (_LETTERS.index(match[1].upper()), int(match[2]) - 1) if match else (size, size)
    if not (column < size and row < size):
        raise GameError("invalid coordinate")
    return row * size + column


def write_vertex(action: int, size: int) -> str:
    """GTP's vertex of an action."""
    return "pass" if action == size * size else f"{_LETTERS[action % size]}{action // size + 1}"


def read_colour(word: str) -> int:
    """0 for Black, 1 for White; GameError for others."""
    for colour, name in enumerate(COLOURS):
        if word.lower() in (name, name[0]):
            return colour
    raise GameError("invalid color")


def write_score(score: float) -> str:
    """GTP's words for a score, such as B+3.5, W+0.5 or 0."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"
