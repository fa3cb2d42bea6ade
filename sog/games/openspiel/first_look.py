"""Tries a game string of OpenSpiel's with parameters in a child process: some end the program, or take all memory.

The child plays the game out as `histories.trial` does, with limits of memory and of time. Where it ends in an answer or
in an error of OpenSpiel's, this process may do the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Final

from sog.errors import GameError
from sog.files import shown

__all__ = ["limit_this_process", "refuse_bomb"]

_BYTES: Final = 4 * 10**9
_SECONDS: Final = 10  # of the processor; the largest games of OpenSpiel's by their own names take a tenth of one
_PATIENCE: Final = 12 * _SECONDS  # of the clock, on a busy machine
_REMEMBERED: Final = 1_000  # game strings
_LONGEST: Final = 200  # characters of what the child says

# The child's modules come from where this process takes them, and never from the current folder alone.
_CHILD: Final = (
    "import sys; sys.path[:] = sys.argv[1:]; from sog.games.openspiel.histories import trial; print(trial())"
)


def refuse_bomb(name: str) -> None:
    """GameError where a few games of an OpenSpiel game string end their process, or take too much memory or time."""
    # Without parameters it is a game of the size that OpenSpiel itself has chosen.
    if "(" in name and sys.executable and (why := _verdict(name)):
        raise GameError(f"OpenSpiel cannot play {shown(name)}: {why}; try smaller parameters")


def limit_this_process() -> None:
    """Have the system end this process, or refuse it memory, beyond the limits of a first look."""
    with suppress(ImportError):
        import resource

        kinds = (resource.RLIMIT_AS, _BYTES), (resource.RLIMIT_CPU, _SECONDS), (resource.RLIMIT_CORE, 0)
        for kind, most in kinds:
            hard = resource.getrlimit(kind)[1]
            with suppress(OSError, ValueError):  # a system without this limit; the parent's patience is left
                resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


@lru_cache(maxsize=_REMEMBERED)
def _verdict(name: str) -> str:
    """What is wrong with a game string; "" where nothing is, or where OpenSpiel says it itself."""
    command = [sys.executable, "-P", "-c", _CHILD, *sys.path]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # each thread would take address space
    try:
        ended = subprocess.run(
            command, input=name.encode(), env=environment, capture_output=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return _slow()
    if ended.returncode == 0:
        return ended.stdout.decode(errors="replace").strip()[:_LONGEST]
    return _slow() if ended.returncode in _OUT_OF_TIME else "its parameters end the program"


def _slow() -> str:
    return f"a few games of it take more than {_SECONDS} seconds"


_OUT_OF_TIME: Final = (-24, -9)  # SIGXCPU; SIGKILL where the hard limit is reached, too
