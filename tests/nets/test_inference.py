"""Evaluators: the NumPy path equals the torch module, joined requests come back in order, NaN is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from sog.arrays import Int32
from sog.errors import CheckpointError, SettingError
from sog.games.base import TERMINAL
from sog.games.catalog import make_game
from sog.games.rules.leduc.game import Leduc
from sog.nets.cpu import dense
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.inference import (
    JoiningEvaluator,
    MlpAnswer,
    RowsEvaluator,
    network_evaluator,
    rows_answer,
)
from sog.nets.shape import shape_for
from sog.nets.torch_rows import TorchRows
from sog.nets.values import value_evaluator
from sog.searches.leaves.evaluator import Beliefs, Wanted
from sog.searches.tree.public_tree import PublicTree


@pytest.fixture(scope="module")
def public() -> PublicTree:
    return PublicTree(Leduc()).list_all()


def random_beliefs(public: PublicTree, count: int, seed: int) -> Beliefs:
    rng = np.random.default_rng(seed)
    asked: Int32 = np.flatnonzero(public.nodes.actor[: public.size] != TERMINAL).astype(np.int32)
    ranges = [rng.dirichlet(np.ones(slots), count) for slots in public.game.num_slots]
    return Beliefs(public, rng.choice(asked, count), np.concatenate(ranges, axis=1))


def trained(public: PublicTree, seed: int = 3, width: int = 32, depth: int = 2, matchups: bool = False) -> CVPN:
    """A network whose head is not zero."""
    crossed = (0, 1, 2) if public.game.num_features > 3 else ()
    network = CVPN(shape_for(public.game, width, depth, crossed=crossed, matchups=matchups), seed)
    with torch.no_grad():
        network.head.weight.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(seed))
        network.head.bias.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(seed + 1))
    return network


def test_evaluator_equals_the_module(public: PublicTree) -> None:
    network, beliefs = trained(public), random_beliefs(public, 40, 0)
    (answer,) = network_evaluator(network)([beliefs])
    with torch.no_grad():
        out = network(torch.from_numpy(encode(beliefs, (0, 1, 2))))
    values, logits = (part.numpy() for part in network.split(out))
    assert answer.values.dtype == answer.logits.dtype == np.float64
    np.testing.assert_allclose(answer.values, values * beliefs.value_units()[:, None], atol=1e-4)
    np.testing.assert_allclose(answer.logits, logits, atol=1e-5)
    assert np.ptp(answer.values) > 1.0


def test_rebels_layers_are_normalised_and_have_gelu(public: PublicTree) -> None:
    """ReBeL, section 7, by hand: x W + b, less its mean, by its deviation, times Phi of itself; evaluators agree."""
    network, beliefs = CVPN(shape_for(public.game, 32, 2, kind="gelu"), 3), random_beliefs(public, 40, 0)
    with torch.no_grad():
        network.head.weight.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(3))
    x = encode(beliefs).astype(np.float64)
    for k in range(2):
        weight, bias = (network.get_parameter(f"body.layer{k}.{name}").detach().numpy() for name in ("weight", "bias"))
        x = x @ weight.T + bias
        x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
        x = x * 0.5 * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)))
    out = x @ network.head.weight.detach().numpy().T
    values = out[:, : network.shape.num_values] * beliefs.value_units()[:, None]
    for evaluator in (network_evaluator(network), value_evaluator(network)):
        (answer,) = evaluator([beliefs])
        np.testing.assert_allclose(answer.values, values, atol=1e-4)
        np.testing.assert_allclose(answer.logits.ravel(), out[:, network.shape.num_values :].ravel(), atol=1e-4)
    assert np.ptp(values) > 1.0
    with pytest.raises(SettingError, match="only a network with matchups"):
        value_evaluator(network, pairs=True)


@pytest.mark.parametrize("matchups", [False, True])
@pytest.mark.parametrize("name", ["leduc_poker", "kuhn_poker"])
def test_values_or_policies_alone(name: str, matchups: bool) -> None:
    """Each alone is what comes with the other; in Kuhn poker there are as many logits as values."""
    public = PublicTree(make_game(name)).list_all()
    network = trained(public, matchups=matchups)
    every = [random_beliefs(public, count, count) for count in (5, 1, 9)]
    wanted = [Wanted.POLICIES, Wanted.BOTH, Wanted.VALUES]
    part = [beliefs._replace(wanted=want) for beliefs, want in zip(every, wanted, strict=True)]
    for evaluator, off in ((JoiningEvaluator(MlpAnswer(network)), 0.0), (RowsEvaluator(TorchRows(network)), 1e-5)):
        whole, parts = evaluator(every), evaluator(part)
        for found, both, want in zip(parts, whole, wanted, strict=True):
            if want is Wanted.POLICIES:
                assert len(found.values) == 0
            else:
                np.testing.assert_allclose(found.values, both.values, atol=off, rtol=0)
            if want is Wanted.VALUES:
                assert len(found.logits) == 0
            else:
                np.testing.assert_allclose(found.logits, both.logits, atol=off, rtol=0)


@pytest.mark.parametrize("name", ["leduc_poker", "scotland_yard(map=glasses)", "kuhn_poker"])
def test_each_player_has_logits_of_its_own_where_wanted(name: str) -> None:
    """SoG, Fig. 6: two sets of policy outputs, of which those of the acting player are meant."""
    public = PublicTree(make_game(name)).list_all()
    network = CVPN(shape_for(public.game, 16, 1, policies_apart=True))
    shape = network.shape
    with torch.no_grad():
        network.head.weight.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(1))
    assert shape.num_logits == sum(shape.slots) * shape.actions
    beliefs = random_beliefs(public, 200, 0)
    with torch.no_grad():
        whole = network.split(network(torch.from_numpy(encode(beliefs))))[1].numpy()
    actors = [public.actor(int(node)) for node in beliefs.nodes]
    assert {0, 1} <= set(actors)
    pair_of_answers = network_evaluator(network), value_evaluator(network, policies=True)
    for evaluator in pair_of_answers:
        (answer,) = evaluator([beliefs])
        assert answer.logits.shape[1] == max(shape.slots)
        for b, actor in enumerate(actors):
            first, width = (shape.slots[0], shape.slots[1]) if actor == 1 else (0, shape.slots[0])
            np.testing.assert_allclose(answer.logits[b, :width], whole[b, first : first + width], atol=1e-5)
    (by_torch,) = [rows_answer(TorchRows(network))(beliefs)]
    np.testing.assert_allclose(by_torch.logits, answer.logits, atol=1e-5)


def test_pytorch_answers_as_the_kernels(public: PublicTree) -> None:
    network, beliefs = trained(public), random_beliefs(public, 7, 1)
    (mine,) = network_evaluator(network)([beliefs])
    (other,) = JoiningEvaluator(rows_answer(TorchRows(network)))([beliefs])
    np.testing.assert_allclose(mine.values, other.values, atol=1e-4)
    np.testing.assert_allclose(mine.logits, other.logits, atol=1e-5)


@pytest.mark.parametrize("matchups", [False, True])
@pytest.mark.parametrize(("width", "depth"), [(5, 1), (16, 2), (33, 3), (128, 4)])
def test_every_size_of_mlp(public: PublicTree, width: int, depth: int, matchups: bool) -> None:
    network, beliefs = trained(public, width=width, depth=depth, matchups=matchups), random_beliefs(public, 300, 6)
    (mine,) = network_evaluator(network)([beliefs])
    torchs = rows_answer(TorchRows(network))(beliefs)
    np.testing.assert_allclose(mine.values, torchs.values, atol=1e-4)
    np.testing.assert_allclose(mine.logits, torchs.logits, atol=1e-5)


def test_tiles_of_every_size_give_the_same_bits(public: PublicTree) -> None:
    """Narrow and wide tiles, 1 to 13 rows: a row's answer depends on neither. 144: two wide tiles and a narrow one."""
    network = trained(public, width=144)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if name.endswith("bias"):
                weights.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(1))
    narrow, wide = MlpAnswer(network, 1), MlpAnswer(network, dense.WIDE)
    every = random_beliefs(public, 13, 0)
    whole = narrow(every)
    np.testing.assert_allclose(whole.values, rows_answer(TorchRows(network))(every).values, atol=1e-4)
    for count in range(1, 14):
        beliefs = Beliefs(public, every.nodes[:count], every.ranges[:count])
        for answer in (narrow, wide):
            found = answer(beliefs)
            assert np.array_equal(found.values, whole.values[:count])
            assert np.array_equal(found.logits, whole.logits[:count])


@pytest.mark.parametrize("registers", [1, dense.WIDE])
def test_inputs_that_are_zero_in_a_tile_are_left_out_and_change_no_bit(registers: int) -> None:
    """A row that alone is not 0 there, or is not a number, keeps an input; 23 rows: tiles of 4 and 5."""
    rng, count, width, out = np.random.default_rng(0), 23, 48, 80
    weights = dense.packed(rng.normal(size=(1 + width, out)).astype(np.float32), registers)
    x = rng.normal(size=(count, width)).astype(np.float32)
    x[:, ::3] = 0.0
    x[7, 9], x[20, 12] = 1e-30, np.nan
    listed, place = np.zeros(width, dtype=np.int32), (0, count, width, out)
    plain, sparse = np.zeros((2, count, out), dtype=np.float32)
    dense.layer(x.ravel(), weights, place, np.float32(0.0), registers, plain.ravel())
    dense.sparse_layer(x.ravel(), weights, place, np.float32(0.0), registers, listed, sparse.ravel())
    assert np.array_equal(plain, sparse, equal_nan=True) and np.isnan(sparse[20]).all()
    # The last tile's list: what is not 0 in some of its rows.
    rows = x[18:]
    found = np.flatnonzero((rows != 0.0).any(axis=0))
    assert listed[: len(found)].tolist() == found.tolist()


def test_requests_come_back_in_order_and_joining_changes_no_bit(public: PublicTree) -> None:
    other = PublicTree(Leduc()).list_all()
    evaluator = network_evaluator(trained(public))
    sizes = ((public, 3), (public, 1), (other, 5), (public, 0), (public, 270))
    requests = [random_beliefs(tree, count, count) for tree, count in sizes]
    together = evaluator(requests)
    assert [len(answer.values) for answer in together] == [3, 1, 5, 0, 270]
    for request, answer in zip(requests, together, strict=True):
        (alone,) = evaluator([request])
        np.testing.assert_array_equal(answer.values, alone.values)
        np.testing.assert_array_equal(answer.logits, alone.logits)


def test_same_requests_same_bits_and_answers_are_kept(public: PublicTree) -> None:
    evaluator, beliefs = network_evaluator(trained(public)), random_beliefs(public, 33, 2)
    (first,) = evaluator([beliefs])
    kept = first.values.copy(), first.logits.copy()
    evaluator([random_beliefs(public, 33, 9)])
    (again,) = evaluator([beliefs])
    for answer in (first, again):
        np.testing.assert_array_equal(answer.values, kept[0])
        np.testing.assert_array_equal(answer.logits, kept[1])


def test_weights_are_copied(public: PublicTree) -> None:
    network, beliefs = trained(public), random_beliefs(public, 4, 5)
    evaluator = network_evaluator(network)
    (before,) = evaluator([beliefs])
    with torch.no_grad():
        network.head.bias.add_(1.0)
    (after,) = evaluator([beliefs])
    np.testing.assert_array_equal(before.values, after.values)


def test_a_new_network_answers_zero(public: PublicTree) -> None:
    (answer,) = network_evaluator(CVPN(shape_for(public.game)))([random_beliefs(public, 5, 4)])
    assert not answer.values.any() and not answer.logits.any()


def test_nan_is_refused_when_the_evaluator_is_made(public: PublicTree) -> None:
    network = trained(public)
    with torch.no_grad():
        network.head.weight[0, 0] = float("nan")
    with pytest.raises(CheckpointError, match="NaN"):
        network_evaluator(network)


GOOFSPIEL = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"


@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice(numdice=1,dice_sides=3)", "kuhn_poker", GOOFSPIEL])
def test_matchup_values_are_expectations_of_one_matrix(name: str) -> None:
    """For every public state: v = U (W r) / (W r 1), with both players' values from the same U."""
    game = make_game(name)
    tree = PublicTree(game).list_all()
    network, beliefs = trained(tree, matchups=True), random_beliefs(tree, 40, 8)
    (answer,) = network_evaluator(network)([beliefs])
    x = torch.from_numpy(encode(beliefs, network.shape.crossed))
    pairs, s0 = game.num_slots[0] * game.num_slots[1], game.num_slots[0]
    with torch.no_grad():
        matrices = network.head(network.body(x))[:, :pairs].reshape(-1, *game.num_slots).numpy()
    for b, node in enumerate(beliefs.nodes):
        state = tree.states[node]
        at = [game.slot(state, 0), game.slot(state, 1)]
        weights, ranges = game.weights(state).dense(), (beliefs.ranges[b, at[0]], beliefs.ranges[b, s0 + at[1]])
        utilities = game.value_unit(state) * matrices[b][np.ix_(*at)] * weights
        for p, (cfv, mass) in enumerate(
            ((utilities @ ranges[1], weights @ ranges[1]), (-ranges[0] @ utilities, ranges[0] @ weights))
        ):
            wanted = np.divide(cfv, mass, out=np.zeros_like(cfv), where=mass > 0)
            np.testing.assert_allclose(answer.values[b, at[p] + p * s0], wanted, atol=1e-4)
