"""The client of GTO Wizard's benchmark: an agent of hold'em plays hands there, and every answer is checked.

As its paper (arXiv:2603.23660) and its client (github.com/gtowizard-ai/researcher-api-client) describe it. With a key
in each request's header, POST hands {"game_name"} and hands/ID/act {"action", "amount"} answer with "hand_id", "game"
and "game_state": "players" (name, position SB or BB, hole_cards), "board_cards", "action_history" (f, c, k, bN as in
web_hands.py, _ between streets), "legal_actions", "raise_range", and at the end "winnings" and "aivat_score". GET
hands/in-progress lists the hands that are open. A busy server answers 502 to 504, to an action that it may have taken.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, Final

from sog.errors import SettingError
from sog.games.holdem.cards import parse_cards
from sog.protocols.web_api import BUSY, WAITS, Unanswered, WebApi, WebFault, sensible
from sog.protocols.web_hands import WebAnswer, WebHand, WebSeat, hands_played, read_betting, spoken
from sog.protocols.words import Keys, shown

__all__ = ["GtoWizardClient", "read_gtowizard"]

_GAME: Final = "HUNL 200BB"
_OPEN: Final = "hands/in-progress?game_name=HUNL%20200BB"
_OPPONENT: Final = "GTO Wizard"  # how the other player's name begins
_POSITIONS: Final = {"BB": 0, "SB": 1, "BTN": 1}
_NO_SLOT: Final = 409  # HTTP's "conflict", of a new hand: as many as may be are open
_REFUSED: Final = (401, 403)
_TOKEN: Final = re.compile(r"(_|[fck]|b[0-9]{1,9})(\.0{1,9})?")
_SEEN: Final = ("action_history", "board_cards", "players", "winnings")  # what records have of an answer's state
_MOST_ACTIONS: Final = 50  # of a hand that is given up


def read_gtowizard(answer: Keys, number: int) -> WebAnswer:
    """GTO Wizard's answer, checked; ValueError or GameError for what is no hand."""
    game, state = _part(answer, "game", dict), _part(answer, "game_state", dict)
    _part(answer, "hand_id", int)
    if game.get("starting_stack") != 20_000 or game.get("blinds") not in ([50, 100], [100, 50]):
        raise ValueError("its game has other stacks or blinds than 20,000, 50 and 100")
    players = _part(state, "players", list)
    if len(players) != 2 or not all(isinstance(player, dict) for player in players):
        raise ValueError("it has not two players")
    own, other = sorted(players, key=lambda player: str(player.get("name")).startswith(_OPPONENT))
    if str(own.get("name")).startswith(_OPPONENT) or not str(other.get("name")).startswith(_OPPONENT):
        raise ValueError(f"one of its players is {_OPPONENT}")
    positions = [_POSITIONS.get(str(player.get("position"))) for player in (own, other)]
    if positions not in ([0, 1], [1, 0]):
        raise ValueError("its positions are not SB and BB")
    hand = read_betting("".join(_word(token) for token in _part(state, "action_history", list)))
    if hand.over != (state.get("is_hand_over") is True):
        raise ValueError("it is over before its end, or not over after it")
    cards = (own.get("hole_cards"), state.get("board_cards"), other.get("hole_cards"))
    if not all(isinstance(text, str) and len(text) <= 10 for text in cards if text):
        raise ValueError("its cards are no text")
    mine, board, theirs = (parse_cards(text or "") for text in cards)
    return WebAnswer(number, positions[0] or 0, hand, mine, board, theirs, state.get("winnings"))


def _word(token: object) -> str:
    """An action as web_hands.py has it; bets may be written as b300.0. ValueError for anything else."""
    match = _TOKEN.fullmatch(str(token))
    if match is None:
        raise ValueError(f"{shown(str(token))!r} is no action")
    return "/" if match[1] == "_" else match[1]


def _part(keys: Keys, name: str, kind: type) -> Any:
    if type(keys.get(name)) is not kind:
        raise ValueError(f"it has no {name}")
    return keys[name]


def _body(heard: WebAnswer, action: str, state: Keys) -> Keys:
    """An action as the server wants it; ValueError where it does not allow it."""
    word = spoken(heard.hand, action)
    if word[0] not in (state.get("legal_actions") or ()):
        raise ValueError(f"it does not allow {word}")
    if word[0] != "b":
        return {"action": word}
    allowed, amount = _part(state, "raise_range", dict), int(word[1:])
    if not float(allowed.get("min", 0)) <= amount <= float(allowed.get("max", 0)):
        raise ValueError(f"it does not allow {word}")
    return {"action": "b", "amount": amount}


class GtoWizardClient:
    """An agent's hands at GTO Wizard's server, one after another."""

    def __init__(self, seat: WebSeat, api: WebApi) -> None:
        self.seat, self.api = seat, api
        self._last: Keys = {}  # answer

    def play(self, first: int) -> Iterator[WebHand]:
        """Hands from this number on, those that are lost included; SettingError after some of these in a row.

        Hands that an earlier run left open hold places at the server: they are played on first, and count as lost.
        """
        try:
            left = len(self._end_open_hands())
        except WebFault as fault:
            _check_key(fault)
            raise SettingError(f"the server does not list the hands that are open: {fault}") from fault
        why = "an earlier run had begun a hand, which was played on and is left out"
        ended = (WebHand(first + k, lost=why) for k in range(left))
        return chain(ended, hands_played(self._hand, first + left, self.api.wait, self._after_fault))

    def _after_fault(self) -> None:
        """End the hand that has failed, which holds a place; where that fails, too, the next hand says why."""
        with suppress(WebFault):
            self._end_open_hands()

    def _hand(self, number: int) -> WebHand:
        try:
            end = self.seat.play(self._asked("hands", {"game_name": _GAME}, number), self._act)
        except WebFault as fault:
            _check_key(fault)
            raise
        state = self._last["game_state"]
        with sensible():
            won, aivat = end.won(), state.get("aivat_score")
            if type(aivat) not in (int, float) or not math.isfinite(aivat):
                raise ValueError("its aivat_score is no number")
        seen = {"hand_id": self._last["hand_id"], **{key: state.get(key) for key in _SEEN}}
        return WebHand(number, won, aivat=float(aivat), seen=seen)

    def _act(self, heard: WebAnswer, action: str) -> WebAnswer:
        with sensible():
            body = _body(heard, action, self._last["game_state"])
        return self._asked(f"hands/{self._last['hand_id']}/act", body, heard.number, heard)

    def _asked(self, endpoint: str, body: Keys, number: int, heard: WebAnswer | None = None) -> WebAnswer:
        """The answer to a request, which is sent again where it was not served.

        heard: the hand as it was; None of a new one.
        """
        busy = (BUSY,) if heard else (BUSY, _NO_SLOT)
        for pause in WAITS:
            try:
                return self._read(self.api.post(endpoint, body, busy), number)
            except Unanswered:
                self.api.wait(pause)
            if (served := self._served(heard)) is not None:
                return self._read(served, number)
        return self._read(self.api.post(endpoint, body, busy), number)

    def _served(self, heard: WebAnswer | None) -> Keys | None:
        """What a request without an answer led to, by the list of open hands; None where it was not served."""
        for pause in WAITS:
            hands = self._open_hands()
            if heard is None:
                return hands[-1] if hands else None
            of_this = [hand for hand in hands if hand.get("hand_id") == self._last["hand_id"]]
            if not of_this:
                raise WebFault("its last answer was lost")
            with sensible():
                answer = read_gtowizard(of_this[0], heard.number)
            if answer.hand.text == heard.hand.text:
                return None
            if answer.hand.betting.actor == answer.position:
                return of_this[0]
            self.api.wait(pause)
        raise WebFault("the server does not act where it is to act")

    def _read(self, answer: Keys, number: int) -> WebAnswer:
        with sensible():
            checked = read_gtowizard(answer, number)
        self._last = answer
        return checked

    def _open_hands(self) -> list[Keys]:
        answer = self.api.get(_OPEN)
        if not isinstance(answer, list) or not all(isinstance(hand, dict) for hand in answer):
            raise WebFault("the hands that are open are no list")
        return answer

    def _end_open_hands(self) -> list[Keys]:
        """Play on every hand that is open, or give it up where that fails; the hands."""
        hands = self._open_hands()
        for hand in hands:
            try:
                self.seat.play(self._read(hand, 0), self._act)
            except Unanswered:
                raise
            except WebFault:
                self._give_up(hand)
        return hands

    def _give_up(self, hand: Keys) -> None:
        """Fold, or check where nothing is to be called, until a hand is over."""
        for _ in range(_MOST_ACTIONS):
            number, state = hand.get("hand_id"), hand.get("game_state")
            if type(number) is not int or not isinstance(state, dict) or state.get("is_hand_over"):
                return
            folds = "f" in (state.get("legal_actions") or ())
            hand = self.api.post(f"hands/{number}/act", {"action": "f" if folds else "k"})


def _check_key(fault: WebFault) -> None:
    """SettingError where a fault is that the server refuses the key."""
    if fault.status in _REFUSED:
        raise SettingError(f"the server refuses the key: {fault}") from fault
