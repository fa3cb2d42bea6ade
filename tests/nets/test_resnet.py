"""The residual network: sizes, an untrained one's answers, whose value it is, folded and saved copies."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch

from sog.errors import SettingError
from sog.games.boards.positions import BoardPosition
from sog.games.catalog import make_game
from sog.games.rules.leduc.game import Leduc
from sog.nets import inference
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.inference import ResNetEvaluator, RowsEvaluator, network_evaluator, rows_answer
from sog.nets.resnet import PolicyHead, inference_copy
from sog.nets.shape import shape_for
from sog.nets.torch_rows import TorchRows
from sog.searches.leaves.evaluator import Beliefs
from sog.searches.tree.public_tree import PublicTree
from sog.training import checkpoint

GAMES = ("chess", "go(board_size=5,komi=0.5)", "connect_four")


def beliefs_of(name: str) -> Beliefs:
    """The first positions of a game, of both players."""
    public = PublicTree(make_game(name))
    node = 0
    for _ in range(3):
        public.list_fan(node)
        node = public.child(node, 2)
    nodes = np.arange(public.size, dtype=np.int32)
    return Beliefs(public, nodes, np.ones((len(nodes), 2)))


def trained(name: str, seed: int = 1) -> CVPN:
    """A network with weights everywhere, and batch normalisation that has seen something."""
    network = CVPN(shape_for(make_game(name), 8, 2, "resnet"), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name_, weight in network.named_parameters():
            if name_.endswith("_last.weight"):
                weight.normal_(0.0, 0.5, generator=generator)
        for _ in range(3):
            network(torch.rand(16, network.shape.inputs, generator=generator))
    return network


@pytest.mark.parametrize("name", GAMES)
def test_an_untrained_network_answers_nothing(name: str) -> None:
    beliefs = beliefs_of(name)
    shape = shape_for(beliefs.public.game, 8, 2, "resnet")
    (answer,) = network_evaluator(CVPN(shape))([beliefs])
    assert answer.values.shape == (4, 2) and answer.logits.shape == (4, 1, shape.actions)
    assert not answer.values.any() and not answer.logits.any()


@pytest.mark.parametrize("name", GAMES)
def test_the_folded_copy_answers_as_the_network(name: str) -> None:
    network, beliefs = trained(name).eval(), beliefs_of(name)
    x = torch.from_numpy(encode(beliefs))
    with torch.inference_mode():
        torch.testing.assert_close(inference_copy(network)(x), network(x), atol=1e-4, rtol=1e-4)
    assert network(x).detach().abs().max() > 0.05


def test_searches_on_different_trees_are_one_call_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    network, requests = trained("connect_four"), [beliefs_of("connect_four") for _ in range(3)]
    evaluator, calls = network_evaluator(network), []
    assert isinstance(evaluator, ResNetEvaluator)
    (alone,), rows = evaluator(requests[:1]), evaluator.rows
    monkeypatch.setattr(evaluator, "rows", lambda x, wanted: calls.append(len(x)) or rows(x, wanted))
    answers = evaluator(requests)
    assert calls == [12]
    for answer in answers:
        assert np.array_equal(answer.values, alone.values) and np.array_equal(answer.logits, alone.logits)


@pytest.mark.parametrize("name", GAMES)
def test_pytorch_answers_alike_one_call_for_all(name: str) -> None:
    network, requests = trained(name), [beliefs_of(name) for _ in range(3)]
    evaluator, calls = RowsEvaluator(rows := TorchRows(network)), []
    rows.network.register_forward_pre_hook(lambda module, args: calls.append(len(args[0])))
    answers = evaluator(requests)
    assert calls == [12]
    for answer, ours in zip(answers, network_evaluator(network)(requests), strict=True):
        np.testing.assert_allclose(answer.values, ours.values, atol=1e-5)
        np.testing.assert_allclose(answer.logits, ours.logits, atol=1e-4)


def test_what_no_kernel_runs_pytorch_runs_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    network, beliefs = trained("connect_four").train(), beliefs_of("connect_four")
    (ours,) = network_evaluator(network)([beliefs])
    monkeypatch.setattr(inference, "uses_kernels", lambda network: False)
    evaluator = network_evaluator(network)
    assert isinstance(evaluator, RowsEvaluator)
    (answer,) = evaluator([beliefs])
    np.testing.assert_allclose(answer.values, ours.values, atol=1e-5)
    np.testing.assert_allclose(answer.logits, ours.logits, atol=1e-4)


@pytest.mark.parametrize("name", GAMES)
def test_plain_pytorch_answers_as_play_does_and_learns_nothing(name: str) -> None:
    """Normalisation by what was learned, not by the batch."""
    network, beliefs = trained(name).train(), beliefs_of(name)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    answer, (ours,) = rows_answer(TorchRows(network))(beliefs), network_evaluator(network)([beliefs])
    np.testing.assert_allclose(answer.values, ours.values, atol=1e-5)
    np.testing.assert_allclose(answer.logits, ours.logits, atol=1e-4)
    assert all(torch.equal(before[key], value) for key, value in network.state_dict().items())


def test_values_are_the_movers_and_sum_to_zero() -> None:
    """The same planes seen by the other player have the same value for the mover."""
    network = trained("connect_four").eval()
    x = torch.from_numpy(encode(beliefs_of("connect_four")))
    other = x.clone()
    cells = network.shape.features
    other[:, cells - 42 : cells] = 1.0 - x[:, cells - 42 : cells]
    with torch.inference_mode():
        values, turned = network(x)[:, :2], network(other)[:, :2]
    assert torch.equal(values[:, 0], -values[:, 1])
    acts = x[:, cells - 1] == 1.0
    assert acts.any() and not acts.all()
    network.body.entry.conv.weight.data[:, -1] = 0.0  # now only the sign depends on who moves
    with torch.inference_mode():
        torch.testing.assert_close(network(x)[:, 0], -network(other)[:, 0])
    assert turned.shape == values.shape


def test_policy_cells_stand_where_actions_are() -> None:
    """A policy plane k that is hot in one cell only moves the logit of action (h * W + w) * P + k."""
    shape = shape_for(make_game("chess"), 8, 1, "resnet")
    head = PolicyHead(shape).eval()
    with torch.no_grad():
        head.layer.conv.weight.zero_()
        head.layer.conv.weight[0, 0, 1, 1] = 1.0
        head.cells_last.weight.zero_()
        head.cells_last.bias.zero_()
        head.cells_last.weight[16, 0] = 1.0
        head.rest_last.weight.zero_()
        head.rest_last.bias.zero_()
        x = torch.zeros(1, 8, 8, 8)
        x[0, 0, 4, 1] = 1.0
        hot = head(x)[0].nonzero().flatten().tolist()
    game = make_game("chess")
    assert [game.action_name(cast(BoardPosition, game.root()), action) for action in hot] == ["e2e3"]


def test_a_checkpoint_keeps_what_normalisation_has_seen(tmp_path: Path) -> None:
    network = trained("connect_four")
    checkpoint.save(tmp_path / "c", network, "connect_four", "run", 0, {})
    _, loaded, _ = checkpoint.load_network(tmp_path / "c")
    assert loaded.shape == network.shape
    beliefs = beliefs_of("connect_four")
    ours, theirs = (network_evaluator(n)([beliefs])[0] for n in (network, loaded))
    assert np.array_equal(ours.values, theirs.values) and np.array_equal(ours.logits, theirs.logits)


def test_games_without_planes_are_refused() -> None:
    with pytest.raises(SettingError, match="planes"):
        shape_for(Leduc(), 8, 1, "resnet")
