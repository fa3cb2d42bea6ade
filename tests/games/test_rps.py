"""Modified rock-paper-scissors: the zero-sum matrix of ReBeL, figure 1a, and its equilibrium."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from sog.arrays import Float64
from sog.games.base import step
from sog.games.rules.rps import RockPaperScissors


def played(game: RockPaperScissors) -> Float64:
    """float64[3, 3]: player 0's utility of each pair of choices, by playing them."""
    utility = np.zeros((3, 3))
    root = game.fan(game.root())
    for a in range(3):
        edge, pair = step(root, 0, (0, 0), a)
        answer = game.fan(root.children[edge])
        for b in range(3):
            edge, last = step(answer, 1, pair, b)
            utility[a, b] = game.payoff(answer.children[edge]).dense()[last]
    return utility


def test_wins_and_losses_with_scissors_count_double() -> None:
    np.testing.assert_array_equal(played(RockPaperScissors()), [[0, -1, 2], [1, 0, -2], [-2, 2, 0]])


def test_equilibrium() -> None:
    utility = played(RockPaperScissors())
    # Maximise v under x @ utility >= v, x a distribution.
    solution = linprog(
        [0, 0, 0, -1],
        A_ub=np.column_stack([-utility.T, np.ones(3)]),
        b_ub=np.zeros(3),
        A_eq=[[1, 1, 1, 0]],
        b_eq=[1],
        bounds=[(0, 1)] * 3 + [(None, None)],
    )
    np.testing.assert_allclose(solution.x, [0.4, 0.4, 0.2, 0.0], atol=1e-9)


def test_the_first_pick_is_hidden() -> None:
    game = RockPaperScissors()
    fan = game.fan(game.root())
    assert len(fan.children) == 1
    assert game.num_infostates(fan.children[0]) == (3, 1)
    assert [game.infostate_name(fan.children[0], 0, i) for i in range(3)] == ["rock", "paper", "scissors"]
    assert game.state_name("?s") == "hidden pick, scissors"
