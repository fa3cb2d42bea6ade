"""ReBeL's actor: rows, determinism, sampled leaves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sog.algorithms.rebel.actor import Generating, RebelActing
from sog.algorithms.rebel.agent import start_position
from sog.algorithms.rebel.leaf_sampling import sample_leaf
from sog.errors import TooLarge
from sog.games.base import NATURE, State
from sog.games.catalog import make_game
from sog.games.rules.leduc.game import Leduc
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.searches.depth_limited.settings import CFR_D, REBEL_FP, SolveSettings
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry
from sog.training.packing import PackedRows, unpack

DICE = "liars_dice(numdice=1,dice_sides=2)"
ACTING = RebelActing(SolveSettings(updates=16))


def same(one: PackedRows, other: PackedRows) -> bool:
    return np.array_equal(one.content, other.content) and np.array_equal(one.ends, other.ends)


@pytest.mark.parametrize("name", [DICE, "kuhn_poker", "leduc_poker"])
def test_rows_hold_values_between_the_game_s_extremes(name: str) -> None:
    game = make_game(name)
    shape = shape_for(game, width=16, depth=1)
    harvest = ACTING.make(game, shape).round(16, zero_evaluator, np.random.default_rng(0))
    assert len(harvest.rows) == harvest.searches > 1
    rows = unpack(shape, harvest.rows)
    assert rows.value_mask.any() and not rows.policy_mask.any()
    assert np.abs(rows.values).max() <= 1.2 * game.u_max  # balancing both players may pass it by a little


def test_a_chance_event_too_large_to_list_is_refused() -> None:
    """Its subgame would be one leaf, which is the next subgame's root again, without end."""

    class Unlisted(Leduc):
        def listable(self, s: State) -> bool:
            return self.actor(s) != NATURE

    game = Unlisted()
    with pytest.raises(TooLarge, match="too large to list"):
        ACTING.make(game, shape_for(game, width=16, depth=1)).round(8, zero_evaluator, np.random.default_rng(0))


def test_a_round_is_decided_by_its_generator() -> None:
    game = make_game(DICE)
    shape = shape_for(game, width=16, depth=1)
    evaluator = network_evaluator(CVPN(shape, 1))
    rounds = [ACTING.make(game, shape).round(8, evaluator, np.random.default_rng(seed)) for seed in (3, 3, 4)]
    assert same(rounds[0].rows, rounds[1].rows)
    assert not same(rounds[0].rows, rounds[2].rows)


def test_with_a_policy_network_every_public_state_of_a_subgame_gives_a_row() -> None:
    """Its average policy at the belief that the average policies lead to; the root's values have a row of their own."""
    public = PublicTree(make_game(DICE)).list_all()
    shape = shape_for(public.game, width=16, depth=1)
    acting = RebelActing(SolveSettings(updates=32, warm=3))
    solving = Generating(public, [(start_position(public), 4)], acting, np.random.default_rng(0))
    run(solving, network_evaluator(CVPN(shape, 1)))
    rows, opened = solving.policy_rows(shape), list(solving.games.tree.decisions())
    assert len(rows) == len(opened) > 3 and not rows.value_mask.any()
    np.testing.assert_allclose(rows.policies.sum(axis=-1), rows.policy_mask, atol=1e-6)
    assert (rows.policies[~rows.legal] == 0).all()
    np.testing.assert_array_equal(rows.inputs[0], solving.rows(shape).inputs[0])  # at the root
    child = opened.index(int(solving.games.tree.child.node[int(solving.games.tree.nodes.child0[0])]))
    bid = public.action_rows.identity[int(public.nodes.action0[0])]
    chosen = rows.policies[0, : shape.slots[0], bid]
    told = rows.inputs[child][-sum(shape.slots) :][: shape.slots[0]]  # player 0's range after its first bid
    np.testing.assert_allclose(told / shape.slots[0], chosen / chosen.sum(), atol=1e-5)


def test_a_round_with_a_policy_network_has_rows_of_both_kinds() -> None:
    game = make_game(DICE)
    shape = shape_for(game, width=16, depth=1)
    acting = RebelActing(SolveSettings(updates=16, warm=3))
    harvest = acting.make(game, shape).round(8, network_evaluator(CVPN(shape, 1)), np.random.default_rng(0))
    rows = unpack(shape, harvest.rows)
    values, policies = rows.value_mask.any(axis=1), rows.policy_mask.any(axis=1)
    assert values.sum() == harvest.searches and (values ^ policies).all()


def test_sharing_solves_the_root_once() -> None:
    game = make_game(DICE)
    shape = shape_for(game, width=16, depth=1)
    found = []
    for share in (True, False):
        acting = RebelActing(SolveSettings(updates=16), share=share)
        harvest = acting.make(game, shape).round(8, zero_evaluator, np.random.default_rng(0))
        found.append(unpack(shape, harvest.rows).inputs)
    roots = [int((inputs == found[0][0]).all(axis=1).sum()) for inputs in found]
    assert roots == [1, 8]


@pytest.mark.parametrize("solver", [CFR_D, REBEL_FP], ids=lambda solver: solver.name)
def test_leaves_are_sampled_by_the_policies_and_the_explorer(solver: object) -> None:
    public = PublicTree(make_game(DICE)).list_all()
    games = Subgames(public, [(0, public.ranges_by_slot(0, public.game.root_ranges()))], depth=1)
    table = games.tree.table(0, Entry.POLICY)
    table[:] = 0.0
    table[1] = 1.0
    averages = games.tree.table(0, Entry.POLICY_SUM)
    averages[:] = 0.0
    averages[2 if solver is REBEL_FP else 1] = 1.0
    rng, epsilon = np.random.default_rng(0), 0.4
    counts = Counter(sample_leaf(games, 0, solver, epsilon, rng) for _ in range(4000))  # type: ignore[arg-type]
    # Player 0 acts alone here, explores in half of the games, and then with probability epsilon; in fictitious play it
    # follows its average policy in the other half.
    explored = 0.5 * (1.0 - epsilon + epsilon / len(table))
    expected = (explored, 0.5 + 0.5 * epsilon / len(table)) if solver is REBEL_FP else (explored + 0.5,)
    for action, share in enumerate(expected, start=1):
        child = int(games.tree.child.node[int(games.tree.nodes.child0[0]) + action])
        assert counts[child] / 4000 == pytest.approx(share, abs=0.03)
