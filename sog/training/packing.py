"""Training rows of plane games made small: bits for planes, lists for policies.

A chess row is 54 KB of floats and 2 KB packed.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from sog.arrays import Array, Float32
from sog.errors import CheckpointError, GameError
from sog.games.planes import ALL_ACTIONS, LEVELS, MOST, MOST_LEGAL, are_plain
from sog.nets.shape import NetworkShape
from sog.training.replay import Codec, ReplayWindow, Rows, WindowGrowth, blank_rows

__all__ = ["PackedRows", "PlaneCodec", "blank_packed", "pack", "squeeze", "unpack", "unsqueeze", "window_for"]

_WHOLE: Final = 65_535  # the share 1


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows of a game with planes [C, H, W], each plane 0 or one value everywhere, and one infostate a player.

    bits: uint8[N, ceil(C * H * W / 8)], where planes are not 0.  levels: uint8[N, C], each plane's value in hundredths.
    values, value_mask: float32[N, 2].  policy_mask: float32[N, 1].  legal: uint8[N, 2], how many legal actions, low
    byte first.  actions, shares: uint16[N, K], the legal actions and their policy in 1 / 65,535.
    owners: int8[N, H * W], 0 columns where they are not learned.  owners_mask: float32[N, 1], or 0 columns.
    """

    bits: Array
    levels: Array
    values: Float32
    value_mask: Float32
    policy_mask: Float32
    legal: Array
    actions: Array
    shares: Array
    owners: Array
    owners_mask: Float32

    def __len__(self) -> int:
        return len(self.bits)

    def take(self, index: Array | slice) -> PackedRows:
        """Some of the rows: copies for an array of indices, views for a slice."""
        return PackedRows(**{name: column[index] for name, column in self.columns().items()})

    def columns(self) -> dict[str, Array]:
        """The arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def blank_packed(shape: NetworkShape, count: int) -> PackedRows:
    """Rows of zeros."""
    cells = math.prod(shape.planes)
    most = shape.actions if shape.actions <= ALL_ACTIONS else MOST_LEGAL
    return PackedRows(
        bits=np.zeros((count, (cells + 7) // 8), dtype=np.uint8),
        levels=np.zeros((count, shape.planes[0]), dtype=np.uint8),
        values=np.zeros((count, 2), dtype=np.float32),
        value_mask=np.zeros((count, 2), dtype=np.float32),
        policy_mask=np.zeros((count, 1), dtype=np.float32),
        legal=np.zeros((count, 2), dtype=np.uint8),
        actions=np.zeros((count, most), dtype=np.uint16),
        shares=np.zeros((count, most), dtype=np.uint16),
        owners=np.zeros((count, shape.cells), dtype=np.int8),
        owners_mask=np.zeros((count, min(shape.cells, 1)), dtype=np.float32),
    )


def pack(shape: NetworkShape, rows: Rows) -> PackedRows:
    """Rows made small: planes in hundredths up to 2.55, policies in 1 / 65,535; GameError for what does not fit."""
    out = blank_packed(shape, len(rows))
    planes = rows.inputs[:, : math.prod(shape.planes)].reshape(len(rows), shape.planes[0], -1)
    if not are_plain(planes):
        raise GameError("a plane of a game is 0 or one value everywhere, of at least 0.01")
    if (rows.legal.sum(axis=2) > out.actions.shape[1]).any():
        raise GameError(f"of {shape.actions} actions of a game with planes at most {MOST_LEGAL} are legal at once")
    out.bits[:] = np.packbits(planes.reshape(len(rows), -1) != 0, axis=1)
    if len(rows) and planes.max() > MOST:
        raise GameError(f"a plane of a game is at most {MOST}, not {planes.max():.4g}")
    out.levels[:] = np.rint(planes.max(axis=2) * LEVELS)
    out.values[:], out.value_mask[:], out.policy_mask[:] = rows.values, rows.value_mask, rows.policy_mask
    out.owners[:], out.owners_mask[:] = rows.owners, rows.owners_mask
    for k in range(len(rows)):
        actions = np.flatnonzero(rows.legal[k, 0])
        # Two bytes: Go has more than 255 legal moves.
        out.legal[k] = len(actions) % 256, len(actions) // 256
        out.actions[k, : len(actions)] = actions
        out.shares[k, : len(actions)] = np.rint(rows.policies[k, 0, actions] * _WHOLE)
    return out


def unpack(shape: NetworkShape, packed: PackedRows) -> Rows:
    """The rows again, ready to be learned from."""
    count, cells = len(packed), math.prod(shape.planes)
    rows = blank_rows(shape, count)
    planes = rows.inputs[:, :cells].reshape(count, shape.planes[0], -1)
    bits = np.unpackbits(packed.bits, axis=1, count=cells).reshape(planes.shape)
    levels = packed.levels.astype(np.float32) / np.float32(LEVELS)
    np.multiply(bits, levels[:, :, None], out=planes, casting="unsafe")
    rows.inputs[:, :cells] = planes.reshape(count, -1)
    rows.inputs[:, cells:] = 1.0  # one infostate a player
    rows.values[:], rows.value_mask[:], rows.policy_mask[:] = packed.values, packed.value_mask, packed.policy_mask
    rows.owners[:], rows.owners_mask[:] = packed.owners, packed.owners_mask
    for k, legal in enumerate(packed.legal[:, 0] + 256 * packed.legal[:, 1].astype(np.int64)):
        actions = packed.actions[k, :legal]
        shares = packed.shares[k, :legal].astype(np.float32)
        rows.legal[k, 0, actions] = True
        # Rounded shares need not sum to 65,535; an untrained policy of zeros stays zeros.
        rows.policies[k, 0, actions] = shares / max(float(shares.sum()), 1.0)
    return rows


@dataclass(frozen=True)
class PlaneCodec:
    """How a replay window keeps rows of plane games, and how its columns lie in a checkpoint."""

    shape: NetworkShape

    def blank(self, count: int) -> PackedRows:
        return blank_packed(self.shape, count)

    def pack(self, rows: Rows) -> PackedRows:
        return pack(self.shape, rows)

    def unpack(self, stored: PackedRows) -> Rows:
        return unpack(self.shape, stored)

    def write(self, column: Array) -> Array:
        return squeeze(column)

    def read(self, content: Array, like: Array) -> Array:
        return unsqueeze(content, like)


def window_for(shape: NetworkShape, capacity: int, growth: WindowGrowth | None = None) -> ReplayWindow:
    """The replay window of a network: packed for planes, otherwise plain."""
    codec: Codec[Any] | None = PlaneCodec(shape) if shape.planes else None
    return ReplayWindow(shape, capacity, codec, growth)


def squeeze(column: Array) -> Array:
    """uint8[*]: a column compressed for a checkpoint."""
    return np.frombuffer(zlib.compress(np.ascontiguousarray(column).tobytes(), 1), dtype=np.uint8)


def unsqueeze(content: Array, like: Array) -> Array:
    """The column that `squeeze` was given, of `like`'s dtype and row shape; CheckpointError where it is none."""
    try:
        plain = zlib.decompress(np.asarray(content, dtype=np.uint8).tobytes())
        column: Array = np.frombuffer(plain, dtype=like.dtype).reshape(-1, *like.shape[1:])
    except (zlib.error, ValueError, TypeError) as error:
        raise CheckpointError("the checkpoint's replay window is damaged or belongs to another network") from error
    return column
