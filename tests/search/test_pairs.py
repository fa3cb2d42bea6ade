"""Packed pair operators against matrices: entries, masses, drawn pairs, and sweeps over the same game both ways."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sog.arrays import Float64
from sog.games.base import DENSE, Operator, Scaled, State
from sog.games.holdem.cards import HANDS, live_hands
from sog.games.holdem.game import Holdem
from sog.games.holdem.names import holdem_from
from sog.games.holdem.operator import APART, SHOWDOWN, CardOperator
from sog.games.names import parse_game
from sog.search.cfr.lookahead import Lookahead
from sog.search.cfr.rules import DCFR
from sog.search.tree import cards
from sog.search.tree import columns as f
from sog.search.tree.public_tree import PublicTree

U = np.uint64
BOARDS = st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True).map(tuple)
SPOT = "holdem(board=2s2h7d9cKs,pot=1000,stacks=1000,bets=1.0;allin)"


class DenseHoldem(Holdem):
    """The same game with every operator written out."""

    def weights(self, s: State) -> Scaled:
        return _written_out(super().weights(s))

    def payoff(self, s: State) -> Scaled:
        return _written_out(super().payoff(s))


@cache
def _dense(operator: Operator) -> Operator:
    return Operator(operator.matrix)


def _written_out(scaled: Scaled) -> Scaled:
    return Scaled(_dense(scaled.operator), scaled.scale)


def few_hands(rng: np.random.Generator, board: tuple[int, ...], count: int) -> Float64:
    weights = np.zeros(HANDS)
    weights[rng.choice(np.flatnonzero(live_hands(board)), count, replace=False)] = rng.random(count) + 0.1
    return weights


@settings(max_examples=10, deadline=None)
@given(BOARDS, st.sampled_from([APART, SHOWDOWN]), st.integers(0, 10**6))
def test_entries_equal_the_matrix(board: tuple[int, ...], kind: int, seed: int) -> None:
    operator = CardOperator(kind, board)
    assert operator.kind == kind != DENSE
    table, matrix = operator.packed(), operator.matrix
    for i, j in np.random.default_rng(seed).integers(0, HANDS, (200, 2)):
        assert cards.entry(kind, table, U(0), i, j) == operator.entry(int(i), int(j)) == matrix[i, j]


@settings(max_examples=10, deadline=None)
@given(BOARDS, st.integers(0, 10**6))
def test_the_mass_of_one_hand(board: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    operator, reach = CardOperator(APART, board), rng.random(HANDS)
    table, expected = operator.packed(), operator.matrix @ reach
    for i in rng.integers(0, HANDS, 50):
        assert cards.mass_of(table, U(0), reach, U(0), i) == pytest.approx(expected[i], abs=1e-9)


def test_pairs_are_drawn_in_proportion() -> None:
    """A chi-squared test of 40,000 draws: a right sampler stays below the bound in all but one seed of 10^6."""
    rng, board, draws = np.random.default_rng(1), (0, 1, 2, 3, 4), 40_000
    r0, r1 = few_hands(rng, board, 8), few_hands(rng, board, 8)
    table, pair = CardOperator(APART, board).packed(), np.zeros(2, dtype=np.int64)
    joint = r0[:, None] * CardOperator(APART, board).matrix * r1[None, :]
    expected, counts = draws * joint / joint.sum(), np.zeros((HANDS, HANDS))
    for first, second in rng.random((draws, 2)):
        assert cards.draw(table, U(0), np.concatenate([r0, r1]), U(0), U(HANDS), first, second, pair)
        counts[pair[0], pair[1]] += 1
    possible = expected > 0
    assert counts[~possible].sum() == 0
    freedom = np.count_nonzero(possible) - 1
    chi_squared = ((counts - expected)[possible] ** 2 / expected[possible]).sum()
    assert chi_squared < freedom + 5.5 * np.sqrt(2 * freedom)


def test_no_pair_is_drawn_where_all_hands_meet() -> None:
    table, pair = CardOperator(APART, ()).packed(), np.zeros(2, dtype=np.int64)
    one = np.zeros(HANDS)
    one[7] = 1.0
    assert not cards.draw(table, U(0), one, U(0), U(0), 0.3, 0.3, pair)


def test_sweeps_over_packed_and_dense_operators_agree() -> None:
    packed = holdem_from(parse_game(SPOT)[1])
    dense = DenseHoldem(packed.spot, packed.sizes)
    trees = [Lookahead(PublicTree(game), 0, game.root_ranges()).expand_all() for game in (packed, dense)]
    assert trees[0].public.operators[0, f.OP_KIND] == APART
    assert trees[1].public.operators[0, f.OP_KIND] == DENSE
    for tree in trees:
        tree.iterate(DCFR, 5)
    scale = np.abs(trees[1].infostates[f.CFV]).max()
    np.testing.assert_allclose(trees[0].infostates[f.CFV], trees[1].infostates[f.CFV], atol=1e-9 * scale)
    np.testing.assert_allclose(trees[0].entries[f.POLICY_SUM], trees[1].entries[f.POLICY_SUM], atol=1e-6)
    rng = np.random.default_rng(0)
    ranges = few_hands(rng, packed.spot.board, 30), few_hands(rng, packed.spot.board, 30)
    masses = [tree.public.masses(0, *ranges) for tree in trees]
    np.testing.assert_allclose(masses[0], masses[1], atol=1e-12)
