"""Best responses to policies of games by histories: streamed equal to listed, learned below both."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sog.algorithms.policy import responses
from sog.algorithms.policy.agent import network_policy, policy_exploitability
from sog.algorithms.policy.best_response import learn_response
from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.policy.responses import LEARNED, RESPONSES
from sog.algorithms.policy.settings import ResponseSettings
from sog.errors import GameError
from sog.games.catalog import make_game, make_history_game
from sog.measure.intervals import mean_interval
from sog.measure.streamed_best_response import best_response_value, streamed_exploitability
from sog.nets.cvpn import CVPN
from sog.nets.shape import policy_shape
from sog.searches.cfr import exact
from sog.searches.tree.whole import whole_tree

GAMES = ["kuhn_poker", "leduc_poker", "goofspiel(imp_info=True,num_cards=4,points_order=descending)"]


def random_network(name: str) -> CVPN:
    game = make_history_game(name)
    network = CVPN(policy_shape(game, 16, 1), 1)
    rng = np.random.default_rng(2)
    for weight in network.head.parameters():
        weight.data += torch.from_numpy(rng.normal(0, 0.5, weight.shape).astype(np.float32))
    return network


@pytest.mark.parametrize("name", [*GAMES, "goofspiel(imp_info=True,num_cards=3,points_order=random)"])
@pytest.mark.parametrize("widest", [40, 200_000])
def test_streamed_best_responses_are_the_listed_ones(name: str, widest: int) -> None:
    game, network = make_history_game(name), random_network(name)
    public = whole_tree(make_game(name))
    listed = exact.measure_policy(public, network_policy(public, network))
    shares: list[float] = []
    policy = NetworkPolicy(game, network)
    found = streamed_exploitability(game, policy, widest, lambda share, seen: shares.append(share))
    np.testing.assert_allclose(found.best, listed.best, atol=1e-6)
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)


def test_a_game_without_public_rows_is_not_streamed() -> None:
    game = make_history_game("openspiel:kuhn_poker")
    with pytest.raises(GameError, match="what is public"):
        best_response_value(game, NetworkPolicy(game, random_network("openspiel:kuhn_poker")), 0)


def test_a_response_wins_its_own_seats_utility() -> None:
    """A response that has learned nothing: what the same two policies are worth to its seat, which is exact on Kuhn."""
    game, network = make_history_game("kuhn_poker"), random_network("kuhn_poker")
    public = whole_tree(make_game("kuhn_poker"))
    frozen, settings = network_policy(public, network), ResponseSettings(steps=0, measured=4_096, width=16, depth=1)
    own = network_policy(public, CVPN(policy_shape(game, 16, 1), 0))
    for seat in (0, 1):
        both = {node: (own if public.actor(node) == seat else frozen)[node] for node in frozen}
        value = (1 - 2 * seat) * exact.measure_policy(public, both).value
        mean, half = mean_interval(learn_response(game, network, seat, settings))
        assert half is not None and abs(mean - value) < 1.7 * half < abs(mean + value)


def test_a_learned_bound_is_the_mean_of_both_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so are the squares of its intervals: half of the root of their sum."""
    won = {0: np.array([0.0, 1.0, 2.0]), 1: np.array([0.0, 0.0, 3.0])}
    monkeypatch.setattr(responses, "learn_response", lambda game, network, seat, settings, report: won[seat])
    game, network = make_history_game("kuhn_poker"), random_network("kuhn_poker")
    found, figures = RESPONSES[LEARNED].run(game, network, lambda done, note: None, ResponseSettings())
    # Three games each: 4.30 standard errors, which are 1 and sqrt(3) over sqrt(3).
    assert found == 1.0 and figures["interval"] == pytest.approx(4.302653 * (1 / 3 + 1) ** 0.5 / 2)


def test_a_learned_response_wins_nearly_what_the_best_one_does_and_no_more() -> None:
    game, network = make_history_game("kuhn_poker"), random_network("kuhn_poker")
    public = whole_tree(make_game("kuhn_poker"))
    best = exact.measure_policy(public, network_policy(public, network)).best
    assert policy_exploitability(public, network) > 0.1
    settings = ResponseSettings(steps=60, games=256, measured=4000, width=32, depth=1)
    for seat in (0, 1):
        mean, half = mean_interval(learn_response(game, network, seat, settings))
        assert half is not None and best[seat] - 0.3 < mean < best[seat] + 2 * half
