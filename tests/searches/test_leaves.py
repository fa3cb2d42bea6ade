"""Beliefs out of the leaves and evaluations into them, against dense matrices and the definition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.arrays import Float64, Int32
from sog.games.base import NATURE, Game
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.searches.cfr.iterate import NO_CHOICE
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import SOG
from sog.searches.gtcfr import phases
from sog.searches.gtcfr.trajectories import Selection, Walks
from sog.searches.leaves import kernels, weighing
from sog.searches.leaves.evaluator import Evaluations
from sog.searches.leaves.kernels import Leaves, Look, Request, Weighing
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import AwaitedNodes, Entry, Evaluated, Infostate, Kind

GAMES = (Kuhn(), Leduc(), Goofspiel(3, "random"), make_game("scotland_yard(map=glasses,rounds=2)"))
SEEDS = st.integers(0, 2**32 - 1)


@dataclass
class Frontier:
    """A tree opened at random, with random ranges everywhere (some of them 0), and what its leaves ask."""

    tree: Lookahead
    leaves: Leaves
    count: int
    request: Request
    requested: int

    @property
    def game(self) -> Game:
        return self.tree.public.game

    @property
    def nodes(self) -> Int32:
        """The leaves to be evaluated."""
        return self.leaves.nodes[self.request.places[: self.requested]]

    @property
    def states(self) -> Int32:
        """Their public nodes."""
        return self.request.nodes[: self.requested]

    @property
    def ranges(self) -> Float64:
        return self.request.ranges[: self.requested]


def frontier(game: Game, rng: np.random.Generator, single: bool = False) -> Frontier:
    public = PublicTree(game)
    tree = Lookahead(public, 0, game.root_ranges())
    for _ in range(6):
        n = int(rng.integers(tree.size))
        if tree.nodes.kind[n] == Kind.LEAF:
            tree.expand(n)
    reach = tree.infostates[Infostate.REACH]
    reach[:] = rng.random(len(reach)) * (rng.random(len(reach)) < 0.7)
    return ask(tree, single)


def ask(tree: Lookahead, single: bool = False) -> Frontier:
    public, room = tree.public, tree.size
    slots0, slots1 = public.game.num_slots
    leaves = Leaves(
        nodes=np.zeros(room, dtype=np.int32),
        tables=np.zeros((0, 0)),
        mass=np.full((2, public.widest), 7.0),  # rubbish that must be overwritten
        slots0=slots0,
        aligned=False,
        kind=int(Weighing.PLAIN),
        correct=False,
    )
    count = kernels.list_leaves(tree.arrays, leaves.nodes)
    places, nodes = np.full((2, room), -7, dtype=np.int32)
    request = Request(places, nodes, np.full((room, slots0 + slots1), 7.0))
    look = Look(int(Infostate.REACH), int(Players.BOTH), int(Players.BOTH), False, single, request)
    requested = kernels.collect(public.arrays, tree.arrays, leaves, 0, count, 0, look)
    return Frontier(tree, leaves, count, request, requested)


def answer(
    asked: Frontier, values: Float64, logits: Float64, correct: bool, temperature: float = 1.0, single: bool = False
) -> None:
    """What a search does with its answers where it updates no regrets."""
    tree, public = asked.tree, asked.tree.public
    states = phases.States.zeros(1)
    state = states[0]
    state.requested, state.leaves, state.answered = asked.requested, asked.count, 1
    rng = np.zeros(1, dtype=np.uint64)
    one_search = phases.Search(
        choice=NO_CHOICE,
        selection=Selection(
            0,
            1.25,
            int(Entry.POLICY_SUM),
            public.game.u_max,
            rng,
            False,
            np.ones((2, 0)),
            np.zeros(8, dtype=np.int64),
            Walks.zeros(1),
        ),
        leaves=asked.leaves._replace(correct=correct),
        request=asked.request,
        steps=SOG.steps(1, 1),
        alternating=False,
        single=single,
        by_node=False,
        by_path=False,
        deterministic=public.game.deterministic,
        temperature=temperature,
        warm=0.0,
        fill=False,
        tolerance=0.0,
        apart=False,
        chance_leaves=False,
        pairs=np.zeros((0, 0, 0), dtype=np.int32),
        widest_fan=public.widest_fan,
        sums=np.zeros((2, tree.size)),
        touched=np.zeros(0, dtype=np.int32),
        awaited=AwaitedNodes.zeros(0),
        state=states,
    )
    phases.take_up(public.arrays, tree.arrays, one_search, Evaluations(values, logits))
    assert not state.answered


def random_answers(asked: Frontier, rng: np.random.Generator) -> tuple[Float64, Float64]:
    game, count = asked.game, len(asked.nodes)
    values = rng.normal(size=(count, sum(game.num_slots)))
    return values, 3 * rng.normal(size=(count, max(game.num_slots), game.num_actions))


def by_infostate(asked: Frontier, row: Float64, node: int, p: int) -> Float64:
    """What a row by slot says of player p's infostates at a lookahead node."""
    slot = asked.game.slot(asked.tree.public.states[int(asked.tree.nodes.public[node])], p)
    found: Float64 = row[slot + (asked.game.num_slots[0] if p else 0)]
    return found


@given(SEEDS)
def test_beliefs_are_normalised_ranges_by_slot(seed: int) -> None:
    asked = frontier(GAMES[seed % len(GAMES)], np.random.default_rng(seed))
    tree, game = asked.tree, asked.game
    assert asked.nodes.tolist() == [n for n in range(tree.size) if tree.nodes.kind[n] == Kind.LEAF]
    assert asked.states.tolist() == tree.nodes.public[asked.nodes].tolist()
    for node, row in zip(asked.nodes, asked.ranges, strict=True):
        total = 0.0
        for p in (0, 1):
            reach = tree.infostates[Infostate.REACH, tree.span(node, p)]
            expected = reach / reach.sum() if reach.sum() > 0 else np.full(len(reach), 1 / len(reach))
            np.testing.assert_allclose(by_infostate(asked, row, node, p), expected)
            total += expected.sum()
        assert row.sum() == pytest.approx(total)  # the slots of no infostate hold 0
        assert len(row) == sum(game.num_slots)


@given(SEEDS, st.sampled_from([0.0, 0.05, 0.5]))
def test_leaves_are_asked_anew_by_how_far_they_moved_times_how_much_of_a_range_comes_there(
    seed: int, tolerance: float
) -> None:
    rng = np.random.default_rng(seed)
    asked = frontier(GAMES[seed % len(GAMES)], rng)
    tree, numbers = asked.tree, asked.tree.infostates
    numbers[Infostate.LEAF_RANGE] = rng.random(numbers.shape[1])
    for node in asked.nodes.tolist():
        for p in (0, 1):  # ranges, as those that a leaf is asked with; a power of two leaves today's as they are
            span = tree.span(node, p)
            numbers[Infostate.LEAF_RANGE, span] /= numbers[Infostate.LEAF_RANGE, span].sum()
            numbers[Infostate.REACH, span] *= rng.choice([2.0**-7, 1.0])
    tree.nodes.evaluated[asked.nodes] = np.where(rng.random(asked.count) < 0.8, Evaluated.READY, Evaluated.AWAITING)
    before, expected = numbers[Infostate.LEAF_RANGE].copy(), []
    for node, row in zip(asked.nodes.tolist(), asked.ranges.copy(), strict=True):
        share, moved = 0.0, 0.0
        for p in (0, 1):
            reach, root = numbers[Infostate.REACH, tree.span(node, p)].sum(), tree.ranges(0)[p].sum()
            share = max(share, reach / root if root > 0 else 0.0)
            moved = max(moved, float(np.abs(by_infostate(asked, row, node, p) - before[tree.span(node, p)]).sum()))
        weighed = moved if tolerance == 0.0 else share * moved
        if tree.nodes.evaluated[node] == Evaluated.AWAITING or weighed > tolerance:
            expected.append(node)
    request = asked.request
    found = kernels.collect_moved(tree.public.arrays, tree.arrays, asked.leaves, asked.count, request, tolerance)
    assert asked.leaves.nodes[request.places[:found]].tolist() == expected


@given(SEEDS, st.booleans())
def test_values_become_counterfactual(seed: int, correct: bool) -> None:
    """v(i) * sum_j W[i, j] r(j); the correction subtracts half of the pairs' mean surplus from both players."""
    rng = np.random.default_rng(seed)
    asked = frontier(GAMES[seed % len(GAMES)], rng)
    tree = asked.tree
    values, logits = random_answers(asked, rng)
    answer(asked, values, logits, correct)
    for node, state, row in zip(asked.nodes, asked.states, values, strict=True):
        w = asked.game.weights(tree.public.states[state]).dense()
        r0, r1 = (tree.infostates[Infostate.REACH, tree.span(node, p)] for p in (0, 1))
        mass = (w @ r1, r0 @ w)
        plain = [by_infostate(asked, row, node, p) * mass[p] for p in (0, 1)]
        pairs = r0 @ w @ r1
        surplus = (r0 @ plain[0] + r1 @ plain[1]) / pairs if correct and pairs > 0 else 0.0
        cfv = [tree.infostates[Infostate.CFV, tree.span(node, p)] for p in (0, 1)]
        for p in (0, 1):
            np.testing.assert_allclose(cfv[p], plain[p] - 0.5 * surplus * mass[p], atol=1e-12)
            assert (cfv[p][mass[p] == 0] == 0).all()
        if correct:
            assert r0 @ cfv[0] + r1 @ cfv[1] == pytest.approx(0.0, abs=1e-12)


@given(SEEDS, st.sampled_from([0.5, 1.0, 2.0]))
def test_priors_are_the_softmax_of_the_logits(seed: int, temperature: float) -> None:
    rng = np.random.default_rng(seed)
    asked = frontier(GAMES[seed % len(GAMES)], rng)
    tree, game = asked.tree, asked.game
    values, logits = random_answers(asked, rng)
    answer(asked, values, logits, True, temperature)
    assert tree.nodes.evaluated[asked.nodes].all()
    for b, (node, state) in enumerate(zip(asked.nodes, asked.states, strict=True)):
        actor = int(tree.nodes.actor[node])
        if actor >= NATURE:
            continue
        s = tree.public.states[state]
        chosen = logits[b][game.slot(s, actor)][:, game.actions(s)].T / temperature
        expected = np.exp(chosen) / np.exp(chosen).sum(axis=0)
        prior = tree.table(node, Entry.PRIOR)
        np.testing.assert_allclose(prior / prior.sum(axis=0), expected, rtol=1e-9)


def test_a_prior_is_the_last_one_before_the_leaf_is_opened() -> None:
    asked = frontier(Kuhn(), np.random.default_rng(0))
    values, logits = random_answers(asked, np.random.default_rng(1))
    answer(asked, values, 0 * logits, True)
    answer(asked, values, logits, True)
    node = int(asked.nodes[0])
    last = asked.tree.table(node, Entry.PRIOR).copy()
    assert np.ptp(last) > 0.1
    asked.tree.expand(node)
    again = ask(asked.tree)
    assert node not in again.nodes
    answer(again, *random_answers(again, np.random.default_rng(2)), correct=True)
    assert (asked.tree.table(node, Entry.PRIOR) == last).all()


def test_a_leaf_of_a_game_of_perfect_information_is_asked_once_and_scaled_after() -> None:
    rng = np.random.default_rng(0)
    asked = frontier(TicTacToe(), rng, single=True)
    tree = asked.tree
    values, logits = random_answers(asked, rng)
    answer(asked, values, logits, True, single=True)
    tree.expand(int(asked.nodes[0]))
    tree.infostates[Infostate.REACH] = rng.random(tree.infostates.shape[1])
    news = ask(tree, single=True)
    opened = set(range(tree.size)) - set(asked.nodes.tolist())
    assert set(news.nodes.tolist()) == {n for n in opened if tree.nodes.kind[n] == Kind.LEAF}
    answer(news, *random_answers(news, rng), correct=True, single=True)
    for node, row in zip(asked.nodes[1:], values[1:], strict=True):
        r0, r1 = (tree.infostates[Infostate.REACH, tree.span(node, p)][0] for p in (0, 1))
        half = (row[0] - row[1]) / 2  # each player's value once their sum is taken off
        assert tree.infostates[Infostate.CFV, tree.span(node, 0)][0] == pytest.approx(half * r1)
        assert tree.infostates[Infostate.CFV, tree.span(node, 1)][0] == pytest.approx(-half * r0)


@given(SEEDS, st.booleans())
def test_weighing_again_is_absorbing_the_same_answers_again(seed: int, correct: bool) -> None:
    rng = np.random.default_rng(seed)
    asked = frontier(GAMES[seed % len(GAMES)], rng)
    tree, public = asked.tree, asked.tree.public
    values, logits = random_answers(asked, rng)
    answer(asked, values, logits, correct)
    tree.infostates[Infostate.REACH] = rng.random(tree.infostates.shape[1])
    leaves = asked.leaves._replace(correct=correct)
    weighing.weigh(public.arrays, tree.arrays, leaves, 0, asked.count, 3, 1.0)
    rescaled = tree.infostates[Infostate.CFV].copy()
    answer(asked, values, logits, correct)
    assert (tree.infostates[Infostate.CFV] == rescaled).all()
