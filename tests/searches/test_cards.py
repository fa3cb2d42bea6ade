"""Hold'em's payoff kernels against matrices, on random boards and sparse ranges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sog.arrays import Float64
from sog.errors import GameError
from sog.games.holdem.cards import HANDS, disjoint_mass, disjoint_pairs, hand_number, live_hands, parse_cards
from sog.games.holdem.operator import APART, SHOWDOWN, CardOperator
from sog.games.holdem.strength import ladder, showdown_signs
from sog.searches.tree.cards import apply_card
from soglab.bench.holdem_kernels import kernel_errors

BOARDS = st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True).map(tuple)


def sparse(seed: int, board: tuple[int, ...]) -> Float64:
    """A range of 1 to 1,000 hands with random weights."""
    rng = np.random.default_rng(seed)
    weights = np.zeros(HANDS)
    chosen = rng.choice(HANDS, size=int(10 ** rng.uniform(0, 3)), replace=False)
    weights[chosen] = rng.random(len(chosen))
    return weights * live_hands(board)


@settings(max_examples=10, deadline=None)
@given(BOARDS, st.integers(0, 1000))
def test_ranges_equal_matrices(board: tuple[int, ...], seed: int) -> None:
    reach, out = sparse(seed, board), np.ones(HANDS + 3)
    for operator, sign in ((CardOperator(APART, board), -1), (CardOperator(SHOWDOWN, board), 1)):
        table = np.concatenate([np.ones(7), operator.packed()])
        for _ in range(2):  # the scratch inside the table does not matter
            apply_card(operator.kind, table, 7, 3.0, reach, 0, out, 3)
        assert np.allclose(out[3:], 3.0 * operator.matrix @ reach, rtol=1e-9, atol=1e-9)
        assert np.allclose(sign * out[3:], -3.0 * reach @ operator.matrix, rtol=1e-9, atol=1e-9)


def test_a_hand_that_meets_nothing_has_no_mass() -> None:
    """A range of hands with the ace of spades or the king of hearts, which AsKh meets: 0, not what rounding left."""
    board = parse_cards("2s2h2d7c9c")
    table = np.concatenate([np.ones(7), CardOperator(APART, board).packed()])
    cards = [hand_number(*parse_cards("As"), c) for c in range(52) if c != parse_cards("As")[0]]
    cards += [hand_number(*parse_cards("Kh"), c) for c in range(52) if c != parse_cards("Kh")[0]]
    out = np.ones(HANDS)
    for seed in range(30):
        reach = np.zeros(HANDS)
        reach[cards] = np.random.default_rng(seed).random(len(cards))
        reach *= live_hands(board)
        apply_card(APART, table, 7, 1.0, reach, 0, out, 0)
        assert out[hand_number(*parse_cards("AsKh"))] == 0.0
        assert (out > 0).sum() > 900


def test_batches_equal_matrices() -> None:
    """float32 vectors with up to 1,000 hands: errors far below the smallest weight that matters."""
    found = kernel_errors(boards=10, seed=5)
    assert found.batch_showdown < 1e-5 and found.batch_fold < 1e-5
    assert found.range_showdown < 1e-12 and found.range_fold < 1e-12


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 51), min_size=0, max_size=4, unique=True), st.integers(0, 1000))
def test_mass_is_inclusion_exclusion(board: list[int], seed: int) -> None:
    weights = sparse(seed, tuple(board))
    live = live_hands(board)
    assert np.allclose(disjoint_mass(weights) * live, disjoint_pairs(board) @ weights, atol=1e-9)


def test_known_order() -> None:
    """On a board of deuces a full house is beaten by a better pair and by the fourth deuce."""
    place = ladder(parse_cards("2s2h2d7c9c")).places()
    kings, aces, quads, sevens = (place[hand_number(*parse_cards(c))] for c in ("KsKh", "AsAh", "2c3d", "7s3s"))
    assert sevens < kings < aces < quads
    assert place[hand_number(*parse_cards("KsQh"))] == place[hand_number(*parse_cards("KdQc"))]
    assert place[hand_number(*parse_cards("9c8s"))] == -1


def test_a_board_that_plays_ties_everyone() -> None:
    board = parse_cards("AsKsQsJsTs")
    assert np.count_nonzero(showdown_signs(board)) == 0
    assert len(set(ladder(board).ends.tolist())) == 1


@pytest.mark.parametrize("cards", [4, 3])
def test_an_order_needs_five_cards(cards: int) -> None:
    with pytest.raises(GameError, match="ordered on 5 board cards"):
        ladder(tuple(range(cards)))
