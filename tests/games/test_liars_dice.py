"""Liar's Dice: the wild face, the counts of rolls, and features that tell the rest of the game."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.base import TERMINAL
from sog.games.checks.public_states import walk
from sog.games.rules.liars_dice import LiarsDice


def test_rolls_carry_multinomial_counts() -> None:
    game = LiarsDice(2, 3)
    assert game.rolls == [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]
    counts = np.array([1, 2, 2, 1, 2, 1])
    np.testing.assert_allclose(game.weights(()).dense(), np.outer(counts, counts) / 3**4)


@pytest.mark.parametrize(
    ("bid", "mine", "theirs", "holds"),
    [
        ((1, 1), (2, 2), (2, 2), False),
        ((1, 1), (2, 2), (2, 3), True),  # a wild 3 stands for a 1
        ((3, 2), (2, 2), (1, 3), True),
        ((4, 2), (2, 2), (1, 3), False),
        ((2, 3), (1, 3), (2, 3), True),
        ((3, 3), (1, 3), (2, 3), False),  # a bid on the wild face counts that face only
    ],
)
def test_who_wins_a_call(bid: tuple[int, int], mine: tuple[int, int], theirs: tuple[int, int], holds: bool) -> None:
    game = LiarsDice(2, 3)
    action = (bid[0] - 1) * 3 + bid[1] - 1
    assert game.quantity_and_face(action) == bid
    pair = game.rolls.index(mine), game.rolls.index(theirs)
    first = game.payoff((action, game.num_bids)).dense()[pair] / game.weights(()).dense()[pair]
    assert first == pytest.approx(1.0 if holds else -1.0)  # player 0 bid, player 1 called
    second = game.payoff((0, action, game.num_bids)).dense()[pair] / game.weights(()).dense()[pair]
    if action > 0:
        assert second == pytest.approx(-first)  # player 1 bid, player 0 called


def test_payoff_matrices_are_shared_between_lines_that_end_on_one_bid() -> None:
    game = LiarsDice(1, 3)
    assert game.payoff((0, 3, 6)).operator is game.payoff((1, 2, 3, 6)).operator


def test_the_tree_has_one_state_for_every_rising_line() -> None:
    visits = list(walk(LiarsDice(1, 3), 1000))
    assert len(visits) == 2**7 - 1  # sets of bids, and each but the empty one called


def test_features_tell_the_rest_of_the_game() -> None:
    game = LiarsDice(2, 2)
    rest: dict[bytes, tuple[int, list[int]]] = {}
    for visit in walk(game, 1000):
        if game.actor(visit.state) == TERMINAL:
            continue
        told = game.actor(visit.state), game.actions(visit.state).tolist()
        assert rest.setdefault(game.features(visit.state).tobytes(), told) == told
    assert len(rest) == 1 + 1 + 2 * 7  # the start, the lowest bid by player 0, any other bid by either


def test_words() -> None:
    game = LiarsDice(1, 6)
    assert game.state_name((4, 10, 12)) == "1x5 2x5 liar"
    assert game.infostate_name((), 0, 4) == "5"
