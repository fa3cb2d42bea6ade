"""CFR-D's memory on small decks: exact growth of the numbers, and far less than full CFR."""

from __future__ import annotations

import pytest

from soglab.papers import cfrd_memory
from soglab.study import Options, StudyPoint


def test_growth() -> None:
    keys = cfrd_memory.plan(Options(quick=True), print)
    # What a process allocates once, 80 kB, belongs to none of the methods: it would be the first one's, full CFR's.
    cfrd_memory.compute(keys[0])
    points = [StudyPoint(key, cfrd_memory.compute(key)) for key in keys]
    by = {(p.key["method"], p.key["ranks"]): p.result for p in points}
    assert {p.result["infostates"] for p in points} == {6 * r + 30 * r**2 for r in (3, 6)}
    small, large = by[cfrd_memory.BEFORE, 3], by[cfrd_memory.BEFORE, 6]
    for measure in ("between", "during"):
        assert large[measure] == 2 * small[measure]  # in proportion to the ranks
    assert by[cfrd_memory.FULL, 6]["during"] == pytest.approx(4 * by[cfrd_memory.FULL, 3]["during"], rel=0.05)
    for ranks in (3, 6):
        full, before, after = (by[method, ranks] for method in cfrd_memory.THEORY)
        assert full["peak"] >= full["kept"] > full["during"]
        assert before["between"] < after["between"] < full["between"] / 4
    # All memory holds tens of kilobytes of Python's own objects, which differ from process to process and are a fifth
    # of the smallest deck's bytes: what the algorithms need shows in the larger deck and in how it grew.
    assert before["peak"] < after["peak"] < full["peak"] / 3
    growth = [by[method, 6]["peak"] / by[method, 3]["peak"] for method in cfrd_memory.THEORY]
    assert growth[0] > 3 and growth[1] < 1.5 and growth[2] < 2.5  # infostates grow 3.9 times
    assert len(cfrd_memory.present(points).beside) == 3 * 4
