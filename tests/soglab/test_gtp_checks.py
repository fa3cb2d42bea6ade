"""Checks of `sog gtp`: a referee's clocks on known times, and a game with GNU Go in which every fault would be seen."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sog.play.match import ContestantFault
from sog.protocols.gtp_clock import TimeSettings
from soglab.checks import gtp_soak
from soglab.checks.gtp_clocks import late_moves
from tests.protocols.test_gtp import GNUGO


@pytest.mark.parametrize(
    ("settings", "took", "late"),
    [
        (TimeSettings(10.0), [4.0, 5.9], 0),
        (TimeSettings(10.0), [4.0, 6.1, 0.1], 2),
        (TimeSettings(2.0, 5.0, 2), [1.0, 3.0, 3.0, 4.5, 0.4], 0),  # the second move takes two seconds of the period
        (TimeSettings(2.0, 5.0, 2), [1.0, 3.0, 3.1, 2.5, 2.6], 2),
        (TimeSettings(2.0, 1.0, 0, 3), [2.9, 1.0, 0.9, 1.1], 1),
    ],
)
def test_a_referee_calls_moves_late(settings: TimeSettings, took: list[float], late: int) -> None:
    assert late_moves(settings, took) == late


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (apt-get install gnugo)")
def test_a_game_with_gnugo_has_no_fault_and_another_board_is_one() -> None:
    count = Counter[str]()
    pair = gtp_soak.SoakPair("go(board_size=5,komi=2.5)", 5, 2, 0, count)
    try:
        gtp_soak.soak_game(pair, 2.5, np.random.default_rng(0))
        assert count["games"] == 1 and count["commands"] > 20
        assert not pair.both("play b Z9")  # both refuse it
        pair.ours.send("clear_board")
        with pytest.raises(ContestantFault, match="only one has"):
            pair.both("play b A1"), pair.both("play w B1")
    finally:
        pair.kill()
