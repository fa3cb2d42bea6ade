"""How long this process has compiled kernels, and one line on stderr where that takes long; it needs no Numba.

Kernels are cached on disk: only the first run after an installation or a change waits for them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from sog.locks import lock

# After this many seconds of compiling the note is printed.
PATIENCE: Final = 2.0
NOTE: Final = "compiling kernels that this command needs, once (sog compile: all of them)"

# Names a file that is no longer empty once the note is printed, for a command and its workers; unset: nothing is
# printed. It has no name in any folder, so that a command that is killed leaves nothing behind.
_NOTED_VARIABLE: Final = "SOG_COMPILING_NOTED"


class CompileWatch:
    """A stopwatch of compiling, which begins again inside itself where a kernel has others compiled."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.kernels, self.patience = 0, PATIENCE
        self._clock, self._depth, self._begun, self._spent = clock, 0, 0.0, 0.0

    def begin(self) -> None:
        """A kernel, or a part of one, begins to compile."""
        if self._depth == 0:
            self._begun = self._clock()
            self.kernels += 1
        self._depth += 1

    def end(self) -> None:
        """It is done, or has failed; says so where it is the first to have taken long."""
        self._depth -= 1
        if self._depth == 0:
            self._spent += self._clock() - self._begun
        if self.seconds() >= self.patience and _is_first():
            print(f"sog: {NOTE}", file=sys.stderr, flush=True)

    def add(self, seconds: float) -> None:
        """This process waited for another that compiled for so long."""
        self._spent += seconds

    def seconds(self) -> float:
        """All time spent compiling so far."""
        return self._spent + (self._clock() - self._begun if self._depth else 0.0)


# What Numba has compiled in this process; Numba too has one list of listeners a process.
WATCH: Final = CompileWatch()


def working_time() -> float:
    """Seconds on a clock that stops while kernels compile, as rates and times left need it."""
    return time.monotonic() - WATCH.seconds()


@contextmanager
def note_once() -> Iterator[None]:
    """Say on stderr, once for this process and its workers, that kernels compile where that takes PATIENCE seconds."""
    descriptor = os.memfd_create("sog") if hasattr(os, "memfd_create") else os.open(os.devnull, os.O_RDWR)
    os.environ[_NOTED_VARIABLE] = f"/proc/{os.getpid()}/fd/{descriptor}"
    WATCH.patience = WATCH.seconds() + PATIENCE
    try:
        yield
    finally:
        os.environ.pop(_NOTED_VARIABLE, None)
        os.close(descriptor)


def _is_first() -> bool:
    """Whether the note is to be printed and has not been, which from now on it has."""
    path = os.environ.get(_NOTED_VARIABLE)
    if path is None:
        return False
    try:
        with open(path, "r+b", buffering=0) as file:
            lock(file.fileno(), wait=True)
            first = os.fstat(file.fileno()).st_size == 0
            file.write(b"noted")
    except OSError:
        return False
    return first
