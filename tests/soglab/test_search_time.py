"""Search time: a point is a search of that size, and the slope is read off the last step."""

from __future__ import annotations

from soglab.papers.search_time import WIDTHS, compute, plan, present
from soglab.study import Options, StudyPoint


def test_a_point_is_a_search() -> None:
    found = compute({"game": "connect_four", "s": 30, "c": 10})
    assert 15 < found["nodes"] <= 31 and found["seconds"] > 0.0


def test_the_slope_of_a_square_is_two() -> None:
    keys = plan(Options(), lambda text: None)
    points = [StudyPoint(key, {"seconds": key["s"] ** 2 / key["c"]}) for key in keys]
    assert all("s^2.00" in said.ours for said in present(points).beside) and len(points) == 4 * len(WIDTHS)
