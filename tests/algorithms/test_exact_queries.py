"""Queries of hold'em that are solved exactly, searches that leave chance to the network, and hands that end there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.exact_queries import ExactSolving
from sog.algorithms.student.queries import Query, QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings, SogGame
from sog.errors import SettingError
from sog.games.base import NATURE
from sog.games.catalog import make_game
from sog.games.holdem.game import Holdem
from sog.nets.shape import NetworkShape, shape_for
from sog.play.referee import Referee
from sog.play.resolver import ResolveSettings, Resolving
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.holdem.exact_values import SpotBelief, exact_values, is_exact, is_settled
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Kind

TURN = 'holdem(board=3s7hTdKs,pot=2000,stacks=1000,bets=allin,range0="AA,QJs,76s",range1="KQ,T9s:0.5")'
FAMILY = "holdem(board=turn,pot=2000,stacks=500:1500,bets=1.0;allin)"


def listed(name: str) -> PublicTree:
    public = PublicTree(make_game(name))
    for s in range(40):
        if s < public.size and public.list_fan(s):
            for edge in range(public.num_edges(s)):
                public.child(s, edge)
    return public


def opened_chance(name: str, chance_leaves: bool) -> int:
    """Chance nodes below the root that a search opens."""
    public = PublicTree(make_game(name))
    settings = ResolveSettings(Budget(30, 1.0), SearchSettings(chance_leaves=chance_leaves))
    root = next(s for s in range(9) if public.actor(s) < NATURE)
    resolving = Resolving(public, public.actor(root), root, None, settings, 0)
    run(resolving.steps(), zero_evaluator)
    nodes = resolving.tree.nodes[: resolving.tree.size]
    return int(((nodes.actor == NATURE) & (nodes.kind == Kind.INTERIOR)).sum())


def test_searches_leave_chance_to_the_network() -> None:
    for name in (TURN, "leduc_poker"):
        assert opened_chance(name, True) == 0 < opened_chance(name, False)


def test_what_is_solved_exactly() -> None:
    """The chance event before the river and the river's states; on the turn, and in other games, nothing."""
    public = listed(TURN)
    exact = [is_exact(public, s) for s in range(public.size)]
    expected = [len(public.states[s].board) == 5 or public.actor(s) == NATURE for s in range(public.size)]
    assert exact == expected and any(exact) and not all(exact)
    leduc = listed("leduc_poker")
    assert not any(is_exact(leduc, s) for s in range(leduc.size))


def test_an_exact_row_holds_the_spot_solvers_values() -> None:
    public = listed(TURN)
    game, shape = public.game, make_shape(TURN)
    assert isinstance(game, Holdem)
    node = next(s for s in range(public.size) if public.actor(s) == NATURE)
    query = Query(public, node, public.ranges_by_slot(node, game.root_ranges()))
    job, ranges = ExactSolving(query, 50), public.ranges_of_slots(node, query.ranges)
    run(job.steps(), zero_evaluator)
    row = job.row(shape, policies=True)
    state = public.states[node]
    values = exact_values(game, [SpotBelief(state, ranges)], 50)[0] / public.value_unit(node)
    baseline = game.baseline([state], query.ranges[None, :])
    assert baseline is not None
    for p in (0, 1):
        at = public.places_of(node, p)
        trained = row.value_mask[0, at] > 0
        learned = values[p] - baseline[0, at]
        np.testing.assert_allclose(row.values[0, at][trained], learned[trained], rtol=1e-5, atol=1e-6)
        assert trained.sum() > 100
    assert not row.policy_mask.any() and job.followers() == []


def test_what_is_settled() -> None:
    """The chance event after an all-in; not the decision that faces it, and nothing where a network has no baseline."""
    public = listed(TURN)
    settled = [s for s in range(public.size) if is_settled(public, s)]
    assert settled and all(public.states[s].betting.all_in and public.actor(s) == NATURE for s in settled)
    facing = [s for s in range(public.size) if public.actor(s) < NATURE and public.states[s].betting.all_in]
    assert facing and not set(facing) & set(settled)
    papers = listed(TURN.replace(")", ",inputs=paper)"))
    assert not any(is_settled(papers, s) for s in range(papers.size))


def make_shape(name: str) -> NetworkShape:
    return shape_for(make_game(name), 8, 1)


def test_self_play_of_drawn_hands_ends_where_values_are_exact() -> None:
    """Hands of different boards; no search on the river; all queries leave a row with values."""
    acting = SogActing(
        SelfPlaySettings(ResolveSettings(Budget(6, 1.0), SearchSettings(chance_leaves=True)), queries=3.0),
        QuerySettings(Budget(6, 1.0), SearchSettings(chance_leaves=True), recursive=0.0, exact_iterations=4),
        side_by_side=2,
    )
    actor = acting.make(make_game(FAMILY), make_shape(FAMILY))
    jobs = list(actor.finished(4, zero_evaluator, np.random.default_rng(0)))
    games = [job for job in jobs if isinstance(job, SogGame)]
    boards = {game.public.game.spot.board for game in games}  # type: ignore[attr-defined]
    assert len(games) == 4 and len(boards) == 4
    assert all(len(game.public.states[visit.node].board) == 4 for game in games for visit in game.visits)
    exact = [job for job in jobs if isinstance(job, ExactSolving)]
    open_ones = [query for game in games for query in game.queries if not is_settled(query.public, query.node)]
    assert len(exact) > 3 and len(jobs) - len(games) == len(open_ones) < sum(len(game.queries) for game in games)
    harvest = actor.round(2, zero_evaluator, np.random.default_rng(1))
    assert len(harvest.rows) == harvest.queries > 0


@pytest.mark.parametrize(("searched", "least", "most"), [(0.0, 0, 0), (0.5, 1, 23), (1.0, 24, 24)])
def test_a_share_of_other_queries_is_searched(searched: float, least: int, most: int) -> None:
    settings = QuerySettings(Budget(2, 1.0), SearchSettings(chance_leaves=True), 0.0, exact_iterations=1)
    actor = SogActing(SelfPlaySettings(ResolveSettings(Budget(2, 1.0))), replace(settings, searched=searched)).make(
        make_game(TURN), make_shape(TURN)
    )
    public = listed(TURN)
    root = next(s for s in range(9) if public.actor(s) < NATURE)
    query = Query(public, root, public.ranges_by_slot(root, public.game.root_ranges()))
    solving = [actor.solving(query, np.random.default_rng(k)) for k in range(24)]
    assert least <= sum(job is not None for job in solving) <= most


def test_a_share_is_no_more_than_all() -> None:
    with pytest.raises(SettingError, match="searched is a share"):
        QuerySettings(Budget(2, 1.0), SearchSettings(), searched=1.5)


def test_wide_hands_are_dealt_by_their_weights() -> None:
    """Without a matrix of all pairs: no shared cards, and pairs as often as ranges and card removal say."""
    name = 'holdem(board=2s2h2d7c9c,pot=100,stacks=100,bets=allin,range0="AsKs,AsQs:0.5,3c3d",range1="AsJs,3c4c,KhKd")'
    public, rng = PublicTree(make_game(name)), np.random.default_rng(0)
    r0, r1 = public.game.root_ranges()
    weight = r0[:, None] * public.game.weights(public.game.root()).dense() * r1[None, :]
    referee, count, seen = Referee(public), 4000, dict[tuple[int, int], int]()
    for _ in range(count):
        pair = referee.deal(rng).pair
        seen[pair] = seen.get(pair, 0) + 1
    for pair, times in seen.items():
        chance = weight[pair] / weight.sum()
        assert abs(times - count * chance) < 5 * np.sqrt(count * chance * (1 - chance))
    assert len(seen) == np.count_nonzero(weight)
