"""Packed rows on disk: files that only grow, so that a checkpoint states how far each is good and copies nothing.

A row is four bytes of length, low byte first, and its content. Rows are numbered by the run from 0. A file in which no
row of the window lies any more is closed, and removed by the checkpoint after it. Rows are read through the system's
cache of files, which gives memory back where it is needed: a window larger than memory is slow and ends no run.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import weakref
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.arrays import Int64
from sog.errors import CheckpointError
from sog.files import open_regular, read_bounded, shown
from sog.training.packing import PackedRows

__all__ = ["LARGEST", "RowFiles", "row_file_name"]

LARGEST: Final = 64 * 2**20  # bytes of a file, after which another is begun
_LENGTH: Final = 4  # bytes before a row
_OWN: Final = re.compile(r"rows\.\d+\.bin")


def row_file_name(number: int) -> str:
    """What the rows' file of this number is called in a checkpoint."""
    return f"rows.{number}.bin"


class RowFiles:
    """The rows of a run up to number `end`, which is the next one's.

    folder: None for files without a name, gone with the process.  end: may be set before the first row comes.
    largest: bytes of a file, by default LARGEST.

    Raises CheckpointError where a file cannot be written or read.
    """

    def __init__(self, folder: Path | None = None, largest: int | None = None) -> None:
        self.folder, self._largest = folder, largest or LARGEST
        self._files: list[_RowFile] = []
        self._last = 0  # the number of the last file begun
        self.end = 0

    def append(self, packed: PackedRows) -> None:
        """Add rows after the last one."""
        rows = [packed.row(k).tobytes() for k in range(len(packed))]
        while rows:
            if not self._files or self._files[-1].size >= self._largest:
                self._begin()
            count = self._files[-1].fitting(rows, self._largest)
            self._write(self._files[-1], rows[:count])
            rows = rows[count:]

    def read(self, numbers: Int64) -> PackedRows:
        """The rows of these numbers, in this order."""
        rows: list[bytes] = [b""] * len(numbers)
        places = np.searchsorted([file.first for file in self._files], numbers, side="right") - 1
        try:
            for k in np.unique(places).tolist():
                file, here = self._files[k], np.flatnonzero(places == k)
                starts, sizes = file.places_of(numbers[here])
                for n, start, size in zip(here.tolist(), starts.tolist(), sizes.tolist(), strict=True):
                    rows[n] = os.pread(file.handle, size, start)
        except OSError as error:
            raise CheckpointError(f"{self._shown_folder()}: rows cannot be read: {error.strerror}") from error
        ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
        return PackedRows(np.frombuffer(b"".join(rows), dtype=np.uint8), ends)

    def bytes_from(self, number: int) -> int:
        """The bytes that the rows number, number + 1, ..., end - 1 take."""
        return sum(file.size - file.start_of(max(number, file.first)) for file in self._files if file.end > number)

    def newest_within(self, oldest: int, most: int) -> int:
        """The smallest number from `oldest` on whose row and all later ones take at most this many bytes."""
        low, high = oldest, self.end
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.bytes_from(middle) <= most else (middle + 1, high)
        return low

    def forget(self, oldest: int) -> None:
        """Close the files in which all rows have smaller numbers."""
        while len(self._files) > 1 and self._files[0].end <= oldest:
            self._files.pop(0).close()

    def state(self) -> dict[str, Any]:
        """What `restore` needs, with all rows on the disk."""
        for file in self._files:
            file.sync()
        return {"files": [file.state() for file in self._files], "last": self._last}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up the files of a state, without what was appended later.

        Raises CheckpointError where one is missing, shorter or changed.
        """
        if self.folder is None:
            raise CheckpointError("a window without a folder has no files to take up")
        try:
            self._files = [_opened(self.folder, entry) for entry in state["files"]]
            self._last = int(state["last"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise CheckpointError(f"{self._shown_folder()}: the replay window is damaged") from error
        for before, after in zip(self._files, self._files[1:], strict=False):
            if before.end != after.first:
                raise CheckpointError(f"{self._shown_folder()}: rows are missing from the replay window")
        self.end = self._files[-1].end if self._files else 0

    @property
    def first(self) -> int:
        """The number of the oldest row in a file; `end` without rows."""
        return self._files[0].first if self._files else self.end

    def remove_others(self) -> None:
        """Remove from the folder what no row of these files is in: files of before, and those of killed runs."""
        in_use = set(self.names())
        try:
            for path in self.folder.iterdir() if self.folder is not None else ():
                if _OWN.fullmatch(path.name) and path.name not in in_use:
                    path.unlink()
        except OSError as error:
            raise CheckpointError(f"{self._shown_folder()}: old rows cannot be removed: {error.strerror}") from error

    def names(self) -> list[str]:
        """The files' names."""
        return [row_file_name(file.number) for file in self._files]

    def close(self) -> None:
        """Close all files, after which no row can be read."""
        while self._files:
            self._files.pop().close()

    def _begin(self) -> None:
        """Begin another file, in place of one that a killed run left under this name."""
        self._last += 1
        try:
            if self.folder is None:
                with tempfile.TemporaryFile() as file:
                    handle = os.dup(file.fileno())
            else:
                self.folder.mkdir(parents=True, exist_ok=True)
                path = self.folder / row_file_name(self._last)
                path.unlink(missing_ok=True)
                handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CheckpointError(f"{self._shown_folder()}: rows cannot be written: {error.strerror}") from error
        self._files.append(_RowFile(self._last, handle, self.end))

    def _write(self, file: _RowFile, rows: list[bytes]) -> None:
        try:
            file.append(rows)
        except OSError as error:
            raise CheckpointError(f"{self._shown_folder()}: rows cannot be written: {error.strerror}") from error
        self.end = file.end

    def _shown_folder(self) -> str:
        return shown(self.folder or tempfile.gettempdir())


@dataclass(eq=False)
class _RowFile:
    """A file of rows, closed by `close` or with the last reference to it.

    first: the number of its first row.  ends: where each row ends.  digest: of all its bytes, as far as `ends`.
    """

    number: int
    handle: int
    first: int
    ends: array[int] = field(default_factory=lambda: array("q"))
    digest: Any = field(default_factory=hashlib.sha256)
    synced: int = 0

    def __post_init__(self) -> None:
        self.close = weakref.finalize(self, os.close, self.handle)

    @property
    def size(self) -> int:
        return self.ends[-1] if self.ends else 0

    @property
    def end(self) -> int:
        """The number of the row after its last."""
        return self.first + len(self.ends)

    def fitting(self, rows: list[bytes], largest: int) -> int:
        """How many of the rows it takes until it is full; one at least."""
        room = largest - self.size
        sizes = np.cumsum([_LENGTH + len(row) for row in rows])
        return max(1, int(np.searchsorted(sizes, room, side="right")))

    def append(self, rows: list[bytes]) -> None:
        """Write rows after the last one. Where that fails, the file is as far as `ends` what it was."""
        content = b"".join(part for row in rows for part in (len(row).to_bytes(_LENGTH, "little"), row))
        at, left = self.size, memoryview(content)
        while left:
            written = os.pwrite(self.handle, left, at)
            at, left = at + written, left[written:]
        self.digest.update(content)
        end = self.size
        for row in rows:
            end += _LENGTH + len(row)
            self.ends.append(end)

    def places_of(self, numbers: Int64) -> tuple[Int64, Int64]:
        """Where the rows of these numbers begin without their lengths, and how long they are."""
        # A view of `ends` must be gone before `ends` grows again.
        at, ends = numbers - self.first, np.frombuffer(self.ends, dtype=np.int64)
        starts = np.where(at > 0, ends[at - 1], 0) + _LENGTH
        return starts, ends[at] - starts

    def start_of(self, number: int) -> int:
        """Where a row begins, with its length."""
        return self.ends[number - self.first - 1] if number > self.first else 0

    def sync(self) -> None:
        """Have all of it on the disk."""
        if self.synced < self.size:
            os.fsync(self.handle)
            self.synced = self.size

    def state(self) -> dict[str, Any]:
        return {"number": self.number, "first": self.first, "size": self.size, "sha256": self.digest.hexdigest()}


def _opened(folder: Path, state: dict[str, Any]) -> _RowFile:
    """A file as a state states it, without the bytes after; CheckpointError where it is not that file."""
    number, first, size = int(state["number"]), int(state["first"]), int(state["size"])
    path = folder / row_file_name(number)
    try:
        with open_regular(path, 2**62) as (file, length):
            # Behind these bytes lie what a later save wrote, or holes of any size: they are not read.
            content = read_bounded(file, min(size, length), whole=False)
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise CheckpointError(f"{shown(path)} cannot be read: {error.strerror}") from error
    opened = _RowFile(number, handle, first, synced=size)
    opened.digest.update(content)
    if len(content) != size or opened.digest.hexdigest() != state["sha256"]:
        opened.close()
        raise CheckpointError(f"{shown(path)} is truncated or was changed")
    at = 0
    while at < size:
        at += _LENGTH + int.from_bytes(content[at : at + _LENGTH], "little")
        opened.ends.append(at)
    os.ftruncate(handle, size)
    return opened
