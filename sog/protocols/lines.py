"""Lines from a program at the other end of a pipe, read on a thread so that a search can look for `stop`."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable

__all__ = ["Lines"]


class Lines:
    """The lines of a stream in order; None once it has ended."""

    def __init__(self, stream: Iterable[str]) -> None:
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._held: list[str | None] = []
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def next(self, seconds: float | None = None) -> str | None:
        """The next line, waiting for it; TimeoutError after so many seconds (None: it waits for ever)."""
        if self._held:
            return self._keep_end(self._held.pop(0))
        try:
            return self._keep_end(self._queue.get(timeout=seconds))
        except queue.Empty:
            raise TimeoutError(f"nothing was said for {seconds:g} seconds") from None

    def arrived(self) -> bool:
        """Whether `next` would answer at once."""
        return bool(self._held) or not self._queue.empty()

    def hold(self, lines: list[str | None]) -> None:
        """Put lines back, to be given out again before all others."""
        self._held = [*lines, *self._held]

    def _keep_end(self, line: str | None) -> str | None:
        if line is None:
            self._queue.put(None)
        return line

    def _read(self, stream: Iterable[str]) -> None:
        try:
            for line in stream:
                self._queue.put(line.rstrip("\r\n"))
        except (OSError, ValueError):  # the stream was closed under us
            pass
        finally:
            self._queue.put(None)
