"""The interface between work and the processes it runs in, which local processes and Ray both serve."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeVar

from sog.errors import SogError

__all__ = ["MOST_PROCESSES", "Executor", "Pending", "Remote", "WorkLost", "compute", "plain_error"]

MOST_PROCESSES: Final = 1024  # of one machine; and threads

K = TypeVar("K")
R = TypeVar("R")


class WorkLost(SogError):
    """The process that worked on something died, or its result was lost with its machine."""


def plain_error(error: BaseException) -> SogError:
    """The error as a SogError, which any process can read; for SystemExit, one that says what ended the program."""
    if isinstance(error, SystemExit):
        return SogError("a game's or an agent's own code ended the program (sys.exit)")
    return error if isinstance(error, SogError) else SogError(f"{type(error).__name__}: {error}")


class Pending(Protocol):
    """The answer to a call, which may still be worked on.

    As an argument of another call it means its result, which need not pass through this process.
    """

    def result(self) -> Any:
        """Wait for it. Raises WorkLost, or a SogError with what went wrong over there."""


class Remote(Protocol):
    """An object that lives in a process of its own and does one call after the other."""

    def call(self, method: str, *arguments: Any) -> Pending:
        """Have a method called."""

    def end(self) -> None:
        """End its process at once."""

    def process(self) -> int:
        """The process number, on its own machine. Raises WorkLost."""

    def alive(self) -> bool:
        """Whether it can be called still, as far as is known within some seconds."""


class Executor(Protocol):
    """Starts processes.  places: how many objects that keep a core busy it is meant for."""

    places: int

    def start(self, make: Callable[..., object], *arguments: Any) -> Remote:
        """Make an object in a process of its own, which ends with this one, however that ends."""

    def keep(self, name: str, make: Callable[..., object], *arguments: Any) -> Remote:
        """The same for an object that is not one of those that `places` counts, such as one that holds memory.

        name: one of a kind in a cluster. An object of that name that a killed program has left is ended first.
        """

    def share(self, content: bytes) -> Any:
        """Something to pass to several calls in place of `content`, which is then sent to a machine once."""

    def wait(self, pending: Sequence[Pending], seconds: float | None = None) -> list[Pending]:
        """Those that are done or lost: at least one, unless this many seconds pass first."""

    def close(self) -> None:
        """End every process that it started."""


class _Calling:
    """Calls one function, in a process of its own."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def answer(self, key: Any) -> Any:
        return self.function(key)


_TRIES = 3  # that a key gets whose process dies


def compute(executor: Executor, function: Callable[[K], R], keys: Sequence[K]) -> Iterator[tuple[K, R]]:
    """`function` of every key, as they are done, in any order; `executor.places` at a time.

    The function is at the top of a module, so that processes find it. A key whose process dies is tried again, up
    to three times; raises what the function raises.
    """
    waiting = [(key, 1) for key in reversed(keys)]
    working: dict[Pending, tuple[Remote, K, int]] = {}
    idle: list[Remote] = []
    started: list[Remote] = []
    try:
        while waiting or working:
            while waiting and len(working) < executor.places:
                if not idle:
                    idle.append(executor.start(_Calling, function))
                    started.append(idle[-1])
                remote, (key, tried) = idle.pop(), waiting.pop()
                working[remote.call("answer", key)] = remote, key, tried
            for pending in executor.wait(list(working)):
                remote, key, tried = working.pop(pending)
                try:
                    answer = pending.result()
                except WorkLost:
                    if tried == _TRIES:
                        raise
                    waiting.append((key, tried + 1))
                    continue
                idle.append(remote)
                yield key, answer
    finally:
        for remote in started:
            remote.end()
