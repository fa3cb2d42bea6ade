"""The replay window keeps the newest rows, samples all of them, and comes back as it was when it was saved."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sog.errors import CheckpointError, SettingError
from sog.nets.shape import NetworkShape
from sog.training.packing import PackedRows, pack, unpack
from sog.training.replay import ReplayWindow, WindowGrowth
from sog.training.row_files import RowFiles
from sog.training.rows import blank_rows

SHAPE = NetworkShape(features=2, slots=(2, 3), actions=2)


def numbered(first: int, count: int) -> PackedRows:
    """Rows whose features are the row's own number."""
    rows = blank_rows(SHAPE, count)
    rows.inputs[:, :2] = np.arange(first, first + count)[:, None]
    return pack(SHAPE, rows)


def numbers(rows: PackedRows) -> list[int]:
    return unpack(SHAPE, rows).inputs[:, 1].astype(int).tolist()


@given(st.integers(1, 9), st.lists(st.integers(0, 12), max_size=8))
def test_holds_the_newest(capacity: int, sizes: list[int]) -> None:
    window, added = ReplayWindow(SHAPE, capacity), 0
    for size in sizes:
        window.add(numbered(added, size))
        added += size
    assert window.added == added and len(window) == min(added, capacity)
    assert numbers(window.newest(capacity)) == list(range(added - len(window), added))


def test_samples_every_row_alike() -> None:
    window = ReplayWindow(SHAPE, 8)
    window.add(numbered(0, 11))
    drawn = numbers(window.sample(np.random.default_rng(0), 8_000))
    assert set(drawn) == set(range(3, 11))
    assert np.bincount(drawn)[3:].min() > 850


def test_a_part_filled_window_samples_only_its_rows() -> None:
    window = ReplayWindow(SHAPE, 100)
    window.add(numbered(1, 3))
    assert set(numbers(window.sample(np.random.default_rng(0), 200))) == {1, 2, 3}


def test_an_empty_window_has_no_sample() -> None:
    with pytest.raises(SettingError):
        ReplayWindow(SHAPE, 4).sample(np.random.default_rng(0), 1)
    with pytest.raises(SettingError):
        ReplayWindow(SHAPE, 0)
    with pytest.raises(SettingError):
        ReplayWindow(SHAPE, 1, most_bytes=0)


def test_a_growing_window_draws_from_the_newest_of_its_rows() -> None:
    """Of 12 rows, b = 4: 4 (1 + 0.4 ((12 / 4)^0.75 - 1) / 0.75) = 6.7 are drawn from."""
    window = ReplayWindow(SHAPE, 100, growth=WindowGrowth(window_begin=4))
    window.add(numbered(0, 12))
    assert window.drawn_from == 6 and len(window) == 12
    assert set(numbers(window.sample(np.random.default_rng(0), 300))) == set(range(6, 12))


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_a_window_of_bytes_holds_as_many_rows_as_fit(rows: int) -> None:
    whole = ReplayWindow(SHAPE, 100)
    whole.add(numbered(5, 1))
    window = ReplayWindow(SHAPE, 100, most_bytes=rows * whole.bytes + 1)
    for first in range(2, 40, 4):
        window.add(numbered(first, 4))
    assert numbers(window.newest(100)) == list(range(42 - rows, 42)) and window.bytes <= rows * whole.bytes + 1


@pytest.mark.parametrize(("capacity", "oldest"), [(100, [0, 0, 4, 4, 4]), (5, [0, 2, 6, 6, 7])])
def test_half_of_a_window_is_dropped_once(capacity: int, oldest: list[int]) -> None:
    """At row 8: the older half of what it holds; then it grows up to its capacity again."""
    window = ReplayWindow(SHAPE, capacity, halved_at=8)
    for added, first in zip((5, 7, 8, 9, 12), oldest, strict=True):
        window.add(numbered(window.added, added - window.added))
        assert numbers(window.newest(100)) == list(range(first, added))


def test_half_of_what_bytes_leave_is_dropped() -> None:
    whole = ReplayWindow(SHAPE, 100)
    whole.add(numbered(200, 1))
    window = ReplayWindow(SHAPE, 100, halved_at=12, most_bytes=6 * whole.bytes)
    for first in range(200, 214):
        window.add(numbered(first, 1))
        if first == 211:  # row 12
            assert numbers(window.newest(100)) == [209, 210, 211]
    assert numbers(window.newest(100)) == [209, 210, 211, 212, 213]


def test_a_window_that_counts_anothers_rows_is_restored_without_any(tmp_path: Path) -> None:
    window, restored = (ReplayWindow(SHAPE, 7, folder=tmp_path) for _ in range(2))
    window.count_from(40)
    restored.restore(window.state())
    assert (restored.added, len(restored)) == (40, 0)


@given(st.integers(1, 25))
def test_a_restored_window_goes_on_identically(count: int) -> None:
    window, restored = ReplayWindow(SHAPE, 7), ReplayWindow(SHAPE, 7)
    window.add(numbered(0, count))
    restored.restore(window.state())
    assert alike(window, restored, count)


def alike(window: ReplayWindow, restored: ReplayWindow, count: int) -> bool:
    """Whether both sample the same after the same more rows."""
    for w in (window, restored):
        w.add(numbered(count, 3))
    first, second = (w.sample(np.random.default_rng(1), 20).content.tobytes() for w in (window, restored))
    return first == second and restored.added == window.added


@pytest.mark.parametrize("capacity", [1, 3, 7, 9, 20])
def test_a_window_of_another_size_takes_up_what_fits(capacity: int) -> None:
    window, restored = ReplayWindow(SHAPE, 10), ReplayWindow(SHAPE, capacity)
    window.add(numbered(0, 13))
    restored.restore(window.state())
    kept = min(capacity, 10)
    assert numbers(restored.newest(20)) == list(range(13 - kept, 13)) and restored.added == 13
    restored.add(numbered(13, 2))
    assert numbers(restored.newest(1)) == [14]


# --- windows in files ---


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(saved=st.integers(1, 25), lost=st.integers(0, 9))
def test_files_come_back_as_they_were_when_they_were_saved(
    saved: int, lost: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What a killed run appended after its last checkpoint is cut off."""
    folder = tmp_path_factory.mktemp("run")
    window = ReplayWindow(SHAPE, 7, folder)
    window.add(numbered(0, saved))
    state = window.state()
    window.add(numbered(900, lost))
    restored, twin = ReplayWindow(SHAPE, 7, folder), ReplayWindow(SHAPE, 7)
    restored.restore(state)
    twin.add(numbered(0, saved))
    assert alike(twin, restored, saved)


def test_a_checkpoint_copies_no_rows(tmp_path: Path) -> None:
    window = ReplayWindow(SHAPE, 1_000, tmp_path)
    window.add(numbered(0, 500))
    assert len(str(window.state())) < 300
    before = (tmp_path / "rows.1.bin").read_bytes()
    window.add(numbered(500, 10))
    window.state()
    assert (tmp_path / "rows.1.bin").read_bytes().startswith(before)


def test_full_files_are_followed_by_others_and_let_go(tmp_path: Path) -> None:
    files = RowFiles(tmp_path, largest=100)
    for first in range(0, 60, 3):
        files.append(numbered(first, 3))
        files.forget(files.end - 7)
    assert numbers(files.read(np.arange(53, 60))) == list(range(53, 60))
    names = files.names()
    assert "rows.1.bin" not in names and len(names) >= 2 and all((tmp_path / name).exists() for name in names)
    again = RowFiles(tmp_path, largest=100)
    again.restore(files.state())
    assert again.end == 60 and numbers(again.read(np.array([58, 54]))) == [58, 54]


@pytest.mark.parametrize("damage", ["shorter", "changed", "missing", "another"])
def test_damaged_files_are_refused(damage: str, tmp_path: Path) -> None:
    window = ReplayWindow(SHAPE, 50, tmp_path)
    window.add(numbered(0, 20))
    state, file = window.state(), tmp_path / "rows.1.bin"
    content = file.read_bytes()
    if damage == "shorter":
        os.truncate(file, len(content) - 1)
    elif damage == "changed":
        file.write_bytes(content[:50] + b"\1" + content[51:])
    elif damage == "missing":
        file.unlink()
    else:
        state["files"][0]["number"] = "one"
    said = {
        "shorter": "rows.1.bin is truncated or was changed",
        "changed": "rows.1.bin is truncated or was changed",
        "missing": "rows.1.bin cannot be read: No such file or directory",
        "another": "the replay window is damaged",
    }
    with pytest.raises(CheckpointError) as caught:
        ReplayWindow(SHAPE, 50, tmp_path).restore(state)
    assert said[damage] in str(caught.value) and str(caught.value).isprintable()


def test_a_file_with_a_hole_behind_its_rows_is_not_read_whole(tmp_path: Path) -> None:
    """A terabyte that takes no place on the disk; what a later save wrote lies there, too."""
    window = ReplayWindow(SHAPE, 50, tmp_path)
    window.add(numbered(0, 20))
    state, file = window.state(), tmp_path / "rows.1.bin"
    size = file.stat().st_size
    os.truncate(file, 2**40)
    restored = ReplayWindow(SHAPE, 50, tmp_path)
    restored.restore(state)
    assert restored.added == 20 and file.stat().st_size == size


@pytest.mark.parametrize("spoil", ["added", "content", "ends"])
def test_foreign_states_are_refused(spoil: str) -> None:
    window = ReplayWindow(SHAPE, 7)
    window.add(numbered(0, 3))
    state = window.state()
    state[spoil] = {"added": 2, "content": np.zeros(9, np.uint8), "ends": np.array([1, 2, 9])}[spoil]
    with pytest.raises(CheckpointError):
        ReplayWindow(SHAPE, 7).restore(state)
