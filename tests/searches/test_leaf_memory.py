"""Leaves whose beliefs have not changed are not asked again, and nothing else differs, to the bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sog.algorithms.rebel.agent import start_position
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import shape_for
from sog.searches.depth_limited.settings import CFR_D, MODIFIED_CFR_AVE, REBEL_FP, Solver, SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations
from sog.searches.leaves.memory import LeafMemory
from sog.searches.tree.public_tree import PublicTree

PUBLIC = PublicTree(make_game("liars_dice(numdice=1,dice_sides=3)")).list_all()
NETWORK = network_evaluator(CVPN(shape_for(PUBLIC.game, width=16, depth=1), 1))


class Counted:
    """A network whose answers depend on nothing but the belief, and how many beliefs it was asked about."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        self.asked += sum(len(beliefs.nodes) for beliefs in requests)
        return NETWORK(requests)


def solved(solver: Solver, remember: bool, warm: int = 0) -> tuple[Subgames, int]:
    start, evaluator = start_position(PUBLIC), Counted()
    games = Subgames(PUBLIC, [(start.node, start.ranges)] * 2, 2)
    run(solve(games, SolveSettings(solver, updates=128, remember=remember, warm=warm)), evaluator)
    return games, evaluator.asked


@pytest.mark.parametrize("solver", [CFR_D, MODIFIED_CFR_AVE, REBEL_FP], ids=lambda solver: solver.name)
def test_it_changes_nothing_but_the_number_of_questions(solver: Solver) -> None:
    (short, few), (whole, all_of_them) = solved(solver, True), solved(solver, False)
    assert few <= all_of_them and (solver is not CFR_D or few < 0.9 * all_of_them)
    np.testing.assert_array_equal(short.tree.entries, whole.tree.entries)
    np.testing.assert_array_equal(short.tree.infostates, whole.tree.infostates)


def test_what_a_warm_start_evaluated_may_be_remembered() -> None:
    (short, few), (whole, all_of_them) = solved(CFR_D, True, warm=3), solved(CFR_D, False, warm=3)
    assert few < all_of_them
    np.testing.assert_array_equal(short.tree.entries, whole.tree.entries)
    np.testing.assert_array_equal(short.tree.infostates, whole.tree.infostates)


def test_a_changed_belief_is_a_new_one() -> None:
    memory, leaves = LeafMemory(4, 3), np.array([3, 1], dtype=np.int32)
    ranges = np.array([[0.5, 0.5, 1.0], [1.0, 0.0, 1.0]])
    assert memory.changed(leaves, ranges).tolist() == [0, 1]
    memory.answer(leaves, np.array([0, 1], dtype=np.int32), np.array([[7.0], [8.0]]))
    assert memory.changed(leaves, ranges).tolist() == []
    ranges[1, 2] = 0.5
    assert memory.changed(leaves, ranges).tolist() == [1]
    memory.answer(leaves, np.array([1], dtype=np.int32), np.array([[9.0]]))
    assert memory.latest(leaves).tolist() == [[7.0], [9.0]]
