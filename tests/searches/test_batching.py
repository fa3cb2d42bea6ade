"""Subgames side by side: each is the tree that it is alone, moved along."""

from __future__ import annotations

import numpy as np
import pytest

from sog.games.catalog import make_game
from sog.searches.depth_limited.batching import FIRST_END, FIRST_LEAF, FIRST_NODE, Layouts, batch
from sog.searches.depth_limited.settings import CFR_D, MODIFIED_CFR_AVE, Solver, SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations
from sog.searches.tree import columns as f
from sog.searches.tree.public_tree import PublicTree


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
        nodes = tree.nodes[first[FIRST_NODE] : after[FIRST_NODE]]
        for column in (f.PUBLIC, f.KIND, f.N_I0, f.N_ACTIONS, f.N_PLAIN, f.IN_EDGE):
            np.testing.assert_array_equal(nodes[:, column], alone.nodes[:, column])
        np.testing.assert_array_equal(nodes[:, f.OFF0] - slot, alone.nodes[:, f.OFF0])
        np.testing.assert_array_equal(
            leaves[first[FIRST_LEAF] : after[FIRST_LEAF]], alone.leaves + first[FIRST_NODE]
        )
        np.testing.assert_array_equal(tree.ends[first[FIRST_END] : after[FIRST_END]], alone.ends + first[FIRST_NODE])
        for n in range(first[FIRST_NODE], after[FIRST_NODE]):
            if tree.nodes[n, f.KIND] == f.INTERIOR:
                below = int(tree.nodes[n, f.CHILD0]) + np.arange(tree.nodes[n, f.N_EDGES])
                np.testing.assert_array_equal(tree.nodes[tree.child[f.NODE, below], f.PARENT], n)
                np.testing.assert_array_equal(tree.child[f.AT0, below], tree.nodes[tree.child[f.NODE, below], f.OFF0])
                np.testing.assert_array_equal(tree.child[f.AT1, below], tree.nodes[tree.child[f.NODE, below], f.OFF1])
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
        assert public.operators[public.nodes[0, f.WEIGHT_OP], f.OP_FACTORS] >= 0
        if not factors:
            public.operators[:, f.OP_FACTORS] = -1
        ranges = np.array([0.2, 0.3, 0.5, 0.6, 0.1, 0.3])
        games = Subgames(public, [(0, ranges)])
        # Few updates: differences of the last bit grow with each.
        run(solve(games, SolveSettings(solver, updates=8, correct=correct)), made_up)
        found.append((games.tree.entries[f.AVERAGE_POLICY].copy(), np.concatenate(games.root_values(0))))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)


def test_an_operator_that_is_no_outer_product_has_no_factors() -> None:
    public = PublicTree(make_game("kuhn_poker"))
    assert public.operators[public.nodes[0, f.WEIGHT_OP], f.OP_FACTORS] == -1
