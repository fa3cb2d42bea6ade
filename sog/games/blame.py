"""Errors that a user-defined game or agent raises, as one line that names whose code it was and where."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sog.errors import SogError

__all__ = ["code_of"]


@contextmanager
def code_of(whose: str, kind: type[SogError]) -> Iterator[None]:
    """Raise what the block raises as `kind`, naming whose code it is and the line; our own errors pass, in one line."""
    try:
        yield
    except SogError as error:
        if len(str(error).splitlines()) > 1:
            raise type(error)(_line(error)) from error
        raise
    except SystemExit as error:
        raise kind(f"{whose} ended the program (sys.exit)") from error
    except Exception as error:
        raise kind(f"{whose} raised {type(error).__name__}: {_line(error)}{_place(error)}") from error


def _line(error: Exception) -> str:
    """What it says, in one line."""
    return " ".join(str(error).split())


_OURS: Final = Path(__file__).parents[1]
_LIBRARIES: Final = ("site-packages", "dist-packages")


def _place(error: Exception) -> str:
    """The last line of the user's own that led to the error; of the traceback, where none of it is the user's."""
    if isinstance(error, SyntaxError):  # it names the line itself; the traceback ends where Python reads modules
        return ""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    theirs = [frame for frame in frames if not _is_library(Path(frame.filename))]
    last = (theirs or frames)[-1:]
    return "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in last)


def _is_library(file: Path) -> bool:
    """Whether it is this package's, Python's own or an installed package's."""
    own = _OURS in file.parents or Path(sysconfig.get_path("stdlib")) in file.parents
    return own or any(part in _LIBRARIES for part in file.parts) or file.name.startswith("<frozen")
