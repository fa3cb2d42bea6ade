"""Searches that are watched as they grow: one runs while it has a watcher, and only its newest frame is stored.

A watcher takes frames as fast as it can, and misses those in between; nothing waits for it. Searches take turns of a
tenth of a second in the lanes in which agents live, so that they count among the searches that may run at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager
from typing import Any, Final

from sog.errors import SogError
from sog.web.asked import PositionAsked, SearchGrowth
from sog.web.lanes import AgentLanes, Busy

__all__ = ["EventStream", "Watching", "event_of"]

_PATIENCE: Final = 0.5  # seconds that a search without watchers has for the end of its turn
_AGAIN: Final = 0.1  # seconds until a lane that is busy is asked again

Draw = Callable[[SearchGrowth], str]


class _Watched:
    """A search and the newest frame of it.  number: counts frames.  done: whether there will be no more."""

    def __init__(self) -> None:
        self.watchers, self.number, self.frame, self.done = 0, 0, b"", False
        self.news = asyncio.Event()

    def put(self, frame: bytes, done: bool = False) -> None:
        self.frame, self.number, self.done = frame, self.number + 1, done
        self.news.set()
        self.news = asyncio.Event()


class Watching:
    """All searches that are watched, at most as many as there are lanes."""

    def __init__(self, lanes: AgentLanes) -> None:
        self._lanes = lanes
        self._watched: dict[PositionAsked, _Watched] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> int:
        """How many searches run."""
        return len(self._watched)

    def refuse_more(self, asked: PositionAsked) -> None:
        """Busy where this search would be one too many."""
        others = sum(each.watchers > 0 for key, each in self._watched.items() if key != asked)
        if others >= self._lanes.count:
            raise Busy("all searches that may run at once are watched: stop one of them")

    @contextlib.contextmanager
    def watch(self, asked: PositionAsked, draw: Draw) -> Iterator[AsyncIterator[bytes]]:
        """Frames of a search, the newest each time; it runs until the last such context ends, or it is done.

        draw: HTML of what the search has found. Raises Busy as `refuse_more`.
        """
        self.refuse_more(asked)
        if asked not in self._watched:
            self._watched[asked] = _Watched()
            task = asyncio.create_task(self._grow(asked, self._watched[asked], draw))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        watched = self._watched[asked]
        watched.watchers += 1
        try:
            yield _frames(watched)
        finally:
            watched.watchers -= 1

    async def _grow(self, asked: PositionAsked, watched: _Watched, draw: Draw) -> None:
        """Have the search continue, turn after turn, until it is done or nobody watches it."""
        key, finished = repr(asked), False
        try:
            while watched.watchers and not finished:
                growth = await self._turn(key, asked, watched)
                if growth is None:
                    continue
                finished = growth.finished
                html = await asyncio.to_thread(draw, growth)
                watched.put(event_of("end" if finished else "step", html), finished)
        except SogError as error:
            watched.put(event_of("trouble", str(error)), True)
        finally:
            del self._watched[asked]
            if not watched.done:
                watched.put(event_of("trouble", "this search was ended"), True)
                await self._forget(key, asked)

    async def _turn(self, key: str, asked: PositionAsked, watched: _Watched) -> SearchGrowth | None:
        """The search a moment later; None where its lane is busy, or nobody watched any more."""
        ended = False
        try:
            turn = asyncio.wrap_future(self._lanes.submit(key, "grow", asked))
        except Busy:
            await asyncio.sleep(_AGAIN)
            return None
        while not (await asyncio.wait({turn}, timeout=_PATIENCE))[0]:
            if not watched.watchers:  # a round of a large game, or the end of a search, can take long
                self._lanes.end(key)
                ended = True
        try:
            growth: SearchGrowth = turn.result()
        except SogError:
            if not ended:
                raise
            return None
        return growth

    async def _forget(self, key: str, asked: PositionAsked) -> None:
        """Its process lets go of the search."""
        while True:
            try:
                self._lanes.submit(key, "forget", asked)
                return
            except Busy:
                await asyncio.sleep(_AGAIN)
            except SogError:
                return  # the server is ending


async def _frames(watched: _Watched) -> AsyncIterator[bytes]:
    seen = 0
    while not (watched.done and seen == watched.number):
        if seen == watched.number:
            await watched.news.wait()
        seen = watched.number
        yield watched.frame


def event_of(kind: str, text: str) -> bytes:
    """An event of an event stream (text/event-stream)."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {kind}\n{lines}\n".encode()


class EventStream:
    """An ASGI answer of events, which ends with them, or as soon as the browser has left.  events: to be entered."""

    def __init__(self, events: AbstractContextManager[AsyncIterator[bytes]]) -> None:
        self.events = events

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        sending, left = asyncio.create_task(self._send(send)), asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({sending, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, left):
                task.cancel()
            await asyncio.gather(sending, left, return_exceptions=True)

    async def _send(self, send: Callable[[MutableMapping[str, Any]], Awaitable[None]]) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        with self.events as events:
            async for event in events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _left(receive: Callable[[], Awaitable[MutableMapping[str, Any]]]) -> None:
    """Return once the browser has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
