"""Who may ask: Host, Origin, the token, bodies; a thousand hostile requests; files that may be read."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

import sog
from sog.web.guard import Door
from sog.web.lanes import AgentLanes
from tests.web.client import HOST, Client, begun, client_of, scope_of
from tests.web.test_spots import solved_turn

FORM = "game=kuhn_poker&seat0=person&seat1=person"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (HOST, 200),
        ("127.0.0.1", 200),
        ("[::1]:8770", 200),
        ("LOCALHOST:8770", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("localhost:8770@evil.example", 400),
        ("192.168.0.7", 400),
        ("", 400),
    ],
)
def test_only_names_of_this_machine_are_hosts(client: Client, host: str, status: int) -> None:
    assert client.ask("GET", "/", [("host", host)]).status == status


def test_two_hosts_or_none_are_refused(client: Client) -> None:
    assert client.ask("GET", "/", []).status == 400
    assert client.ask("GET", "/", [("host", HOST), ("host", "evil.example")]).status == 400


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"origin": f"http://{HOST}"}, 303),
        ({"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}, 303),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:9999"}, 403),
        ({"origin": f"http://{HOST}.evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_only_own_pages_may_post(client: Client, headers: dict[str, str], status: int) -> None:
    given = [("host", HOST), *headers.items()]
    assert client.ask("POST", "/games", given, [FORM.encode()]).status == status


def test_reading_changes_nothing(games: Path) -> None:
    client = client_of(games)
    address = begun(client, "kuhn_poker", ("person", "person"))
    before = {file: file.read_bytes() for file in games.iterdir()}
    for path in (address, f"{address}/move?at=0&move=0", f"{address}/continue", "/games?game=kuhn_poker&seat0=person"):
        client.get(path)
    assert {file: file.read_bytes() for file in games.iterdir()} == before
    client.close()


def test_a_token_is_demanded_beyond_this_machine(games: Path) -> None:
    token = "ab" * 16
    client = client_of(games, door=Door("0.0.0.0", token))
    there = {"host": "192.168.0.7:8770"}
    assert client.get("/", headers=there).status == 403
    assert client.get("/?token=cd", headers=there).status == 403
    entered = client.get(f"/runs?token={token}&beside=x", headers=there)
    assert (entered.status, entered.headers["location"]) == (303, "/runs?beside=x")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert client.get("/", headers={**there, "cookie": cookie.partition(";")[0]}).status == 200
    assert client.get("/", headers={"host": "evil.example", "cookie": cookie.partition(";")[0]}).status == 400
    away = client.ask("GET", f"//evil.example/x?token={token}", [("host", "192.168.0.7")])
    assert away.headers["location"].startswith("/") and not away.headers["location"].startswith("//")
    client.close()


@pytest.mark.parametrize(
    ("host", "own"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("box", False)]
)
def test_what_is_this_machine_alone(host: str, own: bool) -> None:
    assert Door.is_loopback(host) is own


def test_bodies_are_bounded(client: Client) -> None:
    own = [("host", HOST), ("origin", f"http://{HOST}")]
    assert client.ask("POST", "/games", [*own, ("content-length", "2000000")]).status == 413
    assert client.ask("POST", "/games", own, [b"a" * 600_000, b"b" * 600_000]).status == 400
    assert client.ask("POST", "/games", own, [b"&".join(b"a=1" for _ in range(60))]).status == 400
    assert client.ask("POST", "/games", own, [b"\xff\xfe\x00"]).status == 400


def test_pages_run_no_code_of_their_own(client: Client) -> None:
    address = begun(client, "connect_four", ("person", "person"))
    for path in ("/", "/new?game=chess", "/games", "/runs", address, "/static/app.js", "/load", f"{address}/record"):
        answer = client.get(path)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "no-store"
        if answer.headers["content-type"].startswith("text/html"):
            assert not [word for word in (" style=", "<style", " onclick", "javascript:") if word in answer.text]
            assert answer.text.count("<script") == 1  # the file of /static


ODD = ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "/etc", "os:system", "", "%", "%00"]
ODD += ["\x00", "a" * 3000, "ü", "{{7*7}}", "<script>", "'\"><", "-1", "1e9", "999999999999", "nan"]
OPENED: list[str] = []
WATCHING = [False]


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if WATCHING[0] and event == "open" and isinstance(arguments[0], str | bytes):
        OPENED.append(arguments[0] if isinstance(arguments[0], str) else arguments[0].decode())


def hostile(rng: random.Random, address: str) -> tuple[str, str, list[tuple[str, str]], list[bytes]]:
    """A request that nobody means well."""
    name = address.rpartition("/")[2]
    odd = [*ODD, name[:-1] + "g", name.upper(), f"{name}/"]

    def word() -> str:
        return rng.choice(odd)

    paths = [f"/games/{word()}", f"/static/{word()}", f"/runs/{word()}", f"/{word()}", "/games", f"/new?game={word()}"]
    paths += [f"{address}/{word()}", f"{address}/move", f"{address}/continue", f"{address}?from={word()}", address]
    paths += [
        f"/position?game={word()}&line={word()}",
        f"/position?game=kuhn_poker&line={word()}&s={word()}&c={word()}",
    ]
    paths += [f"{address}/{end}" for end in ("back", "hint", "saved", "phh")] + ["/load", "/load"]
    paths += [f"/position/stream?game={word()}&s={word()}", f"/position/stream?game=kuhn_poker&s=9&line={word()}"]
    paths += [f"{address}/pictures/{word()}.csv", f"{address}/pictures/board.{word()}", f"/runs/x/pictures/{word()}"]
    paths += [f"/position/pictures/{word()}.svg?game=kuhn_poker", f"/position/pictures/tree.csv?game={word()}"]
    paths += [f"/runs/x?beside={word()}", f"/?token={word()}"]
    spot = f"/spots/{rng.choice(['spot', word()])}"
    paths += [f"{spot}?line={word()}&hands={word()}", f"{spot}/pictures/{word()}.svg", f"{spot}/hands.{word()}"]
    paths += [f"/beside?game={word()}&agent2={word()}", f"/beside?game=kuhn_poker&s=2&line={word()}&s2={word()}"]
    fields = ["game", "seat0", "seat1", "simulations", "per_update", "at", "move", "typed", "text", "as", word()]
    body = "&".join(f"{rng.choice(fields)}={word()}" for _ in range(rng.randrange(8))).encode()
    if rng.random() < 0.2:
        body = rng.randbytes(rng.choice([1, 100, 10_000]))
    if rng.random() < 0.1:
        body = f'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n{{{word()}\r\n--x--'.encode()
    hosts = [[("host", HOST)]] * 8 + [[], [("host", word())], [("host", HOST), ("host", word())]]
    headers = list(rng.choice(hosts))
    if rng.random() < 0.5:
        headers.append(("origin", rng.choice([f"http://{HOST}", "null", "http://evil.example", "http://[", word()])))
    if rng.random() < 0.3:
        headers.append((rng.choice(["content-length", "cookie", "sec-fetch-site", "content-type", "range"]), word()))
    if body.startswith(b"--x"):
        headers.append(("content-type", "multipart/form-data; boundary=x"))
    method = rng.choice(["GET", "GET", "POST", "POST", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "x"])
    return method, rng.choice(paths), headers, [body]


def test_ten_thousand_hostile_requests(games: Path, lanes: AgentLanes) -> None:
    """Each ends below 500, no file is opened but the program's own and the games', and the game is as it was."""
    solved_turn(games.with_name("spot.npz"), 1)
    client = client_of(games, [str(games.with_name("spot.npz"))], lanes=lanes)
    address = begun(client, "kuhn_poker", ("person", "person"))
    sys.addaudithook(_watch)  # which cannot be removed again, but looks at nothing afterwards
    rng, found = random.Random(1), set[int]()

    async def ask() -> None:
        for _ in range(10_000):
            method, path, headers, body = hostile(rng, address)
            status = (await client.asking(scope_of(method, path, headers), body)).status
            found.add(status)
            assert status < 500, (method, path, headers, body)

    WATCHING[0] = True
    try:
        client.loop.run_until_complete(ask())
    finally:
        WATCHING[0] = False
    assert found >= {200, 303, 400, 403, 404, 405}
    allowed = (
        str(games),
        str(Path(sog.__file__).parent),
        sys.prefix,
        sys.base_prefix,
        "/proc/",
        "/sys/",
        "/usr/share/zoneinfo",
    )
    outside = [
        path
        for path in OPENED
        if not path.startswith(allowed) and "site-packages" not in path and "/lib/python" not in path
    ]
    assert not [path for path in outside if path.startswith("/")], outside
    assert client.get(address).status == 200
    client.close()
