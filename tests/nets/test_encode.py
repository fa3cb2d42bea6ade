"""Encoding beliefs: where features, ranges and crossed products stand, and how requests are joined."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.nets.encode import encode, input_width, join
from sog.searches.leaves.evaluator import Beliefs, Wanted
from sog.searches.tree.public_tree import PublicTree


@pytest.fixture(scope="module")
def public() -> PublicTree:
    return PublicTree(Leduc()).list_all()


def beliefs_at(public: PublicTree, nodes: list[int], seed: int = 0) -> Beliefs:
    rng = np.random.default_rng(seed)
    ranges = [rng.dirichlet(np.ones(slots), len(nodes)) for slots in public.game.num_slots]
    return Beliefs(public, np.array(nodes, dtype=np.int32), np.concatenate(ranges, axis=1))


def test_features_then_ranges(public: PublicTree) -> None:
    beliefs = beliefs_at(public, [4, 0, 9])
    x = encode(beliefs)
    game = public.game
    assert x.dtype == np.float32 and x.shape == (3, input_width(game.num_features, game.num_slots))
    for row, node in zip(x, beliefs.nodes, strict=True):
        np.testing.assert_array_equal(row[: game.num_features], game.features(public.states[node]))
    np.testing.assert_allclose(x[:, game.num_features :], 6.0 * beliefs.ranges, rtol=1e-6)


def test_a_uniform_range_is_one_whatever_the_number_of_slots() -> None:
    public = PublicTree(Kuhn())
    uniform = np.concatenate([np.full(slots, 1.0 / slots) for slots in public.game.num_slots])
    x = encode(Beliefs(public, np.array([0], dtype=np.int32), uniform[None]))
    np.testing.assert_allclose(x[:, public.game.num_features :], 1.0, rtol=1e-6)


def test_crossed_features_multiply_every_range(public: PublicTree) -> None:
    crossed, first = (2, 6), public.game.num_features
    nodes = [n for n in range(public.size) if public.game.features(public.states[n])[2]][:3]
    beliefs = beliefs_at(public, [0, *nodes])
    x = encode(beliefs, crossed)
    assert x.shape[1] == input_width(first, public.game.num_slots, crossed) == first + 3 * 12
    for c, column in enumerate(crossed):
        product = x[:, first + 12 * (c + 1) : first + 12 * (c + 2)]
        np.testing.assert_allclose(product, x[:, [column]] * x[:, first : first + 12], rtol=1e-6)
    assert not x[0, first + 12 : first + 24].any() and x[1, first + 12 : first + 24].any()


def test_value_units_are_the_games(public: PublicTree) -> None:
    beliefs = beliefs_at(public, [0, 30, 31])
    wanted = [public.game.value_unit(public.states[n]) for n in beliefs.nodes]
    np.testing.assert_array_equal(beliefs.value_units(), wanted)


def test_join_separates_public_trees_and_what_is_wanted(public: PublicTree) -> None:
    other = PublicTree(Leduc())
    requests = [beliefs_at(public, [1, 2]), beliefs_at(public, [3]), beliefs_at(other, [0]), beliefs_at(public, [5])]
    requests.append(beliefs_at(public, [4])._replace(wanted=Wanted.VALUES))
    joined = join(requests)
    found = [(b.nodes.tolist(), b.wanted, numbers) for b, numbers in joined]
    both, values = Wanted.BOTH, Wanted.VALUES
    assert found == [([1, 2, 3, 5], both, [0, 1, 3]), ([0], both, [2]), ([4], values, [4])]
    np.testing.assert_array_equal(joined[0][0].ranges, np.concatenate([requests[k].ranges for k in (0, 1, 3)]))
    assert join([]) == []
