"""Rules as kernels play them: a position is a row of whole numbers and a row of cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, cast

import numba

from sog.arrays import Array, Int64
from sog.games.kernels import Kernel

__all__ = ["CellRules", "play_function"]

# numbers, cells, width, above, action, below, actions: see `play_function`.
_PLAY: Final = "int64(CPointer(int64), CPointer(int8), int64, int64, int64, int64, CPointer(int32))"


class CellRules(NamedTuple):
    """The rules of a deterministic game in which the players move in turns, for trees that begin at one position.

    play: the address of a function, see `play_function`.
    write_planes: the kernel that writes what Game.features answers, write_planes(numbers, cells, rows, out): int64[N,
    K], int8[N, C], int64[B], which of the N, and float32[B, F], which holds zeros.
    numbers, cells: int64[K] and int8[C], the row of the position where `line` begins.
    line: the actions from there to where the tree begins.
    most: the most actions of any position.
    """

    play: int
    write_planes: Kernel
    numbers: Int64
    cells: Array
    line: Sequence[int]
    most: int


def play_function(rule: Callable[..., Any]) -> int:
    """The address of a compiled rule(numbers, cells, width, above, action, below, actions), which may stay in a cache.

    It writes row `below`, the position after a legal action in row `above`, and that position's legal actions,
    ascending. Answers how many they are; where the game ends, player 0's result of -1, 0 or 1, less 2.
    numbers, cells: pointers to int64[*, K] and int8[*, width].  actions: to int32[*].
    """
    compiler = cast(Any, numba)
    try:
        compiled = compiler.cfunc(_PLAY, cache=True, error_model="numpy")(rule)
    except RuntimeError:  # no folder for the cache can be written to
        compiled = compiler.cfunc(_PLAY, error_model="numpy")(rule)
    return int(compiled.address)
