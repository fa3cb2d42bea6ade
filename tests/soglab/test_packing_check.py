"""What packing changes in rows of self-play is within its bounds; a value that was changed by more is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sog.nets.shape import NetworkShape
from sog.training import packing
from sog.training.packing import PackedRows
from sog.training.rows import Rows
from soglab.checks import packing as check

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
    assert max(one.policy for one in found) <= 1 / 255 + 1e-6
    assert all(one.others and one.packed < one.plain / 3 for one in found)


def test_a_value_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    shape, rows = rows_of("leduc_poker")
    assert check.packing_of(shape, rows).value <= HALF * 1.001

    def spoiled(known: NetworkShape, packed: PackedRows) -> Rows:
        again = packing.unpack(known, packed)
        return replace(again, values=again.values * np.float32(1.01), legal=~again.legal)

    monkeypatch.setattr(check, "unpack", spoiled)
    found = check.packing_of(shape, rows)
    assert found.value > 0.009 and not found.others
