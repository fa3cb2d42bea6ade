"""A listing is kept for the process, and a limit on memory holds for a game that was listed before."""

from __future__ import annotations

import pytest

from sog.errors import TooLarge
from sog.measure.listed import listed


def test_a_limit_holds_for_a_game_that_was_listed_before() -> None:
    assert listed("leduc_poker") is listed("leduc_poker")
    with pytest.raises(TooLarge, match=r"more than 0\.001 GB of memory"):
        listed("leduc_poker", limit_gb=0.001)
    assert listed("leduc_poker").size == 465
