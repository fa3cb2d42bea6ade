"""The replay window keeps the newest rows, samples all of them, and comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import CheckpointError, SettingError
from sog.nets.shape import NetworkShape
from sog.training.replay import ReplayWindow, Rows, WindowGrowth, blank_rows, join_rows

SHAPE = NetworkShape(features=2, slots=(2, 3), actions=2)


def numbered(first: int, count: int) -> Rows:
    """Rows whose every number is the row's own."""
    rows = blank_rows(SHAPE, count)
    for column in rows.columns().values():
        column[:] = np.arange(first, first + count).reshape(-1, *[1] * (column.ndim - 1))
    return rows


@given(st.integers(1, 9), st.lists(st.integers(0, 12), max_size=8))
def test_holds_the_newest(capacity: int, sizes: list[int]) -> None:
    window, added = ReplayWindow(SHAPE, capacity), 0
    for size in sizes:
        window.add(numbered(added, size))
        added += size
    assert window.added == added and len(window) == min(added, capacity)
    rows = window.newest(capacity)
    wanted = np.arange(added - len(window), added)
    np.testing.assert_array_equal(rows.inputs[:, 0], wanted)
    np.testing.assert_array_equal(rows.policies[:, 2, 1], wanted)


def test_samples_every_row_alike() -> None:
    window = ReplayWindow(SHAPE, 8)
    window.add(numbered(0, 11))
    drawn = window.sample(np.random.default_rng(0), 8_000).values[:, 0]
    assert set(drawn) == set(range(3, 11))
    assert np.bincount(drawn.astype(int))[3:].min() > 850
    drawn[:] = -1  # a sample is a copy
    assert window.newest(8).values.min() == 3


def test_a_part_filled_window_samples_only_its_rows() -> None:
    window = ReplayWindow(SHAPE, 100)
    window.add(numbered(1, 3))
    assert set(window.sample(np.random.default_rng(0), 200).inputs[:, 1]) == {1, 2, 3}


def test_a_growing_window_samples_its_newest_rows() -> None:
    window = ReplayWindow(SHAPE, 40, growth=WindowGrowth(window_begin=10, window_power=1.0, window_scale=0.5))
    for added, drawn in ((10, 10), (30, 20), (50, 30), (90, 40)):  # 10 * (1 + 0.5 * (N / 10 - 1)), at most 40
        window.add(numbered(window.added, added - window.added))
        sample = window.sample(np.random.default_rng(0), 1_000).inputs[:, 0]
        assert set(sample) == set(range(added - drawn, added)) and window.drawn_from == drawn


def test_an_empty_window_has_no_sample() -> None:
    with pytest.raises(SettingError):
        ReplayWindow(SHAPE, 4).sample(np.random.default_rng(0), 1)
    with pytest.raises(SettingError):
        ReplayWindow(SHAPE, 0)


@given(st.integers(1, 25))
def test_a_restored_window_goes_on_identically(count: int) -> None:
    window, restored = ReplayWindow(SHAPE, 7), ReplayWindow(SHAPE, 7)
    window.add(numbered(0, count))
    restored.restore(window.state())
    for w in (window, restored):
        w.add(numbered(count, 3))
    first, second = (w.sample(np.random.default_rng(1), 20).inputs for w in (window, restored))
    np.testing.assert_array_equal(first, second)
    assert restored.added == window.added


@pytest.mark.parametrize("spoil", ["inputs", "legal", "added"])
def test_foreign_rows_are_refused(spoil: str) -> None:
    state = ReplayWindow(SHAPE, 7).state()
    state[spoil] = np.zeros((2, 99), dtype=np.float32)
    with pytest.raises(CheckpointError):
        ReplayWindow(SHAPE, 7).restore(state)


def test_join_rows() -> None:
    rows = join_rows([numbered(0, 2), numbered(2, 1)], SHAPE)
    assert rows.values[:, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("capacity", [1, 3, 7, 9, 20])
def test_a_window_of_another_size_takes_up_what_fits(capacity: int) -> None:
    window, restored = ReplayWindow(SHAPE, 10), ReplayWindow(SHAPE, capacity)
    window.add(numbered(0, 13))
    restored.restore(window.state())
    kept = min(capacity, 10)
    assert restored.newest(20).inputs[:, 0].tolist() == list(range(13 - kept, 13)) and restored.added == 13
    restored.add(numbered(13, 2))
    assert restored.newest(1).inputs[:, 0].tolist() == [14]
