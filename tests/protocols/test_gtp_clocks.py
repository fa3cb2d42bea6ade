"""GTP's clocks: main time with a period behind it, Canadian and Japanese byo-yomi, what a loaded machine needs."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import pytest

from sog.algorithms.student.player import SogPlayer
from sog.games.boards.go import Go
from sog.protocols.engine import share_of_clock, within
from sog.protocols.gtp import GtpEngine
from sog.protocols.lines import Lines


@pytest.fixture
def engine(player: SogPlayer) -> GtpEngine:
    return GtpEngine(player, Go(5, 2.5), lambda line: None)


def said(engine: GtpEngine, *lines: str) -> GtpEngine:
    engine.serve(Lines(io.BytesIO("".join(line + "\n" for line in lines).encode())))
    return engine


@pytest.mark.parametrize(
    ("lines", "least", "most"),
    [
        # The period behind the main time is the move's, too: 10 s for this move, and 2 s before them.
        (("time_settings 60 10 1", "time_left b 2 0"), 8.0, 11.0),
        (("time_settings 60 10 1", "time_left b 0 0"), 8.0, 9.5),
        (("time_settings 60 300 25", "time_left b 0.05 0"), 9.0, 12.1),
        (("time_settings 60 10 1",), 8.0, 13.0),
        (("kgs-time_settings byoyomi 60 10 5", "time_left b 0 5"), 0.001, 0.001),
        (("kgs-time_settings byoyomi 60 10 5", "time_left b 10 5"), 8.0, 9.5),  # five periods, not five stones
        (("kgs-time_settings byoyomi 0 10 5",), 8.0, 9.5),
        (("kgs-time_settings byoyomi 60 10 5", "time_left b 2 0"), 8.0, 11.0),
        (("kgs-time_settings canadian 60 300 25", "time_left b 300 25"), 10.0, 12.0),
        (("kgs-time_settings canadian 0 300 25",), 10.0, 12.0),
        # A period's time that earlier moves left is not spent on one move.
        (("time_settings 0 25 5", "time_left b 24 1"), 5.0, 10.0),
        (("time_settings 0 25 5", "time_left b 24 5"), 4.0, 5.0),
        (("time_settings 0 30 1", "time_left b 30 1"), 20.0, 27.0),
        (("kgs-time_settings absolute 300",), 5.0, 10.0),
        (("time_settings 300 0 0",), 5.0, 10.0),
        (("kgs-time_settings byoyomi 300 0 3",), 5.0, 10.0),
        (("kgs-time_settings byoyomi 300 5 0",), 5.0, 10.0),
        (("time_settings 300 0 0", "time_left b 0 0"), 0.001, 0.001),
        (("time_left b 24 1",), 12.0, 21.6),
    ],
)  # fmt: skip
def test_what_a_move_may_take(engine: GtpEngine, lines: tuple[str, ...], least: float, most: float) -> None:
    seconds = said(engine, *lines).clock.seconds(0)
    assert seconds is not None and least <= seconds <= most


@pytest.mark.parametrize("lines", [("kgs-time_settings none",), ("time_settings 0 1 0",), ("time_settings 9 1 0",)])
def test_no_clock_is_no_limit(engine: GtpEngine, lines: tuple[str, ...]) -> None:
    assert said(engine, "time_settings 9 0 0", *lines).clock.seconds(0) is None


def test_malformed_clocks_are_errors(player: SogPlayer, talk: Callable[..., list[str]]) -> None:
    wrong = (
        "kgs-time_settings", "kgs-time_settings none 1", "kgs-time_settings absolute", "kgs-time_settings byoyomi 1 1",
        "kgs-time_settings canadian 1 1 x", "time_settings -1 0 0", "time_settings 1 -1 1", "kgs-time_settings x",
    )  # fmt: skip
    assert talk(lambda say: GtpEngine(player, Go(5, 2.5), say), *wrong) == ["? syntax error\n"] * len(wrong)


@pytest.mark.parametrize(
    ("settings", "moves", "left"),
    [
        ("time_settings 10 20 4", [4.0], (6.0, 0)),
        ("time_settings 10 20 4", [4.0, 8.0], (18.0, 3)),  # two seconds of the first period, and one of its stones
        ("time_settings 10 20 4", [12.0, 1.0, 1.0, 1.0], (20.0, 4)),  # the next period
        ("kgs-time_settings byoyomi 10 5 3", [4.0, 8.0], (5.0, 3)),
        ("kgs-time_settings byoyomi 10 5 3", [16.0], (5.0, 2)),
        ("kgs-time_settings byoyomi 0 5 3", [4.9, 5.5, 4.9], (5.0, 2)),
        ("time_settings 10 0 0", [4.0, 8.0], (0.0, 0)),
    ],
)
def test_time_that_was_spent_is_gone_though_the_client_says_nothing(
    engine: GtpEngine, settings: str, moves: list[float], left: tuple[float, int]
) -> None:
    said(engine, settings)
    for seconds in moves:
        engine.clock.spend(0, seconds)
    assert engine.clock.of(0) == pytest.approx(left)


@pytest.mark.parametrize(
    "settings", ["time_settings 30 0 0", "time_settings 30 5 1", "time_settings 30 20 5", "time_settings 0 20 5",
                 "kgs-time_settings byoyomi 30 5 3", "kgs-time_settings byoyomi 0 1 1"]
)  # fmt: skip
def test_a_hundred_moves_that_each_take_a_tenth_longer_are_in_time(engine: GtpEngine, settings: str) -> None:
    """A referee's clock beside ours: no move ends after the time for it, though the client never says what is left."""
    clock = said(engine, settings).clock
    assert clock.settings is not None
    main, (period, count) = clock.settings.main, clock.settings.begun
    stones = count
    for _ in range(100):
        wanted = clock.seconds(0) or 0.0
        took = wanted * 1.1 + (0.05 if wanted > 0.01 else 0.0)
        over = max(0.0, took - main)
        main = max(0.0, main - took)
        if clock.settings.period == 0:
            assert over <= 0.2, "nothing is behind the main time"
        elif clock.settings.periods:
            assert over < period
        elif over:
            period, stones = period - over, stones - 1
            assert period > 0
            if stones == 0:
                period, stones = clock.settings.begun
        clock.spend(0, took)


def test_time_that_only_the_client_sees_is_kept_for_it(engine: GtpEngine) -> None:
    """Some hundredths of a second a move, on a busy machine: in a period of ten stones they are a whole move's."""
    clock = said(engine, "time_settings 2 5 10").clock
    main, left, stones = 2.0, 5.0, 10
    for _ in range(100):
        started = time.monotonic()
        took = (clock.seconds(0) or 0.0) + 0.03
        main, over = max(0.0, main - took - 0.04), max(0.0, took + 0.04 - main)
        if over:
            left, stones = left - over, stones - 1
            assert left > 0
            if stones == 0:
                left, stones = 5.0, 10
        engine._spend(0, started - took)


def test_the_margin_is_a_share_of_what_is_left() -> None:
    assert within(10.0) == pytest.approx(8.9) and within(0.05) == 0.001
    assert share_of_clock(1.0, moves_to_go=1) == pytest.approx(0.8)
    assert share_of_clock(60.0, 1.0, 10) == pytest.approx(6.8)


def test_a_new_game_has_no_time_left_of_the_last(engine: GtpEngine) -> None:
    said(engine, "time_settings 60 0 0", "time_left b 1 0", "komi 3.5")
    assert set(engine.clock.left) == {0}
    said(engine, "clear_board")
    assert not engine.clock.left and engine.clock.settings is not None
