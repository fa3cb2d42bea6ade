"""Asks an ASGI application as a browser would, without a browser and without a server: tests of sog/web use it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from sog.web.guard import Door
from sog.web.lanes import AgentLanes
from sog.web.offers import Offers
from sog.web.server import application
from tests.written import write_die_bluff

HOST = "localhost:8770"
Headers = Mapping[str, str]
Take = Callable[[bytes], Awaitable[bool]]


@dataclass(frozen=True)
class Answer:
    """What was answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


class Form(HTMLParser):
    """The forms of a page: for each its address, its hidden and chosen fields, its buttons, and what can be typed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[dict[str, Any]] = []
        self._select = ""
        self.feed(re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))  # pictures have no forms, and take long to read

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append({"action": given["action"], "method": given["method"], "fields": {}, "buttons": []})
            self.forms[-1]["typed"] = []
        elif tag == "input" and self.forms:
            self.forms[-1]["fields"][given["name"]] = given.get("value", "")
        elif tag in ("select", "datalist"):
            self._select = given.get("name", "")
        elif tag == "option" and not self._select:
            self.forms[-1]["typed"].append(given["value"])
        elif tag == "option" and ("selected" in given or self._select not in self.forms[-1]["fields"]):
            self.forms[-1]["fields"][self._select] = given.get("value", "")
        elif tag == "button" and self.forms:
            self.forms[-1]["buttons"].append((given.get("name", ""), given.get("value", "")))


class Client:
    """One browser.  app: the application.  shared: its processes are others' too, and stay when it is closed."""

    def __init__(self, app: Any, shared: bool = False) -> None:
        self.app, self.shared, self.loop = app, shared, asyncio.new_event_loop()

    def close(self) -> None:
        """End the application's own processes."""
        if not self.shared:
            self.app.app.state.site.lanes.close()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    def get(self, path: str, query: Headers | None = None, headers: Headers | None = None) -> Answer:
        """GET, without following where the answer leads."""
        where = f"{path}?{urlencode(query)}" if query else path
        return self.ask("GET", where, ({"host": HOST} | dict(headers or {})).items())

    def post(self, path: str, fields: Headers, headers: Headers | None = None, body: bytes | None = None) -> Answer:
        """POST of a form from this server's own page.  body: in place of fields."""
        given = {"host": HOST, "origin": f"http://{HOST}", "content-type": "application/x-www-form-urlencoded"}
        return self.ask(
            "POST", path, (given | dict(headers or {})).items(), [urlencode(fields).encode() if body is None else body]
        )

    def ask(self, method: str, target: str, headers: Iterable[tuple[str, str]], body: Iterable[bytes] = ()) -> Answer:
        """Any request, however odd."""
        return self.loop.run_until_complete(self.asking(scope_of(method, target, headers), body))

    async def asking(self, scope: dict[str, Any], body: Iterable[bytes] = (), take: Take | None = None) -> Answer:
        """The same beside others.  take: is given each part of the answer; once it is false, the browser leaves."""
        chunks = list(body)
        said: list[Any] = []
        left = asyncio.Event()  # a browser usually waits for the whole answer
        asked = False

        async def receive() -> Any:
            nonlocal asked
            if asked and not chunks:
                await left.wait()
                return {"type": "http.disconnect"}
            asked = True
            part = chunks.pop(0) if chunks else b""
            return {"type": "http.request", "body": part, "more_body": bool(chunks)}

        async def send(message: Any) -> None:
            said.append(message)
            if take is not None and message.get("body") and not await take(message["body"]):
                left.set()

        await self.app(scope, receive, send)
        content = b"".join(message.get("body", b"") for message in said[1:])
        pairs = {name.decode("latin-1"): value.decode("latin-1") for name, value in said[0].get("headers", [])}
        return Answer(said[0]["status"], pairs, content)


def scope_of(method: str, target: str, headers: Iterable[tuple[str, str]] = (("host", HOST),)) -> dict[str, Any]:
    """A request as servers hand it to an application."""
    parts = urlsplit(target)
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": _decoded(parts.path),
        "raw_path": parts.path.encode("latin-1", "replace"),
        "root_path": "",
        "query_string": parts.query.encode("latin-1", "replace"),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8770),
    }


def _decoded(path: str) -> str:
    """A path as servers decode it."""
    raw = re.sub(rb"%([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), path.encode("latin-1", "replace"))
    return raw.decode("utf-8", "replace")


def client_of(
    folder: Path,
    named: Sequence[str] = (),
    code: Sequence[str] = (),
    door: Door | None = None,
    engines: Sequence[str] = (),
    lanes: AgentLanes | None = None,
) -> Client:
    """A browser of a new server.  lanes: to be used in place of new ones, since a process takes a second to start."""
    offers = Offers(named, code, engines)
    return Client(application(offers, folder, lanes or AgentLanes(1), door or Door()), lanes is not None)


def begun(client: Client, game: str, seats: tuple[str, str] = ("person", "random"), budget: str = "") -> str:
    """The address of a new game."""
    fields = {"game": game, "seat0": seats[0], "seat1": seats[1], "simulations": budget, "per_update": ""}
    answer = client.post("/games", fields)
    assert answer.status == 303, answer.text
    return page_at(answer)


def page_at(answer: Answer) -> str:
    """The page to which an answer leads, without the place on it."""
    return answer.headers.get("location", "").partition("#")[0]


@contextmanager
def own_game(folder: Path) -> Iterator[str]:
    """The name of docs/extending.md's game with chance, which is offered meanwhile.  folder: for its module."""
    write_die_bluff(folder / "die_games.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        patch.setenv("SOG_GAMES", "die_games")
        yield "die_bluff"


def page_of(client: Client, address: str) -> str:
    """The text of a page that has to be there."""
    answer = client.get(address)
    assert answer.status == 200, (address, answer.text)
    return answer.text


def played_out(client: Client, address: str, rng: random.Random, whole: bool = False) -> str:
    """Play a game to its end by the forms and links of its pages alone; the last page.

    whole: each page has a button for every legal move, and hints and takings back are pressed in between.
    """
    page = page_of(client, address)
    for _ in range(2_000):
        ways: dict[str, list[tuple[dict[str, Any], tuple[str, str]]]] = {"move": [], "continue": [], "typed": []}
        for form in Form(page).forms:
            kind = "typed" if form["typed"] else form["action"].rpartition("/")[2]
            pressed = [("typed", words) for words in form["typed"]] or form["buttons"]
            ways.setdefault(kind, []).extend((form, each) for each in pressed)
        if whole and not page.count('class="chosen"'):
            choices = client.get(f"{address}/view.json").json()["choices"]
            assert {str(choice["column"]) for choice in choices} == {value for _, (_, value) in ways["move"]}
            typed = [words for _, (_, words) in ways["typed"]]
            assert typed in ([], [choice["name"] for choice in choices])
        links = re.findall(r'href="(\?from=[a-h][1-8])#state"', page)
        if links and rng.random() < 0.5:  # a piece is chosen first, on a chessboard
            page = page_of(client, address + rng.choice(links))
            continue
        usual = ways["move"] or ways["continue"]
        if not usual:
            return page
        kinds = ("hint", "back", "typed") if whole else ()
        other = [way for kind in kinds for way in ways.get(kind, ()) if rng.random() < 0.1]
        form, (name, value) = rng.choice(other or usual)
        answer = client.post(form["action"], form["fields"] | ({name: value} if name else {}))
        assert (answer.status, page_at(answer)) == (303, address), answer.text
        page = page_of(client, address)
    raise AssertionError("the game does not end")
