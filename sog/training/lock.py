"""One training or tournament at a time in a folder: a lock that names its owner and is lifted when the owner dies."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from sog.errors import CheckpointError, SogError
from sog.files import shown
from sog.locks import HAVE_LOCKS, lock

__all__ = ["held"]

_NAME: Final = "lock"
_LONGEST: Final = 300  # bytes of the line that names the owner
_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of some network file systems


@contextmanager
def held(
    folder: Path, note: Callable[[str], None], doing: str = "training", error: type[SogError] = CheckpointError
) -> Iterator[None]:
    """Hold the folder, which is made where it is missing, for this process alone.

    Raises `error` where another holds it, whom it names, or where the folder cannot be written to. The lock is the
    system's (flock), so that a killed owner leaves a file and no lock. note: takes what a person should know where
    the file system has no locks.  doing: for the error's text.
    """
    if not HAVE_LOCKS:
        raise error(f"{shown(folder)}: {doing} needs file locks, which this system lacks; use Linux, macOS or WSL")
    try:
        made = not folder.exists()
        if not made and not folder.is_dir():
            raise error(f"{shown(folder)} is a file, not a folder")
        folder.mkdir(parents=True, exist_ok=True)
        handle = _take(folder, note)
    except OSError as reason:
        raise error(f"{shown(folder)} cannot be written: {reason.strerror}") from reason
    except _Held as other:
        raise error(f"{shown(folder)}: {shown(str(other))} is {doing} there already") from None
    try:
        yield
    finally:
        _give_back(folder, handle, made)


class _Held(Exception):
    """By another, whose line this is."""


def _take(folder: Path, note: Callable[[str], None]) -> int:
    """The lock's open file."""
    path = folder / _NAME
    # Open, lock, and see whether the name still is the locked file's: its last owner may have removed it in between.
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        try:
            lock(handle)
        except BlockingIOError:
            owner = os.pread(handle, _LONGEST, 0).decode(errors="replace").strip() or "another process"
            os.close(handle)
            raise _Held(owner) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                os.close(handle)
                raise
            note(f"{shown(folder)}: this file system has no locks; see that nothing else writes there")
        if _is(path, handle):
            os.ftruncate(handle, 0)
            os.pwrite(handle, _owner(), 0)
            return handle
        os.close(handle)  # whoever held it has removed the file meanwhile


def _give_back(folder: Path, handle: int, made: bool) -> None:
    """Remove the file while it is still locked, and the folder where it was made for nothing."""
    # Removed while locked: nobody can lock a file that is about to go.
    try:
        if _is(folder / _NAME, handle):
            os.unlink(folder / _NAME)
        if made and not os.listdir(folder):
            os.rmdir(folder)
    except OSError:
        pass  # a file without a lock keeps nobody away
    finally:
        os.close(handle)


def _is(path: Path, handle: int) -> bool:
    """Whether the name is that of the opened file."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(handle))
    except FileNotFoundError:
        return False


def _owner() -> bytes:
    since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
    return f"process {os.getpid()} on {socket.gethostname()}, since {since},\n".encode()[:_LONGEST]
