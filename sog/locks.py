"""Locks of open files for one process at a time: the system's own (flock), which end with their owner."""

from __future__ import annotations

import errno

try:
    import fcntl
except ImportError:  # Windows
    HAVE_LOCKS = False
else:
    HAVE_LOCKS = True

__all__ = ["HAVE_LOCKS", "lock"]


def lock(handle: int, wait: bool = False) -> None:
    """Lock an open file until it is closed.

    Raises BlockingIOError where another holds it and is not waited for, other OSErrors where there are no locks: on
    some network file systems, and on Windows.
    """
    if not HAVE_LOCKS:
        raise OSError(errno.ENOTSUP, "this system has no file locks")
    fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
