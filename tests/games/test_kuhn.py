"""Kuhn poker: the value of its equilibrium."""

from __future__ import annotations

import numpy as np
import pytest

from sog.arrays import Array
from sog.games.base import TERMINAL
from sog.games.rules.kuhn import Kuhn

# An equilibrium: the probability of a bet with jack, queen and king at each betting line.
EQUILIBRIUM = {
    "": [1 / 3, 0.0, 1.0],
    "p": [1 / 3, 0.0, 1.0],
    "b": [0.0, 1 / 3, 1.0],
    "pb": [0.0, 2 / 3, 1.0],
}


def value(game: Kuhn, line: str, ranges: list[Array]) -> float:
    """Player 0's utility where both play the equilibrium from their ranges on."""
    actor = game.actor(line)
    if actor == TERMINAL:
        return float(ranges[0] @ game.payoff(line).dense() @ ranges[1])
    bet = np.array(EQUILIBRIUM[line])
    total = 0.0
    for child, play in zip(game.fan(line).children, (1 - bet, bet), strict=True):
        after = list(ranges)
        after[actor] = ranges[actor] * play
        total += value(game, str(child), after)
    return total


def test_value() -> None:
    game = Kuhn()
    assert value(game, "", [np.ones(3), np.ones(3)]) == pytest.approx(-1 / 18)


def test_words() -> None:
    game = Kuhn()
    assert game.state_name("pb") == "pass bet"
    assert [game.infostate_name("", 0, i) for i in range(3)] == ["J", "Q", "K"]
