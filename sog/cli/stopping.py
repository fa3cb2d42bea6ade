"""Ctrl-C and SIGTERM: from the signal to one line that says what is kept and how to go on, and an exit code.

Python raises KeyboardInterrupt wherever the program happens to be. Typer turns that into an exit without a word, and
compiled modules turn it into an ImportError; so the signals that came are noted here, and the command line looks.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

__all__ = ["Stopped", "exit_code", "listening", "say_kept"]

_MOMENT: Final = 0.05  # seconds
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class _Interrupt(KeyboardInterrupt):
    """A class of its own: a KeyboardInterrupt that passes through `exec` has Python kill itself when it ends."""


class Stopped(Exception):
    """A person or the system ended a command; the message says what is kept and how to go on."""


@contextmanager
def listening() -> Iterator[list[int]]:
    """The signals that have come; each raises KeyboardInterrupt, too. Outside the main thread none comes."""
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise _Interrupt

    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    def again(lost: sys.UnraisableHookArgs) -> None:
        """A signal that came where nobody can raise, as in a destructor, comes again a moment later."""
        if isinstance(lost.exc_value, _Interrupt):
            threading.Timer(_MOMENT, os.kill, (os.getpid(), came[-1])).start()
        else:
            hook(lost)

    hook, sys.unraisablehook = sys.unraisablehook, again
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        if before[number] != signal.SIG_IGN:  # as under nohup
            signal.signal(number, stop)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook


@contextmanager
def say_kept(words: Callable[[], str]) -> Iterator[None]:
    """Where the block is stopped, end the command with these words: what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Stopped(words()) from error


def exit_code(came: list[int]) -> int:
    """128 and the first signal's number, as shells count: 130 after Ctrl-C."""
    return 128 + (came[0] if came else signal.SIGINT)
