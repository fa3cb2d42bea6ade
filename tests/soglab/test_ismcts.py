"""IS-MCTS: sure wins and blocks, returns known from theory, OpenSpiel's visits, seeds, and the three final policies."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.rooted import Rooted
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.abstract import AbstractLeduc
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.liars_dice import LiarsDice
from sog.searches.cfr import exact
from sog.searches.mcts.ismcts import Simulator
from sog.searches.tree.public_tree import PublicTree
from soglab.baselines.ismcts import FINAL_POLICIES, ISMCTS, FinalPolicy, InfosetStatistics, Searcher, composed

GAMES = {
    "kuhn": Kuhn(),
    "leduc": Leduc(),
    "liars dice": LiarsDice(1, 3),
    "goofspiel": Goofspiel(3, "random"),  # infostates move by links, and each has other legal actions
    "abstract leduc": AbstractLeduc(),  # infostates split where chance acts
}


@pytest.fixture(scope="module")
def searchers() -> dict[str, Searcher]:
    return {name: listed(game) for name, game in GAMES.items()}


def listed(game: Game) -> Searcher:
    return Searcher(PublicTree(game).list_all())


def chosen(searcher: Searcher, node: int, settings: ISMCTS, final: FinalPolicy) -> list[int]:
    """The most probable action of each infostate."""
    actions = searcher.public.game.actions(searcher.public.states[node])
    return [int(actions[a]) for a in searcher.search(node, settings).policy(final).argmax(axis=0)]


@pytest.mark.parametrize("final", FINAL_POLICIES)
@pytest.mark.parametrize(
    ("squares", "move"),
    [
        ((0, 3, 1, 4), 2),  # x wins on the top row
        ((0, 4, 1), 2),  # o must stop the top row
        ((4, 0, 3), 5),  # o must stop the middle row
    ],
)
def test_a_sure_win_is_taken_and_a_threat_stopped(squares: tuple[int, ...], move: int, final: FinalPolicy) -> None:
    searcher = listed(Rooted(TicTacToe(), squares))
    assert chosen(searcher, 0, ISMCTS(2_000, c=1.0), final) == [move]


def test_kuhn_after_a_bet(searchers: dict[str, Searcher]) -> None:
    """A jack's fold costs 1 and a king's call earns 2. A queen's call earns 0 on average where both cards are as
    likely, although nobody bets so in an equilibrium."""
    searcher = searchers["kuhn"]
    node = searcher.public.states.index("b")
    found = searcher.search(node, ISMCTS(20_000, c=2.0))
    mean = found.returns / found.visits
    assert mean[0, 0] == -1.0
    assert mean[1, 0] == -2.0
    assert mean[1, 2] == 2.0
    assert abs(mean[1, 1]) < 5 * 2 / np.sqrt(found.visits[1, 1])
    assert found.policy("mval")[:, [0, 2]].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert found.policy("mvis")[1, 1] == 1.0


@pytest.mark.parametrize("history", [[0, 5], [0, 1, 1], [2, 5, 2], [4, 1, 1, 2], [0, 4, 1, 1, 5], [2, 4, 2, 1, 5, 2]])
def test_visits_have_the_mean_of_openspiels(searchers: dict[str, Searcher], history: list[int]) -> None:
    """Leduc, 60 simulations: the mean share of visits over 400 searches, within five standard errors.

    history: OpenSpiel's actions, both cards first.
    """
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    for action in history:
        state.apply_action(action)
    player, count = state.current_player(), 400
    rule = pyspiel.ISMCTSFinalPolicyType.NORMALIZED_VISIT_COUNT
    bot = pyspiel.ISMCTSBot(11, pyspiel.RandomRolloutEvaluator(1, 7), 13.0, 60, -1, rule, False, False)
    theirs = np.array([[p for _, p in sorted(bot.get_policy(state))] for _ in range(count)])

    searcher = searchers["leduc"]
    (node,) = (n for n in searcher.public.decisions() if searcher.public.game.history(
        searcher.public.states[n], history[0], history[1]) == history)  # fmt: skip
    own = history[player]
    ours = np.array([searcher.search(node, ISMCTS(60, 13.0, seed)).policy("mvd")[:, own] for seed in range(count)])
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / count)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 5 * error).all()


@pytest.mark.parametrize("name", GAMES)
def test_every_infostate_is_searched(searchers: dict[str, Searcher], name: str) -> None:
    """Where there is a choice and the infostate can be held; the first simulation only opens it."""
    searcher = searchers[name]
    public = searcher.public
    found = searcher.search_all(ISMCTS(20, c=1.0))
    assert set(found) == set(public.decisions())
    impossible = 0
    for statistics in found.values():
        choices = statistics.legal.sum(axis=0)
        visits = statistics.visits.sum(axis=0)
        assert set(visits[choices <= 1].tolist()) <= {0.0}
        assert set(visits[choices > 1].tolist()) <= {0.0, 19.0}
        assert not statistics.visits[~statistics.legal].any()
        impossible += int((visits[choices > 1] == 0).sum())
    # Leduc's private card is never the board card: 30 boards and lines x 6 a line of the second round.
    assert impossible == {"leduc": 180}.get(name, impossible)
    for final in FINAL_POLICIES:
        policy = composed(found, final)
        for node, uniform in exact.uniform_policy(public).items():
            np.testing.assert_allclose(policy[node].sum(axis=0), uniform.sum(axis=0), atol=1e-12)
            assert not policy[node][uniform == 0].any()


def test_the_seed_decides_and_nothing_else(searchers: dict[str, Searcher]) -> None:
    used, fresh = searchers["leduc"], listed(Leduc())
    node = used.public.states.index(LeducState("cr"))
    used.search(0, ISMCTS(50, 13.0, seed=3))
    first, again = used.search(node, ISMCTS(50, 13.0, seed=3)), fresh.search(node, ISMCTS(50, 13.0, seed=3))
    np.testing.assert_array_equal(first.visits, again.visits)
    np.testing.assert_array_equal(first.returns, again.returns)
    other = used.search(node, ISMCTS(50, 13.0, seed=4))
    assert (other.returns != first.returns).any()


def test_leduc_comes_out_as_exploitable_as_in_the_paper(searchers: dict[str, Searcher]) -> None:
    """PoG, Table 5, C = 13, 100 simulations: 1218, 1292 and 1227 mbb/h, to within a quarter."""
    searcher = searchers["leduc"]
    found = searcher.search_all(ISMCTS(100, 13.0))
    for final, paper in zip(FINAL_POLICIES, (1218, 1292, 1227), strict=True):
        ours = 1000 * exact.measure_policy(searcher.public, composed(found, final)).exploitability
        assert 0.75 * paper < ours < 1.25 * paper


@pytest.mark.parametrize(
    ("final", "policy"),
    [
        ("mvd", [[0.5, 0.25, 0.5], [0.5, 0.0, 0.5], [0.0, 0.75, 0.0]]),
        ("mvis", [[0.5, 0.0, 0.5], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]),
        ("mval", [[0.0, 1.0, 0.5], [1.0, 0.0, 0.5], [0.0, 0.0, 0.0]]),
    ],
)
def test_final_policies_of_counts_made_by_hand(final: FinalPolicy, policy: list[list[float]]) -> None:
    """Three infostates: equal visits; an unvisited action beside losses; never visited, the third action illegal."""
    visits: Float64 = np.array([[4.0, 1.0, 0.0], [4.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    returns: Float64 = np.array([[-4.0, -1.0, 0.0], [2.0, 0.0, 0.0], [0.0, -6.0, 0.0]])
    legal = np.array([[True, True, True], [True, True, True], [True, True, False]])
    assert InfosetStatistics(visits, returns, legal).policy(final).tolist() == policy


@pytest.mark.parametrize(
    ("simulations", "c"), [(0, 1.0), (-5, 1.0), (10, -1.0), (10, float("nan")), (10, float("inf"))]
)
def test_settings_out_of_range(simulations: int, c: float) -> None:
    with pytest.raises(SettingError):
        ISMCTS(simulations, c)


def test_worlds_are_drawn_by_the_trees_ranges() -> None:
    """After a bet in Kuhn, by a player who bets with the king alone: the queen's call costs two chips each time."""
    public = PublicTree(Kuhn()).list_all()
    tree = exact.full_tree(public)
    n = tree.by_public_node()[public.child(0, 1)]
    tree.ranges(n)[0][:] = 0.0, 0.0, 1.0
    visits, returns = Simulator(tree).search(n, 1, 60, 2.0, np.array([1], dtype=np.uint64))
    assert visits.min() > 0 and (returns / visits).tolist() == [-1.0, -2.0]
