"""Queries where a flop or a turn card comes: against sums over all pairs of hands, and in an actor's round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from sog.algorithms.student.actor import SogActing, SogActor
from sog.algorithms.student.chance_queries import ChanceSolving, is_early_chance
from sog.algorithms.student.presets_holdem import holdem_preset
from sog.algorithms.student.queries import Query
from sog.algorithms.student.selfplay import SogGame
from sog.arrays import Float64
from sog.games.base import NATURE
from sog.games.catalog import make_game
from sog.games.holdem.cards import CARDS, HANDS, disjoint_pairs, live_hands
from sog.games.holdem.game import Holdem, HoldemState
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.play.sampled_chance import baselines
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_answer, zero_evaluator
from sog.searches.tree.public_tree import PublicTree

CALL = 1


def holdem(board: str) -> Holdem:
    game = make_game(f"holdem({board}stacks=2000,bets=1.0)")
    assert isinstance(game, Holdem)
    return game


def checked_through(game: Holdem) -> tuple[PublicTree, int]:
    """The tree of a game, and the chance event after two checks or calls."""
    public, node = PublicTree(game), 0
    for _ in (0, 1):
        public.list_fan(node)
        node = public.child(node, list(public.actions(node)).index(CALL))
    assert public.actor(node) == NATURE
    return public, node


def query_of(public: PublicTree, node: int) -> tuple[Query, tuple[Float64, Float64]]:
    state = public.states[node]
    assert isinstance(state, HoldemState)
    rng, live = np.random.default_rng(3), live_hands(state.board)
    ranges = tuple(rng.random(HANDS) * (rng.random(HANDS) < 0.3) * live for _ in (0, 1))
    by_slot = public.ranges_by_slot(node, (ranges[0], ranges[1]))
    return Query(public, node, by_slot), public.ranges_of_slots(node, by_slot)


def by_last_card(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Values of the last board card's number, for every hand, on trees to which no baseline is added."""
    out = [zero_answer(beliefs) for beliefs in requests]
    for beliefs, answer in zip(requests, out, strict=True):
        assert not beliefs.public.game.has_baseline
        for b, node in enumerate(beliefs.nodes):
            state = beliefs.public.states[node]
            assert isinstance(state, HoldemState)
            answer.values[b] = state.board[-1]
    return out


def test_it_is_the_mean_over_all_pairs_and_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every turn card once: the mean over cards and the opponent's hands that a hand may meet with them."""
    game = holdem("board=2s7hKd,pot=200,")
    public, node = checked_through(game)
    query, ranges = query_of(public, node)
    state = public.states[node]
    assert isinstance(state, HoldemState)
    cards = [card for card in range(CARDS) if card not in state.board]
    every = [public.add(game.deal(state, (card,)), node) for card in cards]
    monkeypatch.setattr(ChanceSolving, "_drawn", lambda self: every)
    solving = ChanceSolving(query, len(every), np.random.default_rng(0))
    run(solving.steps(), by_last_card)
    row = solving.row(shape_for(game, 8, 1, "hands"), policies=True)
    apart = disjoint_pairs(state.board)
    for p in (0, 1):
        total, weight = np.zeros(HANDS), np.zeros(HANDS)
        for card in cards:
            # Pairs of which neither hand has the card.
            rest = live_hands((card,)) * (apart @ (ranges[1 - p] * live_hands((card,))))
            total, weight = total + card * rest, weight + rest
        known = weight > 1e-9
        target = row.values[0][public.places_of(node, p)] * public.value_unit(node)
        np.testing.assert_allclose(target[known], (total / np.maximum(weight, 1e-12))[known], rtol=1e-4)
    assert not row.policy_mask.any()


@pytest.mark.parametrize("board", ["", "board=2s7hKd,pot=200,"])
def test_a_network_that_adds_nothing_is_taught_nothing(board: str) -> None:
    public, node = checked_through(game := holdem(board))
    query, _ = query_of(public, node)
    solving = ChanceSolving(query, 3, np.random.default_rng(0))
    run(solving.steps(), zero_evaluator)
    row = solving.row(shape_for(game, 8, 1, "hands"), policies=False)
    np.testing.assert_allclose(row.values, 0.0, atol=1e-5)
    assert row.value_mask.sum() > HANDS
    assert np.abs(baselines(public, [node], query.ranges[None, :])).max() > 10.0


def test_where_a_river_card_comes_or_nothing_is_added_it_is_not_used() -> None:
    for board, early in (("", True), ("board=2s7hKd,pot=200,", True), ("board=2s7hKd9c,pot=200,", False)):
        public, node = checked_through(holdem(board))
        assert is_early_chance(public, node) is early and not is_early_chance(public, 0)
    paper = make_game("holdem(board=2s7hKd,pot=200,stacks=2000,bets=1.0,inputs=paper)")
    assert isinstance(paper, Holdem)
    assert not is_early_chance(*checked_through(paper))


@pytest.mark.slow
def test_an_actor_plays_rivers_and_values_flops() -> None:
    game = make_game("holdem(board=2s7hKd,pot=200,stacks=300,bets=1.0)")
    assert isinstance(game, Holdem)
    acting = holdem_preset(game, "demo").acting
    assert isinstance(acting, SogActing)
    small = Budget(2, 1.0)
    resolve = replace(acting.selfplay.resolve, budget=small)
    acting = replace(
        acting,
        selfplay=replace(acting.selfplay, resolve=resolve, queries=2.0, uniform_mix=1.0),
        queries=replace(acting.queries, budget=small, searched=1.0, outcomes=2, exact_iterations=4),
    )
    shape = shape_for(game, 8, 1, "hands")
    torch.manual_seed(0)
    actor, rng = SogActor(game, shape, acting), np.random.default_rng(1)
    jobs = list(actor.finished(4, network_evaluator(CVPN(shape)), rng))
    boards = {
        len(state.board)
        for job in jobs
        if isinstance(job, SogGame)
        for visit in job.visits
        if isinstance(state := job.public.states[visit.node], HoldemState)
    }
    assert 5 in boards and any(isinstance(job, ChanceSolving) for job in jobs)
    rows = [row for job in jobs for row in actor.rows_of(job, rng)]
    assert len(rows) == sum(not isinstance(job, SogGame) for job in jobs)
    assert all(np.isfinite(row.values).all() and row.value_mask.any() for row in rows)
