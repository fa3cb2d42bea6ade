"""Which address is answered by what: games are played by forms, positions are searched, runs are shown.

GET changes nothing. Whatever a request names is looked up among what is offered (offers), and never opened by its name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from sog.cluster.executor import WorkLost
from sog.errors import SettingError, SogError
from sog.games.base import NATURE, Game
from sog.games.public_lines import next_steps
from sog.lru import LruCache
from sog.protocols.phh import written_phh
from sog.web.asked import PERSON, HintReply, PositionAsked, SearchGrowth
from sog.web.beside import BesidePages
from sog.web.drawn import view_pictures
from sog.web.files import picture_answer
from sog.web.forms import body_of, form_of, number_in, parts_of
from sog.web.guard import STREAM, Door, Guard
from sog.web.lanes import AgentLanes, Busy
from sog.web.loaded import read_game
from sog.web.offers import Offers
from sog.web.pages import Pages, json_of
from sog.web.positions import Place, place_of, position_files, state_at
from sog.web.runs import RunPages
from sog.web.spots import SpotPages
from sog.web.tables import PlayTable, PlayTables
from sog.web.views import GameView, line_of, may_ask_hint, move_asked, view_of, viewer_at
from sog.web.watching import EventStream, Watching

__all__ = ["Site", "application"]

_STATIC: Final = {
    "style.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_ROOM: Final = Path(__file__).parent / "static"
_LISTED: Final = 20  # games on the page of those that were played on last
_SEARCHES: Final = 16  # recorded searches that are kept

T = TypeVar("T")


def application(offers: Offers, folder: Path, lanes: AgentLanes, door: Door) -> Guard:
    """The whole server, as an ASGI application.  folder: of the games."""
    site = Site(offers, PlayTables(folder), lanes)
    app = Starlette(
        routes=site.routes(),
        exception_handlers={SogError: site.refused, 404: site.missing, 405: site.missing},
        lifespan=site.living,
    )
    app.state.site = site
    return Guard(app, door)


class Site:
    """What the addresses answer."""

    def __init__(self, offers: Offers, tables: PlayTables, lanes: AgentLanes) -> None:
        self.offers, self.tables, self.lanes = offers, tables, lanes
        self.pages = Pages(list(offers.runs.values()))
        self.watching = Watching(lanes)
        self._searches = LruCache[PositionAsked, Future[SearchGrowth]](_SEARCHES)

    def routes(self) -> list[Route]:
        """All addresses."""
        return [
            Route("/", self.home),
            Route("/new", self.setup),
            Route("/games", self.played, methods=["GET"]),
            Route("/games", self.begin, methods=["POST"]),
            Route("/games/{name}", self.game),
            Route("/games/{name}/pictures/{file}", self.game_file),
            Route("/games/{name}/view.json", self.view_json),
            Route("/games/{name}/record", self.record),
            Route("/games/{name}/saved", self.saved),
            Route("/games/{name}/phh", self.phh),
            Route("/load", self.load, methods=["GET"]),
            Route("/load", self.load_file, methods=["POST"]),
            Route("/games/{name}/move", self.move, methods=["POST"]),
            Route("/games/{name}/back", self.take_back, methods=["POST"]),
            Route("/games/{name}/hint", self.hint, methods=["POST"]),
            Route("/games/{name}/continue", self.play_on, methods=["POST"]),
            Route("/position", self.position),
            Route("/position/pictures/{file}", self.position_file),
            Route(STREAM, self.position_stream),
            *SpotPages(self.offers, self.lanes, self.pages).routes(),
            *BesidePages(self.offers, self.lanes, self.pages).routes(),
            *RunPages(self.offers, self.pages).routes(),
            Route("/static/{name}", self.static),
        ]

    @asynccontextmanager
    async def living(self, app: Starlette) -> AsyncIterator[None]:
        """While the server runs; then its processes are ended."""
        try:
            yield
        finally:
            self.lanes.close()

    # --- first pages ---

    async def home(self, request: Request) -> Response:
        return HTMLResponse(self.pages.home(self.offers))

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            return await self.missing(request, None)
        return Response((_ROOM / name).read_bytes(), media_type=_STATIC[name])

    async def refused(self, request: Request, error: Any) -> Response:
        """What a person should know of a request that cannot be answered."""
        status = 429 if isinstance(error, Busy) else 503 if isinstance(error, WorkLost) else 400
        name = request.path_params.get("name") if request.method == "POST" else None
        back = "/" if name is None else f"/games/{quote(name)}#state"
        return HTMLResponse(self.pages.message("This is not possible", str(error), back), status)

    async def missing(self, request: Request, error: Any) -> Response:
        status = getattr(error, "status_code", 404)
        return HTMLResponse(self.pages.message("Nothing is here", "No page has this address."), status)

    # --- games ---

    async def setup(self, request: Request) -> Response:
        name = request.query_params.get("game", "")
        game = await run_in_threadpool(self.offers.game, name)
        sitters = await run_in_threadpool(self.offers.sitters, game)
        return HTMLResponse(self.pages.setup(game, self.offers.games[name], sitters))

    async def played(self, request: Request) -> Response:
        return HTMLResponse(self.pages.played(await run_in_threadpool(self._latest)))

    def _latest(self) -> list[GameView]:
        """Views of the latest games; those whose files cannot be read are left out."""
        views = []
        for name in self.tables.latest(_LISTED):
            try:
                views.append(self._view(self.tables.get(name)))
            except SogError:
                continue
        return views

    async def begin(self, request: Request) -> Response:
        form = await form_of(request)
        table = await run_in_threadpool(self._begin, form)
        await self._agents_move(table)
        return _to(table)

    def _begin(self, form: dict[str, str]) -> PlayTable:
        game = self.offers.game(form.get("game", ""))
        simulations, per_update = number_in(form, "simulations", int), number_in(form, "per_update", float)
        zero, one = (self.offers.chair(game, form.get(f"seat{p}", ""), simulations, per_update) for p in (0, 1))
        return self.tables.begin(game, (zero, one))

    async def game(self, request: Request) -> Response:
        view, chosen = await self._seen(request), request.query_params.get("from", "")[:2]
        return HTMLResponse(self.pages.game(view, chosen, view.game in self.offers.games))

    async def game_file(self, request: Request) -> Response:
        view = await self._seen(request)
        return await picture_answer(request, partial(view_pictures, view))

    async def view_json(self, request: Request) -> Response:
        return Response(json_of(await self._seen(request)), media_type="application/json")

    async def record(self, request: Request) -> Response:
        return PlainTextResponse(_once_over((await self._seen(request)).record))

    async def saved(self, request: Request) -> Response:
        saved = _once_over((await self._seen(request)).saved)
        return Response(saved.text(), media_type="application/json")

    async def phh(self, request: Request) -> Response:
        hand = _once_over((await self._seen(request)).hand)
        return PlainTextResponse(await run_in_threadpool(written_phh, [hand]))

    async def load(self, request: Request) -> Response:
        return HTMLResponse(self.pages.load())

    async def load_file(self, request: Request) -> Response:
        """A game from a file: played on, or the position at its end."""
        body = await body_of(request)
        return _at(await run_in_threadpool(self._load, body, request.headers.get("content-type", "")))

    def _load(self, body: bytes, kind: str) -> str:
        """Where the loaded game is."""
        form = parts_of(body, kind)
        loaded = read_game(form.get("file") or form.get("text", ""), self.offers)
        game = self.offers.game(loaded.game)
        zero, one = (self.offers.chair(game, form.get(f"seat{p}", PERSON), None, None) for p in (0, 1))
        if form.get("as") != "position":
            return _address(self.tables.begin(game, (zero, one), loaded.seed, loaded.columns))
        line = line_of(PlayTable("", game, (zero, one), loaded.seed or 0, loaded.columns))
        if line is None:
            raise SettingError("this game has chance events that are not listed: play it on instead")
        return Place(game.name, line).address()

    async def move(self, request: Request) -> Response:
        """A person's move. `at` is how many changes of the game the page showed, so that an old page makes none."""
        form, table = await form_of(request), await self._table(request)
        await run_in_threadpool(self._move, table, form)
        await self._agents_move(table)
        return _to(table)

    def _move(self, table: PlayTable, form: dict[str, str]) -> None:
        with table.lock:
            if table.is_over or not table.chairs[table.actor].is_person:
                raise SettingError("it is not a person's turn")
            _refuse_old(table, number_in(form, "at", int))
            self.tables.move(table, move_asked(table, number_in(form, "move", int), form.get("typed", "")))

    async def take_back(self, request: Request) -> Response:
        """The person's last move, and the agent's after it."""
        form, table = await form_of(request), await self._table(request)
        await run_in_threadpool(self._take_back, table, number_in(form, "at", int))
        return _to(table)

    def _take_back(self, table: PlayTable, at: int | None) -> None:
        with table.lock:
            _refuse_old(table, at)
            self.tables.take_back(table)

    async def hint(self, request: Request) -> Response:
        """What the agent would do in the person's place, made of what the person may know."""
        await form_of(request)
        table = await self._table(request)
        with table.lock:
            if not may_ask_hint(table):
                raise SettingError("there is nothing to give a hint for")
            asked, at = table.hint_asked(), table.changes
        self.offers.refuse_unnamed(asked.chair)
        hint = await asyncio.wrap_future(self.lanes.submit(table.name, "hint", asked))
        await run_in_threadpool(self._show_hint, table, at, hint)
        return _to(table)

    def _show_hint(self, table: PlayTable, at: int, hint: HintReply) -> None:
        with table.lock:
            if at == table.changes:
                self.tables.show_hint(table, hint)

    async def play_on(self, request: Request) -> Response:
        """Whoever is to move does so, if it is an agent."""
        await form_of(request)
        table = await self._table(request)
        await self._agents_move(table)
        return _to(table)

    async def _agents_move(self, table: PlayTable) -> None:
        """Agents move until a person is to, or once where no person plays."""
        persons = any(chair.is_person for chair in table.chairs)
        while not table.is_over and not table.chairs[table.actor].is_person:
            with table.lock:
                asked, at = table.asked(), table.changes
            self.offers.refuse_unnamed(asked.chair)
            try:
                reply = await asyncio.wrap_future(self.lanes.submit(table.name, "move", asked))
            except Busy:
                return  # the page has a button for it
            await run_in_threadpool(self._take, table, at, reply)
            if not persons:
                return

    def _take(self, table: PlayTable, at: int, reply: Any) -> None:
        """An agent's move, unless another request has made it meanwhile."""
        with table.lock:
            if at == table.changes:
                self.tables.move(table, reply.column, reply)

    async def _table(self, request: Request) -> PlayTable:
        table: PlayTable = await run_in_threadpool(self.tables.get, request.path_params["name"])
        return table

    async def _seen(self, request: Request) -> GameView:
        view: GameView = await run_in_threadpool(self._view, await self._table(request))
        return view

    def _view(self, table: PlayTable) -> GameView:
        with table.lock:
            return view_of(table, viewer_at(table))

    # --- positions ---

    async def position(self, request: Request) -> Response:
        game, place = await self._placed(request)
        states = await run_in_threadpool(state_at, game, place.line)
        growth = await self._growth(place, game) if game.actor(states[-1]) < NATURE else None
        steps = await run_in_threadpool(next_steps, game, states[-1])
        sitters = [each for each in await run_in_threadpool(self.offers.sitters, game) if each.searches]
        return HTMLResponse(await run_in_threadpool(self.pages.position, place, game, states, steps, sitters, growth))

    async def position_file(self, request: Request) -> Response:
        game, place = await self._placed(request)
        states = await run_in_threadpool(state_at, game, place.line)
        snapshot = None
        if game.actor(states[-1]) < NATURE:
            snapshots = (await self._growth(place, game)).snapshots
            snapshot = snapshots[-1 if place.step is None else min(place.step, len(snapshots) - 1)]
        return await picture_answer(request, partial(position_files, game, states, snapshot))

    async def position_stream(self, request: Request) -> EventStream:
        """What a search finds, again and again while it grows and somebody watches."""
        game, place = await self._placed(request, watched=True)
        states = await run_in_threadpool(state_at, game, place.line)
        if game.actor(states[-1]) >= NATURE:
            raise SettingError("no player is to move in this position")
        asked = await run_in_threadpool(place.asked, self.offers, game)
        self.watching.refuse_more(asked)
        return EventStream(self.watching.watch(asked, partial(self.pages.growing, place, game, states[-1])))

    async def _placed(self, request: Request, watched: bool = False) -> tuple[Game, Place]:
        game = await run_in_threadpool(self.offers.game, request.query_params.get("game", ""))
        return game, place_of(request.query_params, game, watched)

    async def _growth(self, place: Place, game: Game) -> SearchGrowth:
        """The recorded search, which those who ask for the same share."""
        asked = await run_in_threadpool(place.asked, self.offers, game)
        if asked not in self._searches or self._searches[asked].cancelled():
            self._searches[asked] = self.lanes.submit(repr(asked), "look", asked)
        try:
            growth: SearchGrowth = await asyncio.shield(asyncio.wrap_future(self._searches[asked]))
        except SogError:
            if asked in self._searches:
                self._searches.drop(asked)
            raise
        return growth


def _refuse_old(table: PlayTable, at: int | None) -> None:
    if at != table.changes:
        raise SettingError("the game has moved on since that page was made: go back to it")


def _once_over(part: T | None) -> T:
    if part is None:
        raise SettingError("this can be read once the game is over, where the game has it")
    return part


def _address(table: PlayTable) -> str:
    """Its page, where the keyboard and a screen reader begin at the line that says who is to move."""
    return f"/games/{quote(table.name)}#state"


def _to(table: PlayTable) -> Response:
    return _at(_address(table))


def _at(address: str) -> Response:
    return RedirectResponse(address, 303)
