"""The fixed sets of connect four positions with every move's exact score: reading and writing them; it solves nothing.

Sets are named as Pascal Pons names his, by the stones on the board and the moves left with best play:
Begin has 14 stones or fewer, Middle 15 to 28, End 29 or more; Easy ends in fewer than 14 moves, Medium in 14 to 28,
Hard in more. Positions are ours: random play from a seed (soglab/checks/connect_four_sets.py).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sog.errors import SettingError
from sog.opponents.connect_four.bitboards import COLUMNS
from sog.opponents.connect_four.solver import value_of

__all__ = ["EASY", "SETS", "SHIPPED", "Scored", "read_positions", "set_of", "write_positions"]

# How many positions each set has.
SETS: Final = {
    "End-Easy": 1_000,
    "Middle-Easy": 1_000,
    "Middle-Medium": 1_000,
    "Begin-Easy": 1_000,
    "Begin-Medium": 1_000,
    "Begin-Hard": 200,
}
EASY: Final = 13  # moves left at most
SHIPPED: Final = Path(__file__).parent / "positions.csv.gz"

_FULL_COLUMN: Final = "-"


@dataclass(frozen=True)
class Scored:
    """A position of a set.  moves: the columns that led there, from 0.  scores: of each legal column, the mover's."""

    of: str
    moves: tuple[int, ...]
    scores: dict[int, int]

    @property
    def best(self) -> int:
        """The position's score."""
        return max(self.scores.values())

    @property
    def can_lose_value(self) -> bool:
        """Whether some move makes a draw or a loss of a win, or a loss of a draw."""
        return value_of(min(self.scores.values())) < value_of(self.best)

    def loses_value(self, column: int) -> bool:
        """Whether this move does."""
        return value_of(self.scores[column]) < value_of(self.best)

    def loses_score(self, column: int) -> bool:
        """Whether this move wins later, or loses sooner, than another, or loses value."""
        return self.scores[column] < self.best


def set_of(stones: int, left: int) -> str:
    """The set that a position belongs to, from its stones and the moves left with best play."""
    phase = "Begin" if stones <= 14 else "Middle" if stones <= 28 else "End"
    return f"{phase}-{'Easy' if left <= EASY else 'Medium' if left <= 28 else 'Hard'}"


def read_positions(path: Path = SHIPPED) -> list[Scored]:
    """The positions of a file, by default those shipped; SettingError where it cannot be read."""
    try:
        with gzip.open(path, "rt", encoding="ascii") as file:
            return [_read(line.strip()) for line in file]
    except (OSError, ValueError, EOFError) as error:
        raise SettingError(f"{path} holds no connect four positions: {error}") from error


def write_positions(path: Path, positions: Iterable[Scored]) -> None:
    """Write a file that is the same to the byte for the same positions."""
    lines = []
    for position in positions:
        moves = "".join(str(column + 1) for column in position.moves)
        scores = " ".join(str(position.scores.get(column, _FULL_COLUMN)) for column in range(COLUMNS))
        lines.append(f"{position.of},{moves},{scores}\n")
    path.write_bytes(gzip.compress("".join(lines).encode("ascii"), mtime=0))


def _read(line: str) -> Scored:
    of, moves, scores = line.split(",")
    words = scores.split(" ")
    if of not in SETS or len(words) != COLUMNS:
        raise ValueError(f"not a position: {line}")
    by_column = {column: int(word) for column, word in enumerate(words) if word != _FULL_COLUMN}
    return Scored(of, tuple(int(column) - 1 for column in moves), by_column)
