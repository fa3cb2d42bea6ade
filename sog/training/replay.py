"""The replay window: the newest training rows in one fixed ring of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from sog.arrays import Array, Bool, Float32
from sog.errors import CheckpointError, SettingError
from sog.nets.shape import NetworkShape

__all__ = ["Codec", "PlainCodec", "ReplayWindow", "Rows", "S", "Stored", "WindowGrowth", "blank_rows", "join_rows"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows: encoded beliefs with targets for both heads (PoG, B.3).

    inputs: float32[N, D].  values, value_mask: float32[N, S0 + S1], in value units; mask 0 is not trained
    (a TD(1) row fills only the visited infostate).  policies: float32[N, S, A], S of NetworkShape.policy_slots.
    policy_mask: float32[N, S], the weight of each infostate's policy, 0 for none.  legal: bool[N, S, A].
    owners: float32[N, H * W], who owned each cell in the end (Game.owners), 0 columns where that is not learned.
    owners_mask: float32[N, 1], 0 where that is not known.
    """

    inputs: Float32
    values: Float32
    value_mask: Float32
    policies: Float32
    policy_mask: Float32
    legal: Bool
    owners: Float32
    owners_mask: Float32

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, index: Array | slice) -> Rows:
        """Some of the rows: copies for an array of indices, views for a slice."""
        return Rows(**{name: column[index] for name, column in self.columns().items()})

    def columns(self) -> dict[str, Array]:
        """The arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def blank_rows(shape: NetworkShape, count: int) -> Rows:
    """Rows of zeros that train nothing, to be filled in."""
    slots, values = shape.policy_slots, shape.num_values
    return Rows(
        inputs=np.zeros((count, shape.inputs), dtype=np.float32),
        values=np.zeros((count, values), dtype=np.float32),
        value_mask=np.zeros((count, values), dtype=np.float32),
        policies=np.zeros((count, slots, shape.actions), dtype=np.float32),
        policy_mask=np.zeros((count, slots), dtype=np.float32),
        legal=np.zeros((count, slots, shape.actions), dtype=np.bool_),
        owners=np.zeros((count, shape.cells), dtype=np.float32),
        owners_mask=np.zeros((count, min(shape.cells, 1)), dtype=np.float32),
    )


def join_rows(parts: Sequence[Rows], shape: NetworkShape) -> Rows:
    """All rows in one, possibly none."""
    columns = [part.columns() for part in parts or [blank_rows(shape, 0)]]
    return Rows(**{name: np.concatenate([column[name] for column in columns]) for name in columns[0]})


class Stored(Protocol):
    """Rows as a window keeps them: arrays of equal length."""

    def __len__(self) -> int: ...

    def take(self, index: Array | slice) -> Self: ...

    def columns(self) -> dict[str, Array]: ...


S = TypeVar("S", bound=Stored)


class Codec(Protocol[S]):
    """How a window keeps rows, and how its columns lie in a checkpoint."""

    def blank(self, count: int) -> S:
        """Rows of zeros."""
        ...

    def pack(self, rows: Rows) -> S: ...

    def unpack(self, stored: S) -> Rows: ...

    def write(self, column: Array) -> Array: ...

    def read(self, content: Array, like: Array) -> Array:
        """A column of `like`'s dtype and row shape; CheckpointError where the content is none."""
        ...


@dataclass(frozen=True)
class PlainCodec:
    """Rows are kept as they are."""

    shape: NetworkShape

    def blank(self, count: int) -> Rows:
        return blank_rows(self.shape, count)

    def pack(self, rows: Rows) -> Rows:
        return rows

    def unpack(self, stored: Rows) -> Rows:
        return stored

    def write(self, column: Array) -> Array:
        return column

    def read(self, content: Array, like: Array) -> Array:
        column = np.asarray(content)
        if column.shape[1:] != like.shape[1:] or column.dtype != like.dtype:
            raise CheckpointError("the checkpoint's replay window belongs to another network")
        return column


@dataclass(frozen=True)
class WindowGrowth:
    """How the window grows with the N rows ever added: b * (1 + scale * ((N / b) ** power - 1) / power).

    window_begin: b; below this many rows all of them are drawn from.
    window_power, window_scale: the exponent and the factor (KataGo, appendix C: 250,000, 0.75 and 0.4).
    """

    window_begin: int = 10_000
    window_power: float = 0.75
    window_scale: float = 0.4

    def __post_init__(self) -> None:
        if not (self.window_begin >= 1 and 0.0 < self.window_power <= 1.0 and 0.0 < self.window_scale <= 1.0):
            raise SettingError(f"a window cannot grow by {self.window_begin}, {self.window_power}, {self.window_scale}")

    def rows(self, added: int) -> int:
        """The newest rows that are drawn from once this many were added."""
        if added <= self.window_begin:
            return added
        grown = ((added / self.window_begin) ** self.window_power - 1.0) / self.window_power
        return int(self.window_begin * (1.0 + self.window_scale * grown))


class ReplayWindow:
    """The newest `capacity` rows.  added: rows ever added, which schedules count."""

    def __init__(
        self, shape: NetworkShape, capacity: int, codec: Codec[Any] | None = None, growth: WindowGrowth | None = None
    ) -> None:
        """`codec`: how rows are kept; as they are by default.  growth: of what is drawn from; by default all."""
        if capacity < 1:
            raise SettingError(f"the replay window must hold at least one row, not {capacity}")
        self.capacity, self.added, self._held = capacity, 0, 0
        self._codec: Codec[Any] = codec or PlainCodec(shape)
        self._growth = growth
        self._rows: Stored = self._codec.blank(capacity)

    def __len__(self) -> int:
        return self._held

    def add(self, rows: Rows) -> None:
        """Append rows in place of the oldest; row number n of a run lies at place n modulo the capacity."""
        count = len(rows)
        kept = rows.take(slice(max(0, count - self.capacity), count))
        self._append(self._codec.pack(kept), count)

    def _append(self, kept: Stored, count: int) -> None:
        """Store the last of `count` new rows."""
        # Number n lies at place n modulo the capacity, also where more rows come than fit.
        first = (self.added + count - len(kept)) % self.capacity
        # In two pieces where the ring's end lies between them.
        head = min(len(kept), self.capacity - first)
        for own, new in zip(self._rows.columns().values(), kept.columns().values(), strict=True):
            own[first : first + head] = new[:head]
            own[: len(kept) - head] = new[head:]
        self.added += count
        self._held = min(self._held + count, self.capacity)

    def sample(self, rng: np.random.Generator, count: int) -> Rows:
        """`count` rows drawn uniformly with replacement, copied; SettingError where the window is empty."""
        if not self._held:
            raise SettingError("the replay window is empty")
        drawn = self.drawn_from
        # Numbers of rows, not places: the newest `drawn` of all ever added.
        oldest = self.added - drawn
        return self._codec.unpack(self._rows.take((oldest + rng.integers(drawn, size=count)) % self.capacity))

    @property
    def drawn_from(self) -> int:
        """How many of the newest rows are drawn from."""
        return self._held if self._growth is None else min(self._held, self._growth.rows(self.added))

    def newest(self, count: int) -> Rows:
        """Copies of the newest rows, at most `count` of them, oldest first."""
        return self._codec.unpack(self._newest(count))

    def _newest(self, count: int) -> Stored:
        count = min(count, self._held)
        return self._rows.take(np.arange(self.added - count, self.added) % self.capacity)

    def state(self) -> dict[str, Array | int]:
        """What `restore` needs: the rows, oldest first, and the count of all ever added."""
        columns = self._newest(self.capacity).columns()
        written = {name: self._codec.write(column) for name, column in columns.items() if not _is_empty(column)}
        return {"added": self.added, **written}

    def restore(self, state: dict[str, Array | int]) -> None:
        """Take up the state of a window, which then samples as that one did.

        Raises CheckpointError where the rows are not of this window's shape.
        """
        blank = self._codec.blank(0)
        if not isinstance(state, dict):
            raise CheckpointError("the checkpoint's replay window is damaged")
        columns = blank.columns().items()
        saved = {name: self._codec.read(np.asarray(state.get(name)), c) for name, c in columns if not _is_empty(c)}
        added, count = state.get("added"), len(next(iter(saved.values())))
        saved |= {name: np.zeros((count, *c.shape[1:]), c.dtype) for name, c in columns if _is_empty(c)}
        if len({len(column) for column in saved.values()}) != 1 or not isinstance(added, int) or not 0 <= added < 2**62:
            raise CheckpointError("the checkpoint's replay window belongs to another network")
        newest = {name: column[-self.capacity :] for name, column in saved.items()}  # of a larger window, what fits
        rows = type(blank)(**newest)
        # As if the rows had just been added: their numbers, and so their places, are the saved run's.
        self.added, self._held = added - len(rows), 0
        self._append(rows, len(rows))


def _is_empty(column: Array) -> bool:
    """Whether its rows have no numbers; a checkpoint leaves such a column out."""
    return 0 in column.shape[1:]
