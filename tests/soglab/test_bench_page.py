"""What the page costs is measured on a real server and on a search that is watched to its end."""

from __future__ import annotations

from sog.web.asked import PositionAsked
from soglab.bench.page import server_cost, watch_cost


def test_a_server_answers_without_pytorch() -> None:
    cost = server_cost()
    assert 0.0 < cost.seconds < 60.0 and 20.0 < cost.megabytes < 400.0
    assert not cost.torch


def test_a_watched_search_is_compared_with_one_that_is_not() -> None:
    cost = watch_cost(PositionAsked("tic_tac_toe", (), "tic_tac_toe", 200, 10.0, 0), pairs=3)
    middle, least, most = cost.percent
    assert -100.0 < least <= middle <= most and cost.first >= 0.0 and cost.shown >= 1
