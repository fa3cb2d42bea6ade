"""Leduc poker: chips of known lines, the board card's blocking, and suits."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.base import NATURE, TERMINAL
from sog.games.rules.leduc.game import Leduc, LeducState

JACK, OTHER_JACK, QUEEN, KING = 0, 1, 2, 4


def utility(game: Leduc, s: LeducState, i0: int, i1: int) -> float:
    return float(game.payoff(s).dense()[i0, i1] / game.weights(s).dense()[i0, i1])


@pytest.mark.parametrize(
    ("s", "i0", "i1", "chips"),
    [
        (LeducState("rf"), KING, JACK, 1.0),  # the raised chips come back
        (LeducState("rrf"), KING, JACK, -3.0),
        (LeducState("cc", QUEEN, "cc"), KING, JACK, 1.0),
        (LeducState("cc", JACK, "cc"), KING, OTHER_JACK, -1.0),  # a pair beats a king
        (LeducState("cc", QUEEN, "cc"), JACK, OTHER_JACK, 0.0),
        (LeducState("crrc", QUEEN, "crrc"), KING, JACK, 13.0),
        (LeducState("rc", QUEEN, "rrf"), KING, JACK, -7.0),
    ],
)
def test_chips_of_known_lines(s: LeducState, i0: int, i1: int, chips: float) -> None:
    game = Leduc()
    assert game.actor(s) == TERMINAL
    assert utility(game, s, i0, i1) == pytest.approx(chips)
    if "f" not in s.line:
        assert utility(game, s, i1, i0) == pytest.approx(-chips)


def test_fold_needs_a_raise_and_raises_are_capped_at_two() -> None:
    game = Leduc()
    lines = {"": [1, 2], "c": [1, 2], "r": [0, 1, 2], "rr": [0, 1], "crr": [0, 1]}
    for line, actions in lines.items():
        assert game.actions(LeducState(line)).tolist() == actions
        assert game.actions(LeducState("cc", JACK, line)).tolist() == actions


def test_the_board_card_blocks_hands() -> None:
    game = Leduc()
    s = LeducState("rc")
    assert game.actor(s) == NATURE
    for board, child in enumerate(game.fan(s).children):
        w = game.weights(child).dense()
        assert not w[board].any() and not w[:, board].any()
        np.testing.assert_allclose(w.sum(), 1 / 6)


def test_exchanging_the_suits_keeps_slots_and_features() -> None:
    game = Leduc()
    one, other = LeducState("cc", 2), LeducState("cc", 3)
    np.testing.assert_array_equal(game.features(one), game.features(other))
    exchanged = np.arange(6) ^ 1
    np.testing.assert_array_equal(game.slot(one, 0), game.slot(other, 0)[exchanged])
