"""Encoded beliefs of hold'em as a network over hands sees them: numbers for each hand of both players."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sog.arrays import Float32, Float64, Int64
from sog.games.holdem.cards import CARDS, HANDS
from sog.games.holdem.hand_inputs import WIDTH, board_table, live_slots
from sog.games.holdem.inputs import ACTORS, CHANCE, LEFT
from sog.games.holdem.strength import FULL_BOARD
from sog.nets.cpu import hand_spread
from sog.nets.cpu.hand_spread import BELIEFS, BLOCK, COLUMNS
from sog.nets.shape import NetworkShape
from sog.searches.kernels.vectors import LANES64
from sog.searches.leaves.evaluator import Wanted

__all__ = ["Seen", "hand_inputs", "outputs_of"]

_TENTHS = 10.0  # the feature LEFT is in tenths of a pot


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


def _room(live: int) -> hand_spread.Sums:
    """Room for the sums of four beliefs."""
    sizes = (live, 3 * CARDS, live * BLOCK, live * COLUMNS)
    ranges, cards, chances, columns = (_rows(size) for size in sizes)
    return hand_spread.Sums(ranges, cards, chances, columns)


def _rows(count: int) -> Float64:
    out: Float64 = np.zeros(count * LANES64)
    return out


class Seen(NamedTuple):
    """What the network sees of the beliefs that it answers: R of B, with L hands that the smallest board leaves.

    Where chance acts and nothing can be bet, values are 0 and nobody reads logits: these are left out.
    rows: int64[R], which beliefs.  features: float32[R, F].  hands: float32[R, 2, L, WIDTH].
    shares: float32[R, 2, L], of each player's range.  left: float32[R], the pots that may still be bet, at most 1.
    actors: int64[R], whose logits are read; 0 where chance acts.
    """

    rows: Int64
    features: Float32
    hands: Float32
    shares: Float32
    left: Float32
    actors: Int64

    @classmethod
    def of(cls, shape: NetworkShape, x: Float32) -> Seen:
        """x: float32[B, D], encoded beliefs."""
        rows: Int64 = np.flatnonzero((x[:, LEFT] > 0) | (x[:, CHANCE] == 0))
        x = x[rows]
        features, hands = x[:, : shape.features], hand_inputs(x)
        ranges = x[:, shape.features :].reshape(len(x), 2, HANDS)[:, :, : hands.shape[2]]
        shares: Float32 = ranges / np.maximum(ranges.sum(axis=2, keepdims=True), np.float32(1e-9))
        left: Float32 = np.minimum(np.float32(_TENTHS) * features[:, LEFT], np.float32(1.0))
        actors: Int64 = np.minimum(features[:, ACTORS].argmax(axis=1), 1).astype(np.int64)
        return cls(rows, np.ascontiguousarray(features), hands, np.ascontiguousarray(shares), left, actors)


def outputs_of(shape: NetworkShape, wanted: Wanted) -> int:
    """How many numbers a row of what is wanted has."""
    values = 0 if wanted is Wanted.POLICIES else shape.num_values
    return values + (0 if wanted is Wanted.VALUES else shape.num_logits)
