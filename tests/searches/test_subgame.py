"""Re-solving from summaries: CFR-D's Theorem 1 for any policy, the gadget step by step, and the unsafe contrast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sog.games.base import NATURE
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.ranks import LeducRanks
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr import exact
from sog.searches.cfr.exact import Policy
from sog.searches.cfr.iterate import enter, update_choice
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR, DCFR, PCFR_PLUS, Rule
from sog.searches.resolving.gadget import Gadget
from sog.searches.resolving.subgame import Safe, Unsafe, combined, nodes_of, safely, summarise, unsafely
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate

LEDUC = PublicTree(LeducRanks()).list_all()
DEALS = [n for n in range(LEDUC.size) if LEDUC.nodes.actor[n] == NATURE]
KUHN = PublicTree(Kuhn()).list_all()
DICE = PublicTree(LiarsDice(1, 3)).list_all()
GOOFSPIEL = PublicTree(Goofspiel(3, "random")).list_all()


def at_depth(public: PublicTree, depth: int) -> list[int]:
    """The public states so many edges below the root that have something below them."""
    return [n for n in public.decisions() if len(public.path(n)) == depth + 1]


CUTS = {
    "leduc": (LEDUC, DEALS),
    "kuhn": (KUHN, at_depth(KUHN, 1)),
    "liars dice": (DICE, at_depth(DICE, 2)),
    "goofspiel": (GOOFSPIEL, at_depth(GOOFSPIEL, 3)),
}


def random_policy(public: PublicTree, seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    policy = exact.uniform_policy(public)
    for table in policy.values():
        table *= rng.exponential(size=table.shape) ** 2
        table /= np.maximum(table.sum(axis=0), 1e-300)
    return policy


def run(public: PublicTree, base: Policy, roots: list[int], rule: Rule, count: int, safe: bool = True) -> Policy:
    resolving = (safely if safe else unsafely)(public, summarise(public, base, roots))
    for subgame in resolving:
        subgame.iterate(rule, count)
    return combined(base, resolving)


@pytest.mark.parametrize("name", sorted(CUTS))
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_best_response_values_never_rise(name: str, seed: int) -> None:
    """Theorem 1: whatever the policy, safe re-solving raises neither root values nor the game's best responses."""
    public, roots = CUTS[name]
    base = random_policy(public, seed)
    before = summarise(public, base, roots)
    policy = run(public, base, roots, DCFR, 1_000)
    after = summarise(public, policy, roots)
    for root in roots:
        for p in (0, 1):
            assert (after[root].values[p] <= before[root].values[p] + 1e-3).all()
    old, new = exact.measure_policy(public, base), exact.measure_policy(public, policy)
    assert new.best[0] <= old.best[0] + 1e-3
    assert new.best[1] <= old.best[1] + 1e-3


def test_an_equilibrium_survives_safe_resolving_only() -> None:
    base = exact.policy_of(exact.solve(LEDUC, replace(PCFR_PLUS, gamma=6.0), 30_000))
    assert exact.measure_policy(LEDUC, base).exploitability < 1e-6
    errors = [
        exact.measure_policy(LEDUC, run(LEDUC, base, DEALS, DCFR, count)).exploitability for count in (100, 1_000)
    ]
    assert errors[0] < 1e-2
    assert errors[1] < errors[0] / 5
    unsafe = run(LEDUC, base, DEALS, DCFR, 1_000, safe=False)
    assert exact.measure_policy(LEDUC, unsafe).exploitability > 0.03


def test_rock_paper_scissors() -> None:
    """The paper's running example: against the first player's range alone, any second strategy is as good."""
    public = PublicTree(RockPaperScissors()).list_all()
    base = exact.policy_of(exact.solve(public, PCFR_PLUS, 2_000))
    roots = at_depth(public, 1)
    safe, unsafe = (run(public, base, roots, CFR, 5_000, safe=safe) for safe in (True, False))
    assert exact.measure_policy(public, safe).exploitability < 1e-2
    assert exact.measure_policy(public, unsafe).exploitability > 0.1


@pytest.mark.parametrize(
    "rule", [replace(CFR, alternating=False), replace(DCFR, alternating=False)], ids=lambda r: r.name
)
def test_a_run_is_the_gadgets_steps_one_by_one(rule: Rule) -> None:
    base, root = random_policy(LEDUC, 1), DEALS[2]
    summary = summarise(LEDUC, base, [root])[root]
    resolving = Safe(LEDUC, root, summary, player=1)
    resolving.iterate(rule, 7)
    resolving.iterate(rule, 13)
    tree = Lookahead(LEDUC, root, summary.ranges).expand_all()
    gadget = Gadget(0, summary.values[0], np.zeros(3), alpha=1.0)
    for step in rule.steps(1, 20):
        enter(tree.arrays, gadget.choice)
        tree.forward()
        tree.payoffs()
        tree.backward(step)
        update_choice(tree.arrays, gadget.choice, 3, step)
    tree.update_average_policy()
    found, expected = resolving.policy(), exact.policy_of(tree)
    assert found
    for n, table in found.items():
        assert LEDUC.nodes.actor[n] == 1
        np.testing.assert_allclose(table, expected[n], atol=1e-9)


def test_unsafe_resolving_covers_both_players() -> None:
    summary = summarise(LEDUC, random_policy(LEDUC, 2), DEALS)
    found = Unsafe(LEDUC, DEALS[0], summary[DEALS[0]]).policy()
    assert {int(LEDUC.nodes.actor[n]) for n in found} == {0, 1}
    assert len(found) == 3 * 6


def test_summaries_are_ranges_and_best_response_values() -> None:
    """Weighed by the opponent's own reach, root values are what a best response wins from the subgame on."""
    base = random_policy(LEDUC, 3)
    kept = summarise(LEDUC, base, DEALS)
    tree = exact.full_tree(LEDUC)
    exact.set_policy(tree, base)
    tree.forward(Entry.AVERAGE_POLICY)
    for root in DEALS:
        for p in (0, 1):
            np.testing.assert_array_equal(kept[root].ranges[p], tree.infostates[Infostate.REACH, tree.span(root, p)])
            rooted = Lookahead(LEDUC, root, kept[root].ranges).expand_all()
            exact.set_policy(rooted, base)
            best = rooted.evaluate(Entry.AVERAGE_POLICY, best=Players(1 << p))[p]
            np.testing.assert_allclose(kept[root].values[p], best)


def test_nodes_are_found_by_their_states() -> None:
    assert nodes_of(LEDUC, [LEDUC.states[7], LEDUC.states[3]]) == [7, 3]
