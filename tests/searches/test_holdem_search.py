"""Growing-tree CFR on hold'em: river spots as the solver and arithmetic have them; the whole game up to the flop."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import NATURE
from sog.games.holdem.game import Holdem
from sog.games.holdem.ranges import parse_range
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Kind

RANGES = 'range0="AA,KQ:0.5,76s,QhJh",range1="JJ,AQo,T9s:0.3,KsTs,44"'
RIVER = f"holdem(board=2s2h7d9cKs,pot=1000,stacks=1000,bets=1.0;allin,{RANGES})"
POLARISED = 'holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=allin,range0="AA,KQo",range1="JJ")'
WHOLE = "holdem(bets=0.5;1.0;allin)"


def game(text: str) -> Holdem:
    return holdem_from(parse_game(text)[1])


@cache
def searched(text: str, simulations: int, per_update: float) -> Lookahead:
    """The tree of a search with zero leaves from the root, average policies up to date."""
    public = PublicTree(game(text))
    tree = Lookahead(public, 0, public.game.root_ranges())
    seed = np.array([3], dtype=np.uint64)
    run(search(tree, 0, Budget(simulations, per_update), SearchSettings(), seed), zero_evaluator)
    tree.update_average_policy()
    return tree


def test_a_river_search_agrees_with_the_solver() -> None:
    """Grown to the whole tree, both sides reach the same value, and the search's policies are as hard to exploit."""
    tree, solver = searched(RIVER, 40, 0.05), HoldemSolver(game(RIVER))
    assert not (tree.nodes.kind[: tree.size] == Kind.LEAF).any()
    solver.iterate(800)
    upper, lower = solver.best_responses()[0], -solver.best_responses()[1]
    full = exact.full_tree(PublicTree(game(RIVER)).list_all())
    full.normalise(Entry.REGRET, Entry.AVERAGE_POLICY)
    assert exact.measure(full).exploitability > 100  # uniform play, so that the last lines say something
    exact.set_policy(full, exact.policy_of(tree))
    ours = exact.measure(full)
    assert upper - lower < 2.0
    assert lower - 1.0 < ours.value < upper + 1.0
    assert ours.exploitability < 1.0  # a thousandth of the pot


def test_bluffs_by_arithmetic() -> None:
    """All-in for the pot: one bluff to two bets for value, and the bluff-catcher calls half the time."""
    tree = searched(POLARISED, 20, 0.02)
    hands = parse_range("AA") + parse_range("KQo")
    aces, air, jacks = parse_range("AA") > 0, parse_range("KQo") > 0, parse_range("JJ") > 0
    assert hands.sum() == aces.sum() + air.sum()
    bet = tree.table(0, Entry.AVERAGE_POLICY)[1]
    after = int(tree.child.node[tree.nodes.child0[0] + 1])
    call = tree.table(after, Entry.AVERAGE_POLICY)[1]
    assert bet[aces].min() > 0.99
    assert bet[air].sum() / bet[aces].sum() == pytest.approx(0.5, abs=0.01)
    assert call[jacks].mean() == pytest.approx(0.5, abs=0.01)


def test_a_search_of_the_whole_game_stops_at_the_flop() -> None:
    tree = searched(WHOLE, 10, 1.0)
    nodes = tree.nodes[: tree.size]
    assert np.count_nonzero(nodes.kind == Kind.INTERIOR) == 10  # the root, and one for each growing round
    chance = nodes[nodes.actor == NATURE]
    assert len(chance) > 0
    assert (chance.kind == Kind.LEAF).all()
    assert tree.public.widest == 1326
    policy = tree.table(0, Entry.AVERAGE_POLICY)
    np.testing.assert_allclose(policy.sum(axis=0), 1.0)
    with pytest.raises(GameError, match="too large to list"):
        tree.expand(int(np.flatnonzero(nodes.actor == NATURE)[0]))
