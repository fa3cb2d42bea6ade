"""Subgames side by side: each is the tree that it is alone, moved along."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.catalog import make_game
from sog.searches.depth_limited.batching import Layouts, batch
from sog.searches.depth_limited.settings import CFR_D, MODIFIED_CFR_AVE, Solver, SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Kind


@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice(numdice=1,dice_sides=3)"])
def test_a_batched_subgame_is_its_layout_moved_along(name: str) -> None:
    public = PublicTree(make_game(name)).list_all()
    decisions = [n for n in public.decisions() if n > 0]
    ranges = np.random.default_rng(0).uniform(size=sum(public.game.num_slots))
    roots = [(0, public.ranges_by_slot(0, public.game.root_ranges())), (decisions[0], ranges), (decisions[-1], ranges)]
    layouts = Layouts(public, depth=1)
    tree, blocks, leaves = batch(public, [layouts(node) for node, _ in roots], [ranges for _, ranges in roots])
    slot = 0
    for k, (node, _) in enumerate(roots):
        alone, first, after = layouts(node), blocks[k], blocks[k + 1]
        nodes = tree.nodes[first.node : after.node]
        for name in ("public", "kind", "width", "actions", "plain", "in_edge"):
            np.testing.assert_array_equal(getattr(nodes, name), getattr(alone.nodes, name))
        np.testing.assert_array_equal(nodes.offset[:, 0] - slot, alone.nodes.offset[:, 0])
        np.testing.assert_array_equal(leaves[first.leaf : after.leaf], alone.leaves + first.node)
        np.testing.assert_array_equal(tree.ends[first.end : after.end], alone.ends + first.node)
        for n in range(first.node, after.node):
            if tree.nodes.kind[n] == Kind.INTERIOR:
                below = int(tree.nodes.child0[n]) + np.arange(tree.nodes.edges[n])
                np.testing.assert_array_equal(tree.nodes.parent[tree.child.node[below]], n)
                np.testing.assert_array_equal(tree.child.offset[below], tree.nodes.offset[tree.child.node[below]])
        slot += alone.width
    batched = Subgames(public, roots, depth=1, layouts=layouts)
    np.testing.assert_allclose(batched.reaches(int(batched.roots[2]))[: len(ranges) // 2].sum(), 1.0)


def made_up(requests: list[Beliefs]) -> list[Evaluations]:
    """Values that depend on the beliefs a little, the same for the same beliefs."""
    return [Evaluations(np.cos(3.0 * b.ranges + b.nodes[:, None]), np.zeros((len(b.nodes), 1, 1))) for b in requests]


@pytest.mark.parametrize("correct", [False, True])
@pytest.mark.parametrize("solver", [CFR_D, MODIFIED_CFR_AVE], ids=lambda solver: solver.name)
def test_masses_by_the_factors_of_an_outer_product_are_those_of_its_matrix(solver: Solver, correct: bool) -> None:
    found = []
    for factors in (True, False):
        public = PublicTree(make_game("liars_dice(numdice=2,dice_sides=2)")).list_all()
        assert public.operators.factors[public.nodes.weight[0]] >= 0
        if not factors:
            public.operators.factors = -1
        ranges = np.array([0.2, 0.3, 0.5, 0.6, 0.1, 0.3])
        games = Subgames(public, [(0, ranges)])
        # Few updates: differences of the last bit grow with each.
        run(solve(games, SolveSettings(solver, updates=8, correct=correct)), made_up)
        found.append((games.tree.entries[Entry.AVERAGE_POLICY].copy(), np.concatenate(games.root_values(0))))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)


def test_an_operator_that_is_no_outer_product_has_no_factors() -> None:
    public = PublicTree(make_game("kuhn_poker"))
    assert public.operators.factors[public.nodes.weight[0]] == -1
