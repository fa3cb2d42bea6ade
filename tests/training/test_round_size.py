"""Rounds whose number of games is chosen by the clock: how it is found, kept and taken up again."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from sog.algorithms.table import settings_of
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.play.tally import PLAYED, PlayTally, RoundSoFar, SharedTallies
from sog.training import checkpoint
from sog.training.round_size import RoundSize, read_round_size
from sog.training.run import Hooks, Run, Until
from sog.training.self_play import train
from sog.training.settings import TrainSettings

RUN = Run("kuhn_poker", algorithm="sog(simulations=2,network=1x8,games=0)")


def settings() -> TrainSettings:
    found = settings_of(make_game(RUN.game), "demo", RUN.algorithm)
    assert isinstance(found, TrainSettings)
    return found


def test_a_round_comes_to_half_a_minute() -> None:
    """Of games of 10 seconds; the first, which is over at once, does not make the second round long."""
    size, notes = RoundSize.of(0), list[str]()
    played = [size.games]
    for seconds in (0.1, 40.0, 10.0, 20.0, 1e9):
        size.measure(seconds, notes.append)
        played.append(size.games)
    assert played == [1, 4, 3, 4, 5, 5]
    assert size.settled and len(notes) == 1 and "5 games a worker" in notes[0]


@pytest.mark.parametrize("seconds", [0.0, 1e6])
def test_a_round_has_a_game_at_least_and_bounds(seconds: float) -> None:
    size = RoundSize.of(0)
    for _ in range(9):
        size.measure(seconds, lambda text: None)
    assert size.games == (1 if seconds else 256)


def test_a_number_that_is_set_stays() -> None:
    size = RoundSize.of(7)
    size.measure(1e6, lambda text: pytest.fail(text))
    assert size == RoundSize(7, True)
    with pytest.raises(SettingError, match="games must not be negative"):
        replace(settings(), games=-1)


def test_a_resumed_run_has_the_rounds_that_it_had(tmp_path: Path) -> None:
    """Each round's games are in the curve; a number found by the clock is in the checkpoint."""
    shown: list[RoundSoFar] = []
    train(RUN, settings(), tmp_path, Until(rounds=2), hooks=Hooks(playing=shown.append))
    state = checkpoint.load_state(tmp_path / "checkpoint")
    size = read_round_size(state["round_size"])
    assert [point[4] for point in state["points"]] == [1, 4] and size.played == 5 and size.games == 16
    assert train(RUN, settings(), tmp_path, Until(rounds=3), True).games == 16
    assert shown and all(done.of in (1, 4) for done in shown)
    set_now = replace(settings(), games=3)
    assert train(RUN, set_now, tmp_path, Until(rounds=4), True).games == 3


@pytest.mark.parametrize("wrong", [{"games": 0}, {"games": 10**6}, {"seconds": -1.0}, {"played": -1}])
def test_a_damaged_size_is_refused(wrong: dict[str, float], tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        read_round_size(RoundSize.of(0).state() | wrong)


def test_tallies_of_processes_are_read_together() -> None:
    shared, tallies = SharedTallies(2), [PlayTally(), PlayTally()]
    for number, tally in enumerate(tallies):
        tally.place(shared.address, number)
        tally.add(games=1, searches=number + 1)
    assert shared.total()[:3].tolist() == [2, 3, 0] and shared.compiling() is None
    for tally in tallies:
        tally.watch_compiling()
    deadline = time.monotonic() + 10
    while shared.compiling() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert shared.compiling() is not None
    tallies[0].begin()
    assert shared.total()[:3].tolist() == [1, 2, 0]
    shared.begin()
    assert shared.total()[:3].tolist() == [0, 0, 0]
    path, _, name = shared.address.partition(" ")
    for address in ("", path, f"{path} another", f"/nowhere {name}"):
        alone = PlayTally()
        alone.place(address, 0)
        alone.add(queries=2)
        assert alone.counts[2] == 2 and shared.total()[2] == 0
    shared.close()
    shared.close()


def test_what_a_round_has_played_is_counted() -> None:
    assert PLAYED.counts[0] >= 0
    line = str(RoundSoFar(2, 8, 30, 10, 20.0))
    assert line == "2 of 8 games, 30 searches, 10 queries, 2 a second, 60 s left"
    assert str(RoundSoFar(0, 8, 3, 0, 2.0)) == "0 of 8 games, 3 searches, 1.5 a second"
