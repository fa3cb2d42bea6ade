"""Chess mates in one and in two moves: found by exhaustive search, and the file of positions that have them."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sog.errors import SettingError

__all__ = ["SETS", "SHIPPED", "Mate", "mating_moves", "read_mates", "write_mates"]

# How many positions there are of each number of moves.
SETS: Final = {1: 150, 2: 150}
SHIPPED: Final = Path(__file__).parent / "mates.csv.gz"


@dataclass(frozen=True)
class Mate:
    """A position.  moves: the mover's own until mate with best play.  solutions: the moves that keep it, as e2e4."""

    moves: int
    fen: str
    solutions: tuple[str, ...]


def mating_moves(state: Any, moves: int) -> list[int]:
    """OpenSpiel's actions after which the mover mates in this many moves of its own at most, whatever the answers."""
    return [action for action in state.legal_actions() if _mated(state.child(action), state.current_player(), moves)]


def _mated(after: Any, mover: int, moves: int) -> bool:
    """Whether the mover, who has just moved, has mated or mates with `moves` - 1 more moves."""
    if after.is_terminal():
        return bool(after.player_return(mover) > 0)
    if moves == 1:
        return False
    return all(_mates(after.child(action), mover, moves - 1) for action in after.legal_actions())


def _mates(state: Any, mover: int, moves: int) -> bool:
    """Whether the mover, whose turn it is, mates in this many moves at most."""
    if state.is_terminal():
        return False
    return any(_mated(state.child(action), mover, moves) for action in state.legal_actions())


def read_mates(path: Path = SHIPPED) -> list[Mate]:
    """The positions of a file, by default those shipped; SettingError where it cannot be read."""
    try:
        with gzip.open(path, "rt", encoding="ascii") as file:
            return [_read(line.strip()) for line in file]
    except (OSError, ValueError, EOFError) as error:
        raise SettingError(f"{path} holds no mates: {error}") from error


def write_mates(path: Path, mates: Iterable[Mate]) -> None:
    """Write a file that is the same to the byte for the same positions."""
    text = "".join(f"{mate.moves},{mate.fen},{' '.join(mate.solutions)}\n" for mate in mates)
    path.write_bytes(gzip.compress(text.encode("ascii"), mtime=0))


def _read(line: str) -> Mate:
    moves, fen, solutions = line.split(",")
    if int(moves) not in SETS or not solutions:
        raise ValueError(f"not a position: {line}")
    return Mate(int(moves), fen, tuple(solutions.split(" ")))
