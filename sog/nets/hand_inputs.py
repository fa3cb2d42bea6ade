"""Encoded beliefs of hold'em as a network over hands sees them: numbers for each hand of both players."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float32, Float64
from sog.games.holdem.cards import CARDS, HANDS
from sog.games.holdem.hand_inputs import WIDTH, board_table, live_slots
from sog.games.holdem.strength import FULL_BOARD
from sog.nets.cpu import hand_spread
from sog.nets.cpu.hand_spread import BELIEFS, BLOCK, COLUMNS
from sog.searches.kernels.vectors import LANES64

__all__ = ["hand_inputs"]


def hand_inputs(x: Float32) -> Float32:
    """float32[B, 2, L, WIDTH]: of each player's hands by slot, L = `live_slots` of the smallest board.

    x: float32[B, >= F + 2652], encoded beliefs: features, of which the first 52 name the board, then last both ranges.
    Slots that a larger board leaves out have zeros. Before the turn, spreads are over some of the boards to come.
    """
    boards = [tuple(int(card) for card in np.flatnonzero(row)) for row in x[:, :CARDS] > 0]
    most = live_slots(min(map(len, boards), default=FULL_BOARD))
    out: Float32 = np.zeros((len(x), 2, most, WIDTH), dtype=np.float32)
    room = _room(most)
    for board in dict.fromkeys(boards):
        rows = [k for k, other in enumerate(boards) if other == board]
        for start in range(0, len(rows), BELIEFS):
            _write(out, room, board, x, rows[start : start + BELIEFS])
    return out


def _write(out: Float32, room: hand_spread.Sums, board: tuple[int, ...], x: Float32, rows: list[int]) -> None:
    """The inputs of a few beliefs with the same board."""
    table = board_table(board)
    live, count = len(table.low), len(rows)
    ranges = x[rows, x.shape[1] - 2 * HANDS :].reshape(count, 2, HANDS)[:, :, :live]
    beside = room.ranges[: live * LANES64].reshape(live, LANES64)
    beside[:, : 2 * count] = ranges.reshape(2 * count, live).T
    beside[:, 2 * count :] = 0.0
    hand_spread.spread(table, room, np.array(rows, dtype=np.int64), out)
    out[rows, :, :live, -1] = np.log1p(ranges)


def _room(live: int) -> hand_spread.Sums:
    """Room for the sums of four beliefs."""
    sizes = (live, 3 * CARDS, live * BLOCK, live * COLUMNS)
    ranges, cards, chances, columns = (_rows(size) for size in sizes)
    return hand_spread.Sums(ranges, cards, chances, columns)


def _rows(count: int) -> Float64:
    out: Float64 = np.zeros(count * LANES64)
    return out
