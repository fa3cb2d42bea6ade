"""Lines that a client sends, read on a thread so that a search can notice `stop`; bytes of any kind become lines."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final, Protocol

__all__ = ["LONGEST", "Lines", "Stream", "size_of"]

# Bytes in a line. The longest game of chess that the rules allow takes 90,000.
LONGEST: Final = 2**17
# Characters that wait for the engine; beyond them the client waits. A line takes some beside its own.
_WAITING: Final = 2**22
_BESIDE: Final = 100
# What is kept of a line that is too long, so that its answer can be given its id.
_SHOWN: Final = 100


class Stream(Protocol):
    """Where bytes come from, such as a pipe opened with "rb"."""

    def readline(self, size: int, /) -> bytes:
        """The bytes up to a line's end, or this many of them; none at the end."""


class Lines:
    """The lines of a stream in order; None once it has ended.

    Bytes that are not UTF-8 become U+FFFD. Of a line longer than LONGEST only the beginning is given, with a line's end
    after it, which no other line has.
    """

    def __init__(self, stream: Stream) -> None:
        self._read_ahead: deque[str | None] = deque()
        self._size, self._changed = 0, threading.Condition()
        self._held: deque[str | None] = deque()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def next(self) -> str | None:
        """The next line, waiting for it."""
        line = self._held.popleft() if self._held else self._take()
        if line is None:
            self._held.appendleft(None)
        return line

    def arrived(self) -> bool:
        """Whether `next` would answer at once."""
        return bool(self._held) or bool(self._read_ahead)

    def hold(self, lines: list[str | None]) -> None:
        """Put lines back, to be given out again before all others."""
        self._held.extendleft(reversed(lines))

    def _take(self) -> str | None:
        with self._changed:
            while not self._read_ahead:
                self._changed.wait()
            line = self._read_ahead.popleft()
            self._size -= size_of(line)
            self._changed.notify_all()
        return line

    def _put(self, line: str | None) -> None:
        with self._changed:
            while self._size > _WAITING:
                self._changed.wait()
            self._read_ahead.append(line)
            self._size += size_of(line)
            self._changed.notify_all()

    def _read(self, stream: Stream) -> None:
        try:
            while raw := stream.readline(LONGEST):
                self._put(_line(raw, stream))
        except (OSError, ValueError):  # the stream was closed under us
            pass
        finally:
            self._put(None)


def size_of(line: str | None) -> int:
    """What a line counts for where lines are bounded."""
    return _BESIDE + len(line or "")


def _line(raw: bytes, stream: Stream) -> str:
    """A line without its end, or the beginning of one that is too long; the rest is then read and forgotten."""
    if len(raw) < LONGEST or raw.endswith(b"\n"):
        return raw.decode("utf-8", "replace").rstrip("\r\n")
    while (rest := stream.readline(LONGEST)) and not rest.endswith(b"\n"):
        pass
    return raw[:_SHOWN].decode("utf-8", "replace") + "\n"
