"""How long this process has compiled kernels, and one line on stderr where that takes long; it needs no Numba.

Kernels are cached on disk: only the first run after an installation or a change waits for them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

# After so many seconds of compiling people are told.
PATIENCE: Final = 2.0
NOTE: Final = "compiling kernels, first run only"

# Names the file that stands for "it has been said", for this command and its worker processes; unset: nothing is said.
_SAID_VARIABLE: Final = "SOG_COMPILING_SAID"


class CompileWatch:
    """A stopwatch of compiling, which begins inside itself where a kernel has others compiled."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._depth, self._begun, self._spent = clock, 0, 0.0, 0.0
        self.kernels = 0

    def begin(self) -> None:
        """A kernel or a part of one begins to compile."""
        if self._depth == 0:
            self._begun = self._clock()
            self.kernels += 1
        self._depth += 1
        self._look()

    def end(self) -> None:
        """It is done, or has failed."""
        self._depth -= 1
        if self._depth == 0:
            self._spent += self._clock() - self._begun
        self._look()

    def seconds(self) -> float:
        """All time spent compiling so far."""
        return self._spent + (self._clock() - self._begun if self._depth else 0.0)

    def _look(self) -> None:
        if self.seconds() >= PATIENCE and _is_first():
            print(f"sog: {NOTE}", file=sys.stderr, flush=True)


# What Numba has done in this process.
WATCH: Final = CompileWatch()


def working_time() -> float:
    """Seconds on a clock that stands still while kernels compile, as rates and times left need it."""
    return time.monotonic() - WATCH.seconds()


@contextmanager
def compiling_said_once() -> Iterator[None]:
    """Say on stderr, once for this process and its workers, that kernels compile where it takes PATIENCE seconds."""
    said = Path(tempfile.gettempdir()) / f"sog-{os.getpid()}-{time.time_ns():x}"
    os.environ[_SAID_VARIABLE] = str(said)
    try:
        yield
    finally:
        os.environ.pop(_SAID_VARIABLE, None)
        said.unlink(missing_ok=True)


def _is_first() -> bool:
    """Whether nothing has been said, which from now on it has."""
    said = os.environ.get(_SAID_VARIABLE)
    with suppress(OSError):
        if said is not None:
            os.close(os.open(said, os.O_CREAT | os.O_EXCL))
            return True
    return False
