"""Hold'em's rules: against OpenSpiel and PokerKit, known spots, added raises, names, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game
from sog.games.holdem.bets import Fractions, parse_sizes, perturbed
from sog.games.holdem.cards import CARDS, HANDS, disjoint_pairs, hand_number, live_hands, parse_cards
from sog.games.holdem.game import EXTRAS, Holdem, HoldemSpot, HoldemState
from sog.games.holdem.lines import follow
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.searches.holdem.solver import HoldemSolver
from tests.games.holdem_referees import against_openspiel, against_pokerkit

RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=20000,bets=0.5;1.0;allin)"
TURN = "holdem(board=3s7hTdKs,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)"


def game(text: str) -> Holdem:
    return holdem_from(parse_game(text)[1])


def play(g: Holdem, *actions: int) -> HoldemState:
    s = g.root()
    for a in actions:
        s = g.after(s, a)
    return s


def test_hands_agree_with_openspiel() -> None:
    seen = against_openspiel(500, seed=1)
    assert seen["hands"] == 500
    assert min(seen["all-in"], seen["smallest raises"], seen["unequal stacks"]) > 50


def test_hands_agree_with_pokerkit() -> None:
    seen = against_pokerkit(500, seed=1)
    assert seen["hands"] == 500
    assert min(seen["all-in"], seen["smallest raises"], seen["a stack below its blind"]) > 50


def test_fractions_are_of_the_pot_after_a_call() -> None:
    g = game(RIVER)
    assert g.raises(play(g)) == [(2, 500), (3, 1000), (4, 20000)]
    assert g.raises(play(g, 2)) == [(2, 1500), (3, 2500), (4, 20000)]
    assert g.raises(play(g, 4)) == []
    assert [g.action_name(play(g, 2), a) for a in (0, 1, 2, 4)] == [
        "fold", "call", "raise to 1500 (0.5)", "raise to 20000 (allin)",
    ]  # fmt: skip


def test_raises_of_their_own_after_the_first_bet() -> None:
    g = game(TURN)
    assert g.raises(play(g)) == [(2, 1000), (3, 2000), (4, 20000)]
    assert g.raises(play(g, 2)) == [(2, 4000), (4, 20000)]


def test_sizes_below_the_smallest_raise_and_above_the_stack_are_moved() -> None:
    g = game("holdem(board=2s2h2d7c9c,pot=100,stacks=300,bets=0.1;2.0;9)")
    assert g.raises(g.root()) == [(2, 100), (3, 200), (4, 300)]


def test_payoffs_are_half_the_pot_and_the_matched_chips() -> None:
    g = game("holdem(board=2s2h2d7c9c,pot=1001,stacks=1000;400,bets=allin,range0=AA,range1=KK)")
    called = play(g, 2, 1)
    hands = tuple(hand_number(*parse_cards(c)) for c in ("AsAh", "KsKh"))
    weight = g.weights(called).dense()[hands]
    assert weight == pytest.approx(1 / 36)
    assert g.payoff(called).dense()[hands] / weight == pytest.approx(500.5 + 400)
    assert g.payoff(play(g, 1, 2, 0)).dense()[hands] / weight == pytest.approx(-500.5)
    assert g.u_max == 900.5


def test_weights_after_a_card_sum_to_those_before() -> None:
    g = game(TURN)
    s = play(g, 2, 1)
    assert g.actor(s) == NATURE
    fan, before = g.fan(s), g.weights(s)
    assert len(fan.children) == 48
    after = sum(disjoint_pairs(c.board) * g.weights(c).scale for c in fan.children if isinstance(c, HoldemState))
    assert np.allclose(after, before.dense(), rtol=1e-12)


def test_the_flop_is_drawn_and_not_listed() -> None:
    g = game("holdem(stacks=1000)")
    s = play(g, 1, 1)
    assert g.actor(s) == NATURE and not g.listable(s)
    rng = np.random.default_rng(0)
    i0, i1 = hand_number(0, 1), hand_number(50, 51)
    seen: set[int] = set()
    for _ in range(200):
        child, j0, j1 = g.sample_chance(s, i0, i1, rng)
        assert isinstance(child, HoldemState) and (j0, j1) == (i0, i1)
        seen.update(child.board)
        assert g.listable(child) and len(child.board) == 3
    assert seen == set(range(CARDS)) - {0, 1, 50, 51}


def test_all_in_before_the_river_runs_the_board_out() -> None:
    g = game(TURN)
    s = play(g, 4, 1)
    child = g.fan(s).children[0]
    assert g.actor(s) == NATURE and g.actor(child) == TERMINAL


def test_an_added_raise_moves_no_action() -> None:
    g = game(RIVER)
    plain = play(g, 2)
    s = g.offer(plain, 1777)
    assert g.actions(s)[:-1].tolist() == g.actions(plain).tolist()
    assert g.raises(s)[-1] == (g.first_extra, 1777)
    assert g.after(s, 2) == g.after(plain, 2)
    assert g.after(s, g.first_extra).betting.paid == (500, 1777)
    assert g.offer(plain, 1500) == plain
    for amount in (999, 20_001):
        with pytest.raises(GameError, match="nobody may raise"):
            g.offer(plain, amount)
    for k in range(EXTRAS - 1):
        s = g.offer(s, 1800 + k)
    with pytest.raises(GameError, match="added already"):
        g.offer(s, 1900)


def test_features_are_those_of_the_paper() -> None:
    g = game(TURN[:-1] + ",inputs=paper)")
    x = g.features(play(g, 2))
    assert len(x) == 52 + 2 + 3
    assert np.flatnonzero(x[:52]).tolist() == sorted(parse_cards("3s7hTdKs"))
    assert x[52:].tolist() == pytest.approx([2000 / 21_000, 1000 / 21_000, 0, 1, 0])


def test_conformance() -> None:
    report = check_game(game("holdem(board=2s2h2d7c9c,pot=1000,stacks=900,bets=0.5;allin)"), max_states=12)
    assert report.terminals > 0 and report.decisions > 0


def test_root_ranges_leave_out_the_board() -> None:
    g = game('holdem(board=2s2h2d7c9c,pot=1000,range0="22,AA:0.5",range1="full")')
    r0, r1 = g.root_ranges()
    assert r0.sum() == 3.0 and set(np.unique(r0)) == {0.0, 0.5}
    assert r1.sum() == live_hands(g.spot.board).sum() == HANDS - 245


def test_names_make_the_game_again() -> None:
    texts = [RIVER, TURN, "holdem(bets=random,seed=3,stacks=5000:25000)", "holdem(stacks=7;9,bets=any,blinds=1;2)"]
    texts.append('holdem(board=3s7hTdKs,pot=2000,bets=0.5;1,noise=0.1,seed=4,range0="AA,KQo:0.5")')
    for text in texts:
        again = game(game(text).name)
        assert again.name == game(text).name
        assert again.spot == game(text).spot


def test_drawn_sizes() -> None:
    drawn = [game(f"holdem(bets=random,seed={k},stacks=5000:25000)") for k in range(10)]
    drawn += [drawn[0].drawn(np.random.default_rng(k)) for k in range(10, 20)]
    sizes = [g.sizes for g in drawn]
    assert all(isinstance(x, Fractions) and 0.5 < x.first[0] < 1.0 and not any(x.all_in) for x in sizes)
    assert all(5000 <= g.spot.stacks[0] == g.spot.stacks[1] <= 25_000 for g in drawn)
    assert len({str(x) for x in sizes}) == 20
    fixed = parse_sizes("0.5;1.0;allin", "0.75;allin")
    assert isinstance(fixed, Fractions)
    moved = perturbed(fixed, 0.1, np.random.default_rng(0))
    assert 0 < abs(moved.first[0] - 0.5) <= 0.1 and 0 < abs(moved.later[0] - 0.75) <= 0.1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("holdem(board=2s2h2s7c9c,pot=10)", "2s occurs twice"),
        ("holdem(board=2s2h,pot=10)", "0, 3, 4 or 5 cards"),
        ("holdem(board=2s2x2d,pot=10)", "not a card: '2x'"),
        ("holdem(board=2s2h2d,pot=0)", "the pot is at least 1"),
        ('holdem(board=2s2h2d7c9c,pot=10,range0="2c2d")', "leaves nothing of range0"),
        ('holdem(board=2s2h2d7c9c,pot=10,range0="AsAh",range1="AsAd")', "no hand of range0 leaves"),
        ("holdem(bets=0.5;much)", "no bet is called 'much'"),
        ("holdem(bets=-1)", "no bet is called '-1'"),
        ("holdem(bets=0.5;0.5)", "occurs twice"),
        (f"holdem(bets={';'.join(str(k / 1000) for k in range(1, 8901))})", "at most 100 bet sizes, not 8,900"),
        ("holdem(bets=any,raises=0.5)", "takes no raises"),
        ("holdem(bets=0.5,noise=0.7)", "below the smallest bet"),
        ("holdem(stacks=0)", "at least 1 chip"),
        ("holdem(stacks=2.5)", "whole numbers"),
        ("holdem(blinds=100;50)", "blinds are small;big"),
        ("holdem(stack=100)", "no parameter stack"),
    ],
)
def test_spots_that_cannot_be_played_are_refused(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        game(text)


def test_the_whole_game_starts_with_the_dealer() -> None:
    g = Holdem(HoldemSpot(), parse_sizes("any"))
    assert g.actor(g.root()) == 1
    assert g.actions(g.root())[[0, 1, 2, -1]].tolist() == [0, 1, 200, 20_000]
    assert g.num_actions == 20_001


@pytest.mark.parametrize("more", ["stacks=10,blinds=1;1,bets=0.5;allin", "stacks=1,bets=allin"])
def test_a_bet_of_one_chip_is_no_check(more: str) -> None:
    """A line of play writes a raise as its total, and a call as 1."""
    game = make_game(f"holdem(board=2s2h2d7c9c,pot=2,{more})")
    assert isinstance(game, Holdem)
    check_game(game, max_states=20)
    root, names = game.root(), ["check", "bet 1"]
    check, bet = (game.after(root, int(a)) for a in game.actions(root)[:2])
    assert check != bet and (check.betting.paid, bet.betting.paid) == ((0, 0), (1, 0))
    assert [game.state_name(s).split(", ")[1] for s in (check, bet)] == names
    assert [game.action_name(root, int(a)).split(" (")[0] for a in game.actions(root)[:2]] == names
    assert follow(game, "bet 1") == bet
    solver = HoldemSolver(game)
    solver.solve(0.0, 10)
    for s in (check, bet):
        assert len(solver.policy(s)) == len(game.actions(s))
    with pytest.raises(GameError, match="no number for a bet of 1 chip"):
        make_game("holdem(board=2s2h2d7c9c,pot=2,stacks=10,blinds=1;1,bets=any)")
    with pytest.raises(GameError, match="pot is not negative"):
        make_game("holdem(pot=-5)")


def test_a_perturbed_games_name_makes_the_same_game() -> None:
    family = make_game("holdem(board=2s2h2d7c9c,pot=1000,stacks=5000,bets=0.5;0.55;allin,noise=0.1)")
    for seed in range(20):
        game = family.drawn(np.random.default_rng(seed))
        again = make_game(game.name)
        assert isinstance(game, Holdem) and isinstance(again, Holdem)
        assert game.raises(game.root()) == again.raises(again.root())


def test_a_states_name_has_a_card_from_its_deal_on() -> None:
    """The next action changes nothing in the words before it; cards that come without betting are named by street."""
    game = make_game("holdem(board=3s7hTdKs,pot=1000,stacks=2000,bets=0.5;allin)")
    assert isinstance(game, Holdem)
    dealt = follow(game, "check, check, 2c")
    assert game.state_name(dealt) == "board 3s7hTdKs2c, check, check, 2c"
    assert game.state_name(follow(game, "check, check")) == "board 3s7hTdKs, check, check"
    assert game.state_name(follow(game, "check, check, 2c, bet 500")) == f"{game.state_name(dealt)}, bet 500"
    flop = make_game("holdem(board=3s7hTd,pot=1000,stacks=2000,bets=allin)")
    assert isinstance(flop, Holdem)
    state = follow(flop, "bet 2000, call")
    for cards in ("Ks", "2c"):
        state = flop.deal(state, parse_cards(cards))
    assert flop.state_name(state) == "board 3s7hTdKs2c, bet 2000, call, Ks, 2c"
