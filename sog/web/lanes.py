"""Processes in which agents live: each works for one lane, and a game keeps its lane."""

from __future__ import annotations

import threading
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from sog.cluster.executor import Remote, WorkLost
from sog.cluster.local import LocalExecutor
from sog.errors import SogError

__all__ = ["AgentLanes", "Busy"]

_WAITING: Final = 4  # calls of a lane, the one in work included


class Busy(SogError):
    """All searches that may run at once are running, and others wait."""


def _make_thinker() -> object:
    """What a process answers with; only there is PyTorch imported."""
    from sog.web.thinker import Thinker

    return Thinker()


class AgentLanes:
    """At most `count` searches at once."""

    def __init__(self, count: int) -> None:
        self._executor, self._starting = LocalExecutor(count), threading.Lock()
        self._lanes = [_Lane(self) for _ in range(count)]

    def submit(self, key: str, method: str, asked: Any) -> Future[Any]:
        """Have a thinker's method called.  key: calls of the same key are answered by the same process, in order.

        Raises Busy where too many calls of the lane wait.
        """
        return self._lanes[zlib.crc32(key.encode()) % len(self._lanes)].submit(method, asked)

    def start(self) -> Remote:
        """A new process."""
        with self._starting:  # it sets environment variables meanwhile
            return self._executor.start(_make_thinker)

    def close(self) -> None:
        """End all processes; what they work on is a WorkLost."""
        for lane in self._lanes:
            lane.close()
        self._executor.close()


class _Lane:
    """A thread with a process of its own. The system ends a process with the thread that started it, so it stays."""

    def __init__(self, lanes: AgentLanes) -> None:
        self._lanes, self._remote, self._closed = lanes, None, False
        self._pool = ThreadPoolExecutor(1, "lane")
        self._free = threading.BoundedSemaphore(_WAITING)

    _remote: Remote | None

    def submit(self, method: str, asked: Any) -> Future[Any]:
        if self._closed:
            raise WorkLost("this server is ending")
        if not self._free.acquire(blocking=False):
            raise Busy("all searches that may run at once are running: try again in a moment")
        future = self._pool.submit(self._answer, method, asked)
        future.add_done_callback(lambda done: self._free.release())
        return future

    def _answer(self, method: str, asked: Any) -> Any:
        """The process's answer; a process that dies is replaced once."""
        try:
            return self._call(method, asked)
        except WorkLost:
            if self._closed:
                raise WorkLost("this server is ending") from None
            self._drop()
            return self._call(method, asked)

    def _call(self, method: str, asked: Any) -> Any:
        if self._remote is None or not self._remote.alive():
            self._remote = self._lanes.start()
        return self._remote.call(method, asked).result()

    def _drop(self) -> None:
        if self._remote is not None:
            self._remote.end()
            self._remote = None

    def close(self) -> None:
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
