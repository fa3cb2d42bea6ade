"""Values alone are those of the whole network, and matrices by pair of infostates those whose expectations they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.inference import RowsEvaluator, network_evaluator
from sog.nets.shape import shape_for
from sog.nets.torch_rows import TorchRows
from sog.nets.values import value_evaluator, values_of
from sog.searches.leaves.evaluator import Beliefs, Clock, Timed, zero_evaluator
from sog.searches.tree.public_tree import PublicTree

PUBLIC = PublicTree(make_game("leduc_poker")).list_all()


def network(matchups: bool) -> CVPN:
    made = CVPN(shape_for(PUBLIC.game, 48, 2, crossed=PUBLIC.game.crossed, matchups=matchups), seed=1)
    torch.nn.init.normal_(made.get_parameter("head.weight"), 0.0, 0.2, torch.Generator().manual_seed(0))
    return made


def beliefs(count: int) -> Beliefs:
    rng, slots0 = np.random.default_rng(0), PUBLIC.game.num_slots[0]
    nodes = rng.choice(np.flatnonzero(PUBLIC.nodes.actor[: PUBLIC.size] < 2), size=count).astype(np.int32)
    ranges = rng.random((count, sum(PUBLIC.game.num_slots)))
    ranges[:, :slots0] /= ranges[:, :slots0].sum(axis=1, keepdims=True)
    ranges[:, slots0:] /= ranges[:, slots0:].sum(axis=1, keepdims=True)
    return Beliefs(PUBLIC, nodes, ranges)


def test_a_broken_network_gives_no_values() -> None:
    made = network(False)
    with torch.no_grad():
        next(made.parameters())[0, 0] = float("nan")
    with pytest.raises(CheckpointError):
        value_evaluator(made)


@pytest.mark.parametrize("matchups", [False, True])
@pytest.mark.parametrize("count", [3, 96, 193])
def test_values_are_the_whole_network_s(matchups: bool, count: int) -> None:
    made, asked = network(matchups), beliefs(count)
    (whole,), (found,) = network_evaluator(made)([asked]), value_evaluator(made)([asked])
    assert np.abs(whole.values).max() > 0.1
    np.testing.assert_array_equal(found.values, whole.values)
    assert found.logits.shape == whole.logits.shape and not found.logits.any()
    (both,) = value_evaluator(made, policies=True)([asked])
    np.testing.assert_array_equal(both.logits, whole.logits)


def test_pairs_are_those_whose_expectations_the_values_are() -> None:
    made, asked = network(True), beliefs(4)
    (whole,), (pairs,) = network_evaluator(made)([asked]), value_evaluator(made, pairs=True)([asked])
    s0, s1 = PUBLIC.game.num_slots
    for b, node in enumerate(asked.nodes):
        table, joint = pairs.values[b].reshape(s0, s1), np.zeros((s0, s1))
        at = PUBLIC.slots_of(int(node), 0)[:, None], PUBLIC.slots_of(int(node), 1)[None, :]
        joint[at] = PUBLIC.game.weights(PUBLIC.states[node]).dense()
        r1 = asked.ranges[b, s0:]
        mass = (joint * r1).sum(axis=1)  # 0 for the card on the board
        expected = np.divide((joint * table * r1).sum(axis=1), mass, out=np.zeros(s0), where=mass > 0)
        np.testing.assert_allclose(whole.values[b, :s0], expected, atol=1e-4)


def test_only_networks_with_matchups_tell_pairs_and_other_evaluators_stay_as_they_are() -> None:
    with pytest.raises(SettingError):
        value_evaluator(network(False), pairs=True)
    with pytest.raises(SettingError):
        values_of(RowsEvaluator(TorchRows(network(False))), pairs=True)
    with pytest.raises(SettingError):
        values_of(Timed(RowsEvaluator(TorchRows(network(False))), Clock()), pairs=True)
    assert values_of(zero_evaluator) is values_of(zero_evaluator, pairs=True) is zero_evaluator
    pairs = value_evaluator(network(True), pairs=True)
    assert values_of(pairs, pairs=True) is pairs


def test_pairs_and_their_logits_are_the_outputs_of_the_head() -> None:
    made, asked = network(True), beliefs(5)
    (found,) = value_evaluator(made, policies=True, pairs=True)([asked])
    x = encode(asked, made.shape.crossed, made.shape.matchups)
    with torch.inference_mode():
        out = made.head(made.body(torch.from_numpy(x[:, : made.shape.seen]))).numpy()
    entries = PUBLIC.game.num_slots[0] * PUBLIC.game.num_slots[1]
    np.testing.assert_allclose(found.values, out[:, :entries] * asked.value_units()[:, None], atol=1e-4)
    (whole,) = network_evaluator(made)([asked])
    np.testing.assert_array_equal(found.logits, whole.logits)


def test_timed_evaluators_tell_pairs_too() -> None:
    """An actor of a run without rounds counts what its network takes."""
    made, asked, clock = network(True), beliefs(5), Clock()
    (expected,) = value_evaluator(made, pairs=True)([asked])
    (timed,) = values_of(Timed(network_evaluator(made), clock), pairs=True)([asked])
    np.testing.assert_array_equal(timed.values, expected.values)
    assert clock.seconds > 0
