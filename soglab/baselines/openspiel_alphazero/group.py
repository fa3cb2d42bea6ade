"""A group of processes: the processor time that all of it has used, and its end."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import Any, Final

__all__ = ["Group"]

_PATIENCE: Final = 5.0  # seconds to end of their own accord
_LOOK: Final = 0.05


class Group:
    """The processes of a process group, by the number of the one that leads it."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._used: dict[tuple[int, float], float] = {}

    def processes(self) -> list[Any]:
        """Those that live, as psutil's processes, children whose parent is gone included."""
        import psutil

        return [process for process in psutil.process_iter() if self._holds(process)]

    def seconds(self) -> float:
        """Processor seconds of all since they began; of those that have ended, up to the last look before."""
        import psutil

        for process in self.processes():
            try:
                times = process.cpu_times()
                self._used[process.pid, process.create_time()] = times.user + times.system
            except psutil.Error:
                continue
        return sum(self._used.values())

    def end(self) -> None:
        """End all, by SIGTERM first: shared semaphores are given back; then kill. Returns when none is left."""
        until = time.monotonic() + _PATIENCE
        self._send(signal.SIGTERM)
        while self.processes():
            if time.monotonic() > until:
                self._send(signal.SIGKILL)
            time.sleep(_LOOK)

    def _holds(self, process: Any) -> bool:
        import psutil

        try:
            return os.getpgid(process.pid) == self._leader and process.status() != psutil.STATUS_ZOMBIE
        except (OSError, psutil.Error):
            return False

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._leader, number)
