"""Fictitious play against a plain one on a matrix of pure strategies, its convergence, and runs in parts."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sog.arrays import Array
from sog.games.base import TERMINAL
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr import exact
from sog.searches.cfr.fictitious import FLOP, FP, LINEAR_FP, VARIANTS, FictitiousPlay
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry

KUHN = PublicTree(Kuhn()).list_all()
TREES = {
    "kuhn": KUHN,
    "rps": PublicTree(RockPaperScissors()).list_all(),
    "goofspiel": PublicTree(Goofspiel(3, "random")).list_all(),
    "liars dice": PublicTree(LiarsDice(1, 3)).list_all(),
}
BOTH_ORDERS = [replace(variant, alternating=alternating) for variant in VARIANTS for alternating in (True, False)]


def run(public: PublicTree, variant: FictitiousPlay, *counts: int) -> Lookahead:
    tree = exact.full_tree(public)
    for count in counts:
        variant.iterate(tree, count)
    tree.update_average_policy()
    return tree


# --- on rock-paper-scissors: one infostate a player, so the iterates of a matrix game ---


def plain(variant: FictitiousPlay, rounds: int, table: Array) -> list[Array]:
    """Both players' average strategies, float64[3] each, by the paper's recursions.

    table: float64[3, 3], player 0's utility.
    """
    average = [np.full(3, 1 / 3), np.full(3, 1 / 3)]
    last = [x.copy() for x in average]
    for t in range(2, rounds + 1):
        before, before_last, times = list(average), list(last), [t - 1, t - 1]
        for p in (0, 1):
            seen, seen_last = (average, last) if variant.alternating else (before, before_last)
            k = times[1 - p] + 1
            share = 2 / (k + 2) if variant.optimistic else 0.0
            belief = (1 - share) * seen[1 - p] + share * seen_last[1 - p]
            values = table @ belief if p == 0 else -(belief @ table)
            last[p] = np.eye(3)[int(np.argmax(values))]
            step = 2 / (t + 1) if variant.linear else 1 / t
            average[p] = (1 - step) * average[p] + step * last[p]
            if variant.alternating:
                times[p] = t
    return average


@pytest.mark.parametrize("variant", BOTH_ORDERS, ids=lambda v: f"{v.name}-{v.alternating}")
def test_iterates_are_those_of_the_papers_recursion(variant: FictitiousPlay) -> None:
    public = TREES["rps"]
    node0, node1 = public.decisions()
    policy = exact.uniform_policy(public)
    table = np.zeros((3, 3))
    for a, b in product(range(3), repeat=2):
        policy[node0][:, 0], policy[node1][:, 0] = np.eye(3)[a], np.eye(3)[b]
        table[a, b] = exact.measure_policy(public, policy).value
    for rounds in (1, 2, 3, 7, 50):
        found = exact.policy_of(run(public, variant, rounds))
        first, second = plain(variant, rounds, table)
        np.testing.assert_allclose(found[node0][:, 0], first, atol=1e-7)
        np.testing.assert_allclose(found[node1][:, 0], second, atol=1e-7)


# --- on trees ---


@pytest.mark.parametrize(
    ("variant", "kuhn", "dice"),
    [(FP, 6e-3, 3e-2), (LINEAR_FP, 6e-3, 3e-2), (FLOP, 3e-3, 1e-2)],
    ids=lambda x: x.name if isinstance(x, FictitiousPlay) else "",
)
def test_every_variant_converges(variant: FictitiousPlay, kuhn: float, dice: float) -> None:
    for public, bound in ((KUHN, kuhn), (TREES["liars dice"], dice)):
        early, late = (exact.measure(run(public, variant, count)).exploitability for count in (30, 1_000))
        assert 0 <= late <= bound
        assert late < early / 3


def test_optimism_pays_on_leduc() -> None:
    public = PublicTree(Leduc()).list_all()
    by_name = {v.name: exact.measure(run(public, v, 500)).exploitability for v in VARIANTS}
    assert by_name["flop"] < by_name["linear-fp"]
    assert by_name["flop"] < by_name["fp"]


@pytest.mark.parametrize("name", sorted(TREES))
@pytest.mark.parametrize("variant", BOTH_ORDERS, ids=lambda v: f"{v.name}-{v.alternating}")
def test_a_run_in_parts_is_the_same_run(name: str, variant: FictitiousPlay) -> None:
    """Measuring in between, which overwrites the ranges, changes nothing."""
    tree = exact.full_tree(TREES[name])
    for count in (1, 2, 17):
        variant.iterate(tree, count)
        tree.update_average_policy()
        exact.measure(tree)
    whole = run(TREES[name], variant, 20)
    assert tree.iterations == whole.iterations == 20
    np.testing.assert_array_equal(tree.entries[Entry.AVERAGE_POLICY], whole.entries[Entry.AVERAGE_POLICY])


@pytest.mark.parametrize("name", sorted(TREES))
def test_last_policies_are_best_responses(name: str) -> None:
    """Simultaneous FP's next policies earn what a best response to the averages earns, with legal actions only."""
    public = TREES[name]
    tree = run(public, replace(FP, alternating=False), 9)
    best = exact.measure(tree).best
    average = exact.policy_of(tree)
    replace(FP, alternating=False).iterate(tree, 1)
    response = exact.current_policy_of(tree)
    for p in (0, 1):
        mixed = {n: response[n] if public.game.actor(public.states[n]) == p else average[n] for n in average}
        value = exact.measure_policy(public, mixed).value
        assert (value if p == 0 else -value) == pytest.approx(best[p], abs=1e-6)
    for n, policy in response.items():
        moves = public.game.fan(public.states[n]).moves
        assert moves is not None
        assert set(np.unique(policy)) <= {0.0, 1.0}
        assert (policy[moves.edge.T < 0] == 0).all()
    assert all(public.game.actor(public.states[n]) != TERMINAL for n in response)
