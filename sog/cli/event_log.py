"""Training figures for TensorBoard, written in this thread, so that a full disk costs the figures and nothing else."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sog.files import shown

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event

__all__ = ["EventLog"]


class EventLog:
    """One event file in a folder. note: called once where it cannot be written; training continues without it.

    TensorBoard's own writer has a thread, which prints a traceback there and whose error surfaces anywhere later.
    """

    def __init__(self, folder: Path, note: Callable[[str], None]) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter

        self.folder, self.note = folder, note
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self._file, self._records = None, None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / name).open("ab")
            self._records = RecordWriter(self._file)
        except OSError as error:
            self._give_up(error)
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))

    def add(self, step: int, figures: Mapping[str, float]) -> None:
        """Write figures by name at a learner's step."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=name, simple_value=value) for name, value in figures.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def close(self) -> None:
        """Close the file."""
        try:
            if self._file is not None:
                self._file.close()
        except OSError as error:
            self._give_up(error)

    def _write(self, event: Event) -> None:
        try:
            if self._records is not None and self._file is not None:
                self._records.write(event.SerializeToString())
                self._file.flush()  # TensorBoard shows the figures while the run continues
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self._file = self._records = None
        self.note(f"{shown(self.folder)}: no figures for TensorBoard from here on: {error.strerror}")
