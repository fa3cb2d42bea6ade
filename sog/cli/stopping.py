"""Ctrl-C and SIGTERM: from the signal to an exit code and one line, which says what is kept and how to continue.

Python raises KeyboardInterrupt wherever the program happens to be. Typer turns that into an exit without a word, and
compiled modules turn it into an ImportError or drop it; so the signals that came are noted here, the command line
looks, and a signal whose exception was dropped comes again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import Final

__all__ = ["Interrupted", "exit_code", "listening", "no_more", "stop_notice"]

_MOMENT: Final = 0.05  # seconds
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_LOADS: Final = ("create_module", "exec_module")  # of importlib's loaders


class _Interrupt(KeyboardInterrupt):
    """A class of its own: a KeyboardInterrupt that passes through `exec` has Python kill itself when it ends."""


class Interrupted(Exception):
    """A person or the system ended a command; the message says what is kept and how to continue."""


@contextmanager
def listening() -> Iterator[list[int]]:
    """The signals received so far; each raises KeyboardInterrupt, too. Outside the main thread none is received.

    Where a library catches that and continues, the signal is sent again a moment later; so it is where a compiled
    module is being loaded, since an exception there may abort the process.
    """
    came: list[int] = []
    watched: list[weakref.ref[_Interrupt]] = []  # a dropped reference calls nothing
    over = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if _is_loading(frame):
            come_again(None)
            return
        raise made()  # no variable of this frame, which the traceback would keep with the exception

    def signal_again() -> None:
        if not over.is_set():
            os.kill(os.getpid(), came[-1])

    def made() -> _Interrupt:
        error = _Interrupt()
        watched.append(weakref.ref(error, come_again))
        return error

    def come_again(gone: object) -> None:
        timer = threading.Timer(_MOMENT, signal_again)
        timer.daemon = True
        timer.start()

    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def again(lost: sys.UnraisableHookArgs) -> None:
        """Say nothing of a signal received where no exception can be raised, as in a destructor."""
        if not isinstance(lost.exc_value, _Interrupt):
            hook(lost)

    hook, sys.unraisablehook = sys.unraisablehook, again
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        if before[number] != signal.SIG_IGN:  # as under nohup
            signal.signal(number, stop)
    try:
        yield came
    finally:
        over.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook


def _is_loading(frame: FrameType | None) -> bool:
    """Whether a compiled module is being loaded at this frame, or in one that led to it."""
    while frame is not None:
        if frame.f_code.co_name in _LOADS and isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            return True
        frame = frame.f_back
    return False


def no_more() -> None:
    """Ignore further signals until `listening` ends: the command is being stopped already."""
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def stop_notice(words: Callable[[], str]) -> Iterator[None]:
    """Where the block is stopped, end the command with these words: what is kept and how to continue."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(words()) from error


def exit_code(came: list[int]) -> int:
    """128 and the first signal's number, as shells count: 130 after Ctrl-C."""
    return 128 + (came[0] if came else signal.SIGINT)
