"""Weights by name: those of the modules that learn, whatever the kind of network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import safetensors.torch
import torch

from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN, module_of
from sog.nets.network import COUNT, StoredNetwork, sizes_of, untrained
from sog.nets.nonsense import answer_to_ones
from sog.nets.serialized import network_bytes, network_of
from sog.nets.shape import KINDS, NetworkShape, shape_for

LEDUC, GO = make_game("leduc_poker"), make_game("go(board_size=5)")
SHAPES = [
    shape_for(LEDUC, 16, 3),
    shape_for(LEDUC, 16, 2, crossed=(0,), matchups=True),
    shape_for(LEDUC, 16, 2, "gelu", policies_apart=True),
    shape_for(GO, 16, 2, "resnet", ownership=True),
    replace(shape_for(make_game("connect_four"), 32, 1, "resnet"), value_planes=3),
    shape_for(make_game("chess"), 16, 2, "resnet"),
    shape_for(make_game("holdem(inputs=strength,bets=1;allin)"), 16, 1, "hands"),
    shape_for(make_game("scotland_yard(map=ring8,inputs=stations)"), 16, 2, "stations"),
]


def test_each_kind_of_network_is_here() -> None:
    assert {shape.kind for shape in SHAPES} == set(KINDS)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.kind}{shape.depth}")
def test_sizes_are_those_of_the_module(shape: NetworkShape) -> None:
    network = CVPN(shape, 1)
    assert sizes_of(shape) == {name: tuple(weight.shape) for name, weight in network.state_dict().items()}
    content = network_bytes(network)
    assert content == safetensors.torch.save(dict(network.state_dict()))
    again = module_of(network_of(shape, content)).state_dict()
    assert all(torch.equal(weight, again[name]) for name, weight in network.state_dict().items())


@pytest.mark.parametrize("shape", SHAPES[:6], ids=lambda shape: f"{shape.kind}{shape.depth}")
def test_an_untrained_network_answers_nothing(shape: NetworkShape) -> None:
    with torch.no_grad():
        assert not module_of(untrained(shape)).eval()(torch.rand(3, shape.inputs)).any()


@pytest.mark.parametrize("shape", SHAPES[:6], ids=lambda shape: f"{shape.kind}{shape.depth}")
def test_the_question_when_it_is_loaded_is_answered_as_by_pytorch(shape: NetworkShape) -> None:
    rng = np.random.default_rng(1)
    weights = dict(untrained(shape).weights)
    for name, size in sizes_of(shape).items():
        if not name.endswith(COUNT):
            weights[name] = np.abs(rng.normal(size=size).astype(np.float32))
    network = StoredNetwork(shape, weights)
    with torch.no_grad():
        module = module_of(network).eval()
        answer = module.head(module.body(torch.ones(1, shape.seen)))[0].numpy()
    # Of a resnet both players' values come first.
    wanted = np.delete(answer, 1) if shape.kind == "resnet" else answer
    np.testing.assert_allclose(answer_to_ones(network), wanted, rtol=1e-4, atol=1e-4)
