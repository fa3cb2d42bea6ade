"""Who may ask: checks Host, Origin and the token before anything else, and puts safe headers on every answer.

A page of another site can make a browser send requests here, also under a name of its own that leads to this machine
(DNS rebinding). So only names of this server count as Host, only its own pages may post or begin a stream, and
beyond this machine a token of 128 random bits is demanded, which the first page's address brings and a cookie keeps.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

__all__ = ["LARGEST_BODY", "STREAM", "Door", "Guard"]

LARGEST_BODY: Final = 1_000_000  # bytes

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

STREAM: Final = "/position/stream"

_COOKIE: Final = "sog_token"
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_METHODS: Final = ("GET", "HEAD", "POST")
# blob: is for pictures that the page's own script makes into PNG; only a script of this server can name one.
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Without a referrer, a browser would post with an Origin of "null": to this server it says where it comes from.
_HEADERS: Final = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True)
class Door:
    """Where the server listens.  host: as the command line has it.  token: "" on this machine alone."""

    host: str = "127.0.0.1"
    token: str = ""

    @staticmethod
    def is_loopback(host: str) -> bool:
        """Whether only this machine can reach what listens there."""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def knows(self, name: str) -> bool:
        """Whether a Host's name, without its port, can be this server's: never another site's name for it."""
        if name in _LOOPBACK or name == self.host.lower():
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return bool(self.token)  # from elsewhere it is reached by an address


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def safe(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await _answer(safe, *refusal)
        elif (location := self._entered(scope)) is not None:
            cookie = f"{_COOKIE}={self.door.token}; HttpOnly; SameSite=Strict; Path=/"
            headers = [(b"location", location.encode()), (b"set-cookie", cookie.encode())]
            await _answer(safe, 303, "this way", headers)
        else:
            await self.app(scope, receive, safe)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the words of a request that is not answered."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self.door.knows(_name_of(hosts[0])):
            return 400, "this server has another name"
        if scope["method"] not in _METHODS:
            return 405, "only GET, HEAD and POST are answered"
        length = _one(headers, b"content-length")
        if length and (not re.fullmatch(r"[0-9]{1,12}", length) or int(length) > LARGEST_BODY):
            return 413, "the body is too large"
        if (scope["method"] == "POST" or scope["path"] == STREAM) and not _is_own(headers, hosts[0]):
            return 403, "only this server's own pages may send this"
        if self.door.token and not self._has_token(scope):
            return 403, "the address that `sog serve` printed has a token, which is missing here"
        return None

    def _has_token(self, scope: Scope) -> bool:
        cookies = _one(scope["headers"], b"cookie").split(";")
        given = [value for name, _, value in (cookie.strip().partition("=") for cookie in cookies) if name == _COOKIE]
        given += [value for name, value in _query(scope) if name == "token"]
        return any(hmac.compare_digest(value.encode(), self.door.token.encode()) for value in given)

    def _entered(self, scope: Scope) -> str | None:
        """The address without its token; None where it has none."""
        query = _query(scope)
        if not self.door.token or not any(name == "token" for name, _ in query):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = re.sub(r"[^\w/.-]", "", scope["path"].replace("//", "/"), flags=re.ASCII) or "/"
        return f"/{path.lstrip('/')}" + (f"?{rest}" if rest else "")


def _name_of(host: str) -> str:
    """A Host without its port."""
    match = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::[0-9]{1,5})?", host)
    return "" if match is None else match[1] or match[2]


def _is_own(headers: list[tuple[bytes, bytes]], host: str) -> bool:
    """Whether a request to change something or to begin a stream comes from this server's pages, or no browser."""
    site, origin = _one(headers, b"sec-fetch-site"), _one(headers, b"origin")
    if site not in ("", "same-origin", "none"):
        return False
    if not origin:
        return not any(name == b"origin" for name, _ in headers)
    try:
        return urlsplit(origin).netloc.lower() == host
    except ValueError:
        return False


def _one(headers: list[tuple[bytes, bytes]], wanted: bytes) -> str:
    """A header's value; "" without it; several joined, which is then no value that is known."""
    return ",".join(value.decode("latin-1") for name, value in headers if name == wanted)


def _query(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope.get("query_string", b"").decode("latin-1"), max_num_fields=50)
    except ValueError:
        return []


async def _answer(send: Send, status: int, words: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    """A short answer in plain text."""
    body = f"{words}\n".encode()
    plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*plain, *(headers or [])]})
    await send({"type": "http.response.body", "body": body})
