"""Leduc by ranks and abstract Leduc: the interface's promises, and what they must share with Leduc poker."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import TERMINAL, Game
from sog.games.checks.public_states import check_game
from sog.games.rooted import Rooted
from sog.games.rules.leduc.abstract import SEEN, AbstractLeduc, real_columns
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.leduc.ranks import LeducRanks
from sog.searches.cfr import exact
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate


@pytest.mark.parametrize(
    ("game", "decisions", "chances"),
    [
        (LeducRanks(2), 6 + 5 * 2 * 6, 5),
        (LeducRanks(3), 6 + 5 * 3 * 6, 5),
        (LeducRanks(7), 6 + 5 * 7 * 6, 5),
        (AbstractLeduc(), 6 + 5 * 6, 5),
    ],
    ids=lambda x: x.name if isinstance(x, Game) else "",
)
def test_they_conform(game: Game, decisions: int, chances: int) -> None:
    report = check_game(game)
    assert report.complete
    assert (report.decisions, report.chances) == (decisions, chances)


def test_three_ranks_are_leduc_poker() -> None:
    cards, ranks = (exact.measure(exact.solve(PublicTree(g).list_all(), CFR_PLUS, 30)) for g in (Leduc(), LeducRanks()))
    assert ranks.value == pytest.approx(cards.value, abs=1e-12)
    assert ranks.best == pytest.approx(cards.best, abs=1e-12)


def test_a_larger_deck_pays_by_the_rules() -> None:
    game = LeducRanks(5)
    s = LeducState("rc", 1, "rc")  # 1 + 2 + 4 chips each; rank 1 pairs the board
    assert game.actor(s) == TERMINAL
    payoff, weights = game.payoff(s).dense(), game.weights(s).dense()
    assert payoff[1, 4] == pytest.approx(7 * weights[1, 4])
    assert payoff[2, 4] == pytest.approx(-7 * weights[2, 4])
    assert payoff[4, 4] == weights[1, 1] == 0
    assert weights[2, 4] == pytest.approx(2 / 10 * 2 / 9 * 2 / 8)
    folds = LeducState("rc", 1, "rf")
    np.testing.assert_allclose(game.payoff(folds).dense(), 3 * game.weights(folds).dense())
    with pytest.raises(GameError, match="ranks >= 2"):
        LeducRanks(1)


def test_the_board_is_drawn_by_the_cards_left() -> None:
    game, rng = LeducRanks(3), np.random.default_rng(1)
    for pair, left in (((0, 0), (0, 2, 2)), ((0, 1), (1, 1, 2)), ((2, 1), (2, 1, 1))):
        boards = []
        for _ in range(2_000):
            s, *after = game.sample_chance(LeducState("cc"), *pair, rng)
            assert isinstance(s, LeducState) and tuple(after) == pair
            boards.append(s.board)
        shares = np.bincount(boards, minlength=3) / len(boards)
        assert shares == pytest.approx(np.array(left) / 4, abs=0.05)  # four cards are left


def test_operators_are_shared_while_a_tree_holds_them_and_gone_after() -> None:
    game = LeducRanks(4)
    kept = game.weights(LeducState("cc", 1)).operator
    assert game.weights(LeducState("cc", 1, "r")).operator is kept
    alive = weakref.ref(kept)
    del kept
    gc.collect()
    assert alive() is None


def test_the_abstraction_hides_what_it_should() -> None:
    (j, q, k) = SEEN
    assert (j[1] == j[2], j[0] == j[1]) == (True, False)
    assert len(set(q)) == 3
    assert (k[0] == k[1], k[1] == k[2]) == (True, False)
    np.testing.assert_array_equal(real_columns(LeducState("cc")), [0, 1, 2])
    np.testing.assert_array_equal(real_columns(LeducState("cc", 2)), [j[2], q[2], k[2]])


def test_an_abstract_policy_is_worth_the_same_in_the_real_game() -> None:
    """The abstraction loses sight, not rules: values agree, and real best responses win at least as much."""
    abstract, real = PublicTree(AbstractLeduc()).list_all(), PublicTree(LeducRanks()).list_all()
    tree = exact.solve(abstract, CFR_PLUS, 20)
    found = {abstract.states[n]: table for n, table in exact.policy_of(tree).items()}
    policy = {}
    for n in real.decisions():
        s = real.states[n]
        assert isinstance(s, LeducState)
        policy[n] = found[LeducState(s.first, min(s.board, 0), s.second)][:, real_columns(s)]
    there, here = exact.measure_policy(real, policy), exact.measure(tree)
    assert there.value == pytest.approx(here.value, abs=1e-12)
    assert there.best[0] > here.best[0] + 0.01
    assert there.best[1] > here.best[1] + 0.01


def test_a_rooted_game_has_the_whole_games_values() -> None:
    whole = PublicTree(Leduc()).list_all()
    tree = exact.full_tree(whole)
    tree.normalise(Entry.REGRET, Entry.AVERAGE_POLICY)
    tree.evaluate()
    n = whole.states.index(LeducState("rc", 3))
    reach = tree.infostates[Infostate.REACH]
    ranges = reach[tree.span(n, 0)].copy(), reach[tree.span(n, 1)].copy()
    part = exact.full_tree(PublicTree(Rooted(whole.game, whole.states[n])).list_all())
    part.set_root_ranges(ranges)
    part.normalise(Entry.REGRET, Entry.AVERAGE_POLICY)
    for p, values in enumerate(part.evaluate()):
        np.testing.assert_allclose(values, tree.infostates[Infostate.CFV, tree.span(n, p)])
