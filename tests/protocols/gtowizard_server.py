"""A stand-in for GTO Wizard's benchmark on this machine: it checks every message, and does wrong where a test asks.

The hands are the other stand-in's, with its rules written once more; answers are as the benchmark's client reads them.
"""

from __future__ import annotations

import json
import random
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.protocols.slumbot_server import LATE, SLOW, STACK, Deal
from tests.protocols.web_server import WebStandIn

KEY = "a key"
# Not served: the request is answered with this status and changes nothing.
REFUSED = {"busy": 429, "no slot": 409, "bad gateway": 502, "unavailable": 503, "timeout": 504}
# Served, and the answer is lost.
LOST = ("hang up", "slow", "half", "timeout after it was served")
SLOTS = 5


class OpenHand:
    """A hand of one client.  number: the server's."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self.number, self.rng = number, rng
        self.deal = Deal(rng, rng.randrange(2))

    def state(self) -> dict[str, Any]:
        """What the server says of it."""
        deal, client = self.deal, self.deal.client
        facing = deal.paid[deal.actor] < deal.paid[1 - deal.actor]
        raises = not deal.over and deal.paid[1 - deal.actor] < STACK
        low = min(max(deal.paid) + deal.last, STACK) - deal.before
        shows = deal.over and (deal.folded < 0 or self.rng.random() < 0.3)
        history: list[str] = []
        for sign in deal.text:
            if sign == "/" or sign in "kcfb":
                history.append("_" if sign == "/" else sign)
            else:
                history[-1] += sign
        if deal.over and self.rng.random() < 0.5:
            while history[-1] == "_":
                history.pop()
        players = [
            {"name": "GTO Wizard", "stack": 1.0, "hole_cards": "".join(deal.holes[1 - client]) if shows else None},
            {"name": "ours", "stack": 2.0, "hole_cards": "".join(deal.holes[client])},
        ]
        for player, position in zip(players, (1 - client, client), strict=True):
            player["position"] = ("BB", "SB")[position]
        self.rng.shuffle(players)
        return {
            "street": ("preflop", "flop", "turn", "river")[deal.street],
            "common_pot": 0.0,
            "total_pot": float(sum(deal.paid)),
            "board_cards": "".join(deal.board),
            "is_hand_over": deal.over,
            "players": players,
            "legal_actions": []
            if deal.over
            else [*(["f", "c"] if facing else ["k"]), *(["b"] if raises and low <= STACK - deal.before else [])],
            "raise_range": {"min": float(low), "max": float(STACK - deal.before)} if raises else None,
            "action_history": history,
            "has_gto_wizard_folded": deal.folded == 1 - client,
            "winnings": float(deal.won()) if deal.over else None,
            "aivat_score": deal.won() / 4 if deal.over else None,
        }

    def reply(self) -> None:
        """The stand-in's own actions, up to the client's next."""
        while not self.deal.over and self.deal.actor != self.deal.client:
            self.deal.play(self.deal.moved(self.rng))


class GtoWizardStandIn(WebStandIn):
    """The server.

    faults: by the number of the request, what is done wrong with it.  thinks: how often a hand that is open is listed
    before the stand-in has acted, after an answer was lost.  keys: by the number of the request, another key that is
    right from there on.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.rng, self.faults = random.Random(seed), dict[int, str]()
        self.key, self.keys = KEY, dict[int, str]()
        self.requests: list[tuple[str, Any]] = []
        self.open: dict[int, OpenHand] = {}
        self.hands, self.total, self.aivat, self.early, self.thinks = 0, 0, 0.0, 0, 0

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers["Content-Length"] or 0)
        body = json.loads(request.rfile.read(length)) if length else None
        with self.lock:
            number, path = len(self.requests), request.path
            self.requests.append((path, body))
            fault = self.faults.get(number, "")
            if not (request.headers["User-Agent"] or "").startswith("sog/"):
                self.wrong.append(f"request {number} says not what it comes from")
            status, answer = REFUSED.get(fault, 200), {"detail": "busy"}
            self.key = self.keys.get(number, self.key)
            if request.headers["X-API-Key"] != self.key:
                status, answer = 401, {"detail": "Invalid API key"}
            elif status == 200:
                status, answer = self.answer(request.command, path, body)
                if fault == LOST[-1]:
                    status, answer = 504, {"detail": "gateway"}
        self.reply(request, status, answer, fault)

    def answer(self, command: str, path: str, body: Any) -> tuple[int, Any]:
        """What an honest server says."""
        if (command, path) == ("GET", "/hands/in-progress?game_name=HUNL%20200BB"):
            if self.thinks:
                self.thinks -= 1
            else:
                for hand in self.open.values():
                    hand.reply()
            self._close()
            return 200, [self._said(hand) for hand in self.open.values()]
        if (command, path, body) == ("POST", "/hands", {"game_name": "HUNL 200BB"}):
            if len(self.open) >= SLOTS:
                self.wrong.append("a hand more than may be open")
                return 409, {"detail": "too many hands"}
            hand = OpenHand(1_000 + self.hands + len(self.open), self.rng)
            self.open[hand.number] = hand
            hand.reply()
            return 200, self._ended(hand)
        number = path.removeprefix("/hands/").removesuffix("/act")
        if command == "POST" and path == f"/hands/{number}/act" and number.isdecimal() and int(number) in self.open:
            return self._act(self.open[int(number)], body)
        self.wrong.append(f"{command} {path} {body}")
        return 404, {"detail": "Not Found"}

    def _act(self, hand: OpenHand, body: Any) -> tuple[int, Any]:
        word = body["action"] + (str(body["amount"]) if "amount" in body else "")
        keys = {"action", "amount"} if word[0] == "b" else {"action"}
        if set(body) != keys or hand.deal.actor != hand.deal.client or not hand.deal.legal(word):
            self.wrong.append(f"{body} at {hand.deal.text!r}")
            return 400, {"detail": "Illegal action"}
        hand.deal.play(word)
        if not self.thinks:
            hand.reply()
        return 200, self._ended(hand)

    def _ended(self, hand: OpenHand) -> dict[str, Any]:
        said = self._said(hand)
        self._close()
        return said

    def _close(self) -> None:
        """Hands that are over hold no place."""
        for number, hand in list(self.open.items()):
            if hand.deal.over:
                del self.open[number]
                won = hand.deal.won()
                self.hands, self.total, self.aivat = self.hands + 1, self.total + won, self.aivat + won / 4
                self.early += hand.deal.all_in_early

    @staticmethod
    def _said(hand: OpenHand) -> dict[str, Any]:
        game = {"game_id": 1, "game_name": "HUNL 200BB", "game_format": "heads-up", "starting_stack": 20000.0}
        game |= {"blinds": [100.0, 50.0], "stack_reset_per_hand": True}
        return {"hand_id": hand.number, "game": game, "game_state": hand.state()}

    def reply(self, request: BaseHTTPRequestHandler, status: int, answer: Any, fault: str) -> None:
        """Send an answer, or what a fault makes of it."""
        if fault == "hang up":
            return
        if fault in ("late", "slow"):
            time.sleep(LATE if fault == "late" else SLOW)
        changed = json.loads(json.dumps(answer))
        if isinstance(changed, dict) and "game_state" in changed:
            changed["game"] |= GAMES.get(fault, {})
            changed["game_state"] |= STATES.get(fault, {})
            changed |= FORGED.get(fault, {})
            if fault == "bets as decimals":
                history = changed["game_state"]["action_history"]
                changed["game_state"]["action_history"] = [w + ".0" if w[1:] else w for w in history]
        content = WHOLE.get(fault, json.dumps(changed).encode())
        head = {"Retry-After": "3"} if fault == "busy" else {}
        self.send(request, 500 if fault == "server error" else status, content, head, fault == "half")


# Parts of an answer, or whole ones, as a fault has them.
_PLAYER = {"name": "ours", "stack": 1, "position": "BB", "hole_cards": "AhKd"}
FORGED: dict[str, dict[str, Any]] = {
    "no number of the hand": {"hand_id": None},
    "a path for a number": {"hand_id": "../results"},
    "a number that is true": {"hand_id": True},
    "no state": {"game_state": None},
    "no game": {"game": []},
}
GAMES: dict[str, dict[str, Any]] = {
    "other stacks": {"starting_stack": 10_000},
    "other blinds": {"blinds": [100, 25]},
    "no blinds": {"blinds": None},
    "blinds of words": {"blinds": ["50", 100]},
}
STATES: dict[str, dict[str, Any]] = {
    "three players": {"players": [_PLAYER] * 3},
    "two of us": {"players": [_PLAYER] * 2},
    "players of words": {"players": ["GTO Wizard", "ours"]},
    "no positions": {"players": [_PLAYER | {"position": None}, _PLAYER | {"name": "GTO Wizard"}]},
    "no own cards": {"players": [_PLAYER | {"hole_cards": None}, _PLAYER | {"name": "GTO Wizard", "position": "SB"}]},
    "no such card": {"players": [_PLAYER | {"hole_cards": "Ah1x"}, _PLAYER | {"name": "GTO Wizard", "position": "SB"}]},
    "no history": {"action_history": None},
    "history of numbers": {"action_history": [7]},
    "no betting": {"action_history": ["b150"]},
    "long history": {"action_history": ["k"] * 5_000},
    "huge bet": {"action_history": ["b" + "9" * 500]},
    "two words in one": {"action_history": ["ck", "_"]},
    "a board of numbers": {"board_cards": 23},
    "half a card": {"board_cards": "2c3c4"},
    "long board": {"board_cards": "2c3c4c5c6c7c"},
    "over too soon": {"is_hand_over": True},
    "winnings too soon": {"winnings": 5.0},
}
WHOLE = {
    "no JSON": b"<html></html>",
    "a list": b"[]",
    "nothing": b"",
    "too long": b'{"hand_id": "' + b"k" * 100_000 + b'"}',
    "deep": b"[" * 50_000,
    "no number": b'{"hand_id": NaN}',
    "no text": b"\xff\xfe\x00",
    "server error": b"Internal Server Error",
}
