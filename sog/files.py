"""Reads and writes files in folders that others may have changed: it never waits, and trusts no stated size.

All raise OSError with a `strerror` for people, ValueError for what was read and makes no sense.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

__all__ = [
    "Header",
    "Pieces",
    "append_line",
    "bounded_json",
    "cache_folder",
    "discard",
    "open_regular",
    "others_may_write",
    "overwrite",
    "read_bounded",
    "read_header",
    "replace_file",
    "shown",
    "sync_folder",
]

# The tensors of a safetensors file by name: dtype as it is written there, and sizes.
Header = dict[str, tuple[str, tuple[int, ...]]]
# Bytes, in pieces that are written one after another.
Pieces = Sequence[bytes | memoryview]

# Flags to open a file for reading; Windows has others than POSIX.
_READ: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_LONGEST_HEADER: Final = 16_000_000  # bytes; a tensor takes about a hundred
_LONGEST_NAME: Final = 200


def cache_folder() -> Path | None:
    """This user's folder for what can be made again, such as compiled kernels; None where no home folder is known."""
    with suppress(RuntimeError):
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sog"
    return None


def others_may_write(folder: str) -> bool:
    """Whether another user than this one and root may put files into an existing folder, or owns it."""
    status = os.stat(folder)
    users = {0, os.geteuid()} if hasattr(os, "geteuid") else {status.st_uid}
    # In a folder such as /tmp, with the sticky bit, nobody replaces what is another's.
    return status.st_uid not in users or bool(status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX)


def shown(path: object) -> str:
    """A path as a message has it: in one line of bounded length."""
    text = "".join(c if c.isprintable() else "?" for c in str(path))
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME // 2]}...{text[-_LONGEST_NAME // 2 :]}"


@contextmanager
def open_regular(path: Path, limit: int) -> Iterator[tuple[BinaryIO, int]]:
    """A file to read with its size in bytes; OSError for a pipe, a device, a folder, or more than `limit` bytes."""
    _check_regular(os.stat(path))  # before it is opened: to open a device may do something
    handle = os.open(path, _READ)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        _check_regular(status)
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"{status.st_size:,} bytes, more than the {limit:,} that it may have")
        yield file, status.st_size


def read_bounded(file: BinaryIO, size: int, whole: bool = True) -> bytes:
    """The first `size` bytes of an opened file, its whole; OSError where it is longer, or memory does not suffice.

    whole: False where the file may be longer.
    """
    try:
        file.seek(0)
        content = file.read(size + 1 if whole else size)
    except MemoryError as error:
        raise OSError(errno.ENOMEM, f"{size:,} bytes, more than there is memory for") from error
    if len(content) != size:
        raise OSError(errno.EIO, "it changes while it is read")
    return content


def read_header(file: BinaryIO, size: int) -> Header:
    """What a safetensors file says it holds, nothing more being read.

    Raises ValueError where that is not what a file of this many bytes can hold.
    """
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, _LONGEST_HEADER):
        raise ValueError("the header is longer than the file")
    try:
        entries = json.loads(file.read(length))
        entries.pop("__metadata__", None)
        header = {name: (str(one["dtype"]), tuple(one["shape"])) for name, one in entries.items()}
        end = max((one["data_offsets"][1] for one in entries.values()), default=0)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError("the header is damaged") from error
    if end != size - 8 - length:
        raise ValueError("the header states another size than the file's")
    return header


def overwrite(path: Path, content: Pieces) -> None:
    """Write a file to the disk, in place of whatever has the name now; not a folder, and no link is followed."""
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        for piece in content:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that whoever reads it finds the older or the newer; a failure leaves the older."""
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    new = path.with_name(path.name + ".new")
    try:
        overwrite(new, [content])
        os.replace(new, path)
    except OSError:
        discard([new])
        raise


def append_line(path: Path, line: str) -> None:
    """Add a line to a file and have it on the disk; a last line that a kill cut short is ended first."""
    with path.open("ab+") as file:
        file.seek(0, os.SEEK_END)
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def discard(paths: list[Path]) -> None:
    """Remove what can be removed of these files."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            continue


def sync_folder(folder: Path) -> None:
    """Write the folder's names to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def bounded_json(content: bytes, finite: bool = True) -> Any:
    """The value of a JSON text; ValueError where it is malformed, too deep or, with `finite`, has infinity or NaN."""
    try:
        if finite:
            return json.loads(content, parse_constant=_refuse_number, parse_float=_finite)
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("too deep") from error


def _finite(text: str) -> float:
    value = float(text)
    return _refuse_number(text) if value in (float("inf"), float("-inf")) else value


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text[:20]} is not a finite number")


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
