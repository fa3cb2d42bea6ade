"""The sweeps by node do what the sweeps by action do, on searches of perfect-information games."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sog.games.catalog import make_game
from sog.search import fields as f
from sog.search.drive import run
from sog.search.evaluator import Beliefs, Evaluations, zero_answer
from sog.search.gtcfr import PAPER, Budget, SearchSettings, search
from sog.search.lookahead import Lookahead
from sog.search.public_tree import PublicTree


def opinions(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Values and priors that depend on the node alone."""
    out = []
    for beliefs in requests:
        answer = zero_answer(beliefs)
        for k, node in enumerate(beliefs.nodes):
            rng = np.random.default_rng(int(node))
            answer.values[k, 0] = rng.uniform(-1, 1)
            answer.values[k, 1] = -answer.values[k, 0]
            answer.logits[k] = rng.normal(size=answer.logits[k].shape)
        out.append(answer)
    return out


def searched(name: str, by_node: bool, budget: Budget, settings: SearchSettings) -> Lookahead:
    public = PublicTree(make_game(name))
    public.all_plain = by_node
    tree = Lookahead(public, 0, public.game.root_ranges())
    run(search(tree, 0, budget, settings, np.ones(1, dtype=np.uint64)), opinions)
    return tree


@pytest.mark.parametrize("settings", [SearchSettings(), PAPER], ids=["dcfr", "paper"])
@pytest.mark.parametrize("budget", [Budget(60, 1.0), Budget(60, 7.0)], ids=str)
def test_both_sweeps_agree(budget: Budget, settings: SearchSettings) -> None:
    fast, slow = (searched("tic_tac_toe", by_node, budget, settings) for by_node in (True, False))
    assert fast.size == slow.size > 15
    used = slice(0, int(fast.counts[2]))
    np.testing.assert_array_equal(fast.nodes[: fast.size], slow.nodes[: slow.size])
    for row in (f.REGRET, f.AVERAGE, f.POLICY, f.VISITS):
        np.testing.assert_allclose(fast.entries[row, used], slow.entries[row, used], atol=1e-9)
    for row in (f.CFV, f.CFV_SUM, f.REACH_SUM):
        at = slice(0, 2 * fast.size)
        np.testing.assert_allclose(fast.slots[row, at], slow.slots[row, at], rtol=1e-9, atol=1e-9)


def test_a_deep_search_finds_the_win_in_one() -> None:
    """x holds two in a row and moves: the searched policy plays the third."""
    public = PublicTree(make_game("tic_tac_toe"))
    node = 0
    for square in (0, 3, 1, 4):
        public.list_fan(node)
        taken = public.game.actions(public.states[node]).tolist()
        node = public.child(node, taken.index(square))
    tree = Lookahead(public, node, public.game.root_ranges())
    run(search(tree, 0, Budget(200, 1.0), SearchSettings(), np.ones(1, dtype=np.uint64)), opinions)
    tree.average_policy()
    actions = public.game.actions(public.states[node]).tolist()
    assert public.all_plain and actions[int(tree.table(0, f.FIXED)[:, 0].argmax())] == 2
