"""Win chances of hold'em hands over all boards still to come, exactly: against each other hand, and against a range.

After the flop they are counted when they are asked for (5 ms for a hand on a flop). Before it they come from a table of
all pairs of hands over all 1,712,304 boards, which is counted once, in about 20 seconds, and kept in a file (7 MB).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from itertools import permutations
from math import comb
from pathlib import Path
from typing import Final

import numpy as np

from sog.arrays import Float64, Int32
from sog.files import cache_folder, open_regular, read_bounded, replace_file
from sog.games.holdem import scores
from sog.games.holdem.cards import HANDS, HIGH, LOW, disjoint_mass, live_hands, permuted_hands

__all__ = ["BOARDS", "CANONICAL", "against_each", "against_range", "load_preflop", "preflop_signs"]

BOARDS: Final = comb(48, 5)  # full boards beside two hands
CANONICAL: Final = 134_459  # of all 2,598,960 boards those that differ by more than an exchange of suits
_CHUNK: Final = 4096  # of them between two reports
_LARGEST_FILE: Final = 4 * HANDS * HANDS + 1024  # bytes

_table: list[Int32] = []  # the one table, once it is there


@lru_cache(maxsize=4096)
def against_each(board: tuple[int, ...], hand: int) -> Float64:
    """float64[1326]: how often a hand beats each other one over all boards, a tie a half; 0 where a card is shared.

    board: none, or three to five cards.
    """
    if board:
        out = np.zeros(HANDS)
        scores.hand_equities(np.array(board, dtype=np.int64), int(LOW[hand]), int(HIGH[hand]), out)
        return out
    equities: Float64 = _apart(hand) * (1.0 + preflop_signs()[hand] / BOARDS) / 2.0
    return equities


def against_range(board: tuple[int, ...], weights: Float64) -> Float64:
    """float64[1326]: how often each hand beats a range over all boards, a tie a half; 0 for hands without opponents.

    board: none, or three to five cards.  weights: float64[1326], the range.
    """
    if board:
        out = np.zeros(HANDS)
        live = np.where(live_hands(board), weights, 0.0)
        scores.range_equities(np.array(board, dtype=np.int64), live, out)
        return out
    mass = disjoint_mass(weights)
    won = (mass + preflop_signs() @ weights / BOARDS) / 2.0
    return np.divide(won, mass, out=np.zeros(HANDS), where=mass > 1e-12)


def preflop_signs() -> Int32:
    """int32[1326, 1326]: on how many boards the first hand wins less those where it loses; 0 where a card is shared."""
    return load_preflop(lambda _: None)


def load_preflop(report: Callable[[int], None]) -> Int32:
    """`preflop_signs`, from this process, the file or anew. report: takes the canonical boards counted so far."""
    if not _table:
        path = _file()
        table = None if path is None else _read(path)
        if table is None:
            table = _counted(report)
            if path is not None:
                _write(path, table)
        _table.append(table)
    return _table[0]


def _apart(hand: int) -> Float64:
    """float64[1326]: 1 where a hand shares no card with this one."""
    return live_hands((int(LOW[hand]), int(HIGH[hand]))).astype(np.float64)


def _file() -> Path | None:
    """Where the table is kept: beside compiled kernels of this user, named after the code that counts it."""
    digest, folder = hashlib.sha256(Path(scores.__file__).read_bytes()).hexdigest()[:16], cache_folder()
    return None if folder is None else folder / f"holdem-preflop-{digest}.npy"


def _read(path: Path) -> Int32 | None:
    """The table of a file; None for a missing file, or one with another table."""
    with suppress(OSError, ValueError):
        with open_regular(path, _LARGEST_FILE) as (file, size):
            content = read_bounded(file, size)
        table: Int32 = np.load(io.BytesIO(content), allow_pickle=False)
        if table.shape == (HANDS, HANDS) and table.dtype == np.int32:
            return table
    return None


def _write(path: Path, table: Int32) -> None:
    content = io.BytesIO()
    np.save(content, table)
    with suppress(OSError):  # a folder that cannot be written to costs the next process its time, no more
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content.getvalue())


def _counted(report: Callable[[int], None]) -> Int32:
    """Count the table: each canonical board once, then all exchanges of suits."""
    boards, weights = np.zeros((CANONICAL, 5), dtype=np.int64), np.zeros(CANONICAL, dtype=np.int32)
    count = scores.canonical_boards(boards, weights)
    assert count == CANONICAL
    upper = np.zeros((HANDS, HANDS), dtype=np.int32)
    for begin in range(0, CANONICAL, _CHUNK):
        scores.add_signs(boards[begin : begin + _CHUNK], weights[begin : begin + _CHUNK], upper)
        report(min(begin + _CHUNK, CANONICAL))
    once = (upper - upper.T).astype(np.int64)
    # A board that represents `weight` boards was counted `weight` times: each exchange of suits has its 24th of them.
    total = np.zeros((HANDS, HANDS), dtype=np.int64)
    for suits in permutations(range(4)):
        to = permuted_hands(suits)
        total += once[np.ix_(to, to)]
    table: Int32 = (total // 24).astype(np.int32)
    for hand in range(HANDS):
        table[hand] *= _apart(hand).astype(np.int32)
    return table
