"""The speed of depth-limited solving: a row for each setting, with sensible shares."""

from __future__ import annotations

from sog.games.rules.liars_dice import LiarsDice
from soglab.bench.rebel import CONSTANT, bench_rebel, row_count


def test_each_setting_has_a_row_and_a_share() -> None:
    told: list[int] = []
    rows = list(bench_rebel([LiarsDice(1, 2)], 0.001, lambda done, note: told.append(done)))
    assert len(rows) == row_count(1) == told[-1]
    for row in rows:
        assert row.solves > 0 and row.solves_per_second > 0 and row.questions > 0
        assert (row.network_share == 0.0) if row.network == CONSTANT else (0.0 < row.network_share < 1.0)
    by_setting = {row.setting: row.questions for row in rows if row.network != CONSTANT}
    assert by_setting["plain"] > by_setting["pruned"] > by_setting["pruned, remembered"]
