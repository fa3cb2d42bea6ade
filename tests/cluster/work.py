"""What the tests of executors have done elsewhere: processes find it by name."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from sog.errors import GameError


class Counter:
    """Counts, fails and dies when it is asked to."""

    def __init__(self, start: int) -> None:
        if start < 0:
            raise ValueError("below zero")
        self.count = start

    def add(self, number: int) -> int:
        self.count += number
        return self.count

    def length(self, content: bytes) -> int:
        return len(content)

    def echo(self, content: bytes) -> bytes:
        return content

    def slow(self, seconds: float) -> int:
        time.sleep(seconds)
        return self.count

    def wait_for(self, path: str) -> int:
        """Until the file is there; a minute at most."""
        deadline = time.monotonic() + 60
        while not Path(path).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.count

    def fail(self, ours: bool) -> None:
        if ours:
            raise GameError("no such game")
        raise RuntimeError("two\nlines")

    def leave(self) -> None:
        sys.exit(3)

    def die(self) -> None:
        os.kill(os.getpid(), 9)

    def threads(self) -> list[int]:
        import numpy as np
        from threadpoolctl import threadpool_info

        np.ones((2, 2)) @ np.ones((2, 2))
        return [pool["num_threads"] for pool in threadpool_info()]


def square(number: int) -> int:
    return number * number


def dies_once(key: tuple[str, int]) -> int:
    """The first process that gets the key dies of it."""
    mark, number = Path(key[0]), key[1]
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), 9)
    return number


def always_dies(number: int) -> int:
    os.kill(os.getpid(), 9)
    return number
