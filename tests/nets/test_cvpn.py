"""The network: sizes, reproducible weights, bad shapes."""

from __future__ import annotations

import pytest
import torch

from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.games.rules.leduc.game import Leduc
from sog.nets.cvpn import BODIES, CVPN
from sog.nets.shape import KINDS, NetworkShape, shape_for


def test_sizes() -> None:
    shape = NetworkShape(features=7, slots=(3, 5), actions=4, width=16, depth=2, crossed=(1,))
    assert (shape.inputs, shape.num_values, shape.num_logits, shape.outputs) == (7 + 2 * 8, 8, 20, 28)
    network = CVPN(shape)
    out = network(torch.ones(6, shape.inputs))
    values, logits = network.split(out)
    assert out.shape == (6, 28) and values.shape == (6, 8) and logits.shape == (6, 5, 4)
    assert torch.equal(out, torch.cat((values, logits.reshape(6, -1)), dim=1))


def test_every_kind_has_a_body() -> None:
    assert tuple(BODIES) == KINDS


def test_weights_come_from_the_seed_alone() -> None:
    shape = shape_for(Leduc(), 16, 2)
    before = torch.get_rng_state()
    first, again, other = CVPN(shape, 1), CVPN(shape, 1), CVPN(shape, 2)
    assert torch.equal(torch.get_rng_state(), before)
    weights = [network.state_dict()["body.0.weight"] for network in (first, again, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


@pytest.mark.parametrize(
    ("change", "said"), [({"kind": "oracle"}, "oracle"), ({"width": 0}, "width"), ({"crossed": (24,)}, "crossed")]
)
def test_bad_shapes_are_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        shape_for(Leduc(), **change)  # type: ignore[arg-type]


def test_a_resnet_has_one_policy() -> None:
    with pytest.raises(SettingError, match="one policy for both players"):
        shape_for(make_game("connect_four"), kind="resnet", policies_apart=True)
