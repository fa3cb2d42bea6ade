"""What packing changes in rows of self-play is within its bounds; a value that was changed by more is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sog.algorithms.table import settings_of
from sog.games.catalog import make_game
from sog.nets.shape import NetworkShape
from sog.training import packing, self_play
from sog.training.packing import PackedRows
from sog.training.rows import Rows
from sog.training.run import Run
from sog.training.settings import TrainSettings
from soglab.checks import packed_learning
from soglab.checks import packing as check
from soglab.checks.training_process import window_size

HALF = 2.0**-11  # half of the last bit of a float16, relative to the number


def rows_of(name: str) -> tuple[NetworkShape, Rows]:
    shape, parts = check.self_play_rows(name)
    return shape, next(part for part in parts if part.policy_mask.any() and part.value_mask.any())


@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice(numdice=1,dice_sides=4)", "tic_tac_toe"])
def test_rows_of_self_play_come_back_within_the_bounds(name: str) -> None:
    shape, parts = check.self_play_rows(name)
    found = [check.packing_of(shape, rows) for rows in parts]
    assert sum(one.rows for one in found) > 20
    assert max(one.value for one in found) <= HALF * 1.001 and max(one.reach for one in found) <= HALF * 1.001
    assert max(one.policy for one in found) <= 1 / 65_535 + 1e-6
    assert all(one.others and one.packed < one.plain / 2.5 for one in found)


def test_a_value_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    shape, rows = rows_of("leduc_poker")
    assert check.packing_of(shape, rows).value <= HALF * 1.001

    def spoiled(known: NetworkShape, packed: PackedRows) -> Rows:
        again = packing.unpack(known, packed)
        return replace(again, values=again.values * np.float32(1.01), legal=~again.legal)

    monkeypatch.setattr(check, "unpack", spoiled)
    found = check.packing_of(shape, rows)
    assert found.value > 0.009 and not found.others


@pytest.mark.parametrize("name", ["leduc_poker", "tic_tac_toe"])
def test_rows_written_as_they_are_come_back_to_the_bit(name: str) -> None:
    shape, rows = rows_of(name)
    again = packed_learning.written_rows(shape, packed_learning.written(shape, rows))
    for column, known in zip(again.columns().values(), rows.columns().values(), strict=True):
        assert column.dtype == known.dtype and np.array_equal(column, known)


def test_a_run_from_rows_as_they_are_reads_no_packed_ones(tmp_path: Path) -> None:
    """Its window holds more bytes a row, and its network differs by what packing rounds."""
    run = Run("leduc_poker", algorithm="sog(simulations=2,games=16)")
    settings = settings_of(make_game(run.game), "demo", run.algorithm)
    assert isinstance(settings, TrainSettings)
    settings = replace(settings, rounds=2)
    packed = self_play.train(run, settings, tmp_path / "packed")
    with packed_learning.rows_as_they_are():
        plain = self_play.train(run, settings, tmp_path / "plain")
    assert plain.rows > 0 and plain.value_loss != packed.value_loss
    assert plain.value_loss == pytest.approx(packed.value_loss, rel=0.01)
    sizes = [window_size(tmp_path / name / "checkpoint")[1] for name in ("packed", "plain")]
    assert sizes[1] > 2 * sizes[0]
