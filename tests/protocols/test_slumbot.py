"""The client of Slumbot's web API against a stand-in on this machine: whole matches, and everything that goes wrong."""

from __future__ import annotations

import random
import socket
from itertools import islice
from typing import Any

import pytest

from sog.agents.entrants import open_entrant
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.protocols.acpc_client import table_of
from sog.protocols.acpc_states import REVERSE_BLINDS, AcpcHand
from sog.protocols.slumbot import SlumbotClient
from sog.protocols.web_api import WebApi
from sog.protocols.web_hands import WebHand, WebSeat, read_betting, spoken
from tests.protocols.slumbot_server import BUSY, FORGED, LOST, WHOLE, SlumbotStandIn

OWN = "holdem(bets=0.5;1;allin,inputs=paper)"
SHORT, LONG = 0.6, 60.0  # seconds of patience: less than a slow answer takes, and more than a busy machine does


def client_of(server: SlumbotStandIn, agent: str = "always-call", waits: list[float] | None = None) -> SlumbotClient:
    table = table_of(make_game(OWN), REVERSE_BLINDS)
    patience = SHORT if "slow" in server.faults.values() else LONG
    api = WebApi(server.url, patience, ([] if waits is None else waits).append)
    return SlumbotClient(WebSeat(open_entrant(agent, agent, table.game, None, {}), table, 3), api)


def hands(client: SlumbotClient, count: int) -> list[WebHand]:
    return list(islice(client.play(0), count))


@pytest.mark.parametrize(("agent", "token_every"), [("always-call", 1), ("random", 7), ("always-fold", 10**9)])
def test_a_match_of_two_hundred_hands(agent: str, token_every: int) -> None:
    """Every message is checked there, and every hand here; the token changes with every answer, or every seventh."""
    with SlumbotStandIn(seed=5, token_every=token_every) as server:
        played = hands(client_of(server, agent), 200)
    assert server.wrong == [] and [hand.number for hand in played] == list(range(200))
    assert not any(hand.lost for hand in played) and server.hands == 200
    assert sum(hand.won for hand in played) == server.total
    assert sum(hand.baseline or 0 for hand in played) == server.baseline
    seen = [hand.seen or {} for hand in played]
    assert {s["client_pos"] for s in seen} == {0, 1} and all(len(s["bot_hole_cards"]) == 2 for s in seen)
    assert sum("token" not in body for _, body in server.requests) == 1
    if agent == "random":
        bets = [int(body["incr"][1:]) for what, body in server.requests if what == "act" and body["incr"][0] == "b"]
        assert len(bets) > 50
    if agent != "always-fold":
        assert server.early > 2  # all-in in the middle, with streets that have no actions


SOMEWHERE = ("silent", "other board")  # at the beginning of a hand they may be right
EVERYWHERE = ["own error", "unauthorised", "slow", "half", LOST, *WHOLE, "no action", "no client_pos"]
EVERYWHERE += [fault for fault in FORGED if fault not in SOMEWHERE]


@pytest.mark.parametrize("fault", [*EVERYWHERE, "no hole_cards"])
@pytest.mark.parametrize("place", [0, 1, 4])
def test_a_fault_costs_one_hand(fault: str, place: int) -> None:
    """In answer to the first request, to an action, and later; the next hand is one of a new session."""
    waits: list[float] = []
    with SlumbotStandIn(seed=1) as server:
        server.faults = {place: fault}
        played = hands(client_of(server, waits=waits), 6)
    lost = [hand for hand in played if hand.lost]
    assert len(lost) == 1 and lost[0].won == 0 and "\n" not in lost[0].lost and len(lost[0].lost) < 300
    assert server.wrong == [] and sum(what == "new_hand" for what, _ in server.requests) == len(played)
    assert "token" not in server.requests[place + 1][1] and server.requests[place + 1][0] == "new_hand"
    assert waits == [2]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("own error", "the server says: Server is down"),
        ("unauthorised", "HTTP status 401"),
        ("server error", "HTTP status 500"),
        ("slow", "the connection broke off: timed out"),
        (LOST, "the connection broke off: Remote end closed connection"),
        ("half", "the connection broke off"),
        ("no betting", "'r150' cannot follow ''"),
        ("early end", "it has winnings before the end"),
        ("other cards", "it does not follow k"),
        ("other action", "makes no sense"),
        ("silent", "the server does not act where it is to act"),
    ],
)
def test_what_is_said_of_a_fault(fault: str, why: str) -> None:
    with SlumbotStandIn(seed=1) as server:
        server.faults = {int(fault != "silent"): fault}
        found = hands(client_of(server), 2)
    assert [why in hand.lost for hand in found] == [True, False], found[0].lost


def test_another_board_is_no_board() -> None:
    """On the flop, and again after the next action with another card."""
    with SlumbotStandIn(seed=1) as server:
        honest = server.answer

        def changed(what: str, body: dict[str, str]) -> dict[str, Any]:
            said = honest(what, body)
            return said | {"board": list(reversed(said["board"]))} if len(server.requests) % 2 else said

        server.answer = changed  # type: ignore[method-assign]
        found = hands(client_of(server), 4)
    assert any("it does not follow" in hand.lost for hand in found)


def test_other_winnings_are_no_hand() -> None:
    """Each hand's last answer pays a chip more than the rules do."""
    with SlumbotStandIn(seed=1) as server:
        honest = server.answer

        def generous(what: str, body: dict[str, str]) -> dict[str, Any]:
            said = honest(what, body)
            return said | {"winnings": said["winnings"] + 1} if "winnings" in said else said

        server.answer = generous  # type: ignore[method-assign]
        with pytest.raises(SettingError, match=r"5 hands in a row were not played to their end: .* it pays"):
            hands(client_of(server), 99)
    assert server.hands == 5


def test_an_answer_that_comes_late_but_comes_is_no_fault() -> None:
    with SlumbotStandIn(seed=1) as server:
        server.faults = dict.fromkeys(range(4), "late")
        assert not any(hand.lost for hand in hands(client_of(server), 3))


def test_a_busy_server_is_asked_again_later() -> None:
    """It was not served, so that the same request is sent again, and no hand is lost."""
    waits: list[float] = []
    with SlumbotStandIn(seed=1) as server:
        server.faults = {1: BUSY, 2: BUSY, 5: BUSY}
        played = hands(client_of(server, waits=waits), 4)
    assert not any(hand.lost for hand in played) and waits == [3, 3, 3]
    assert server.requests[1] == server.requests[2] == server.requests[3] and server.wrong == []
    with SlumbotStandIn(seed=1) as server:
        server.faults = dict.fromkeys(range(99), BUSY)
        with pytest.raises(SettingError, match=r"127\.0\.0\.1 is busy .HTTP status 429.: continue later"):
            hands(client_of(server, waits=waits), 1)
        assert len(server.requests) == 6 and max(waits) == 60


def test_no_connection_is_tried_again_for_a_while() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    waits: list[float] = []
    api = WebApi(f"http://127.0.0.1:{port}", LONG, waits.append)
    with pytest.raises(SettingError, match=r"no connection to 127.0.0.1: .*refused"):
        api.post("new_hand", {})
    assert waits[:6] == [1, 2, 5, 10, 30, 60]
    with SlumbotStandIn(seed=1) as server:
        api = WebApi(f"http://127.0.0.1:{port}/slumbot/api", LONG, lambda seconds: setattr(api, "_parts", right))
        right = WebApi(server.url, LONG)._parts
        assert api.post("new_hand", {})["token"] == server.token


def test_a_session_is_renewed_after_two_thousand_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sog.protocols.slumbot._TOKEN_HANDS", 5)
    with SlumbotStandIn(seed=1) as server:
        hands(client_of(server, "always-fold"), 16)
    assert sum("token" not in body for _, body in server.requests) == 4 and server.wrong == []


@pytest.mark.parametrize(
    "url", ["slumbot.com", "ftp://slumbot.com", "http://", "https://a b", "http://a:99999", "http://u:p@a", "x" * 9_999]
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(SettingError, match="not an address such as"):
        WebApi(url, 1.0)


def drawn(rng: random.Random) -> AcpcHand:
    """A hand's betting, somewhere or at its end."""
    hand = AcpcHand.begun(REVERSE_BLINDS)
    for _ in range(rng.randrange(20)):
        if hand.over:
            break
        low, high = hand.limits
        raises = [f"r{low}", f"r{high}", f"r{rng.randint(low, high)}"] if high else []
        hand = hand.after(hand.admitted(rng.choice(["c", "c", "c", "f", *raises]))[0])
    return hand


def test_betting_is_spoken_and_read_back() -> None:
    rng = random.Random(4)
    for _ in range(300):
        hand, at, text = drawn(rng), AcpcHand.begun(REVERSE_BLINDS), ""
        for action in at.following(hand.text):
            word, after = spoken(at, action), at.after(action)
            text, at = text + word + "/" * (after.betting.street - at.betting.street), after
        assert read_betting(text).text == hand.text
        if hand.over:
            assert read_betting(text.rstrip("/")).text == hand.text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("b200c/kb200f", "r200c/cr400f"),
        ("b20000c///", "r20000c///"),
        ("b20000c", "r20000c///"),
        ("b200b1103c/b940c/b778b6957b13136b17957c/", "r200r1103c/r2043c/r2821r9000r15179r20000c/"),
        ("ck/kk/kk/kk", "cc/cc/cc/cc"),
    ],
)
def test_betting_of_the_sample_and_of_the_issues(text: str, same: str) -> None:
    """An all-in on a later street is what is left of 20,000, and no more than that."""
    assert read_betting(text).text == same


@pytest.mark.parametrize(
    "text", ["k", "b150", "cc", "ck", "ckk", "ck/c", "b200c//k", "b20001", "b200c/b19801", "ckx", "b200f/k", "b"]
)
def test_betting_that_cannot_be(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_betting(text)
