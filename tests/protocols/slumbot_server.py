"""A stand-in for Slumbot's web API on this machine: it checks every message, and does wrong where a test asks for it.

Its rules are written here once more, from the sample's description, and know nothing of the library's.
"""

from __future__ import annotations

import json
import random
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from phevaluator import evaluate_cards  # type: ignore[import-untyped]

from tests.protocols.web_server import WebStandIn

STACK = 20_000
SLOW, LATE = 1.5, 0.2  # seconds: longer than the tests' patience, and shorter
BUSY, LOST = "busy", "hang up"


class Deal:
    """One hand: position 0 is the big blind and the second to act before the flop."""

    def __init__(self, rng: random.Random, client: int) -> None:
        cards = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
        rng.shuffle(cards)
        self.holes, self.table, self.client = (cards[:2], cards[2:4]), cards[4:9], client
        self.paid, self.before, self.last = [100, 50], 0, 100
        self.street, self.actor, self.acted, self.text, self.folded = 0, 1, 0, "", -1
        self.over = self.all_in_early = False

    def legal(self, word: str) -> bool:
        facing = self.paid[self.actor] < self.paid[1 - self.actor]
        if self.over or word in ("c", "f"):
            return facing and not self.over
        if word == "k":
            return not facing
        if word[:1] != "b" or not word[1:].isdecimal() or self.paid[1 - self.actor] == STACK:
            return False
        total = self.before + int(word[1:])
        return max(self.paid) < total <= STACK and (total >= max(self.paid) + self.last or total == STACK)

    def play(self, word: str) -> None:
        assert self.legal(word), (self.text, word)
        self.text += word
        self.acted += 1
        if word == "f":
            self.folded, self.over = self.actor, True
        elif word[0] == "b":
            total = self.before + int(word[1:])
            self.last = max(self.last, total - max(self.paid))
            self.paid[self.actor], self.actor = total, 1 - self.actor
        else:
            self.paid[self.actor], self.actor = max(self.paid), 1 - self.actor
            if self.acted > 1 or STACK in self.paid:
                self._close()

    def _close(self) -> None:
        if self.street == 3 or STACK in self.paid:
            self.all_in_early = 0 < self.street < 3
            self.over, self.text = True, self.text + "/" * (3 - self.street)
            return
        self.text += "/"
        self.street, self.before, self.last, self.actor, self.acted = self.street + 1, self.paid[0], 100, 0, 0

    @property
    def board(self) -> list[str]:
        return self.table[: 5 if self.over and self.folded < 0 else (0, 3, 4, 5)[self.street]]

    def won(self) -> int:
        """By the client."""
        ranks = [evaluate_cards(*hole, *self.table) for hole in self.holes]  # the lower, the better
        if self.folded >= 0:
            sign = 1 if self.folded != self.client else -1
        else:
            sign = (ranks[1 - self.client] > ranks[self.client]) - (ranks[1 - self.client] < ranks[self.client])
        return sign * min(self.paid)

    def moved(self, rng: random.Random) -> str:
        """What the stand-in plays."""
        facing, drawn = self.paid[self.actor] < self.paid[1 - self.actor], rng.random()
        top = STACK - self.before
        amounts = [top] if drawn > 0.95 else [rng.randrange(1, 2_000), rng.randrange(1, top + 1)] if drawn > 0.6 else []
        words = [f"b{amount}" for amount in amounts if self.legal(f"b{amount}")]
        return words[0] if words else ("f" if facing and drawn < 0.1 else "c" if facing else "k")


class SlumbotStandIn(WebStandIn):
    """The server.  faults: by the number of the request, what is done wrong with it.

    token_every: after how many requests the token is another.
    """

    path = "/slumbot/api"

    def __init__(self, seed: int = 0, token_every: int = 7) -> None:
        super().__init__()
        self.rng, self.token_every = random.Random(seed), token_every
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.faults: dict[int, str] = {}
        self.deal: Deal | None = None
        self.token, self.hands, self.total, self.baseline, self.early = "", 0, 0, 0, 0

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        if request.command != "POST":
            self.wrong.append(f"{request.command} {request.path}")
            return
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        with self.lock:
            number, what = len(self.requests), request.path.removeprefix(f"{self.path}/")
            self.requests.append((what, body))
            fault = self.faults.get(number, "")
            if request.headers["Content-Type"] != "application/json" or not isinstance(body, dict):
                self.wrong.append(f"request {number} is no JSON")
            answer = {} if fault == BUSY else self.answer(what, body)
        self.reply(request, answer, fault)

    def answer(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        """What an honest server says."""
        given = body.get("token")
        if given is not None and given != self.token:
            self.wrong.append(f"token {given}, not {self.token}")
            return {"error_msg": "Invalid token"}
        if what == "new_hand" and set(body) <= {"token"}:
            self.deal = Deal(self.rng, self.rng.randrange(2))
            old = ""
        elif what == "act" and set(body) == {"token", "incr"} and self.deal is not None:
            old = self.deal.text
            if self.deal.actor != self.deal.client or not self.deal.legal(body["incr"]):
                self.wrong.append(f"{body['incr']} at {old!r}")
                return {"error_msg": "Illegal action"}
            self.deal.play(body["incr"])
        else:
            self.wrong.append(f"{what} {body}")
            return {"error_msg": "Bad request"}
        deal = self.deal
        while not deal.over and deal.actor != deal.client:
            deal.play(deal.moved(self.rng))
        if given is None or len(self.requests) % self.token_every == 0:
            self.token = f"{self.rng.getrandbits(128):032x}"
        said = {
            "old_action": old,
            "action": deal.text,
            "client_pos": deal.client,
            "hole_cards": deal.holes[deal.client],
        }
        said |= {"board": deal.board, "token": self.token}
        if deal.over:
            won, baseline = deal.won(), self.rng.randrange(-300, 300)
            self.hands, self.total, self.baseline = self.hands + 1, self.total + won, self.baseline + baseline
            self.early += deal.all_in_early
            said |= {"winnings": won, "won_pot": won, "baseline_winnings": baseline, "session_total": self.total}
            said |= {"session_num_hands": self.hands, "session_baseline_total": self.baseline}
            said |= {"bot_hole_cards": deal.holes[1 - deal.client]}
        return said

    def reply(self, request: BaseHTTPRequestHandler, answer: dict[str, Any], fault: str) -> None:
        """Send an answer, or what a fault makes of it."""
        if fault == LOST:
            return
        if fault in ("late", "slow"):
            time.sleep(LATE if fault == "late" else SLOW)
        status, head = {BUSY: 429, "server error": 500, "unauthorised": 401}.get(fault, 200), {}
        if fault == BUSY:
            head["Retry-After"] = "3"
        if fault == "own error":
            answer = {"error_msg": "Server is down"}
        changed = json.loads(json.dumps(answer))
        if fault == "other cards":
            changed["hole_cards"] = [card for card in ("2c", "3d", "Ah", "As") if card not in json.dumps(answer)][:2]
        changed |= FORGED.get(fault, {})
        for key in ("action", "client_pos", "hole_cards", "board"):
            if fault == f"no {key}":
                del changed[key]
        content = WHOLE.get(fault, json.dumps(changed).encode())
        self.send(request, status, content, head, fault == "half")


# Parts of an answer, or whole ones, as a fault has them.
FORGED: dict[str, dict[str, Any]] = {
    "early end": {"winnings": 5},
    "silent": {"action": "", "board": []},
    "other board": {"board": ["2c", "3c", "4c"]},
    "other action": {"action": "b300b900b2700b8100b20000c///"},
    "no betting": {"action": "b150"},
    "slashes": {"action": "/b300"},
    "long action": {"action": "k" * 5_000},
    "huge bet": {"action": "b" + "9" * 500},
    "action of numbers": {"action": 7},
    "third seat": {"client_pos": 2},
    "seat of words": {"client_pos": "0"},
    "three cards": {"hole_cards": ["2c", "3c", "4c"]},
    "no such card": {"hole_cards": ["2c", "1c"]},
    "card twice": {"hole_cards": ["2c", "2c"]},
    "one card of theirs": {"bot_hole_cards": ["2c"]},
    "board of words": {"board": "2c3c4c"},
    "long board": {"board": ["2c", "3c", "4c", "5c", "6c", "7c"]},
}
WHOLE = {
    "no JSON": b"<html>502</html>",
    "a list": b"[]",
    "nothing": b"",
    "too long": b'{"action": "' + b"k" * 100_000 + b'"}',
    "deep": b"[" * 50_000,
    "no number": b'{"client_pos": NaN}',
    "no text": b"\xff\xfe\x00",
    "server error": b"Internal Server Error",
}
