"""The client of Slumbot's web API: an agent of hold'em plays hands there, and every answer is checked.

As its author's sample (https://slumbot.com/sample_api.py) and github.com/ericgjackson/slumbot2019, issues 23, 29 and
30, describe it. POST new_hand {"token"} and act {"token", "incr"} answer with "action" (see web_hands.py), "client_pos"
(0: the big blind), "hole_cards", "board", maybe a new "token", and at the end "winnings"; or with "error_msg".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sog.games.holdem.cards import parse_cards
from sog.protocols.web_api import WebApi, sensible
from sog.protocols.web_hands import WebAnswer, WebHand, WebSeat, hands_played, read_betting, spoken
from sog.protocols.words import Keys

__all__ = ["SlumbotClient", "read_slumbot"]

_TOKEN_HANDS: Final = 2_000  # of a session
_SEEN: Final = ("action", "client_pos", "hole_cards", "board", "bot_hole_cards")  # what records have of an answer


def read_slumbot(answer: Keys, number: int) -> WebAnswer:
    """Slumbot's answer, checked; ValueError or GameError for what is no hand."""
    if type(answer.get("client_pos")) is not int or answer["client_pos"] not in (0, 1):
        raise ValueError("it has no client_pos")
    hand = read_betting(str(answer.get("action")))
    own, board, other = (_cards(answer, key) for key in ("hole_cards", "board", "bot_hole_cards"))
    return WebAnswer(number, answer["client_pos"], hand, own, board, other, answer.get("winnings"))


def _cards(answer: Keys, key: str) -> tuple[int, ...]:
    cards = answer.get(key) or []
    if not isinstance(cards, list) or not all(isinstance(card, str) and len(card) == 2 for card in cards):
        raise ValueError(f"its {key} are no list of cards")
    return parse_cards("".join(cards))


class SlumbotClient:
    """An agent's hands at Slumbot, one after another."""

    def __init__(self, seat: WebSeat, api: WebApi) -> None:
        self.seat, self.api = seat, api
        self._token, self._hands = "", 0  # of this session
        self._last: Keys = {}

    def play(self, first: int) -> Iterator[WebHand]:
        """Hands from this number on, those that are lost included; SettingError after some of these in a row."""
        return hands_played(self._hand, first, self.api.wait, self._end_session)

    def _end_session(self) -> None:
        self._token = ""

    def _hand(self, number: int) -> WebHand:
        if not self._token or self._hands == _TOKEN_HANDS:
            self._token, self._hands = "", 0
        self._hands += 1
        end = self.seat.play(self._ask(number, "new_hand", {}), self._act)
        with sensible():
            won, baseline = end.won(), self._last.get("baseline_winnings")
            if baseline is not None and type(baseline) not in (int, float):
                raise ValueError("its baseline_winnings are no number")
        return WebHand(number, won, baseline, seen={key: self._last.get(key) for key in _SEEN})

    def _act(self, heard: WebAnswer, action: str) -> WebAnswer:
        return self._ask(heard.number, "act", {"incr": spoken(heard.hand, action)})

    def _ask(self, number: int, endpoint: str, body: Keys) -> WebAnswer:
        self._last = self.api.post(endpoint, {"token": self._token, **body} if self._token else body)
        token: Any = self._last.get("token")
        if isinstance(token, str) and 0 < len(token) < 1_000:
            self._token = token  # it may change at any time
        with sensible():
            return read_slumbot(self._last, number)
