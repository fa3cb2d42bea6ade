"""The sweeps by node do what the sweeps by action do, on searches of perfect-information games."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.games.catalog import make_game
from sog.searches.cfr import paths
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import PAPER, Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, zero_answer, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate, Kind, Nodes


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
    used = slice(0, int(fast.counts.entries))
    np.testing.assert_array_equal(fast.nodes[: fast.size], slow.nodes[: slow.size])
    for row in (Entry.REGRET, Entry.POLICY_SUM, Entry.POLICY, Entry.VISITS):
        np.testing.assert_allclose(fast.entries[row, used], slow.entries[row, used], atol=1e-9)
    for row in (Infostate.CFV, Infostate.CFV_SUM, Infostate.REACH_SUM):
        at = slice(0, 2 * fast.size)
        np.testing.assert_allclose(fast.infostates[row, at], slow.infostates[row, at], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "go(board_size=2,komi=0.5)"])
@pytest.mark.parametrize("settings", [SearchSettings(fill=False), PAPER], ids=["dcfr", "paper"])
@pytest.mark.parametrize("budget", [Budget(150, 1.0), Budget(150, 7.0)], ids=str)
def test_positions_that_come_after_their_nodes_grow_the_same_tree(
    budget: Budget, settings: SearchSettings, name: str
) -> None:
    """A deterministic game's trajectories in one call, beside one child at a time as other games grow."""
    fast, slow = make_game(name), make_game(name)
    slow.deterministic = False
    trees, rngs = [], []
    for game in (fast, slow):
        public, rng = PublicTree(game), np.ones(1, dtype=np.uint64)
        trees.append(Lookahead(public, 0, game.root_ranges(), room=4))
        run(search(trees[-1], 0, budget, settings, rng), zero_evaluator)
        rngs.append(int(rng[0]))
    one, other = trees
    assert rngs[0] == rngs[1] and one.counts.tolist() == other.counts.tolist() and one.size > 40
    apart = {"public", "action0", "edge0"}  # the public trees number their nodes differently
    for name in set(Nodes.layout.names or ()) - apart:
        np.testing.assert_array_equal(*(getattr(tree.nodes, name)[: tree.size] for tree in trees))
    np.testing.assert_array_equal(*(tree.infostates[:, : tree.counts.infostates] for tree in trees))
    np.testing.assert_array_equal(*(tree.entries[:, : tree.counts.entries] for tree in trees))


@pytest.mark.parametrize(("fill", "complete"), [(True, True), (False, False)])
def test_filled_trees_grow_until_nothing_is_left(fill: bool, complete: bool) -> None:
    public, node = PublicTree(make_game("tic_tac_toe")), 0
    for square in (0, 1, 2, 4, 3):
        taken = public.game.actions(public.states[node]).tolist()
        node = public.child(node, taken.index(square))
    tree = Lookahead(public, node, public.game.root_ranges())
    run(search(tree, 0, Budget(100, 3.0), SearchSettings(fill=fill), np.ones(1, dtype=np.uint64)), opinions)
    opened = sum(1 for n in range(tree.size) if tree.nodes.kind[n] == Kind.INTERIOR)
    gaps = [n for n in range(tree.size) if tree.nodes.kind[n] == Kind.LEAF]
    assert opened > 1 and (tree.size == _below(public, node) and not gaps) == complete


def _below(public: PublicTree, node: int) -> int:
    """How many positions there are from `node` on, itself included."""
    edges = int(public.nodes.edges[node])
    return 1 + sum(_below(public, public.child(node, edge)) for edge in range(edges))


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
    tree.update_average_policy()
    actions = public.game.actions(public.states[node]).tolist()
    assert public.all_plain and actions[int(tree.table(0, Entry.AVERAGE_POLICY)[:, 0].argmax())] == 2


def by_paths(name: str, budget: Budget, evaluator: Evaluator = opinions) -> Lookahead:
    tree = Lookahead(PublicTree(make_game(name)), 0, make_game(name).root_ranges())
    run(search(tree, 0, budget, SearchSettings(paths=True), np.ones(1, dtype=np.uint64)), evaluator)
    return tree


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "go(board_size=2,komi=0.5)"])
@pytest.mark.parametrize("budget", [Budget(300, 1.0), Budget(300, 7.0), Budget(40, 0.5), Budget(2, 1.0)], ids=str)
def test_by_paths_each_nodes_value_is_its_childrens_under_its_policy(budget: Budget, name: str) -> None:
    """So nothing that changed has been left out: no update passed a node and not all above it."""
    tree = by_paths(name, budget)
    policy, interior = tree.entries[Entry.POLICY], 0
    for n in range(tree.size):
        children = tree.children(n)
        if not any(child >= 0 for child in children):
            continue
        first, interior = int(tree.nodes.entry0[n]), interior + 1
        for p in (0, 1):
            values = [policy[first + e] * tree.cfvs(child)[p][0] for e, child in enumerate(children) if child >= 0]
            np.testing.assert_allclose(tree.cfvs(n)[p], [sum(values)], rtol=1e-12, atol=1e-12)
        assert [float(r[0]) for r in tree.ranges(n)] == [1.0, 1.0]
    assert interior >= min(budget.simulations, 20) - 1


def test_by_paths_phases_may_become_longer() -> None:
    """Near a game's end a phase opens all there is and owes expansions, so that the next has more trajectories."""
    public, node, trees = PublicTree(make_game("tic_tac_toe")), 0, []
    for square in (5, 4, 1, 2, 0, 3):
        node = public.child(node, public.game.actions(public.states[node]).tolist().index(square))
    for stopped in (None, lambda: False):  # with it, answers are taken up before the next phase's arrays are made
        trees.append(Lookahead(public, node, public.game.root_ranges()))
        rng, settings = np.ones(1, dtype=np.uint64), SearchSettings(paths=True)
        run(search(trees[-1], 0, Budget(100, 10.0), settings, rng, stopped=stopped), opinions)
    used = slice(0, int(trees[0].counts.entries))
    np.testing.assert_array_equal(*(tree.entries[:, used] for tree in trees))


def test_by_paths_an_update_is_regret_matching_at_each_node() -> None:
    """The same iteration over the whole tree in plain Python."""
    tree, step = by_paths("tic_tac_toe", Budget(200, 3.0)), DCFR.steps(50, 1)[0]
    entries, infostates = tree.entries.copy(), tree.infostates.copy()
    regret, policy, total = entries[Entry.REGRET], entries[Entry.POLICY], entries[Entry.POLICY_SUM]
    for n in reversed(range(tree.size)):
        own, actor = tree.nodes.offset[n], int(tree.nodes.actor[n])
        children = [(int(tree.nodes.entry0[n]) + e, c) for e, c in enumerate(tree.children(n)) if c >= 0]
        value = {k: infostates[Infostate.CFV, tree.nodes.offset[c]] for k, c in children}
        mean = sum(policy[k] * value[k][actor] for k, _ in children)
        for k, _ in children:
            total[k] += step[2] * policy[k]
            regret[k] += value[k][actor] - mean
            regret[k] *= step[0] if regret[k] > 0 else step[1]
        positive = sum(max(regret[k], 0.0) for k, _ in children)
        for k, _ in children:
            policy[k] = max(regret[k], 0.0) / positive if positive > 0 else 1.0 / len(children)
        if children:
            infostates[Infostate.CFV, own] = sum(policy[k] * value[k] for k, _ in children)
        infostates[Infostate.CFV_SUM, own] += step[2] * infostates[Infostate.CFV, own]
    paths.update_all(tree.arrays, step)
    for row in (Entry.REGRET, Entry.POLICY, Entry.POLICY_SUM):
        np.testing.assert_allclose(tree.entries[row], entries[row], rtol=1e-12, atol=1e-12)
    for cell in (Infostate.CFV, Infostate.CFV_SUM):
        np.testing.assert_allclose(tree.infostates[cell], infostates[cell], rtol=1e-12, atol=1e-12)


def test_by_paths_tic_tac_toe_is_a_draw() -> None:
    tree = by_paths("tic_tac_toe", Budget(6000, 1.0), zero_evaluator)
    assert abs(float(tree.values(0)[0][0])) < 0.02


@given(st.lists(st.integers(0, 40), max_size=60))
def test_numbers_are_sorted(numbers: list[int]) -> None:
    array = np.array(numbers, dtype=np.int32)
    paths._sort(array)
    assert array.tolist() == sorted(numbers)
