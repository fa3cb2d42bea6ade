"""The replay window: the newest training rows, packed, in files that a checkpoint only points to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sog.arrays import Int64
from sog.errors import CheckpointError, SettingError
from sog.nets.shape import NetworkShape
from sog.training.packing import PackedRows, unpack
from sog.training.row_files import RowFiles
from sog.training.state import State

__all__ = ["ReplayWindow", "WindowGrowth"]


@dataclass(frozen=True)
class WindowGrowth:
    """How the window grows with the N rows ever added: b * (1 + scale * ((N / b) ** power - 1) / power).

    window_begin: b, the rows from which on the window grows more slowly than the rows (KataGo, appendix C: 250,000).
    window_power: the exponent of the window's growth (KataGo: 0.75).
    window_scale: the factor of the window's growth (KataGo: 0.4).
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
    """The newest `capacity` rows, fewer where these would take more than `most_bytes`."""

    def __init__(
        self,
        shape: NetworkShape,
        capacity: int,
        folder: Path | None = None,
        growth: WindowGrowth | None = None,
        most_bytes: int | None = None,
        halved_at: int = 0,
    ) -> None:
        """folder: where the rows' files lie; None: temporary files.  growth: of what is drawn from; by default all.

        most_bytes: by default there is no such bound.  halved_at: see TrainSettings.
        """
        if capacity < 1:
            raise SettingError(f"the replay window must hold at least one row, not {capacity}")
        if most_bytes is not None and most_bytes < 1:
            raise SettingError(f"the replay window must hold at least one byte, not {most_bytes}")
        self.shape, self.capacity, self.most_bytes = shape, capacity, most_bytes
        self._growth, self._files, self._oldest = growth, RowFiles(folder), 0
        self._halved_at = halved_at

    def __len__(self) -> int:
        return self._files.end - self._oldest

    @property
    def added(self) -> int:
        """Rows ever added, which schedules count; row number n of a run is the same row in every window."""
        return self._files.end

    @property
    def bytes(self) -> int:
        """What the rows take."""
        return self._files.bytes_from(self._oldest)

    def count_from(self, added: int) -> None:
        """Begin an empty window as if this many rows had been added and had given way since."""
        if len(self):
            raise SettingError("a window with rows in it counts them from where it began")
        self._files.end = self._oldest = added

    def add(self, rows: PackedRows) -> None:
        """Append rows, the oldest giving way."""
        before, held = self.added, min(self._halved_at - self._oldest, self.capacity)
        self._files.append(rows)
        if before < self._halved_at <= self.added:  # half of what is held when that row comes
            self._oldest = max(self._oldest, self._halved_at - held // 2)
        self._give_way()

    def _give_way(self) -> None:
        self._oldest = max(self._oldest, self.added - self.capacity)
        if self.most_bytes is not None:
            self._oldest = self._files.newest_within(self._oldest, self.most_bytes)
        self._files.forget(self._oldest)

    def sample(self, rng: np.random.Generator, count: int) -> PackedRows:
        """`count` rows drawn uniformly with replacement; SettingError where the window is empty."""
        if not len(self):
            raise SettingError("the replay window is empty")
        drawn = self.drawn_from
        return self._files.read(self.added - drawn + rng.integers(drawn, size=count))

    @property
    def drawn_from(self) -> int:
        """How many of the newest rows are drawn from."""
        return len(self) if self._growth is None else min(len(self), self._growth.rows(self.added))

    def read(self, numbers: Int64) -> PackedRows:
        """The rows of these numbers, from `added - len` to `added - 1`, in their order."""
        return self._files.read(numbers)

    def newest(self, count: int) -> PackedRows:
        """The newest rows, at most `count` of them, oldest first."""
        return self._files.read(np.arange(self.added - min(count, len(self)), self.added))

    def state(self) -> State:
        """What `restore` needs: how far the files in the folder are good, or all rows where there is no folder."""
        if self._files.folder is not None:
            return {"added": self.added, "oldest": self._oldest, **self._files.state()}
        rows = self.newest(len(self))
        return {"added": self.added, "content": rows.content, "ends": rows.ends}

    def restore(self, state: State) -> None:
        """Take up the state of a window, which then samples as that one did.

        Raises CheckpointError where the rows are damaged or not of this window's network.
        """
        try:
            if "files" in state:
                self._files.restore(state)
                if not len(state["files"]):  # of a run that counts another one's rows, and has none of its own yet
                    self._files.end = int(state["added"])
                self._oldest = int(state["oldest"])
            else:
                rows = PackedRows(state["content"], state["ends"])
                for k in range(len(rows)):  # raises where they are not of this network; unpacked rows are large
                    unpack(self.shape, PackedRows(rows.row(k), np.array([len(rows.row(k))])))
                self.count_from(int(state["added"]) - len(rows))
                self._files.append(rows)
            if self.added != int(state["added"]) or not 0 <= self._files.first <= self._oldest <= self.added:
                raise CheckpointError("the checkpoint's replay window is damaged")
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError("the checkpoint's replay window is damaged") from error
        unpack(self.shape, self.newest(1))
        self._give_way()

    def saved(self) -> None:
        """Remove the files that no checkpoint needs, now that one with the latest `state` is written."""
        self._files.remove_others()

    def close(self) -> None:
        """Close the files, after which the window cannot be used."""
        self._files.close()
