"""Errors that a user-defined game or agent raises, as one line that names whose code it was and where."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sog.errors import SogError

__all__ = ["code_of"]


@contextmanager
def code_of(whose: str, kind: type[SogError]) -> Iterator[None]:
    """Raise what the block raises as `kind`, naming whose code it is and the line; our own errors pass."""
    try:
        yield
    except SogError:
        raise
    except Exception as error:
        raise kind(f"{whose} raised {type(error).__name__}: {error}{_place(error)}") from error


def _place(error: Exception) -> str:
    if isinstance(error, SyntaxError):  # it names the line itself; the traceback ends where Python reads modules
        return ""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
