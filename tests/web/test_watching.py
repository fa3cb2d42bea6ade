"""Searches that are watched: the newest frame for each watcher, the end with the last one, and who may begin one."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from itertools import count, pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from sog.web import searching
from sog.web.asked import PositionAsked
from sog.web.lanes import AgentLanes
from sog.web.searching import Growing
from sog.web.thinker import Thinker
from sog.web.watching import event_of
from tests.waiting import alive
from tests.web.client import HOST, Answer, Client, scope_of

LONG = "/position/stream?game=connect_four&line=3-3&s=200000&c=10&seed={}"


def simulations(event: bytes) -> int:
    """After how many simulations a frame was drawn."""
    return int(re.findall(rb"The search after ([\d,]+) simul", event)[0].replace(b",", b""))


def events(answer: Answer) -> list[tuple[str, str]]:
    """The kind and the text of each event."""
    parts = [part.partition("\n") for part in answer.text.split("\n\n") if part]
    return [(kind.removeprefix("event: "), data.replace("data: ", "")) for kind, _, data in parts]


@pytest.mark.parametrize("position", ["game=connect_four&line=3-3&s=3000&c=10", "game=leduc_poker&line=1-2&s=300&c=1"])
def test_a_watched_search_ends_as_one_that_was_not_watched(client: Client, position: str) -> None:
    """To the bit: its rests change nothing."""
    answer = client.get(f"/position/stream?{position}")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    found = events(answer)
    assert [kind for kind, _ in found] == ["step"] * (len(found) - 1) + ["end"]
    counts = [simulations(text.encode()) for _, text in found]
    assert counts == sorted(counts) and f"s={counts[-1]}&" in position
    picture = client.get(f"/position/pictures/tree.svg?{position}").text
    assert picture in found[-1][1] and picture in client.get(f"/position?{position}").text
    page = found[-1][1]
    ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])


async def until(condition: Callable[[], bool]) -> None:
    """Let the server work until it holds; a failure after a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def test_a_search_ends_with_its_last_watcher(client: Client) -> None:
    """Asked for again, it begins anew."""
    site, seen, again = client.app.app.state.site, list[int](), list[int]()

    async def three(event: bytes) -> bool:
        seen.append(simulations(event))
        return len(seen) < 3

    async def one(event: bytes) -> bool:
        again.append(simulations(event))
        return False

    async def leave_and_return() -> None:
        await client.asking(scope_of("GET", LONG.format(1)), take=three)
        await until(lambda: not site.watching.running)
        await client.asking(scope_of("GET", LONG.format(1)), take=one)

    client.loop.run_until_complete(leave_and_return())
    assert 3 <= len(seen) <= 4 and seen == sorted(seen) and again[0] < 200_000


def test_a_turn_that_takes_long_ends_with_its_last_watcher(client: Client, lanes: AgentLanes) -> None:
    """Its process is ended; what others are playing in it continues in the next one."""
    site = client.app.app.state.site
    game = "liars_dice(numdice=1,dice_sides=5)"  # its tree is whole soon: the rest, half a minute, is one call
    address = f"/position/stream?game={game}&s=20000&c=0.1&seed=9"
    assert client.get("/position?game=kuhn_poker&s=10").status == 200  # the lane has a process

    turns = [-1, 0]

    async def each(event: bytes) -> bool:
        turns[1] += 1
        return True

    async def leave_and_wait() -> int:
        task = asyncio.create_task(client.asking(scope_of("GET", address), take=each))
        while turns[0] != turns[1]:  # until a turn takes seconds: turns before take a tenth of a second
            turns[0] = turns[1]
            await asyncio.sleep(3.0)
        working = lanes._lanes[0]._remote
        assert working is not None
        task.cancel()
        await asyncio.wait({task})
        await until(lambda: not site.watching.running)
        return working.process()

    assert not alive(client.loop.run_until_complete(leave_and_wait()))
    assert client.get("/position?game=kuhn_poker&s=10").status == 200


def test_a_slow_reader_is_shown_the_newest_and_holds_up_nobody(client: Client) -> None:
    """The slow one takes as long as three frames of the quick one, which takes all that come, ten a second at most."""
    quick, slow, most = list[int](), list[int](), 13
    began = time.monotonic()

    async def at_once(event: bytes) -> bool:
        quick.append(simulations(event))
        return len(quick) < most

    async def slowly(event: bytes) -> bool:
        slow.append(simulations(event))
        until = min(most, len(quick) + 3)
        while len(quick) < until and time.monotonic() < began + 60:
            await asyncio.sleep(0.01)
        return len(quick) < most

    async def both() -> None:
        asked = [client.asking(scope_of("GET", LONG.format(2)), take=take) for take in (at_once, slowly)]
        await asyncio.gather(*asked)

    client.loop.run_until_complete(both())
    assert 2 <= len(slow) <= len(quick) // 2 <= len(quick) <= 2 + 10 * (time.monotonic() - began)
    assert set(slow) <= set(quick) | {slow[-1]}  # one search for both
    later = [quick.index(count) for count in slow[:-1] if count in quick]
    assert later == sorted(set(later)) and all(b - a > 1 for a, b in pairwise(later))


def test_no_more_searches_are_watched_than_may_run(client: Client) -> None:
    """The server of these tests has one process."""
    refused = list[int]()

    async def once(event: bytes) -> bool:
        other = await client.asking(scope_of("GET", LONG.format(4)))
        refused.append(other.status)
        return False

    client.loop.run_until_complete(client.asking(scope_of("GET", LONG.format(3)), take=once))
    assert refused[0] == 429


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"host": "evil.example"}, 400),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_only_own_pages_begin_a_stream(client: Client, headers: dict[str, str], status: int) -> None:
    address = "/position/stream?game=kuhn_poker&s=20&c=1"
    assert client.ask("GET", address, ({"host": HOST} | headers).items()).status == status


@pytest.mark.parametrize("query", ["s=200001&c=10", "s=0", "agent=random", "line=9", "agent=/etc"])
def test_what_cannot_be_watched_is_refused(client: Client, query: str) -> None:
    assert client.get(f"/position/stream?game=connect_four&{query}").status == 400


def test_what_goes_wrong_on_the_way_is_an_event(client: Client) -> None:
    """A position where somebody is to move, of a game that no network of this family fits."""
    site = client.app.app.state.site
    real = site.lanes.submit

    def broken(key: str, method: str, asked: object) -> object:
        return real(key, "nothing" if method == "grow" else method, asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site.lanes, "submit", broken)
        found = events(client.get("/position/stream?game=kuhn_poker&s=20&c=1"))
    assert [kind for kind, _ in found] == ["trouble"] and "nothing" in found[0][1]


def test_events_have_a_line_for_each_line() -> None:
    assert event_of("step", "a\nb") == b"event: step\ndata: a\ndata: b\n\n"
    assert event_of("trouble", "") == b"event: trouble\ndata: \n\n"


@pytest.mark.parametrize(("took", "least"), [(0.0, 0.1), (0.02, 1.0)])
def test_dear_snapshots_are_rarer(monkeypatch: pytest.MonkeyPatch, took: float, least: float) -> None:
    """The clock says a hundredth of a second a round, and a snapshot takes `took` of the processor: a fiftieth."""
    clock, processor = count(), count()
    times = SimpleNamespace(monotonic=lambda: next(clock) / 100, process_time=lambda: next(processor) * took)
    monkeypatch.setattr(searching, "time", times)
    asked = PositionAsked("connect_four", (3, 3), "connect_four", 4000, 10.0, 0)
    growing = Growing(Thinker().searching(asked))
    frames = [growing.next() for _ in range(3)]
    assert not frames[-1].finished
    shown = [frame.snapshots[0].simulations for frame in frames]
    rounds = [(after - before) / 10 for before, after in pairwise(shown)]
    assert all(least - 0.03 <= one / 100 <= least + 0.05 for one in rounds), rounds
