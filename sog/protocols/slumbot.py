"""The client of Slumbot's web API: an agent of hold'em plays hands there, and every answer is checked.

As its author's sample (https://slumbot.com/sample_api.py) and github.com/ericgjackson/slumbot2019, issues 23, 29 and
30, describe it. Blinds are 50 and 100, stacks 20,000 in each hand. POST new_hand {"token"} and act {"token", "incr"}
answer with "action" (k check, c call, f fold, bN a bet to N chips on this street, / between streets), "client_pos" (0:
the big blind), "hole_cards", "board", maybe a new "token", and at the end "winnings"; or with "error_msg".
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final
from urllib.parse import urlsplit

from sog.errors import GameError, SettingError
from sog.files import bounded_json
from sog.games.holdem.betting import BOARD_CARDS
from sog.games.holdem.cards import parse_cards
from sog.play.hand import Entrant
from sog.protocols.acpc_client import ClientHand, ClientTable
from sog.protocols.acpc_states import REVERSE_BLINDS, AcpcHand, Dealt, MatchState
from sog.protocols.words import Keys, shown

__all__ = ["SlumbotAnswer", "SlumbotClient", "SlumbotHand", "WebApi", "read_betting", "spoken"]

_ACTION: Final = re.compile(r"[kcf]|b([0-9]{1,9})")
_LONGEST: Final = 2**16  # bytes of an answer
_BUSY: Final = 429  # HTTP's "too many requests": this one was not served
_WAITS: Final = (1, 2, 5, 10, 30, 60)  # seconds between tries, and after faults
_MOST_WAIT: Final = 240  # below the five minutes that Slumbot waits for an action
_MOST_FAULTS: Final = 5  # in a row
_TOKEN_HANDS: Final = 2_000  # of a session


@dataclass(frozen=True)
class SlumbotHand:
    """A hand: what the agent won and what Slumbot says that a baseline would have won with the same cards, chips.

    lost: why it was not played to its end; "" where it was.  seen: the last answer's action, seat and cards.
    """

    number: int
    won: int = 0
    baseline: float | None = None
    lost: str = ""
    seen: Keys | None = None


class _Fault(Exception):
    """A hand cannot be played to its end."""


class WebApi:
    """Posts JSON to an address and gives the object that answers.  wait: sleeps for a number of seconds."""

    def __init__(self, url: str, patience: float, wait: Callable[[float], None] = time.sleep) -> None:
        """SettingError for what is no address of the web.  patience: seconds for each part of an answer."""
        right = re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,4}|:[1-5][0-9]{4})?(/[A-Za-z0-9._~-]+)*/?", url)
        if not right:
            raise SettingError(f"not an address such as https://slumbot.com/slumbot/api: {shown(url)}")
        self._parts, self._patience, self.wait = urlsplit(url), patience, wait

    def post(self, endpoint: str, body: Keys) -> Keys:
        """The answer to a request; _Fault where none that makes sense comes.

        It is sent again only where it was not served: there was no connection, or there had been too many requests.
        SettingError where that does not end.
        """
        path, head = f"{self._parts.path.rstrip('/')}/{endpoint}", {"Content-Type": "application/json"}
        for pause in _WAITS:
            with closing(self._connected()) as connection:
                try:
                    connection.request("POST", path, json.dumps(body), head)
                    response = connection.getresponse()
                    content = response.read(_LONGEST)
                except (OSError, http.client.HTTPException) as error:
                    raise _Fault(f"the connection broke off: {shown(str(error)) or type(error).__name__}") from error
            if response.status != _BUSY:
                with _sense(f"HTTP status {response.status}, and what comes"):
                    return _answer(bounded_json(content), response.status)
            later = response.headers.get("Retry-After", "")
            self.wait(min(max(pause, int(later) if re.fullmatch("[0-9]{1,6}", later) else 0), _MOST_WAIT))
        raise SettingError(f"{self._parts.hostname} asks for fewer requests: continue later")

    def _connected(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        for pause in (*_WAITS, 0):
            connection = kind(self._parts.hostname or "", self._parts.port, timeout=self._patience)
            try:
                connection.connect()
                return connection
            except OSError as error:
                why = shown(str(error))
            self.wait(pause)
        raise SettingError(f"no connection to {self._parts.hostname}: {why}")


def _answer(answer: object, status: int) -> Keys:
    if isinstance(answer, dict) and answer.get("error_msg"):
        raise _Fault(f"Slumbot says: {shown(str(answer['error_msg']))}")
    if not isinstance(answer, dict) or status != http.client.OK:
        raise ValueError("it is no answer")
    return answer


@contextmanager
def _sense(subject: str = "an answer") -> Iterator[None]:
    try:
        yield
    except (ValueError, GameError) as error:
        raise _Fault(f"{subject} makes no sense: {shown(str(error), 200)}") from error


def read_betting(action: str) -> AcpcHand:
    """The hand after an action string; ValueError where the rules do not lead there."""
    hand, text = AcpcHand.begun(REVERSE_BLINDS), ""
    for match in _ACTION.finditer(action[:1_000]):
        word, betting = match[0], hand.betting
        if word[0] == "b":
            hand = hand.after(f"r{betting.before + int(match[1])}")
        else:  # a check that should be a call, or a call with nothing to call, is no word of ACPC's
            hand = hand.after("c" if word == ("c" if betting.facing else "k") else "f" if word == "f" else action)
        text += word + "/" * (hand.betting.street - betting.street)
    # After an all-in the streets that have no actions may be left out.
    if text != action and not (hand.over and text.rstrip("/") == action.rstrip("/")):
        raise ValueError(f"{shown(action)!r} is no betting of hold'em")
    return hand


def spoken(hand: AcpcHand, action: str) -> str:
    """An action of ACPC's, of who acts in a hand, in Slumbot's words."""
    if action[0] == "r":
        return f"b{int(action[1:]) - hand.betting.before}"
    return "k" if action == "c" and not hand.betting.facing else action


class SlumbotAnswer:
    """An answer that was checked.  hand: the betting.  position: the agent's.  dealt: the cards that it shows."""

    def __init__(self, answer: Keys, number: int) -> None:
        """ValueError or GameError for what is no hand of Slumbot's."""
        self.answer, self.number, self.position = answer, number, 1 if answer.get("client_pos") else 0
        if type(answer.get("client_pos")) is not int or answer["client_pos"] != self.position:
            raise ValueError("it has no client_pos")
        self.hand = read_betting(str(answer.get("action")))
        own, board, other = (self._cards(key) for key in ("hole_cards", "board", "bot_hole_cards"))
        if len({*own, *board, *other}) < len(own) + len(board) + len(other):
            raise ValueError("a card occurs twice")
        self.dealt = Dealt((own, other) if self.position == 0 else (other, own), board)
        self.state = MatchState(self.position, number, self.hand.text, self.dealt)  # as a dealer would send it
        over, dealt = self.hand.over, BOARD_CARDS[self.hand.betting.street]
        if len(own) != 2 or len(other) not in (0, 2) or len(board) not in (BOARD_CARDS if over else (dealt,)):
            raise ValueError("its cards do not fit its action")
        if over != ("winnings" in answer):
            raise ValueError("it has winnings before the end, or an end without")

    def _cards(self, key: str) -> tuple[int, ...]:
        cards = self.answer.get(key) or []
        if not isinstance(cards, list) or not all(isinstance(card, str) and len(card) == 2 for card in cards):
            raise ValueError(f"its {key} are no list of cards")
        return parse_cards("".join(cards))

    def check_after(self, before: SlumbotAnswer, action: str) -> None:
        """ValueError unless this is what comes after an action in an earlier answer."""
        p, was = self.position, before.dealt
        same = p == before.position and self.dealt.holes[p] == was.holes[p]
        onward = self.hand.text.startswith(before.hand.after(action).text)
        if not same or not onward or self.dealt.board[: len(was.board)] != was.board:
            raise ValueError(f"it does not follow {spoken(before.hand, action)}")

    def ended(self) -> SlumbotHand:
        """The hand that is over; ValueError where what is paid is not what the rules pay."""
        won, baseline = self.answer["winnings"], self.answer.get("baseline_winnings")
        known = not self.hand.shown_down or (all(self.dealt.holes) and len(self.dealt.board) == BOARD_CARDS[-1])
        right = self.dealt.won(self.hand.betting)[self.position] if known else won
        if type(won) is not int or won != right or abs(won) > self.hand.betting.matched:
            raise ValueError(f"it pays {shown(str(won))}, not {right}")
        if baseline is not None and type(baseline) not in (int, float):
            raise ValueError("its baseline_winnings are no number")
        seen = {key: self.answer.get(key) for key in ("action", "client_pos", "hole_cards", "board", "bot_hole_cards")}
        return SlumbotHand(self.number, won, baseline, seen=seen)


class SlumbotClient:
    """An agent's hands at Slumbot, one after another."""

    def __init__(self, entrant: Entrant, table: ClientTable, seed: int, api: WebApi) -> None:
        self.entrant, self.table, self.seed, self.api = entrant, table, seed, api
        self._token, self._hands = "", 0  # of this session

    def play(self, first: int) -> Iterator[SlumbotHand]:
        """Hands from this number on, those that are lost included; SettingError after some of these in a row."""
        faults = 0
        for number in count(first):
            try:
                hand, faults = self._hand(number), 0
            except _Fault as fault:
                hand, faults, self._token = SlumbotHand(number, lost=str(fault)), faults + 1, ""
            yield hand
            if faults == _MOST_FAULTS:
                raise SettingError(f"{faults} hands in a row were not played to their end: {hand.lost}")
            if faults:
                self.api.wait(_WAITS[faults])

    def _hand(self, number: int) -> SlumbotHand:
        if not self._token or self._hands == _TOKEN_HANDS:
            self._token, self._hands = "", 0
        self._hands += 1
        heard, playing = self._ask(number, "new_hand", {}), None
        while not heard.hand.over:
            with _sense():
                if heard.hand.betting.actor != heard.position:
                    raise ValueError("Slumbot does not act where it is to act")
                playing = playing or ClientHand(self.entrant, self.table, heard.state, self.seed)
                playing.follow(heard.state)
            action = playing.act(heard.state)
            after = self._ask(number, "act", {"incr": spoken(heard.hand, action)})
            with _sense():
                after.check_after(heard, action)
            heard = after
        with _sense():
            return heard.ended()

    def _ask(self, number: int, endpoint: str, body: Keys) -> SlumbotAnswer:
        answer = self.api.post(endpoint, {"token": self._token, **body} if self._token else body)
        token: Any = answer.get("token")
        if isinstance(token, str) and 0 < len(token) < 1_000:
            self._token = token  # it may change at any time
        with _sense():
            return SlumbotAnswer(answer, number)
