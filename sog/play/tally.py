"""How much self-play processes have done in the current round: each counts for itself, and one may read them all."""

from __future__ import annotations

import mmap
import os
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Int64
from sog.searches.kernels.compiling import WATCH

__all__ = ["PLAYED", "PlayTally", "RoundSoFar", "SharedTallies"]

_COUNTS: Final = 5  # games, searches, queries; milliseconds of compiling, and 1 once those are counted
_PLAYED: Final = 3  # of them, those that a round begins with 0
_BYTES: Final = 8 * _COUNTS
_LOOK: Final = 0.5  # seconds


@dataclass(frozen=True)
class RoundSoFar:
    """What is done of a round: games (of `of` in all), searches of their moves, solved queries, and seconds."""

    games: int
    of: int
    searches: int
    queries: int
    seconds: float

    def __str__(self) -> str:
        """For a screen; time left is by the games that have ended."""
        rate = (self.searches + self.queries) / max(self.seconds, 1e-9)
        left = ""
        if 0 < self.games < self.of:
            left = f", {self.seconds / self.games * (self.of - self.games):,.0f} s left"
        solved = f", {self.queries:,} queries" if self.queries else ""
        return f"{self.games:,} of {self.of:,} games, {self.searches:,} searches{solved}, {rate:.3g} a second{left}"


class PlayTally:
    """The games, searches and queries that a process has done in the current round, and how long it has compiled."""

    def __init__(self) -> None:
        self.counts: Int64 = np.zeros(_COUNTS, dtype=np.int64)

    def place(self, address: str, number: int) -> None:
        """From now on count in the memory of `SharedTallies.address`, in this place; without it, here."""
        path, _, name = address.partition(" ")
        with suppress(OSError, ValueError):
            # On another machine a process of this number may have another file there.
            if name and name in os.readlink(path):
                with open(path, "r+b") as file:
                    counts = np.frombuffer(mmap.mmap(file.fileno(), 0), dtype=np.int64)
                self.counts = counts[_COUNTS * number :][:_COUNTS]

    def begin(self) -> None:
        """A round begins."""
        self.counts[:_PLAYED] = 0

    def add(self, games: int = 0, searches: int = 0, queries: int = 0) -> None:
        """Count what has been done."""
        self.counts[:_PLAYED] += (games, searches, queries)

    def watch_compiling(self) -> None:
        """Count twice a second, from another thread, how long this process has compiled kernels."""
        threading.Thread(target=self._watch_compiling, daemon=True).start()

    def _watch_compiling(self) -> None:
        while True:
            self.counts[_PLAYED:] = int(1000.0 * WATCH.seconds()), 1
            time.sleep(_LOOK)


# What this process has played: its games and searches count here, wherever they run.
PLAYED: Final = PlayTally()


class SharedTallies:
    """Tallies of several processes of this machine, in memory that has no name in any folder.

    address: how they find it; "" on systems without such memory, where nothing is counted.
    """

    def __init__(self, places: int) -> None:
        self.address = ""
        self._counts: Int64 = np.zeros(_COUNTS * places, dtype=np.int64)
        if hasattr(os, "memfd_create"):
            name = f"sog-{secrets.token_hex(8)}"
            descriptor = os.memfd_create(name)
            os.ftruncate(descriptor, _BYTES * places)
            self.address = f"/proc/{os.getpid()}/fd/{descriptor} {name}"
            self._counts = np.frombuffer(mmap.mmap(descriptor, 0), dtype=np.int64)
            self._descriptor = descriptor

    def begin(self) -> None:
        """A round begins: nothing is done of it."""
        self._counts.reshape(-1, _COUNTS)[:, :_PLAYED] = 0

    def total(self) -> Int64:
        """int64[5]: sums over all processes, first those of games, searches and queries."""
        sums: Int64 = self._counts.reshape(-1, _COUNTS).sum(axis=0)
        return sums

    def compiling(self) -> float | None:
        """Seconds of the process that has compiled longest; None unless all of them say so, as on this machine."""
        by_process = self._counts.reshape(-1, _COUNTS)[:, _PLAYED:]
        return float(by_process[:, 0].max()) / 1000.0 if by_process[:, 1].all() else None

    def close(self) -> None:
        """Close the file; what processes have mapped of it stays theirs."""
        if self.address:
            os.close(self._descriptor)
            self.address = ""
