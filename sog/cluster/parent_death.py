"""Ends a worker process or a program with its parent; imports nothing that takes time."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final

__all__ = ["end_with", "ending_with_us", "run_worker"]

_SET_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
_LOOK: Final = 0.5  # seconds between two looks at the parent, where there is no such signal


def run_worker(pipe: Connection, parent: int) -> None:
    """A worker process: run the function that comes first through the pipe, with the arguments beside it.

    It is unpickled, and what it needs imported, only once the parent's death ends this process. Ctrl-C and
    SIGTERM are the parent's to handle.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell, `timeout` and systemd send them to a whole group
        signal.signal(number, signal.SIG_IGN)
    end_with(parent)
    sys.stdout = sys.stderr  # what a user's own code prints here is no result of the command
    try:
        function, arguments = pipe.recv()
    except (EOFError, OSError):
        return
    work: Callable[..., None] = function
    work(pipe, *arguments)


def end_with(parent: int) -> None:
    """Have the system kill this process as soon as its parent, process number `parent`, is gone.

    Linux does it also in the middle of a kernel or of compiling one. Elsewhere a thread looks now and then.
    """
    if not _set_death_signal():
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # it died before the signal was set
        os._exit(1)


def ending_with_us() -> Callable[[], object] | None:
    """What a child process is to call before it becomes another program, so that it ends with this thread.

    None where the system has no such signal. Everything is looked up here: between fork and exec nothing may be.
    """
    if not sys.platform.startswith("linux"):
        return None
    library: Any = ctypes.CDLL(None)
    return partial(library.prctl, _SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)


def _set_death_signal() -> bool:
    call = ending_with_us()
    return call is not None and call() == 0


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)
