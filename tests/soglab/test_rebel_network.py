"""The network written for ReBeL's own program answers its queries as our evaluator answers the same beliefs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from sog.errors import SettingError
from sog.games.rules.liars_dice import LiarsDice
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.nets.values import value_evaluator
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree
from soglab.baselines.rebel_network import first_values, rebel_module
from soglab.bench.evaluators import SameAnswers

GAME = LiarsDice(1, 3)


def drawn(game: LiarsDice) -> CVPN:
    network = CVPN(shape_for(game, 16, 2))
    for weight in network.parameters():
        torch.nn.init.normal_(weight, 0.0, 0.5, torch.Generator().manual_seed(weight.numel()))
    return network


def test_queries_get_the_answers_that_beliefs_get() -> None:
    public, rng, network = PublicTree(GAME).list_all(), np.random.default_rng(0), drawn(GAME)
    nodes = np.array([n for n in range(len(public.states)) if public.actor(n) < 2], dtype=np.int32)
    ranges = rng.dirichlet(np.ones(3), size=(len(nodes), 2)).reshape(len(nodes), 6)
    queries = np.zeros((len(nodes), 2 + 7 + 6), dtype=np.float32)
    queries[:, 1], queries[:, 9:] = rng.integers(2, size=len(nodes)), ranges
    for query, node in zip(queries, nodes, strict=True):
        bids = public.states[node]
        query[0] = len(bids) % 2
        if bids:
            query[2 + bids[-1]] = 1.0
    (expected,) = value_evaluator(network)([Beliefs(public, nodes, ranges)])
    answers = rebel_module(network, GAME)(torch.from_numpy(queries)).numpy()
    np.testing.assert_allclose(answers, expected.values, atol=1e-4)
    assert np.abs(answers).max() > 0.5


def test_a_constant_by_hand_is_what_the_players_get() -> None:
    by_hand = np.tile([-0.3, 0.05, 0.4], (100, 2))
    answers = SameAnswers(by_hand, np.zeros((100, 3, 7)))
    for values in first_values(GAME, answers, 1024):
        np.testing.assert_allclose(values, [-0.3, 0.05, 0.4], atol=1e-3)


def test_other_networks_are_refused() -> None:
    network = drawn(GAME)
    network.shape = replace(network.shape, matchups=True)
    for refused, game in ((network, GAME), (drawn(LiarsDice(2, 2)), LiarsDice(2, 2))):
        with pytest.raises(SettingError, match="mlp without matchups, for one die"):
            rebel_module(refused, game)
