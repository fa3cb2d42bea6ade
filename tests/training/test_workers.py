"""Where rounds are played: worker processes do what this process would, and their deaths are told in one line."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.errors import SogError
from sog.games.rules.kuhn import Kuhn
from sog.nets.cvpn import CVPN
from sog.nets.serialized import network_bytes
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training.packing import unpack
from sog.training.settings import Harvest, LearnerSettings, TrainSettings
from sog.training.workers import hire, make_actor, play_round
from tests.waiting import alive

BUDGET = Budget(3, 1.0)
TINY = TrainSettings(
    SogActing(
        SelfPlaySettings(ResolveSettings(BUDGET), queries=1.0),
        QuerySettings(BUDGET, SearchSettings()),
        side_by_side=4,
    ),
    LearnerSettings(batch=8),
    shape_for(Kuhn(), 8, 1),
    replay=200,
    games=2,
)
WEIGHTS = network_bytes(CVPN(TINY.shape, 1))


class Stays:
    """What nobody ends."""

    def pause(self) -> bool:
        return False

    def over(self) -> bool:
        return False

    def stopped(self) -> bool:
        return False

    def show(self, done: Callable[[], Any]) -> None:
        done()

    def dropping(self, work: Callable[[], Any]) -> Any:
        return work()


STAYS = Stays()


def bits(harvest: Harvest) -> tuple[object, ...]:
    return harvest.games, harvest.searches, harvest.queries, harvest.rows.content.tobytes()


def children() -> list[int]:
    """Process numbers of the spawned workers."""
    return [process.pid for process in multiprocessing.active_children() if process.pid is not None]


def test_this_process_plays_what_is_asked_for() -> None:
    with hire("kuhn_poker", TINY, 5, 1) as crew:
        for number in (0, 3):
            crew.start(WEIGHTS, number)
            (found,) = crew.harvest(STAYS)
            actor = make_actor("kuhn_poker", TINY)
            assert bits(found) == bits(play_round(actor, TINY, 5, 0, WEIGHTS, number))
    first, second = (play_round(actor, TINY, 5, 0, WEIGHTS, number) for number in (0, 1))
    assert bits(first) != bits(second)


def test_two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They play their shares to the bit, are single-threaded, live on between rounds and end with the crew.

    One that dies, while it plays or while it waits, is told of in one line.
    """
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    before = children()
    with hire("kuhn_poker", TINY, 5, 2) as crew:
        mine = [process for process in children() if process not in before]
        assert len(mine) == 2
        assert os.environ["OMP_NUM_THREADS"] == "3"
        actor = make_actor("kuhn_poker", TINY)
        for number in (0, 1):
            crew.start(WEIGHTS, number)
            found = crew.harvest(STAYS)
            expected = [play_round(actor, TINY, 5, worker, WEIGHTS, number) for worker in (0, 1)]
            assert [bits(harvest) for harvest in found] == [bits(harvest) for harvest in expected]
        for process in mine:
            assert b"OMP_NUM_THREADS=1\0" in Path(f"/proc/{process}/environ").read_bytes()
        assert sorted(children()) == sorted(before + mine)

        second = crew.players[1].process()  # type: ignore[attr-defined]
        os.kill(second, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while alive(second) and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(SogError, match="self-play worker 1 died; resume from the last checkpoint"):
            crew.start(WEIGHTS, 2)
            crew.harvest(STAYS)
    assert not any(alive(process) for process in mine)


def test_workers_end_before_the_crew_does() -> None:
    """As before a run's last save, which a dropped round must not slow down."""
    before = children()
    with hire("kuhn_poker", replace(TINY, games=10**9), 5, 2) as crew:
        mine = [process for process in children() if process not in before]
        crew.start(WEIGHTS, 0)
        crew.end()
        assert len(mine) == 2 and not any(alive(process) for process in mine)


def test_a_workers_error_is_told_in_one_line_and_a_round_is_dropped() -> None:
    """A round that would take hours ends as soon as its watch says so, and its processes with the crew."""

    class Stopped(Stays):
        def over(self) -> bool:
            return True

        def stopped(self) -> bool:
            return True

    other = network_bytes(CVPN(shape_for(Kuhn(), 16, 1), 1))
    before = children()
    with hire("kuhn_poker", replace(TINY, games=10**9), 5, 2) as crew:
        mine = [process for process in children() if process not in before]
        crew.start(other, 0)  # weights of another network
        with pytest.raises(SogError, match=r"self-play worker [01]: .*shape") as caught:
            crew.harvest(STAYS)
        assert "\n" not in str(caught.value)
        crew.start(WEIGHTS, 0)
        assert crew.harvest(Stopped()) is None
    assert len(mine) == 2 and not any(alive(process) for process in mine) and children() == before


def test_shares_differ() -> None:
    actor = make_actor("kuhn_poker", TINY)
    found = {bits(play_round(actor, TINY, *key, WEIGHTS, 0)) for key in ((0, 0), (0, 1), (1, 0))}
    assert len(found) == 3
    assert np.isfinite(unpack(TINY.shape, play_round(actor, TINY, 0, 0, WEIGHTS, 0).rows).values).all()
