"""Connect four solved exactly from any position: the score of every move.

After Pascal Pons, "Solving Connect 4: how to build a perfect AI": bitboards, null windows that narrow the score down,
a transposition table of bounds, only moves after which the opponent does not win at once, most threats first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.errors import GameError, SogError
from sog.opponents.connect_four.alpha_beta import CELLS, NODES, VALUE, begin, new_stack, search
from sog.opponents.connect_four.bitboards import COLUMNS, ROWS

__all__ = ["Board", "ConnectFourSolver", "GivenUp", "Stopped", "expected_positions", "plies_to_end", "value_of"]

_BITS: Final = 23  # of the table: 8.4 million bounds, 64 MB
_BATCH: Final = 1 << 20  # positions between two looks at the clock

_AT_FOUR: Final = 1.3e9
_PER_STONE: Final = 2.6

# Takes the positions searched so far; true gives the search up.
Stopped = Callable[[int], bool]

_DIRECTIONS: Final = (1, ROWS, ROWS + 1, ROWS + 2)


@dataclass(frozen=True)
class Board:
    """A position.  own: the stones of the player to move as bits.  mask: all stones (see bitboards)."""

    own: int = 0
    mask: int = 0

    @property
    def stones(self) -> int:
        return self.mask.bit_count()

    @property
    def over(self) -> bool:
        """Whether the player who moved last has four in a line, or the board is full."""
        return _has_four(self.mask ^ self.own) or self.stones == CELLS

    def columns(self) -> list[int]:
        """Columns that are not full, from 0; none where the game is over."""
        return [] if self.over else [c for c in range(COLUMNS) if not self.mask >> ((ROWS + 1) * c + ROWS - 1) & 1]

    def wins_with(self, column: int) -> bool:
        """Whether a stone in a column that is not full completes four."""
        after = self.play(column)
        return _has_four(after.mask ^ after.own)

    def wins_at_once(self) -> bool:
        """Whether the player to move can win with the next stone."""
        return any(self.wins_with(column) for column in self.columns())

    def play(self, column: int) -> Board:
        """The position after a stone in a column that is not full."""
        return Board(self.mask ^ self.own, self.mask | (self.mask + (1 << (ROWS + 1) * column)))

    @classmethod
    def after(cls, moves: Sequence[int]) -> Board:
        """The position after these columns, from 0; GameError where a move is illegal."""
        board = cls()
        for ply, column in enumerate(moves):
            if column not in board.columns():
                raise GameError(f"connect four: move {ply + 1}, column {column + 1}, is not legal")
            board = board.play(column)
        return board


def _has_four(stones: int) -> bool:
    for step in _DIRECTIONS:
        pairs = stones & (stones >> step)
        if pairs & (pairs >> 2 * step):
            return True
    return False


class GivenUp(SogError):
    """The search was stopped before it knew."""


class ConnectFourSolver:
    """Exact scores, with one table of bounds that all searches share.

    A score is the mover's: 0 a draw; s > 0 a win where the winner has put down 22 - s stones at the end, with both
    sides playing best (the sooner the win, the higher); s < 0 a loss likewise.
    """

    def __init__(self, bits: int = _BITS) -> None:
        """The table holds 2 ** bits bounds of 8 bytes."""
        self._bits, self._table, self._stack = bits, np.zeros(1 << bits, dtype=np.int64), new_stack()
        self.nodes = 0

    def score(self, board: Board, stopped: Stopped | None = None) -> int:
        """The position's score for the player to move; GivenUp where it was stopped. The game is not over."""
        if board.wins_at_once():
            return (CELLS + 1 - board.stones) // 2
        low, high = -((CELLS - board.stones) // 2), (CELLS + 1 - board.stones) // 2
        while low < high:
            middle = low + (high - low) // 2
            if middle <= 0 and int(low / 2) < middle:
                middle = int(low / 2)
            elif middle >= 0 and int(high / 2) > middle:
                middle = int(high / 2)
            bound = self._bounded(board, middle, stopped)
            if bound <= middle:
                high = bound
            else:
                low = bound
        return low

    def ends_within(self, board: Board, plies: int) -> bool:
        """Whether best play ends with a win in this many moves or fewer, or the board is full before them.

        Far quicker than the score where neither is so.
        """
        if board.wins_at_once():
            return plies >= 1
        for mover_wins in (True, False):
            number = board.stones + plies  # of the last stone that would be soon enough
            last = number if (number - board.stones) % 2 == mover_wins else number - 1
            needed = CELLS // 2 + 1 - (last + 1) // 2
            if mover_wins and self._bounded(board, needed - 1, None) >= needed:
                return True
            if not mover_wins and self._bounded(board, -needed, None) <= -needed:
                return True
        return False

    def scores(self, board: Board, stopped: Stopped | None = None) -> dict[int, int]:
        """Each legal column's score for the player to move."""
        return {column: self._after(board, column, stopped) for column in board.columns()}

    def _after(self, board: Board, column: int, stopped: Stopped | None) -> int:
        if board.wins_with(column):
            return (CELLS + 1 - board.stones) // 2
        after = board.play(column)
        return 0 if after.over else -self.score(after, stopped)

    def _bounded(self, board: Board, alpha: int, stopped: Stopped | None) -> int:
        """Search in the window (alpha, alpha + 1): a bound on the score."""
        begin(self._stack, board.own, board.mask, alpha, alpha + 1)
        before = int(self._stack[-1, NODES])
        while not search(self._stack, self._table, self._bits, _BATCH):
            if stopped is not None and stopped(self.nodes + int(self._stack[-1, NODES]) - before):
                raise GivenUp
        self.nodes += int(self._stack[-1, NODES]) - before
        return int(self._stack[-1, VALUE])


def value_of(score: int) -> int:
    """1 a win, 0 a draw, -1 a loss."""
    return (score > 0) - (score < 0)


def plies_to_end(board: Board, score: int) -> int:
    """Moves left in the game with best play, from a position and its score."""
    if score == 0:
        return CELLS - board.stones
    last = CELLS + 2 - 2 * abs(score)  # the winner's last stone, if the second player wins
    winner_moves_next = score > 0
    odd = (board.stones + winner_moves_next) % 2  # whether that stone's number is odd
    return last - odd - board.stones


def expected_positions(stones: int) -> float:
    """About how many positions all moves of a position take to solve, by its stones; for what lies ahead, not exact.

    Measured in the centre, the hardest there is: all moves of 44444432 took 2.8e7 positions, those of 4444 1.3e9, 2.6
    times as many for each stone less. Random positions take less (8 stones: 1.9e7, 4 stones: 3.3e8).
    """
    return _AT_FOUR * _PER_STONE ** (4 - stones)
