"""Objects in processes of this machine, called over pipes."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from sog.cluster.executor import Pending, Remote, WorkLost, plain_error
from sog.cluster.parent_death import run_worker
from sog.errors import SettingError, SogError
from sog.memory import available_bytes, gigabytes

__all__ = ["LocalExecutor"]

_PROCESS_BYTES: Final = 200 * 10**6  # of one's own, once it has imported what it needs
_ONE_THREAD: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class LocalExecutor:
    """Processes of this machine, single-threaded."""

    def __init__(self, places: int) -> None:
        """Raises SettingError where this many would not fit into memory."""
        needed, free = places * _PROCESS_BYTES, available_bytes()
        if needed > free:
            raise SettingError(
                f"{places:,} processes would hold about {gigabytes(needed)}, and {gigabytes(free)} are free: name fewer"
            )
        self.places = places
        self._started: list[_LocalRemote] = []

    def start(self, make: Callable[..., object], *arguments: Any) -> Remote:
        remote = _LocalRemote(make, arguments)
        self._started = [one for one in self._started if not one.ended] + [remote]
        return remote

    def keep(self, name: str, make: Callable[..., object], *arguments: Any) -> Remote:
        return self.start(make, *arguments)

    def share(self, content: bytes) -> bytes:
        return content

    def wait(self, pending: Sequence[Pending], seconds: float | None = None) -> list[Pending]:
        ours = [one for one in pending if isinstance(one, _LocalPending)]
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while ours and not any(one.done for one in ours):
            left = deadline - time.monotonic()
            pipes = {one.remote.pipe: one.remote for one in ours}
            heard = wait(list(pipes), None if seconds is None else max(0.0, left))
            for pipe in heard:
                pipes[pipe].hear()  # type: ignore[index]
            if not heard and left <= 0.0:
                break
        return [one for one in ours if one.done]

    def close(self) -> None:
        for remote in self._started:
            remote.end()
        self._started.clear()


class _LocalRemote:
    """A process and the calls it has not answered yet, oldest first.

    Only the first of them has been sent: two sides that both write more than a pipe holds would wait for ever.
    """

    def __init__(self, make: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.waiting: deque[tuple[_LocalPending, object]] = deque()
        self._lost = self.ended = False
        with _environment(_ONE_THREAD, "1"):
            self._process = context.Process(target=run_worker, args=(theirs, os.getpid()), daemon=True)
            self._process.start()
        self._pid = self._process.pid or 0
        theirs.close()
        self._send((_serve, (make, arguments)))

    def call(self, method: str, *arguments: Any) -> Pending:
        plain = [one.result() if isinstance(one, _LocalPending) else one for one in arguments]
        pending = _LocalPending(self)
        self.waiting.append((pending, (method, plain)))
        if len(self.waiting) == 1:
            self._send_oldest()
        return pending

    def process(self) -> int:
        return self._pid

    def alive(self) -> bool:
        return not self._lost and self._process.is_alive()

    def end(self) -> None:
        if self.ended:
            return
        self.ended = True
        self.pipe.close()
        self._lose()
        self._process.kill()
        self._process.join()
        self._process.close()  # with the file descriptors that watch it

    def hear(self) -> None:
        """Take the next answer, or find that there will be none."""
        try:
            good, value = self.pipe.recv()
        except (EOFError, OSError):
            self._lose()
            return
        self.waiting.popleft()[0].come(good, value)
        self._send_oldest()

    def _send_oldest(self) -> None:
        """Send the oldest call, if there is one; those that cannot be pickled are answered with the reason."""
        while self.waiting:
            try:
                self._send(self.waiting[0][1])
                return
            except Exception as error:
                self.waiting.popleft()[0].come(False, plain_error(error))

    def _send(self, message: object) -> None:
        try:
            self.pipe.send(message)
        except OSError:
            self._lose()

    def _lose(self) -> None:
        self._lost = True  # a dying process closes its pipe a moment before the system calls it dead
        while self.waiting:
            self.waiting.popleft()[0].come(False, WorkLost(f"process {self.process()} died"))


class _LocalPending:
    def __init__(self, remote: _LocalRemote) -> None:
        self.remote, self.done, self._good, self._value = remote, False, False, None

    def come(self, good: bool, value: Any) -> None:
        self.done, self._good, self._value = True, good, value

    def result(self) -> Any:
        while not self.done:
            self.remote.hear()
        if self._good:
            return self._value
        assert isinstance(self._value, SogError)
        raise self._value


def _serve(pipe: Connection, make: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """A process: make the object and answer calls until the pipe ends."""
    trouble: SogError | None = None
    try:
        served = make(*arguments)
    except (Exception, SystemExit) as error:
        trouble = plain_error(error)
    while True:
        try:
            method, given = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            if trouble is not None:
                raise trouble
            answer = True, getattr(served, method)(*given)
        except (Exception, SystemExit) as error:
            answer = False, plain_error(error)
        pipe.send(answer)


@contextmanager
def _environment(names: Sequence[str], value: str) -> Iterator[None]:
    """Environment variables set for child processes only."""
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, value))
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                del os.environ[name]
            else:
                os.environ[name] = old
