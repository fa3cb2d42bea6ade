"""The hold'em benchmark on a spot that takes no time: what its rows say."""

from __future__ import annotations

import pytest

from soglab.bench import holdem
from soglab.bench.holdem import RIVER, SOLVERS, TURN, TimedSpot, bench_spot, chosen, steps

SMALL = TimedSpot(
    "small", 'holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=1.0,range0="AA,KQo",range1="JJ")', 3, 4, 2
)


def test_rows_of_a_small_spot() -> None:
    done_so_far: list[int] = []
    rows = list(bench_spot(SMALL, lambda done, note: done_so_far.append(done)))
    assert done_so_far == list(range(1, steps(SMALL) + 1))
    assert tuple((row.threads, row.bits) for row in rows) == SOLVERS
    assert rows[2].memory_mb < rows[0].memory_mb
    assert rows[0].speedup == 1.0 and rows[1].speedup > 0
    for row in rows:
        assert 0 < row.fastest_ms <= row.ms_per_iteration
        assert row.processor_ms > 0
        assert row.seconds_to_half_percent > 0
        assert row.iterations == rows[0].iterations and row.iterations % 20 == 0


def test_a_speedup_is_one_threads_time_over_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the words of the target, half a percent of the pot, are what solves run to."""
    paces = {solver: 12.0 / (k + 1) for k, solver in enumerate(SOLVERS)}
    monkeypatch.setattr(holdem, "_pace", lambda solver, count: (paces[solver.threads, solver.bits], 1.0))
    monkeypatch.setattr(holdem, "_solve", lambda solver: 1.0)
    rows = list(bench_spot(SMALL, lambda done, note: None))
    assert [(row.ms_per_iteration, row.speedup) for row in rows] == [(12.0 / k, k) for k in range(1, len(rows) + 1)]
    assert holdem.HOLDEM.title is not None and holdem.HOLDEM.title.endswith(f"to {100 * holdem.TARGET:g}%")


@pytest.mark.parametrize(
    ("names", "spots"), [(["river"], [RIVER]), ([], [RIVER, TURN]), (["turn", "river", "turn"], [TURN, RIVER])]
)
def test_chosen_spots(names: list[str], spots: list[TimedSpot]) -> None:
    assert chosen(names) == spots
