"""Networks as wide as hold'em's layers over all hands: kernels answer as PyTorch does; what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator, rows_answer
from sog.nets.shape import shape_for
from sog.nets.torch_rows import TorchRows
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree


@pytest.fixture(scope="module")
def public() -> PublicTree:
    return PublicTree(make_game("holdem(bets=1.0)"))


def test_wide_answers_are_those_of_pytorch_and_of_the_weights_as_they_were(public: PublicTree) -> None:
    network = CVPN(shape_for(public.game, width=256, depth=1), seed=2)
    with torch.no_grad():
        network.head.weight.normal_(0.0, 0.1, generator=torch.Generator().manual_seed(1))
    ranges = np.random.default_rng(0).dirichlet(np.ones(1326), (3, 2)).reshape(3, 2652)
    beliefs = Beliefs(public, np.zeros(3, dtype=np.int32), ranges)
    evaluator, expected = network_evaluator(network), rows_answer(TorchRows(network))(beliefs)
    with torch.no_grad():
        network.head.weight.zero_()
    answer = evaluator([beliefs])[0]
    assert np.abs(expected.values).max() > 1
    np.testing.assert_allclose(answer.values, expected.values, atol=1e-3)
    np.testing.assert_allclose(answer.logits, expected.logits, atol=1e-4)


def test_matchups_of_hands_are_refused(public: PublicTree) -> None:
    with pytest.raises(SettingError, match="matchups are for few infostates"):
        shape_for(public.game, matchups=True)
