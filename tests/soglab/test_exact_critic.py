"""Exact values of all histories, against the recursive ones of the tests; and what errors a critic has beside them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.sepot.critic import profiles
from sog.algorithms.sepot.transformations import LearnedTransformations
from sog.arrays import Float64, Int32
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame
from sog.nets.cvpn import CVPN
from sog.nets.shape import policy_shape
from soglab.checks.exact_critic import ExactCritic
from soglab.checks.sepot_critic import _errors
from tests.policies import ExactCritic as Recursive
from tests.policies import value_of

GAMES = ("kuhn_poker", "goofspiel(imp_info=True,num_cards=3,points_order=random)", "liars_dice(numdice=1,dice_sides=2)")


class Transformed:
    """One transformation of a network's policy as an `OwnPolicy`."""

    def __init__(self, game: HistoryGame, network: CVPN, made: LearnedTransformations, number: int) -> None:
        self.game, self.policy, self.made, self.number = game, NetworkPolicy(game, network), made, number

    def __call__(self, states: Int32, player: int) -> Float64:
        viewers = np.full(len(states), player, dtype=np.int32)
        seen = SimpleNamespace(states=states, inputs=self.game.inputs(states, viewers), legal=self.game.legal(states))
        played = self.policy(states, player).astype(np.float32)
        return self.made.of(seen, played)[:, self.number].astype(np.float64)


@pytest.mark.parametrize("name", GAMES)
def test_all_histories_are_worth_what_their_trees_say(name: str) -> None:
    game = make_history_game(name)
    network = CVPN(policy_shape(game, 8, 1), 3)
    made = LearnedTransformations(game, (8,), 3, 0.5, 4)
    found = ExactCritic(game, network, made, profiles(3))
    options = [[Transformed(game, network, made, k) for k in range(3)] for _ in (0, 1)]
    for chooser in (0, 1):
        other = Recursive(game, options).values(found.states, chooser)
        np.testing.assert_allclose(found.values(found.states, chooser), other, atol=1e-5)
    assert found.worth[0, 0] == pytest.approx(value_of(game, game.begin(1), (options[0][0], options[1][0]))[0])
    ended = ~found.going
    assert found.reach[ended].sum() == pytest.approx(1.0)
    assert found.reach[ended] @ found.worth[ended, 0] == pytest.approx(found.worth[0, 0], abs=1e-6)


def test_errors_of_a_critic_that_knows_all_or_nothing() -> None:
    game = make_history_game(GAMES[1])
    network, made = CVPN(policy_shape(game, 8, 1), 3), LearnedTransformations(game, (8,), 3, 0.5, 4)
    exact = ExactCritic(game, network, made, profiles(3))
    turn = int(exact.turns[exact.going].max())
    all_of_it = _errors(exact, exact.worth, turn)
    assert all_of_it["error"] == all_of_it["change_error"] == all_of_it["error_by_reach"] == 0.0
    assert all_of_it["spread"] > 0.1 and all_of_it["change"] > 0.0
    here = exact.going & (exact.turns == turn)
    mean = np.broadcast_to(exact.worth[here, 0].mean(), exact.worth.shape)
    nothing = _errors(exact, mean, turn)
    assert nothing["error"] == pytest.approx(nothing["spread"])
    assert nothing["change_error"] == pytest.approx(nothing["change"])
