"""Training rows as bytes: one packed form for every game, of what the learner reads and no more.

A row is written field by field, each as long as it needs to be:

    features     a bit each (is it not 0?), then the values that are not 1, as float32
    slots        a bit for each infostate of both players that the row says something about
    ranges       float16 for each of these (for hold'em 1,326 hands a player, fewer on a board)
    values       a bit for each of these (is it trained?), then float16 for the trained ones
    matchups     float16[2, S0, S1] where the network reads them
    policies     a bit a slot (is it trained?), the legal actions, and each policy in 65,535ths, of 64 slots and more
                 in 255ths (see `_write_shares`)
    owners       a byte a cell where the network learns them and the row knows them

A chess row of 54 KB takes about 1.1 KB, a hold'em row of 97 KB 11 to 16 KB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Array, Int64
from sog.errors import CheckpointError, GameError
from sog.nets.shape import NetworkShape
from sog.training.packing_kernels import FAULTS, Dense, RowLayout, longest_row, read_rows, write_rows
from sog.training.rows import Rows, blank_rows

__all__ = ["PackedRows", "join_packed", "layout_of", "pack", "pack_all", "unpack"]

_AT_ONCE: Final = 64  # rows packed in one call, which bounds the room for the longest possible ones


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows as bytes, one after the other.

    content: uint8[*].  ends: int64[N], where each row ends in it.
    """

    content: Array
    ends: Int64

    def __len__(self) -> int:
        return len(self.ends)

    def row(self, k: int) -> Array:
        """uint8[*]: the bytes of row k, a view."""
        return self.content[self.ends[k - 1] if k else 0 : self.ends[k]]


def pack(shape: NetworkShape, rows: Rows) -> PackedRows:
    """Rows as bytes; GameError for a NaN, and for numbers that would come back as something else."""
    parts = [_pack(shape, rows.take(slice(k, k + _AT_ONCE))) for k in range(0, len(rows), _AT_ONCE)]
    return join_packed(parts)


def pack_all(shape: NetworkShape, parts: Iterable[Rows]) -> PackedRows:
    """Rows that come in parts, packed a few dozen at a time as they come."""
    packed: list[PackedRows] = []
    waiting: list[Rows] = []
    count = 0
    for rows in parts:
        waiting.append(rows)
        count += len(rows)
        if count >= _AT_ONCE:
            packed.append(pack(shape, _join(waiting)))
            waiting, count = [], 0
    if waiting:
        packed.append(pack(shape, _join(waiting)))
    return join_packed(packed)


def join_packed(parts: Sequence[PackedRows]) -> PackedRows:
    """All rows in one, possibly none."""
    if not parts:
        return PackedRows(np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int64))
    starts = np.cumsum([0, *(len(part.content) for part in parts[:-1])])
    ends = [part.ends + start for part, start in zip(parts, starts, strict=True)]
    return PackedRows(np.concatenate([part.content for part in parts]), np.concatenate(ends))


def unpack(shape: NetworkShape, packed: PackedRows) -> Rows:
    """The rows again, ready to be learned from; CheckpointError where the bytes are not rows of this network."""
    count, features, slots = len(packed), shape.features, shape.num_values
    rows = blank_rows(shape, count)
    halves = np.zeros((2, count, slots), dtype=np.uint16)
    matchups = np.zeros((count, _matchup_width(shape)), dtype=np.uint16)
    dense = _dense(rows, halves, matchups)
    if read_rows(dense, layout_of(shape), np.ascontiguousarray(packed.content), packed.ends):
        raise CheckpointError("the replay window's rows are damaged or belong to another network")
    ranges, values = halves.view(np.float16)
    rows.inputs[:, features : features + slots] = ranges
    rows.values[:] = values
    for k, column in enumerate(shape.crossed, 1):
        crossed = rows.inputs[:, features + k * slots : features + (k + 1) * slots]
        np.multiply(ranges, rows.inputs[:, column : column + 1], out=crossed, dtype=np.float32)
    rows.inputs[:, rows.inputs.shape[1] - matchups.shape[1] :] = matchups.view(np.float16)
    return rows


def _join(parts: Sequence[Rows]) -> Rows:
    columns = [part.columns() for part in parts]
    return Rows(**{name: np.concatenate([column[name] for column in columns]) for name in columns[0]})


def _pack(shape: NetworkShape, rows: Rows) -> PackedRows:
    features, slots = shape.features, shape.num_values
    ranges = rows.inputs[:, features : features + slots]
    matchups = rows.inputs[:, rows.inputs.shape[1] - _matchup_width(shape) :]
    with np.errstate(over="ignore"):
        halves = np.stack([ranges, rows.values]).astype(np.float16)
        sides = matchups.astype(np.float16)
    if not (np.isfinite(halves).all() and np.isfinite(sides).all() and np.isfinite(rows.inputs[:, :features]).all()):
        raise GameError("a training row has a number that is NaN, infinite or above 65,504")
    layout = layout_of(shape)
    content = np.empty(len(rows) * longest_row(layout), dtype=np.uint8)
    ends = np.zeros(len(rows), dtype=np.int64)
    dense = _dense(rows, halves.view(np.uint16), np.ascontiguousarray(sides).view(np.uint16))
    fault = write_rows(dense, layout, content, ends)
    if fault:
        raise GameError(FAULTS[fault])
    return PackedRows(content[: ends[-1]].copy(), ends)


def _dense(rows: Rows, halves: Array, matchups: Array) -> Dense:
    """The rows as kernels take them.  halves: uint16[2, N, S0 + S1].  matchups: uint16[N, M]."""
    bits = np.ascontiguousarray(rows.inputs).view(np.uint32)
    whole = np.ascontiguousarray
    # Slot after slot, as the network's logits lie.
    flat = len(rows), math.prod(rows.policies.shape[1:])
    policies, legal = whole(rows.policies).reshape(flat), whole(rows.legal).reshape(flat)
    masks = whole(rows.value_mask), whole(rows.policy_mask)
    owners = whole(rows.owners), whole(rows.owners_mask)
    return Dense(bits, halves, matchups, masks[0], policies, masks[1], legal, *owners)


def _matchup_width(shape: NetworkShape) -> int:
    return shape.inputs - shape.seen


def layout_of(shape: NetworkShape) -> RowLayout:
    """What the rows of a network are made of."""
    cells = shape.planes[1] * shape.planes[2] if shape.planes else 1
    matchups = shape.inputs - shape.seen
    counts = shape.legal_pairs or (shape.actions,) * shape.policy_slots
    starts = np.cumsum([0, *counts], dtype=np.int64)
    return RowLayout(shape.features, cells, shape.num_values, matchups, starts, shape.cells)
