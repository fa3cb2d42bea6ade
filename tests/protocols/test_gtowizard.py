"""The client of GTO Wizard's benchmark against a stand-in on this machine: whole matches, and all that goes wrong."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import pytest

from sog.agents.entrants import open_entrant
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.protocols.acpc_client import table_of
from sog.protocols.acpc_states import REVERSE_BLINDS
from sog.protocols.gtowizard import GtoWizardClient, read_gtowizard
from sog.protocols.web_api import WebApi
from sog.protocols.web_hands import WebHand, WebSeat
from tests.protocols.gtowizard_server import (
    FORGED,
    GAMES,
    KEY,
    LOST,
    REFUSED,
    STATES,
    WHOLE,
    GtoWizardStandIn,
    OpenHand,
)

OWN = "holdem(bets=0.5;1;allin,inputs=paper)"
SHORT, LONG = 0.6, 60.0  # seconds of patience: less than a slow answer takes, and more than a busy machine does
ACTS = "/act"


def client_of(
    server: GtoWizardStandIn, agent: str = "always-call", waits: list[float] | None = None, key: str = KEY
) -> GtoWizardClient:
    patience = SHORT if "slow" in server.faults.values() else LONG
    table = table_of(make_game(OWN), REVERSE_BLINDS)
    headers = {"X-API-Key": key, "User-Agent": "sog/test"}
    api = WebApi(server.url, patience, ([] if waits is None else waits).append, headers)
    return GtoWizardClient(WebSeat(open_entrant(agent, agent, table.game, None, {}), table, 3), api)


def hands(client: GtoWizardClient, count: int) -> list[WebHand]:
    return list(islice(client.play(0), count))


@pytest.mark.parametrize("agent", ["always-call", "random", "always-fold"])
def test_a_match_of_two_hundred_hands(agent: str) -> None:
    """Every message is checked there, and every hand here."""
    with GtoWizardStandIn(seed=5) as server:
        played = hands(client_of(server, agent), 200)
    assert server.wrong == [] and [hand.number for hand in played] == list(range(200))
    assert not any(hand.lost for hand in played) and server.hands == 200 and not server.open
    assert sum(hand.won for hand in played) == server.total
    assert sum(hand.aivat or 0 for hand in played) == pytest.approx(server.aivat)
    seen = [hand.seen or {} for hand in played]
    assert {p["position"] for s in seen for p in s["players"] if p["name"] == "ours"} == {"BB", "SB"}
    if agent == "random":
        bets = [body["amount"] for path, body in server.requests if path.endswith(ACTS) and body["action"] == "b"]
        assert len(bets) > 50
    if agent != "always-fold":
        assert server.early > 2  # all-in in the middle, with streets that have no actions


@pytest.mark.parametrize("place", [1, 2, 5])
@pytest.mark.parametrize("fault", [name for name in REFUSED if name != "no slot"])
def test_what_was_not_served_is_sent_again(fault: str, place: int) -> None:
    """The first request lists open hands; then come a new hand and actions."""
    with GtoWizardStandIn(seed=1) as server:
        server.faults, waits = {place: fault, place + 3: fault}, list[float]()
        played = hands(client_of(server, waits=waits), 6)
    assert not any(hand.lost for hand in played) and server.wrong == [] and len(waits) == 2
    assert sum(hand.won for hand in played) == server.total


def test_a_hand_waits_for_a_place() -> None:
    with GtoWizardStandIn(seed=1) as server:
        server.faults, waits = {1: "no slot", 2: "no slot"}, list[float]()
        assert not any(hand.lost for hand in hands(client_of(server, waits=waits), 3))
    assert waits == [1, 2] and server.wrong == []
    with GtoWizardStandIn(seed=1) as server:
        server.faults = dict.fromkeys(range(1, 99), "no slot")
        with pytest.raises(SettingError, match=r"127\.0\.0\.1 is busy .HTTP status 409.: continue later"):
            hands(client_of(server), 1)


@pytest.mark.parametrize("place", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("fault", LOST)
def test_what_was_served_without_an_answer_is_found_again(fault: str, place: int) -> None:
    """By the list of open hands; only of a hand that ended by it the answer is gone, and nothing is sent twice."""
    with GtoWizardStandIn(seed=1) as server:
        server.faults = {place: fault}
        played = hands(client_of(server), 8)
    lost = [hand for hand in played if hand.lost]
    assert server.wrong == [] and not server.open
    assert [hand.lost for hand in lost] in ([], ["its last answer was lost"])
    assert lost or sum(hand.won for hand in played) == server.total


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("thinks", [0, 2])
def test_a_lost_action_of_a_hand_that_goes_on_costs_nothing(thinks: int, seed: int) -> None:
    """The server may take a while to act, too."""
    with GtoWizardStandIn(seed) as server:
        server.faults, server.thinks = {2: LOST[-1]}, thinks
        played = hands(client_of(server), 3)
    assert not any(hand.lost for hand in played) and server.wrong == []
    assert sum(hand.won for hand in played) == server.total


def test_open_hands_of_an_earlier_run_are_played_on_and_left_out() -> None:
    with GtoWizardStandIn(seed=2) as server:
        for number in range(3):
            server.open[number] = hand = OpenHand(number, server.rng)
            hand.reply()
        server._close()
        left = len(server.open)
        played = hands(client_of(server), 10)
    assert left > 1 and [bool(hand.lost) for hand in played] == [True] * left + [False] * (10 - left)
    assert (
        "an earlier run had begun a hand" in played[0].lost and server.wrong == [] and server.hands == 13 - 3 + 3 - left
    )


def test_an_open_hand_that_makes_no_sense_is_given_up() -> None:
    with GtoWizardStandIn(seed=2) as server:
        honest = server._said

        def said(hand: OpenHand) -> dict[str, Any]:
            known = honest(hand)
            return known | {"game": known["game"] | {"starting_stack": 5}} if hand.number < 3 else known

        server._said = said  # type: ignore[method-assign, assignment]
        for number in range(3):
            server.open[number] = hand = OpenHand(number, server.rng)
            hand.reply()
        server._close()
        played = hands(client_of(server), 5)
        assert server.wrong == [] and not server.open
    assert not played[-1].lost


SOMEWHERE = ("over too soon", "no betting")  # at some places they may be right
EVERYWHERE = [*WHOLE, *FORGED, *GAMES, *(name for name in STATES if name not in SOMEWHERE)]


@pytest.mark.parametrize("fault", EVERYWHERE)
@pytest.mark.parametrize("place", [1, 2])
def test_a_fault_costs_one_hand(fault: str, place: int) -> None:
    """In answer to a new hand and to an action; the hand is ended, so that it holds no place."""
    with GtoWizardStandIn(seed=1) as server:
        server.faults, waits = {place: fault}, list[float]()
        played = hands(client_of(server, waits=waits), 5)
    lost = [hand for hand in played if hand.lost]
    assert len(lost) == 1 and lost[0].won == 0 and "\n" not in lost[0].lost and len(lost[0].lost) < 300
    assert server.wrong == [] and not server.open and waits == [2]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("server error", "HTTP status 500"),
        ("half", "the connection broke off"),
        ("other stacks", "its game has other stacks or blinds"),
        ("no betting", "'r150' cannot follow ''"),
        ("no positions", "its positions are not SB and BB"),
        ("two of us", "one of its players is GTO Wizard"),
        ("a number that is true", "it has no hand_id"),
        ("over too soon", "it is over before its end"),
        ("winnings too soon", "it has winnings before the end"),
    ],
)
def test_what_is_said_of_a_fault(fault: str, why: str) -> None:
    with GtoWizardStandIn(seed=1) as server:
        server.faults = dict.fromkeys(range(1, 90), fault) if fault == "half" else {1: fault}
        if fault == "half":
            with pytest.raises(SettingError, match=why):
                hands(client_of(server), 9)
            return
        assert [why in hand.lost for hand in hands(client_of(server), 2)] == [True, False]


@pytest.mark.parametrize(
    ("key", "value", "why"), [("winnings", 77.0, "it pays 77"), ("aivat_score", None, "aivat_score")]
)
def test_other_winnings_are_no_hand(key: str, value: object, why: str) -> None:
    with GtoWizardStandIn(seed=1) as server:
        honest = server._said

        def generous(hand: OpenHand) -> dict[str, Any]:
            said = honest(hand)
            if said["game_state"]["is_hand_over"]:
                said["game_state"][key] = value
            return said

        server._said = generous  # type: ignore[method-assign, assignment]
        with pytest.raises(SettingError, match=rf"5 hands in a row were not played to their end: .*{why}"):
            hands(client_of(server), 99)


def test_bets_may_be_written_as_decimals_and_answers_may_be_late() -> None:
    with GtoWizardStandIn(seed=1) as server:
        server.faults = dict.fromkeys(range(1, 200), "bets as decimals")
        assert not any(hand.lost for hand in hands(client_of(server, "random"), 20)) and server.wrong == []
    with GtoWizardStandIn(seed=1) as server:
        server.faults = dict.fromkeys(range(4), "late")
        assert not any(hand.lost for hand in hands(client_of(server), 3))


def test_a_key_that_is_refused_ends_the_match_at_once() -> None:
    says = "the server refuses the key: the server says: Invalid API key"
    with GtoWizardStandIn(seed=1) as server, pytest.raises(SettingError, match=says):
        hands(client_of(server, key="another"), 3)
    assert len(server.requests) == 1


def test_a_key_that_is_withdrawn_ends_the_match() -> None:
    with GtoWizardStandIn(seed=1) as server:
        server.keys = {5: "no longer"}
        with pytest.raises(SettingError, match="the server refuses the key"):
            hands(client_of(server), 30)


@pytest.mark.parametrize("narrow", [{"min": 1.0, "max": 2.0}, {"min": 19_999.0, "max": 20_000.0}, None])
def test_an_action_that_the_server_does_not_allow_is_not_sent(narrow: dict[str, float] | None) -> None:
    with GtoWizardStandIn(seed=1) as server:
        honest = server._said

        def strict(hand: OpenHand) -> dict[str, Any]:
            said = honest(hand)
            state = said["game_state"]
            without = [word for word in state["legal_actions"] if word != "b"]
            state |= {"raise_range": narrow} if narrow else {"legal_actions": without}
            return said

        server._said = strict  # type: ignore[method-assign, assignment]
        with pytest.raises(SettingError, match="it does not allow"):
            hands(client_of(server, "random"), 200)


def test_the_other_player_is_known_by_its_name_where_both_show_their_cards() -> None:
    rng = random.Random(3)
    for number in range(200):
        hand = OpenHand(number, rng)
        hand.reply()
        answer = GtoWizardStandIn._said(hand)
        read = read_gtowizard(answer, number)
        assert read.position == hand.deal.client and len(read.own) == 2
