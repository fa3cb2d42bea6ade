"""Local Best Response: what its actions are worth, what it wins, and that best responses win no less."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sog.agents.poker import KnownAgent, SpotAgent
from sog.agents.uniform import UniformAgent
from sog.arrays import Float64
from sog.errors import GameError, SettingError
from sog.games.base import NATURE, TERMINAL, State
from sog.games.catalog import make_game
from sog.games.holdem.cards import hand_number, parse_cards
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.poker import NONE, Stakes, poker_of
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.measure.lbr import LbrSettings, local_best_response
from sog.measure.lbr_bets import read_bets
from sog.measure.lbr_hand import LbrHand, bet_value, call_value
from sog.opponents.holdem.simple import AlwaysCall, AlwaysFold
from sog.play.agent import Agent, SearchAgent
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.gtcfr.settings import Budget
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.leaves.evaluator import SearchGenerator, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from tests.measure.lbr_bounds import leduc_bounds, river_bounds

RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=5000,bets=0.5;allin)"
LEDUC = Leduc()


class FoldsSome(Agent):
    """Folds each hand with a chance of its own where it may, and else calls."""

    def policy(self, node: int) -> Float64:
        poker, s = poker_of(self.game), self.state(node)
        width = self.game.num_infostates(s)[self.player]
        policy = np.zeros((len(self.game.actions(s)), width))
        chance = np.random.default_rng(7).random(width) if poker.fold(s) != NONE else np.zeros(width)
        policy[poker.call(s)] = 1.0 - chance
        policy[poker.fold(s)] += chance
        return policy


# --- what actions are worth ---


def worth(s: State, hand: int, player: int, agent: Callable[[State], Float64], action: int) -> float:
    """LBR's mean utility in Leduc against a uniform range after an action: the agent answers, then all check or call.

    From payoffs alone: pots do not come up. agent(s): the chance of a fold with each hand, at the state after a bet.
    """
    game, poker = LEDUC, poker_of(LEDUC)
    weights = game.weights(s).dense()[hand] if player == 0 else game.weights(s).dense()[:, hand]
    after, total = game.child(s, action), 0.0

    def called(s: State, other: int) -> float:
        """The mean utility after checks and calls, times the pair's weight."""
        if game.actor(s) == TERMINAL:
            pair = (hand, other) if player == 0 else (other, hand)
            return game.payoff(s).entry(*pair) * (1 if player == 0 else -1)
        if game.actor(s) == NATURE:
            return sum(called(child, other) for child in game.fan(s).children)
        return called(game.child(s, poker.call(s)), other)

    for other in np.flatnonzero(weights):
        folds = 0.0
        if game.actor(after) == 1 - player and poker.fold(after) != NONE:
            folds = float(agent(after)[other])
            lost = game.child(after, poker.fold(after))
            total += folds * called(lost, int(other))
        total += (1 - folds) * called(after, int(other))
    return total / float(weights.sum())


@pytest.mark.parametrize("s", [LeducState("r"), LeducState("cr"), LeducState("rc", 3, "r"), LeducState("rrc", 0, "cr")])
def test_values_are_the_utilities_that_payoffs_give(s: LeducState) -> None:
    """Over a fold, by the game's own payoffs: what LBR itself puts in is none of its winnings.

    A pot that counted LBR's call, asked, as won would make a bet worth wp * asked more.
    """
    poker, player = poker_of(LEDUC), LEDUC.actor(s)
    stakes, folding = poker.stakes(s), np.linspace(0.0, 0.9, 6)
    wrong = 0.0
    for hand in (1, 2, 5):
        if hand == s.board:
            continue
        weights = LEDUC.weights(s).dense()[hand]
        belief = weights / weights.sum()
        equities = poker.equities(s, player, hand)
        fold = worth(s, hand, player, lambda s: folding, poker.fold(s))
        call = worth(s, hand, player, lambda s: folding, poker.call(s))
        assert call_value(stakes, float(belief @ equities)) == pytest.approx(call - fold)
        for column in poker.bets(s):
            folds, staying = float(belief @ folding), belief * (1 - folding)
            wins = float(staying @ equities / staying.sum())
            added = poker.added(s, column)
            bet = worth(s, hand, player, lambda s: folding, column)
            assert bet_value(stakes, added, folds, wins) == pytest.approx(bet - fold)
            counted = Stakes(stakes.pot + stakes.asked, stakes.asked)  # with its own call in the pot
            wrong = max(wrong, abs(bet_value(counted, added, folds, wins) - (bet - fold)))
    assert not len(poker.bets(s)) or wrong > 0.5


def test_a_pot_with_its_own_call_in_it_would_change_decisions() -> None:
    stakes, added, wins = Stakes(150.0, 100.0), 100.0, 0.45
    assert bet_value(stakes, added, 0.0, wins) == pytest.approx(0.45 * 250 - 0.55 * 200)
    assert call_value(stakes, wins) == pytest.approx(0.45 * 150 - 0.55 * 100)
    assert call_value(stakes, wins) > bet_value(stakes, added, 0.0, wins)
    assert bet_value(Stakes(250.0, 100.0), added, 0.0, wins) > call_value(stakes, wins)


# --- one hand ---


def test_the_range_is_bayes_rule_and_card_removal() -> None:
    public = PublicTree(LEDUC).list_all()
    hand = LbrHand(FoldsSome(public, 1), poker_of(LEDUC), (4, 2), (0, 0))
    hand.move(1)  # LBR raises
    policy = hand.agent.policy(hand.node)
    hand.answer()
    if public.actor(hand.node) == TERMINAL:
        return
    expected = policy[1] * (np.arange(6) != 4)
    np.testing.assert_allclose(hand.belief(), expected / expected.sum())
    hand.deal()
    board = hand.state.board  # type: ignore[attr-defined]
    assert hand.belief()[board] == 0 and hand.belief().sum() == pytest.approx(1.0)


def test_a_duplicate_has_the_same_cards_and_chance_in_both_seats() -> None:
    game = make_game("holdem(board=3s7hTd,pot=1000,stacks=2000,bets=1.0)")
    seen, pair = [], (hand_number(*parse_cards("AsKs")), hand_number(*parse_cards("2c2d")))
    for player in (0, 1):
        public = PublicTree(game)
        hand = LbrHand(AlwaysCall(public, player), poker_of(game), pair, (3, 4))
        hand.play(read_bets("fold-call", game), 0, raw=True)
        state = hand.state
        assert isinstance(state, HoldemState) and len(state.board) == 5
        seen.append((state.board, hand.pair))
    assert seen[0] == seen[1]


def test_bets_outside_the_tree_are_offered_and_answered() -> None:
    game = make_game(RIVER)
    assert isinstance(game, Holdem)
    asked: list[str] = []

    class Listens(AlwaysCall):
        def policy(self, node: int) -> Float64:
            asked.append(self.game.state_name(self.state(node)).split(", ")[-1])
            return super().policy(node)

    public = PublicTree(game)
    aces = hand_number(*parse_cards("AcAd"))
    hand = LbrHand(Listens(public, 1), poker_of(game), (aces, 7), (0, 0))
    assert hand.play(read_bets("0.2;0.7;1.3", game), 0, raw=False) > 0
    assert asked == ["bet 200", "bet 700", "bet 1300", "bet 1300"]
    assert game.state_name(hand.state).endswith("bet 1300, call")


def test_a_bet_of_one_hand_is_not_offered_in_the_next() -> None:
    """All-in alone, which this tree lacks: each hand has a tree of its own, so the agent never finds it at the root."""
    small = "holdem(board=AsKdQh7c2d,stacks=1000,pot=100,bets=0.5)"
    first_offers: list[int] = []

    class Listens(AlwaysCall):
        def policy(self, node: int) -> Float64:
            if node == 0:
                first_offers.append(len(self.game.actions(self.state(0))))
            return super().policy(node)

    local_best_response(make_game(small), lambda public, seat: Listens(public, seat), 6, LbrSettings("allin"))
    assert first_offers == [2, 2, 2]  # a check, or half of the pot


def test_a_search_answers_bets_outside_its_tree() -> None:
    """Each of two bets is searched once, at a decision that was open already; the one that is made not once more."""
    game = make_game("holdem(board=2s2h2d7c9c,pot=1000,stacks=20000,bets=0.5)")
    assert isinstance(game, Holdem)
    searched: list[int] = []

    class Searches(SearchAgent):
        def steps(self, node: int) -> SearchGenerator:
            before = self.solved
            yield from super().steps(node)
            if self.solved is not before:
                searched.append(node)

    public = PublicTree(game)
    agent = KnownAgent(Searches(public, 0, ResolveSettings(Budget(2, 1.0)), zero_evaluator))
    pair = hand_number(*parse_cards("KcQd")), hand_number(*parse_cards("2cAd"))
    hand = LbrHand(agent, poker_of(game), pair, (0, 0))
    won = hand.play(read_bets("0.7;1.3", game), 0, raw=False)
    assert np.isfinite(won) and len(searched) == len(set(searched)) >= 3
    totals = {s.line[-1] for s in public.states if isinstance(s, HoldemState) and len(s.line) == 2}
    assert {700, 1300} <= totals or {1900, 3100} <= totals  # after a check, or after a bet of 500


def test_deals_chance_and_draws_are_independent() -> None:
    """A seed with zeros at its end is the same seed to NumPy: the deal's must not be chance's."""
    hand = LbrHand(AlwaysCall(PublicTree(LEDUC), 0), poker_of(LEDUC), (0, 1), (5, 6))
    firsts = [rng.random() for rng in (np.random.default_rng((5, 6)), hand.chance, hand.draws)]
    assert len(set(firsts)) == 3


def test_fifty_six_bets() -> None:
    game = make_game("holdem(board=2s2h2d7c9c,pot=1000,stacks=20000,blinds=50;100,bets=1.0)")
    assert isinstance(game, Holdem)
    menu, root = read_bets("56", game), game.root()
    assert len(menu.fractions) == 55 and menu.fractions[54] == pytest.approx(0.05 * 1.15**54)
    amounts = menu.amounts(game, root)
    # 0.05 pot is below the smallest bet; from 20 pots on all are all-in.
    assert amounts[0] == 100 and amounts[-1] == 20_000 and len(set(amounts)) == len(amounts) < 56
    assert menu.amounts(game, game.after(root, 2))[0] == 2000


def test_bets_that_there_are_none_of() -> None:
    for text in ("56", "0.5", "fold-call-pot-allin"):
        with pytest.raises(SettingError, match="fixed size"):
            read_bets(text, LEDUC)
    with pytest.raises(GameError, match="no bet is called"):
        read_bets("most", make_game(RIVER))
    with pytest.raises(SettingError, match="bets are"):
        read_bets("any", make_game(RIVER))


# --- whole measurements ---


@pytest.mark.parametrize(("bets", "mbb"), [("fold-call", 250.0), ("fold-call-pot-allin", 750.0)])
def test_always_fold_loses_the_blinds(bets: str, mbb: float) -> None:
    """50 as small blind; 100 as big blind if LBR may raise, and about nothing if it can only call."""
    game = make_game("holdem(stacks=20000,blinds=50;100)")
    hands = 160 if bets == "fold-call" else 40
    figure = local_best_response(game, lambda public, p: AlwaysFold(public, p), hands, LbrSettings(bets))
    assert figure.hands == hands
    assert abs(figure.mean * game.unit.per_utility - mbb) <= 3 * figure.error * game.unit.per_utility
    if bets != "fold-call":
        assert figure.mean == 75.0 and figure.error == 0.0


def test_it_must_call_on_the_first_streets() -> None:
    game = make_game("holdem(stacks=20000)")
    always = LbrSettings("fold-call-pot-allin", call_streets=4)
    figure = local_best_response(game, lambda public, p: AlwaysFold(public, p), 200, always)
    assert abs(figure.mean - 25.0) <= 3 * figure.error


def test_scores_by_expectation_and_as_dealt_agree() -> None:
    game = make_game(RIVER)

    def measured(raw: bool) -> tuple[float, float]:
        settings = LbrSettings("offered", raw=raw)
        figure = local_best_response(game, lambda public, p: UniformAgent(public, p), 1000, settings)
        return figure.mean, figure.error

    (mean, error), (dealt, dealt_error) = measured(False), measured(True)
    assert error < 0.9 * dealt_error
    assert abs(mean - dealt) <= 3 * dealt_error


def test_leduc_is_below_the_exact_best_response() -> None:
    for bound in leduc_bounds(300, seed=1):
        assert bound.kept, bound


def test_value_bets_win_most_from_who_always_calls() -> None:
    public = PublicTree(LEDUC).list_all()
    policy = {n: AlwaysCall(public, public.actor(n)).policy(n) for n in public.decisions()}
    best = exact.measure_policy(public, policy).exploitability
    figure = local_best_response(LEDUC, lambda public, p: AlwaysCall(public, p), 4000, LbrSettings("offered"))
    assert 0.9 * best < figure.mean <= best + 3 * figure.error


def test_rivers_are_below_the_exact_best_response() -> None:
    for bound in river_bounds(5, 200, seed=3):
        assert bound.kept, bound


def test_it_wins_no_more_from_a_solution_than_that_is_exploitable() -> None:
    game = make_game(RIVER)
    assert isinstance(game, Holdem)
    solver = HoldemSolver(game)
    progress = solver.solve(0.002, 2000)
    figure = local_best_response(game, lambda public, p: SpotAgent(public, p, solver), 300, LbrSettings("offered"))
    assert figure.mean <= progress.exploitability + 3 * figure.error


def test_refusals() -> None:
    with pytest.raises(GameError, match="no poker game"):
        local_best_response(make_game("rps"), lambda public, p: UniformAgent(public, p), 10)
    with pytest.raises(SettingError, match="at least 1 hand"):
        local_best_response(LEDUC, lambda public, p: UniformAgent(public, p), 0)
