"""The residual network's kernels: PyTorch's answers, the same bits whatever the batch, the tiles and the processor."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
import torch

from sog.arrays import Float32
from sog.nets.cpu import residual
from sog.nets.cpu.resnet_packed import Tiles, packed_network
from sog.nets.cpu.winograd import best_tile, spread_weights
from sog.nets.cvpn import CVPN
from sog.nets.resnet import inference_copy
from sog.nets.shape import NetworkShape

TILES: Tiles = (2, 12)
Case = tuple[tuple[int, int, int], int, int, int, int, int]
# Planes, policy planes, actions, channels, blocks and value planes: boards of one tile and of several, tiles of 3 and 4
# cells, channels that fill registers or not, and every kind of policy and value head.
SHAPES: tuple[Case, ...] = (
    ((17, 6, 7), 0, 7, 32, 2, 16),
    ((17, 7, 7), 1, 50, 8, 1, 1),
    ((5, 9, 9), 1, 82, 48, 1, 5),
    ((20, 8, 8), 3, 194, 16, 1, 16),
    ((3, 3, 3), 1, 9, 16, 2, 20),
    ((2, 2, 5), 0, 20, 32, 1, 1),
    ((3, 19, 19), 1, 362, 16, 1, 32),
)


def network_of(case: Case) -> CVPN:
    """A network with weights everywhere, and batch normalisation that has seen something."""
    planes, policy_planes, actions, width, depth, value_planes = case
    body = NetworkShape(math.prod(planes), (1, 1), actions, width, depth, "resnet", planes=planes)
    shape = replace(body, policy_planes=policy_planes, value_planes=value_planes)
    network, generator = CVPN(shape, 1), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.endswith(("_last.weight", "bias")):
                weight.normal_(0.0, 0.3, generator=generator)
        for _ in range(3):
            network(torch.rand(16, shape.inputs, generator=generator))
    return network.eval()


def rows_of(network: CVPN, count: int, seed: int = 0) -> Float32:
    """Sparse planes, the last of them ones or zeros."""
    planes, rng = network.shape.planes, np.random.default_rng(seed)
    x = (rng.random((count, *planes)) < 0.2).astype(np.float32)
    x[:, -1] = (np.arange(count) % 2)[:, None, None]
    return np.concatenate([x.reshape(count, -1), np.ones((count, 2), dtype=np.float32)], axis=1)


def answers(network: CVPN, x: Float32, tiles: Tiles = TILES) -> Float32:
    out = np.full((len(x), network.shape.outputs), np.nan, dtype=np.float32)
    residual.evaluate(tuple(packed_network(network, tiles)), x, out)
    return out


@pytest.mark.parametrize("case", SHAPES)
def test_answers_are_pytorchs(case: Case) -> None:
    network = network_of(case)
    x = rows_of(network, 37)
    with torch.inference_mode():
        expected = network.double()(torch.from_numpy(x).double()).numpy()
    found = answers(network.float(), x)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-5)
    assert np.abs(expected[:, 0]).max() > 0.05 and np.abs(expected[:, 2:]).max() > 0.05


@pytest.mark.parametrize("case", SHAPES)
def test_a_rows_answer_is_the_same_bits_in_every_batch_and_tile(
    case: Case,
) -> None:
    network = network_of(case)
    x = rows_of(network, 41)
    whole = answers(network, x)
    assert np.array_equal(answers(network, x[7:8])[0], whole[7])
    for start, stop in ((0, 5), (3, 14), (30, 41)):
        assert np.array_equal(answers(network, x[start:stop]), whole[start:stop])
    for tiles in ((1, 5), (1, 12), (2, 1)):
        assert np.array_equal(answers(network, x, tiles), whole)


def test_nothing_of_a_call_is_left_for_the_next() -> None:
    network = network_of(SHAPES[0])
    plain = tuple(packed_network(network, TILES))
    first, second = rows_of(network, 9, 1), rows_of(network, 9, 2)
    found = [np.empty((9, network.shape.outputs), dtype=np.float32) for _ in range(3)]
    for x, out in zip((first, second, first), found, strict=True):
        residual.evaluate(plain, x, out)
    assert np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[1])


def test_weights_are_copied() -> None:
    network = network_of(SHAPES[0])
    plain, x = tuple(packed_network(network, TILES)), rows_of(network, 3)
    before, after = (np.empty((3, network.shape.outputs), dtype=np.float32) for _ in range(2))
    residual.evaluate(plain, x, before)
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
    residual.evaluate(plain, x, after)
    assert np.array_equal(before, after)


def test_tiles_have_the_fewest_points() -> None:
    assert [best_tile(cells) for cells in (3, 4, 6, 7, 8, 9, 19)] == [3, 4, 3, 4, 4, 3, 4]


@pytest.mark.parametrize("side", [3, 4])
def test_spread_weights_of_a_constant_filter(side: int) -> None:
    """At the points 0 and infinity a filter is its first and its last weight."""
    weights = np.arange(1.0, 10.0).reshape(1, 1, 3, 3)
    found = spread_weights(weights, side, side)[0, 0]
    product = (-1.0) ** side * 2.0 if side == 3 else 4.0  # of the distances from 0 to the other points
    np.testing.assert_allclose(found[-1, -1], 9.0)
    np.testing.assert_allclose(abs(found[0, -1]), 3.0 / abs(product))


def test_large_values_saturate() -> None:
    """The value's tanh is the library's to the last digits, and 1 far out."""
    network = network_of(SHAPES[0])
    x = rows_of(network, 64)
    last = cast(torch.nn.Linear, network.body.value.value_last)
    for factor in (1e-3, 1.0, 1e3):
        with torch.no_grad():
            last.weight.mul_(factor)
            last.bias.mul_(factor)
            trunk = inference_copy(network)(torch.from_numpy(x))[:, 0].numpy()
        np.testing.assert_allclose(answers(network, x)[:, 0], trunk, atol=1e-4)
        with torch.no_grad():
            last.weight.div_(factor)
            last.bias.div_(factor)
