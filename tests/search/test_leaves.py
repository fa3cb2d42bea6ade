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
from sog.games.goofspiel import Goofspiel
from sog.games.kuhn import Kuhn
from sog.games.leduc.game import Leduc
from sog.search.cfr.lookahead import Lookahead
from sog.search.leaves import kernels as leaves
from sog.search.tree import columns as f
from sog.search.tree.public_tree import PublicTree

GAMES = (Kuhn(), Leduc(), Goofspiel(3, "random"), make_game("scotland_yard(map=glasses,rounds=2)"))
SEEDS = st.integers(0, 2**32 - 1)


@dataclass
class Frontier:
    """A tree opened at random, with random ranges everywhere (some of them 0), and what its leaves ask."""

    tree: Lookahead
    nodes: Int32
    states: Int32
    ranges: Float64

    @property
    def game(self) -> Game:
        return self.tree.public.game


def frontier(game: Game, rng: np.random.Generator, single: bool = False) -> Frontier:
    public = PublicTree(game)
    tree = Lookahead(public, 0, game.root_ranges())
    for _ in range(6):
        n = int(rng.integers(tree.size))
        if tree.nodes[n, f.KIND] == f.LEAF:
            tree.expand(n)
    reach = tree.slots[f.REACH]
    reach[:] = rng.random(len(reach)) * (rng.random(len(reach)) < 0.7)
    return ask(tree, single)


def ask(tree: Lookahead, single: bool = False) -> Frontier:
    public = tree.public
    asked = np.zeros((2, tree.size), dtype=np.int32)
    ranges = np.full((tree.size, sum(public.game.num_slots)), 7.0)  # rubbish that must be overwritten
    found = leaves.collect(
        public.nodes, public.slots, tree.nodes, tree.size, tree.slots, single, public.game.num_slots[0],
        asked[0], asked[1], ranges,
    )  # fmt: skip
    return Frontier(tree, asked[0, :found], asked[1, :found], ranges[:found])


def answer(
    asked: Frontier, values: Float64, logits: Float64, correct: bool, temperature: float = 1.0, single: bool = False
) -> None:
    tree, public = asked.tree, asked.tree.public
    leaves.absorb(
        public.nodes, public.scales, public.rows, public.operators, public.operator_values, public.slots,
        tree.nodes, tree.slots, tree.entries, asked.nodes, values, logits, public.game.num_slots[0],
        temperature, correct, single, np.zeros((2, public.widest)), tree.size,
    )  # fmt: skip


def random_answers(asked: Frontier, rng: np.random.Generator) -> tuple[Float64, Float64]:
    game, count = asked.game, len(asked.nodes)
    values = rng.normal(size=(count, sum(game.num_slots)))
    return values, 3 * rng.normal(size=(count, max(game.num_slots), game.num_actions))


def by_infostate(asked: Frontier, row: Float64, node: int, p: int) -> Float64:
    """What a row by slot says of player p's infostates at a lookahead node."""
    slot = asked.game.slot(asked.tree.public.states[int(asked.tree.nodes[node, f.PUBLIC])], p)
    found: Float64 = row[slot + (asked.game.num_slots[0] if p else 0)]
    return found


@given(SEEDS)
def test_beliefs_are_normalised_ranges_by_slot(seed: int) -> None:
    asked = frontier(GAMES[seed % len(GAMES)], np.random.default_rng(seed))
    tree, game = asked.tree, asked.game
    assert asked.nodes.tolist() == [n for n in range(tree.size) if tree.nodes[n, f.KIND] == f.LEAF]
    assert asked.states.tolist() == tree.nodes[asked.nodes, f.PUBLIC].tolist()
    for node, row in zip(asked.nodes, asked.ranges, strict=True):
        total = 0.0
        for p in (0, 1):
            reach = tree.slots[f.REACH, tree.span(node, p)]
            expected = reach / reach.sum() if reach.sum() > 0 else np.full(len(reach), 1 / len(reach))
            np.testing.assert_allclose(by_infostate(asked, row, node, p), expected)
            total += expected.sum()
        assert row.sum() == pytest.approx(total)  # the slots of no infostate hold 0
        assert len(row) == sum(game.num_slots)


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
        r0, r1 = (tree.slots[f.REACH, tree.span(node, p)] for p in (0, 1))
        mass = (w @ r1, r0 @ w)
        plain = [by_infostate(asked, row, node, p) * mass[p] for p in (0, 1)]
        pairs = r0 @ w @ r1
        surplus = (r0 @ plain[0] + r1 @ plain[1]) / pairs if correct and pairs > 0 else 0.0
        cfv = [tree.slots[f.CFV, tree.span(node, p)] for p in (0, 1)]
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
    assert tree.nodes[asked.nodes, f.EVALUATED].all()
    for b, (node, state) in enumerate(zip(asked.nodes, asked.states, strict=True)):
        actor = int(tree.nodes[node, f.N_ACTOR])
        if actor >= NATURE:
            continue
        s = tree.public.states[state]
        chosen = logits[b][game.slot(s, actor)][:, game.actions(s)].T / temperature
        expected = np.exp(chosen) / np.exp(chosen).sum(axis=0)
        prior = tree.table(node, f.PRIOR)
        np.testing.assert_allclose(prior / prior.sum(axis=0), expected, rtol=1e-9)


def test_a_prior_is_the_last_one_before_the_leaf_is_opened() -> None:
    asked = frontier(Kuhn(), np.random.default_rng(0))
    values, logits = random_answers(asked, np.random.default_rng(1))
    answer(asked, values, 0 * logits, True)
    answer(asked, values, logits, True)
    node = int(asked.nodes[0])
    last = asked.tree.table(node, f.PRIOR).copy()
    assert np.ptp(last) > 0.1
    asked.tree.expand(node)
    again = ask(asked.tree)
    assert node not in again.nodes
    answer(again, *random_answers(again, np.random.default_rng(2)), correct=True)
    assert (asked.tree.table(node, f.PRIOR) == last).all()


def test_a_leaf_of_a_game_of_perfect_information_is_asked_once_and_scaled_after() -> None:
    rng = np.random.default_rng(0)
    asked = frontier(TicTacToe(), rng, single=True)
    tree = asked.tree
    values, logits = random_answers(asked, rng)
    answer(asked, values, logits, True, single=True)
    tree.expand(int(asked.nodes[0]))
    tree.slots[f.REACH] = rng.random(tree.slots.shape[1])
    news = ask(tree, single=True)
    opened = set(range(tree.size)) - set(asked.nodes.tolist())
    assert set(news.nodes.tolist()) == {n for n in opened if tree.nodes[n, f.KIND] == f.LEAF}
    answer(news, *random_answers(news, rng), correct=True, single=True)
    for node, row in zip(asked.nodes[1:], values[1:], strict=True):
        r0, r1 = (tree.slots[f.REACH, tree.span(node, p)][0] for p in (0, 1))
        half = (row[0] - row[1]) / 2  # each player's value once their sum is taken off
        assert tree.slots[f.CFV, tree.span(node, 0)][0] == pytest.approx(half * r1)
        assert tree.slots[f.CFV, tree.span(node, 1)][0] == pytest.approx(-half * r0)


@given(SEEDS, st.booleans())
def test_rescaling_is_absorbing_the_same_answers_again(seed: int, correct: bool) -> None:
    rng = np.random.default_rng(seed)
    asked = frontier(GAMES[seed % len(GAMES)], rng)
    tree, public = asked.tree, asked.tree.public
    values, logits = random_answers(asked, rng)
    answer(asked, values, logits, correct)
    tree.slots[f.REACH] = rng.random(tree.slots.shape[1])
    leaves.rescale(
        public.nodes, public.scales, public.operators, public.operator_values, tree.nodes, tree.slots, tree.size,
        correct, np.zeros((2, public.widest)),
    )  # fmt: skip
    rescaled = tree.slots[f.CFV].copy()
    answer(asked, values, logits, correct)
    assert (tree.slots[f.CFV] == rescaled).all()
