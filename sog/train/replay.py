"""The replay window: the newest training rows in one fixed ring of arrays; it knows no game and no learner."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from sog.arrays import Array, Bool, Float32
from sog.errors import CheckpointError, SettingError
from sog.nets.cvpn import NetworkShape


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows: encoded beliefs with targets for both heads (PoG, B.3).

    inputs: float32[N, D].  values, value_mask: float32[N, S0 + S1], in value units; mask 0 is not trained
    (a TD(1) row fills only the visited infostate).  policies: float32[N, S, A].  policy_mask:
    float32[N, S], the weight of each infostate's policy, 0 for none.  legal: bool[N, S, A].
    """

    inputs: Float32
    values: Float32
    value_mask: Float32
    policies: Float32
    policy_mask: Float32
    legal: Bool

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
    slots, values = max(shape.slots), shape.num_values
    return Rows(
        inputs=np.zeros((count, shape.inputs), dtype=np.float32),
        values=np.zeros((count, values), dtype=np.float32),
        value_mask=np.zeros((count, values), dtype=np.float32),
        policies=np.zeros((count, slots, shape.actions), dtype=np.float32),
        policy_mask=np.zeros((count, slots), dtype=np.float32),
        legal=np.zeros((count, slots, shape.actions), dtype=np.bool_),
    )


def join_rows(parts: list[Rows]) -> Rows:
    """All rows in one."""
    columns = [part.columns() for part in parts]
    return Rows(**{name: np.concatenate([column[name] for column in columns]) for name in columns[0]})


class ReplayWindow:
    """The newest `capacity` rows.  added: rows ever added, which schedules count."""

    def __init__(self, shape: NetworkShape, capacity: int) -> None:
        if capacity < 1:
            raise SettingError(f"the replay window must hold at least one row, not {capacity}")
        self.capacity, self.added, self._held = capacity, 0, 0
        self._rows = blank_rows(shape, capacity)

    def __len__(self) -> int:
        return self._held

    def add(self, rows: Rows) -> None:
        """Append rows, the oldest giving way; row number n of a run stands at place n modulo the capacity."""
        count = len(rows)
        kept = rows.take(slice(max(0, count - self.capacity), count))
        first = (self.added + count - len(kept)) % self.capacity
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
        oldest = self.added - self._held
        return self._rows.take((oldest + rng.integers(self._held, size=count)) % self.capacity)

    def newest(self, count: int) -> Rows:
        """Copies of the newest rows, at most `count` of them, oldest first."""
        count = min(count, self._held)
        return self._rows.take(np.arange(self.added - count, self.added) % self.capacity)

    def state(self, limit: int | None = None) -> dict[str, Array | int]:
        """What `restore` needs: the newest `limit` rows (all by default) and the count of all ever added."""
        return {"added": self.added, **self.newest(self.capacity if limit is None else limit).columns()}

    def restore(self, state: dict[str, Array | int]) -> None:
        """Take up the state of a window, which then samples as that one did.

        Raises CheckpointError where the rows are not of this window's shape.
        """
        columns = self._rows.columns()
        saved = {name: np.asarray(state.get(name)) for name in columns}
        lengths = {column.shape[:1] for column in saved.values()}
        alike = [
            saved[name].shape[1:] == own.shape[1:] and saved[name].dtype == own.dtype for name, own in columns.items()
        ]
        if not all(alike) or len(lengths) != 1 or not isinstance(state.get("added"), int):
            raise CheckpointError("the checkpoint's replay window belongs to another network")
        rows = Rows(**saved)
        self.added, self._held = int(state["added"]) - len(rows), 0
        self.add(rows)
