"""The ACPC client: at the dealer, against bets of any amount, in the chips of other blinds, joined in mid-hand."""

from __future__ import annotations

import socket
import threading

import numpy as np
import pytest

from sog.agents.entrants import open_entrant
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.games.holdem.game import HoldemState
from sog.play.agent import Agent, SearchAgent
from sog.play.hand import Entrant
from sog.play.resolver import ResolveSettings
from sog.protocols.acpc_client import AcpcClient, ClientHand, ClientTable, connected, table_of
from sog.protocols.acpc_dealer import Clocks, Dealer, DealerFiles, DealtMatch
from sog.protocols.acpc_states import REVERSE_BLINDS, AcpcGame, AcpcHand, Dealt, MatchState
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from tests.protocols.acpc_table import any_action, hand_against

OWN = "holdem(bets=0.5;1;allin,inputs=paper)"
SMALL = AcpcGame((400, 400), (2, 1))


def simple(name: str, game: AcpcGame = REVERSE_BLINDS, own: str = OWN) -> tuple[Entrant, ClientTable]:
    table = table_of(make_game(own), game)
    return open_entrant(name, name, table.game, None, {}), table


def searching(game: AcpcGame, own: str = OWN) -> tuple[Entrant, ClientTable]:
    settings = ResolveSettings(Budget(2, 1.0), every_decision=True)

    def seats(public: PublicTree):  # type: ignore[no-untyped-def]
        return lambda player, seed: SearchAgent(public, player, settings, zero_evaluator, seed)

    return Entrant("search", "search", seats, True), table_of(make_game(own), game)


# --- the table ---


@pytest.mark.parametrize(
    ("own", "dealt", "chips", "name"),
    [
        ("holdem", REVERSE_BLINDS, 1, "holdem(stacks=20000,bets=0.5;1;allin)"),
        ("holdem", SMALL, 50, "holdem(stacks=20000,bets=0.5;1;allin)"),
        ("holdem", AcpcGame((500, 700), (3, 1)), 1, "holdem(stacks=500;700,blinds=1;3,bets=0.5;1;allin)"),
        ("holdem", AcpcGame((9000, 7000), (500, 1000), (0, 1, 1, 1)), 1, "holdem(stacks=7000;9000,blinds=500;1000,"),
        ("holdem(bets=2,stacks=90)", SMALL, 50, "holdem(stacks=20000,bets=2)"),
    ],
)
def test_the_agent_plays_the_dealers_stacks_in_its_own_chips(own: str, dealt: AcpcGame, chips: int, name: str) -> None:
    table = table_of(make_game(own), dealt)
    assert table.chips == chips and table.game.name.startswith(name)
    assert [table.player(position) for position in (0, 1)] == [0, 1][:: 1 if dealt.blinds[0] > dealt.blinds[1] else -1]


@pytest.mark.parametrize(
    ("own", "dealt", "why"),
    [
        ("kuhn_poker", REVERSE_BLINDS, "deals whole hands of hold'em, not kuhn_poker"),
        ("holdem(board=2s2h2d7c9c)", REVERSE_BLINDS, "deals whole hands"),
        ("holdem(range0=AA)", REVERSE_BLINDS, "deals whole hands"),
        ("holdem", AcpcGame((99, 99), (2, 1), (1, 0, 0, 0), (2, 2, 4, 4)), "do not play a limit game"),
        ("holdem", AcpcGame((99, 99), (2, 1), (0, 0, 0, 0)), "the small blind acts first"),
        ("holdem", AcpcGame((2**31 - 1,) * 2), "the game file names stacks"),
    ],
)
def test_other_tables_are_refused(own: str, dealt: AcpcGame, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        table_of(make_game(own), dealt)


# --- any amount ---


class Noted(Agent):
    """Plays each legal action alike and notes the states that it saw."""

    def __init__(self, public: PublicTree, player: int, seed: int) -> None:
        super().__init__(public, player, seed)
        self.lines: list[tuple[int, ...]] = []

    def policy(self, node: int):  # type: ignore[no-untyped-def]
        state = self.state(node)
        assert isinstance(state, HoldemState)
        self.lines.append(state.line)
        legal = self.legal(node)
        return legal / legal.sum(axis=0)


NOTED = Entrant("noted", "noted", lambda public: lambda player, seed: Noted(public, player, seed), True)


def tokens(betting: str, chips: int) -> tuple[int, ...]:
    begun = AcpcHand.begun(REVERSE_BLINDS if chips == 1 else SMALL)
    return tuple({"f": 0, "c": 1}[a] if a in "fc" else chips * int(a[1:]) for a in begun.following(betting))


@pytest.mark.parametrize(("game", "chips", "hands"), [(REVERSE_BLINDS, 1, 100), (SMALL, 50, 100)])
def test_the_agent_sees_the_exact_bets(game: AcpcGame, chips: int, hands: int) -> None:
    table, odd = table_of(make_game(OWN), game), 0
    for number in range(hands):
        hand = hand_against(lambda state: ClientHand(NOTED, table, state, 3), table, number, seed=8)
        assert isinstance(hand.agent, Noted)
        whole = tokens(hand.dealt.text, chips)
        for line in hand.agent.lines:
            assert line == whole[: len(line)]
            odd += any(token > 1 and token % (50 * chips) for token in line)
        extras = [len(state.extras) for state in hand.public.states if isinstance(state, HoldemState)]
        assert max(extras) <= 1  # however many bets there are in a hand, a decision has one beside its own
    assert odd > 50


def test_a_thousand_hands_against_bets_of_any_amount() -> None:
    """No bet is refused and no policy has a number that is none; `hand_against` checks that each action is legal."""
    raises = 0
    for number in range(1000):
        game = (REVERSE_BLINDS, SMALL, AcpcGame((500, 90), (5, 2)))[number % 3]
        entrant, table = simple("random", game)
        hand = hand_against(lambda state, e=entrant, t=table: ClientHand(e, t, state, 3), table, number, seed=8)
        drawn = hand.agent.drawn_from
        assert drawn is None or np.isfinite(drawn).all()
        raises += hand.dealt.text.count("r")
    assert raises > 1500


@pytest.mark.parametrize("game", [REVERSE_BLINDS, AcpcGame((37, 37), (2, 1))])
def test_searches_have_finite_ranges_whatever_is_bet(game: AcpcGame) -> None:
    entrant, table = searching(game, own="holdem(bets=0.75,inputs=paper)")
    searched = 0
    for number in range(4):
        hand = hand_against(lambda state: ClientHand(entrant, table, state, 3), table, number, seed=11)
        agent = hand.agent
        assert isinstance(agent, SearchAgent)
        if agent.solved is not None:
            for ranges in (agent.solved.tree.ranges(agent.solved.start), agent.solved.tree.range_sums(0)):
                assert all(np.isfinite(one).all() and (one >= 0).all() for one in ranges)
            searched += 1
    assert searched


def test_a_raise_of_the_agents_is_brought_to_whole_chips_of_the_dealer() -> None:
    """In the tree it is then the raise that the dealer took."""
    entrant, table = simple("random", SMALL, own="holdem(bets=0.77,inputs=paper)")
    odd = 0
    for number in range(60):
        hand = hand_against(lambda state: ClientHand(entrant, table, state, 3), table, number, seed=8)
        state = hand.public.states[hand.node]
        assert isinstance(state, HoldemState) and state.line == tokens(hand.dealt.text, 50)
        odd += any(
            s.extras for s in hand.public.states if isinstance(s, HoldemState) and s.betting.actor == hand.player
        )
    assert odd > 10


# --- states ---


def state_of(betting: str, position: int = 1, seed: int = 4) -> MatchState:
    hand, dealt = AcpcHand.begun(REVERSE_BLINDS).played(betting), Dealt.of(seed, 0)
    return MatchState(position, 0, betting, dealt.seen(hand.betting.street, None if hand.shown_down else position))


def test_a_hand_may_be_joined_in_its_middle() -> None:
    """As after a dealer that was resumed: the searches of its own earlier decisions come first."""
    entrant, table = searching(REVERSE_BLINDS, own="holdem(bets=0.75,inputs=paper)")
    client = AcpcClient(entrant, table, 0)
    said = client.answer(state_of("cr300c/c").line())
    assert said is not None and said[0] in "cr"
    hand = client.hand
    assert hand is not None and isinstance(hand.agent, SearchAgent) and hand.agent.solved is not None
    assert hand.agent.solved.node == hand.asked
    assert client.answer(state_of("cr300c/cc/").line()) is None
    assert client.hand is hand


def test_what_is_won_is_counted_once_a_hand() -> None:
    client = AcpcClient(*simple("always-call"), 0)
    for betting in ("", "c", "cr20000", "cr20000c///", "cr20000c///"):
        client.answer(state_of(betting).line())
    assert list(client.won) == [0] and abs(client.won[0]) in (0, 20_000)


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "MATCHSTATE:2:0::|AsKs",
        "MATCHSTATE:0:0::|AsKs",
        "MATCHSTATE:1:0:x:|AsKs",
        "MATCHSTATE:1:0:cc/:|AsKs",
        "MATCHSTATE:1:0:cc/:|AsKs/AsKd2c",
        "MATCHSTATE:1:0:cc/:|AsKs/2c",
        "MATCHSTATE:1:0:r20000c///:|AsKs/2c3c4c/5c/6c",
        "MATCHSTATE:1:0:r150:|AsKs",
    ],
)
def test_a_dealer_that_says_what_cannot_be_is_named(line: str) -> None:
    with pytest.raises(SettingError, match="the dealer says what does not fit"):
        AcpcClient(*simple("always-call"), 0).answer(line)


def test_nobody_answers_where_no_dealer_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(SettingError, match=f"no dealer answers at 127.0.0.1, port {port}"):
        connected("127.0.0.1", port, 0.0)


# --- both ends ---


def test_a_match_at_our_dealer() -> None:
    """What the clients counted is what the dealer did; the same seed is the same match."""
    totals = []
    for _ in range(2):
        match = DealtMatch("match", REVERSE_BLINDS, "holdem.game", 50, 9, ("A", "B"))
        warned: list[str] = []
        dealer = Dealer(match, Clocks(start=60_000), DealerFiles(), warned.append)
        clients = [AcpcClient(*simple(name), 2) for name in ("random", "always-call")]

        def serve(client: AcpcClient, port: int) -> None:
            with connected("127.0.0.1", port, 10.0) as link:
                for _ in client.serve(link):
                    pass

        threads = [
            threading.Thread(target=serve, args=pair, daemon=True) for pair in zip(clients, dealer.ports, strict=True)
        ]
        for thread in threads:
            thread.start()
        dealer.play()
        for thread in threads:
            thread.join(60)
        assert not warned and [len(client.won) for client in clients] == [50, 50]
        assert [sum(client.won.values()) for client in clients] == dealer.totals
        totals.append(dealer.totals)
    assert totals[0] == totals[1] and totals[0][0] != 0


def test_a_dealer_that_hangs_up_in_mid_hand_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
    client = AcpcClient(*simple("always-call"), 0)
    theirs.sendall(f"# welcome\r\n{state_of('').line()}\r\n".encode())
    theirs.shutdown(socket.SHUT_WR)
    with theirs, ours, pytest.raises(SettingError, match="in the middle of hand 0"):
        list(client.serve(ours))


def test_any_action_is_legal() -> None:
    """Of the tests' own opponent."""
    rng = np.random.default_rng(0)
    for text in ("", "c", "cr300", "cr300c/", "r19999", "r20000"):
        hand = AcpcHand.begun(REVERSE_BLINDS).played(text)
        for _ in range(50):
            action = any_action(hand, rng)
            assert hand.admitted(action) == (action, "")
