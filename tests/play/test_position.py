"""Searching a position itself: what the last search's tree brings along, and what a finished search answers."""

from __future__ import annotations

import numpy as np
import pytest

from sog.algorithms.student.player import SogPlayer
from sog.errors import TooLarge
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.play.position import PositionSearch
from sog.play.resolver import derive_generator
from sog.searches.gtcfr.search import SearchLog
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree

BUDGET, SETTINGS = Budget(30, 2.0), SearchSettings()


def searched(
    public: PublicTree, node: int, last: PositionSearch | None = None, log: SearchLog | None = None, seed: int = 0
) -> PositionSearch:
    tree = None if last is None else last.tree
    rng = derive_generator(seed, public.actor(node), node)
    searching = PositionSearch(public, node, tree, BUDGET, SETTINGS, rng, log)
    run(searching, zero_evaluator)
    return searching


def test_ranges_are_ones_and_the_policy_a_distribution() -> None:
    solved = searched(PublicTree(TicTacToe()), 0).solved()
    assert solved.start == 0 and solved.player == 0
    np.testing.assert_allclose(solved.policy().sum(axis=0), 1.0)
    for p, ranges in enumerate(solved.tree.ranges(0)):
        np.testing.assert_array_equal(ranges, [1.0], err_msg=f"player {p}")


def test_the_tree_is_kept_from_move_to_move() -> None:
    public = PublicTree(make_game("connect_four"))
    first = searched(public, 0)
    below = first.tree.children(0)[3]
    node = first.tree.public_node(below)
    on, anew = searched(public, node, first), searched(public, node)
    assert on.tree.public_node(0) == anew.tree.public_node(0) == node
    assert on.tree.iterations == first.tree.iterations + BUDGET.rounds * BUDGET.updates
    assert on.tree.size > anew.tree.size
    elsewhere = searched(public, 0, on)  # not below: from scratch
    assert elsewhere.tree.size == first.tree.size


def test_a_tree_that_an_error_left_is_not_continued() -> None:
    """Positions that the rules could not list have nodes without a state."""
    public, rng = PublicTree(make_game("connect_four"), limit=60), np.ones(1, dtype=np.uint64)
    broken = PositionSearch(public, 0, None, Budget(200, 10.0), SETTINGS, rng)
    with pytest.raises(TooLarge):
        run(broken, zero_evaluator)
    assert (broken.tree.nodes.public[: broken.tree.size] < 0).any()
    assert PositionSearch(public, 0, broken.tree, BUDGET, SETTINGS, rng).tree.size == 1


def test_a_player_and_self_play_find_the_same() -> None:
    """The engine's player and self-play search positions by the same piece."""
    player = SogPlayer("SoG", zero_evaluator, BUDGET, SETTINGS, seed=5)
    player.new_game(TicTacToe())
    search = player.search([4])
    run(search, zero_evaluator)
    public = PublicTree(TicTacToe())
    public.list_fan(0)
    solved = searched(public, public.child(0, 4), seed=5).solved()
    policy = dict(zip(solved.tree.actions(0).tolist(), solved.policy()[:, 0].tolist(), strict=True))
    assert {c.action: pytest.approx(c.share) for c in search.thought().candidates} == policy


def test_queries_come_from_a_kept_tree_too() -> None:
    """The iterations to pick from are counted from this search's first, not from the tree's."""
    public = PublicTree(make_game("connect_four"))
    first = searched(public, 0)
    log = SearchLog(frozenset({3}))
    searched(public, first.tree.public_node(first.tree.children(0)[3]), first, log)
    assert len(log.picked) == 1
