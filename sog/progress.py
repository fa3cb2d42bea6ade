"""Types of progress reports: code that works for long reports through them, and needs no terminal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

__all__ = ["OpenBar", "Report"]

# Takes how much is done, and a note to show beside it.
Report: TypeAlias = Callable[[int, str], None]

# Opens a progress bar for (title, total or None, unit) and yields its Report.
OpenBar: TypeAlias = Callable[[str, int | None, str], AbstractContextManager[Report]]
