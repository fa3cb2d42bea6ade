"""Kill -9 at random moments of saving leaves a checkpoint whose window of several files loads whole and goes on."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sog.nets.cvpn import CVPN
from sog.nets.shape import NetworkShape
from sog.training import checkpoint
from sog.training.packing import PackedRows, pack, unpack
from sog.training.replay import ReplayWindow
from sog.training.row_files import row_file_name
from sog.training.rows import blank_rows

SHAPE = NetworkShape(features=2, slots=(2, 3), actions=2, width=4, depth=1)
ROWS = 40  # added before each save
CAPACITY = 150
FILE = 1_500  # bytes of a file: some 80 rows


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sog.training.row_files.LARGEST", FILE)


def numbered(first: int, count: int) -> PackedRows:
    """Rows whose second feature is the row's own number."""
    rows = blank_rows(SHAPE, count)
    rows.inputs[:, 1] = np.arange(first, first + count)
    return pack(SHAPE, rows)


def save(folder: Path, window: ReplayWindow) -> None:
    """Add rows and write the checkpoint, whose step is how many there were."""
    window.add(numbered(window.added, ROWS))
    state = {"replay": window.state()}
    checkpoint.save(folder, CVPN(SHAPE, 0), "kuhn_poker", "a run", window.added, {}, state)
    window.saved()


def row_files(folder: Path) -> set[str]:
    """The files that the checkpoint's window lies in."""
    state = checkpoint.load_state(folder)["replay"]
    return {row_file_name(entry["number"]) for entry in state["files"]}


def loaded(folder: Path) -> ReplayWindow:
    """The window of the checkpoint, in which all rows are what they were."""
    window = ReplayWindow(SHAPE, CAPACITY, folder)
    if checkpoint.is_begun(folder):
        window.restore(checkpoint.load_state(folder)["replay"])
        assert window.added == checkpoint.load_meta(folder).step
    found = unpack(SHAPE, window.newest(CAPACITY)).inputs[:, 1].astype(int).tolist()
    assert found == list(range(max(0, window.added - CAPACITY), window.added))
    return window


def save_for_ever(folder: Path, written: int) -> None:
    """In a child process: go on from the checkpoint, save after save, with a byte after each, until killed."""
    try:
        window = loaded(folder)
        os.write(written, b"-")
        while True:
            save(folder, window)
            os.write(written, b"-")
    finally:
        os._exit(1)


def killed_after(folder: Path, seconds: float) -> int:
    """Saves that a process had finished when it was killed, this long after its first; it goes on from the last."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        save_for_ever(folder, writer)
    os.close(writer)
    assert os.read(reader, 1) == os.read(reader, 1) == b"-"
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    with os.fdopen(reader, "rb") as pipe:
        return 1 + len(pipe.read())


def test_kill_9_while_a_window_of_several_files_is_saved(tmp_path: Path) -> None:
    """At most the rows since the last finished save are lost, and nothing of a killed one stays."""
    draw, before, files = random.Random(0), 0, []
    for _ in range(20):
        saves = killed_after(tmp_path, draw.uniform(0.0, 0.03))
        window = loaded(tmp_path)
        assert before + saves * ROWS <= window.added <= before + (saves + 1) * ROWS
        before = window.added
        files.append(len(row_files(tmp_path)))
        window.close()
    assert max(files) >= 3
    window = loaded(tmp_path)
    save(tmp_path, window)
    left = {name for name in os.listdir(tmp_path) if name.startswith("rows.")}
    assert left == row_files(tmp_path) and len(os.listdir(tmp_path)) == 4 + len(left)


class Killed(BaseException):
    """Ends a save where a kill could."""


class Limited:
    """Lets this many calls through that change a folder, and ends the program in place of the next."""

    def __init__(self, most: int, patched: pytest.MonkeyPatch) -> None:
        self.left = most
        for owner, name in ((os, "pwrite"), (os, "fsync"), (os, "replace"), (os, "open"), (Path, "open")):
            patched.setattr(owner, name, self.guarded(getattr(owner, name)))
        patched.setattr(Path, "unlink", self.guarded(Path.unlink))

    def guarded(self, call: Callable[..., object]) -> Callable[..., object]:
        def limited(*arguments: object, **named: object) -> object:
            if not self.left:
                raise Killed
            self.left -= 1
            return call(*arguments, **named)

        return limited


def test_every_state_that_a_kill_can_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two saves that end before any one of their calls to the system leave the window of a save that was finished."""
    seen = set()
    for most in range(200):
        folder = tmp_path / str(most)
        window = loaded(folder)
        for _ in range(5):
            save(folder, window)
        with monkeypatch.context() as patched:
            limited = Limited(most, patched)
            try:
                save(folder, window)
                save(folder, window)
            except Killed:
                pass
        again = loaded(folder)
        seen.add(again.added - 5 * ROWS)
        save(folder, again)
        again.close()
        assert loaded(folder).added == again.added
        if limited.left:
            break
    assert seen == {0, ROWS, 2 * ROWS} and 10 < most < 199
