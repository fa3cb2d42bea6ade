"""Two checkouts are compared by pairs of processes, and their ratios are medians with an interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from soglab.bench.checkouts import compare, row_of

ROOT = Path(__file__).parents[2]


def test_nine_pairs_leave_out_the_smallest_and_the_largest() -> None:
    row = row_of("a task", [1.0, 1.1, 0.5, 1.3, 9.0, 1.2, 0.9, 0.8, 1.05])
    assert (row.ratio, row.least, row.most, row.pairs) == (1.05, 0.8, 1.3, 9)


@pytest.mark.parametrize(("pairs", "cut"), [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (20, 5), (50, 17)])
def test_intervals_of_medians_are_the_sign_tests(pairs: int, cut: int) -> None:
    """As in tables of the sign test at 5%, two-sided (Dixon and Mood, 1946)."""
    row = row_of("a task", [float(k) for k in range(pairs)])
    assert (row.least, row.most) == (cut, pairs - 1 - cut)


def test_few_pairs_leave_out_none() -> None:
    row = row_of("a task", [1.0, 2.0, 4.0])
    assert (row.ratio, row.least, row.most) == (2.0, 1.0, 4.0)


def test_both_processes_do_each_task() -> None:
    (pair,) = compare(ROOT, ["outcome MCCFR, Leduc"], 1, 0)
    assert set(pair) == {"outcome MCCFR, Leduc"} and pair["outcome MCCFR, Leduc"] > 0.0


def test_a_process_that_ends_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sog").mkdir()
    (tmp_path / "sog" / "__init__.py").write_text("raise ImportError('no numbers here')")
    with pytest.raises(SystemExit, match="ended in the task 'CFR"):
        list(compare(tmp_path, ["CFR+, Leduc"], 1, 0))
    assert "no numbers here" in capfd.readouterr().err
