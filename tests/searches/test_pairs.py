"""Packed pair operators against matrices: entries, masses, drawn pairs, and sweeps over the same game both ways."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sog.arrays import Float64
from sog.games.base import DENSE, SPARSE, TERMINAL, Operator, Scaled, State
from sog.games.compiled.sparse import SparseOperator
from sog.games.holdem.cards import HANDS, live_hands
from sog.games.holdem.game import Holdem
from sog.games.holdem.operator import APART, SHOWDOWN, CardOperator
from sog.games.holdem.strings import holdem_from
from sog.games.rules.goofspiel import Goofspiel
from sog.games.strings import parse_game
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR
from sog.searches.tree import cards, pairs, sparse
from sog.searches.tree.arrays import Ranges
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate, OperatorRows

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
        assert cards.entry(kind, table, 0, i, j) == operator.entry(int(i), int(j)) == matrix[i, j]


@settings(max_examples=10, deadline=None)
@given(BOARDS, st.integers(0, 10**6))
def test_the_mass_of_one_hand(board: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    operator, reach = CardOperator(APART, board), rng.random(HANDS)
    table, expected = operator.packed(), operator.matrix @ reach
    for i in rng.integers(0, HANDS, 50):
        assert cards.mass_of(table, 0, reach, 0, i) == pytest.approx(expected[i], abs=1e-9)


def test_pairs_are_drawn_in_proportion() -> None:
    """A chi-squared test of 40,000 draws: a right sampler stays below the bound in all but one seed of 10^6."""
    rng, board, draws = np.random.default_rng(1), (0, 1, 2, 3, 4), 40_000
    r0, r1 = few_hands(rng, board, 8), few_hands(rng, board, 8)
    table, pair = CardOperator(APART, board).packed(), np.zeros(2, dtype=np.int64)
    joint = r0[:, None] * CardOperator(APART, board).matrix * r1[None, :]
    expected, counts = draws * joint / joint.sum(), np.zeros((HANDS, HANDS))
    for first, second in rng.random((draws, 2)):
        assert cards.draw(table, 0, Ranges(r0, 0, np.concatenate([r0, r1]), HANDS), first, second, pair)
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
    assert not cards.draw(table, 0, Ranges(one, 0, one, 0), 0.3, 0.3, pair)


def test_sweeps_over_packed_and_dense_operators_agree() -> None:
    packed = holdem_from(parse_game(SPOT)[1])
    dense = DenseHoldem(packed.spot, packed.sizes)
    trees = [Lookahead(PublicTree(game), 0, game.root_ranges()).expand_all() for game in (packed, dense)]
    assert trees[0].public.operators.kind[0] == APART
    assert trees[1].public.operators.kind[0] == DENSE
    for tree in trees:
        tree.iterate(DCFR, 5)
    cfv, expected = (tree.infostates[Infostate.CFV] for tree in trees)
    np.testing.assert_allclose(cfv, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(trees[0].entries[Entry.POLICY_SUM], trees[1].entries[Entry.POLICY_SUM], atol=1e-6)
    rng = np.random.default_rng(0)
    ranges = few_hands(rng, packed.spot.board, 30), few_hands(rng, packed.spot.board, 30)
    masses = [tree.public.masses(0, *ranges) for tree in trees]
    np.testing.assert_allclose(masses[0], masses[1], atol=1e-12)


# --- operators of few entries ---


class SparseGoofspiel(Goofspiel):
    """The same game with every operator kept by its entries."""

    def weights(self, s: State) -> Scaled:
        return _by_entries(super().weights(s))

    def payoff(self, s: State) -> Scaled:
        return _by_entries(super().payoff(s))


@cache
def _few(operator: Operator) -> Operator:
    pairs = np.flatnonzero(operator.matrix)
    return SparseOperator(operator.shape, pairs, operator.matrix.ravel()[pairs])


def _by_entries(scaled: Scaled) -> Scaled:
    return Scaled(_few(scaled.operator), scaled.scale)


@given(st.integers(1, 6), st.integers(1, 20), st.floats(0.0, 1.0), st.integers(0, 10**6))
def test_few_entries_equal_their_matrix(rows: int, columns: int, share: float, seed: int) -> None:
    """Empty rows and columns, and an operator without any entry, included."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < share)
    operator = _few(Operator(matrix))
    assert operator.shape == matrix.shape and np.array_equal(operator.matrix, matrix)
    table = np.concatenate((np.full(3, np.nan), operator.packed()))  # it need not stand at the beginning
    packed = OperatorRows.zeros(1)
    packed[0] = 3, operator.kind, rows, columns, -1
    for i, j in np.ndindex(matrix.shape):
        assert sparse.entry(table, packed[0], i, j) == operator.entry(i, j) == matrix[i, j]
    reach, cfv = rng.random(rows + columns) * (rng.random(rows + columns) < 0.8), np.full(rows + columns, 7.0)
    offset = np.array([0, rows], dtype=np.uint32)
    for players, zero, one in ((Players.FIRST, True, False), (Players.SECOND, False, True), (Players.BOTH, True, True)):
        cfv[:] = 7.0
        sparse.payoffs(table, packed[0], 0.5, reach, offset, cfv, players)
        np.testing.assert_allclose(cfv[:rows], 0.5 * matrix @ reach[rows:] if zero else 7.0, atol=1e-12)
        np.testing.assert_allclose(cfv[rows:], -0.5 * matrix.T @ reach[:rows] if one else 7.0, atol=1e-12)


def test_a_game_of_few_entries_is_the_same_game() -> None:
    """Sweeps, masses, utilities and drawn pairs as with matrices."""
    trees = []
    for kind in (SparseGoofspiel, Goofspiel):
        game = kind(4, "descending")
        trees.append(Lookahead(PublicTree(game), 0, game.root_ranges()).expand_all())
    few, dense = trees
    assert few.public.operators.kind[0] == SPARSE and not few.public.all_dense and dense.public.all_dense
    for tree in trees:
        tree.iterate(DCFR, 20, track=True)
    for row in (Infostate.CFV, Infostate.CFV_SUM, Infostate.REACH_SUM):
        np.testing.assert_allclose(few.infostates[row], dense.infostates[row], atol=1e-12)
    np.testing.assert_allclose(few.entries[Entry.POLICY_SUM], dense.entries[Entry.POLICY_SUM], atol=1e-9)
    rng = np.random.default_rng(0)
    masses = [np.zeros(few.infostates.shape[1]) for _ in trees]
    for n in rng.permutation(few.size)[:200].tolist():
        ranges = tuple(rng.random(size) for size in few.public.num_infostates(few.public_node(n)))
        both = [tree.public.masses(tree.public_node(n), *ranges) for tree in trees]
        np.testing.assert_allclose(np.concatenate(both[0]), np.concatenate(both[1]), atol=1e-12)
        for p in (0, 1):
            for tree, mass in zip(trees, masses, strict=True):
                pairs.opponent_masses(tree.public.arrays, tree.arrays, n, p, mass)
            np.testing.assert_allclose(*masses, atol=1e-12)
        drawn = [tree.draw_pair(n, np.full(1, n, dtype=np.uint64)) for tree in trees]
        assert drawn[0] == drawn[1]
        if drawn[0] is not None and few.actor(n) == TERMINAL:
            assert few.utility(n, drawn[0]) == dense.utility(n, drawn[0])
