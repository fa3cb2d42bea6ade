"""Requests of JSON to the web API of a poker server: answers are bounded, and sent again is only what is harmless."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Final
from urllib.parse import urlsplit

from sog.errors import GameError, SettingError
from sog.files import bounded_json
from sog.protocols.words import Keys, shown

__all__ = ["WAITS", "Unanswered", "WebApi", "WebFault", "sensible"]

WAITS: Final = (1, 2, 5, 10, 30, 60)  # seconds between tries, and after faults
BUSY: Final = 429  # HTTP's "too many requests": this one was not served
_LONGEST: Final = 2**16  # bytes of an answer
_GATEWAYS: Final = (502, 503, 504)  # what stands before the server got no answer in time
_MOST_WAIT: Final = 240  # seconds: below the five minutes that Slumbot waits for an action


class WebFault(Exception):
    """A request has no answer that makes sense.  status: HTTP's, 0 without one."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


class Unanswered(WebFault):
    """A request that may have been served all the same: the connection broke off, or a gateway gave up."""


class WebApi:
    """Sends JSON to an address and gives what answers.  wait: sleeps for a number of seconds."""

    def __init__(
        self,
        url: str,
        patience: float,
        wait: Callable[[float], None] = time.sleep,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """SettingError for what is no address of the web.

        patience: seconds for each part of an answer.  headers: of every request.
        """
        right = re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,4}|:[1-5][0-9]{4})?(/[A-Za-z0-9._~-]+)*/?", url)
        if not right:
            raise SettingError(f"not an address such as https://slumbot.com/slumbot/api: {shown(url)}")
        self._parts, self._patience, self.wait = urlsplit(url), patience, wait
        self._headers = {"Content-Type": "application/json", **(headers or {})}

    def get(self, endpoint: str) -> object:
        """The answer to a question, which is asked again where none comes; WebFault where that does not end."""
        for pause in WAITS:
            try:
                return self._served("GET", endpoint, None, (BUSY,))
            except Unanswered:
                self.wait(pause)
        return self._served("GET", endpoint, None, (BUSY,))

    def post(self, endpoint: str, body: Keys, busy: tuple[int, ...] = (BUSY,)) -> Keys:
        """The answer to a request; WebFault where none that makes sense comes.

        It is sent again only where it was not served: there was no connection, or its status is one of `busy`.
        SettingError where that does not end.
        """
        answer = self._served("POST", endpoint, body, busy)
        if not isinstance(answer, dict):
            raise WebFault("an answer makes no sense: it is no object")
        return answer

    def _served(self, method: str, endpoint: str, body: Keys | None, busy: tuple[int, ...]) -> object:
        path, content = f"{self._parts.path.rstrip('/')}/{endpoint}", None if body is None else json.dumps(body)
        for pause in WAITS:
            with closing(self._connected()) as connection:
                try:
                    connection.request(method, path, content, self._headers)
                    response = connection.getresponse()
                    answer = response.read(_LONGEST)
                    if response.length and len(answer) < _LONGEST:
                        raise http.client.IncompleteRead(answer, response.length)
                except (OSError, http.client.HTTPException) as error:
                    raise Unanswered(
                        f"the connection broke off: {shown(str(error)) or type(error).__name__}"
                    ) from error
            if response.status not in busy:
                return _read(answer, response.status)
            later = response.headers.get("Retry-After", "")
            self.wait(min(max(pause, int(later) if re.fullmatch("[0-9]{1,6}", later) else 0), _MOST_WAIT))
        raise SettingError(f"{self._parts.hostname} is busy (HTTP status {response.status}): continue later")

    def _connected(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        for pause in (*WAITS, 0):
            connection = kind(self._parts.hostname or "", self._parts.port, timeout=self._patience)
            try:
                connection.connect()
                return connection
            except OSError as error:
                why = shown(str(error))
            self.wait(pause)
        raise SettingError(f"no connection to {self._parts.hostname}: {why}")


def _read(content: bytes, status: int) -> object:
    """What an answer holds; WebFault where it is an error's."""
    if status in _GATEWAYS:
        raise Unanswered(f"HTTP status {status}", status)
    with sensible(f"HTTP status {status}, and what comes", status):
        answer = bounded_json(content)
        # Slumbot's errors are error_msg whatever the status, GTO Wizard's are detail.
        why = (answer.get("error_msg") or (status >= 400 and answer.get("detail"))) if isinstance(answer, dict) else ""
        if why:
            raise WebFault(f"the server says: {shown(str(why))}", status)
        if status not in (http.client.OK, http.client.CREATED):
            raise ValueError("it is no answer")
    return answer


@contextmanager
def sensible(subject: str = "an answer", status: int = 0) -> Iterator[None]:
    """WebFault where what is read there is refused."""
    try:
        yield
    except (ValueError, GameError) as error:
        raise WebFault(f"{subject} makes no sense: {shown(str(error), 200)}", status) from error
