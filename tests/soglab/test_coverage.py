"""Coverage of intervals: every case with few draws, and an interval that is too narrow is seen."""

from __future__ import annotations

import pytest

from soglab.checks import coverage
from soglab.checks.coverage import CASES, IntervalCase, covered

# Too narrow, as docs/measured/checked.md says.
_KNOWN = (
    "5 times each (worst)",
    ": 100 deals, 1% of hands decide (worst)",
    "game by game: 50 openings, each won whole (worst)",
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.page}: {case.drawn}")
def test_intervals_hold_the_truth(case: IntervalCase) -> None:
    """Nine times in ten of 200, which one that holds it 95 times in a hundred fails once in a thousand."""
    row = covered(case, 200, 1)
    assert (row.covered >= 90.0) == (not f"{case.page}: {case.drawn}".endswith(_KNOWN))


def test_the_command_prints_a_row_for_each_case(capsys: pytest.CaptureFixture[str]) -> None:
    coverage.main(["--draws", "3"])
    printed = capsys.readouterr().out
    assert all(case.drawn in printed for case in CASES)
