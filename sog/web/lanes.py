"""Processes in which agents live: each works for one lane, and a game keeps its lane."""

from __future__ import annotations

import os
import signal
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
        return self._lanes[zlib.crc32(key.encode()) % len(self._lanes)].submit(key, method, asked)

    @property
    def count(self) -> int:
        return len(self._lanes)

    def end(self, key: str) -> None:
        """End the process that works on a call of this key, if one does: its answer is a WorkLost."""
        self._lanes[zlib.crc32(key.encode()) % len(self._lanes)].end(key)

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
        self._lock, self._working, self._ended = threading.Lock(), "", False

    _remote: Remote | None

    def submit(self, key: str, method: str, asked: Any) -> Future[Any]:
        if self._closed:
            raise WorkLost("this server is ending")
        if not self._free.acquire(blocking=False):
            raise Busy("all searches that may run at once are running: try again in a moment")
        future = self._pool.submit(self._answer, key, method, asked)
        future.add_done_callback(lambda done: self._free.release())
        return future

    def _answer(self, key: str, method: str, asked: Any) -> Any:
        """The process's answer; a process that dies is replaced once."""
        try:
            return self._call(key, method, asked)
        except WorkLost:
            if self._closed:
                raise WorkLost("this server is ending") from None
            self._drop()
            if self._ended:
                raise
            return self._call(key, method, asked)

    def _call(self, key: str, method: str, asked: Any) -> Any:
        with self._lock:
            if self._remote is None or not self._remote.alive():
                self._remote = self._lanes.start()
            self._working, self._ended = key, False
        try:
            return self._remote.call(method, asked).result()
        finally:
            with self._lock:
                self._working = ""

    def end(self, key: str) -> None:
        """End the process while it works on a call of this key; the lane's thread finds it dead."""
        with self._lock:
            if self._working == key and self._remote is not None:
                self._ended = True
                os.kill(self._remote.process(), signal.SIGKILL)

    def _drop(self) -> None:
        if self._remote is not None:
            self._remote.end()
            self._remote = None

    def close(self) -> None:
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
