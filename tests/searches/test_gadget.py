"""The re-solving gadget: its regrets by definition, the range it sets, and that it keeps re-solving safe."""

from __future__ import annotations

import numpy as np
import pytest

from sog.arrays import Float64
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.play.resolver import derive_generator
from sog.searches.cfr import exact
from sog.searches.cfr.iterate import enter, update_choice
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR_PLUS, DCFR, PCFR_PLUS, SOG, Rule
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.resolving.gadget import Gadget
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate

LEDUC = PublicTree(Leduc()).list_all()
BOARD = LEDUC.states.index(LeducState("crc", 3))  # player 0 acts; both have put three chips in


def whole() -> Lookahead:
    """A rough solution of all of Leduc, evaluated under its average policies."""
    tree = exact.solve(LEDUC, DCFR, 30)
    tree.evaluate()
    return tree


def at(tree: Lookahead, public_node: int) -> int:
    return int(np.flatnonzero(tree.nodes.public[: tree.size] == public_node)[0])


# --- definition ---


def plain_gadget(rule: Rule, inside: Float64, leave: Float64) -> Float64:
    """float64[T, I]: probabilities of Follow before each update and after the last; inside: float64[T, I]."""
    count, width = inside.shape
    regret, follow = np.zeros((2, width)), np.full(width, 0.5)
    out = [follow]
    for t, values in enumerate(inside):
        positive, negative, _, prediction = rule.steps(t + 1, 1)[0]
        instant = np.array([values, leave]) - (follow * values + (1 - follow) * leave)
        regret = regret + instant
        regret = np.where(regret > 0, regret * positive, regret * negative)
        wanted = np.maximum(regret + prediction * instant, 0)
        total = wanted.sum(axis=0)
        follow = np.where(total > 0, wanted[0] / np.where(total > 0, total, 1), follow)
        out.append(follow)
    assert len(out) == count + 1
    return np.array(out)


@pytest.mark.parametrize("rule", [SOG, CFR_PLUS, DCFR, PCFR_PLUS], ids=lambda rule: rule.name)
@pytest.mark.parametrize("opponent", [0, 1])
def test_regret_matching_between_follow_and_terminate(rule: Rule, opponent: int) -> None:
    rng = np.random.default_rng(0)
    inside, leave = rng.normal(size=(20, 6)), rng.normal(size=6)
    tree = Lookahead(LEDUC, BOARD, (np.ones(6), np.ones(6)))
    gadget = Gadget(opponent, leave, np.ones(6), alpha=1.0)
    expected = plain_gadget(rule, inside, leave)
    for t, values in enumerate(inside):
        np.testing.assert_allclose(gadget.follow, expected[t], atol=1e-12)
        tree.infostates[Infostate.CFV, tree.span(0, opponent)] = values
        tree.infostates[Infostate.CFV, tree.span(0, 1 - opponent)] = 1e9
        update_choice(tree.arrays, gadget.choice, Players(1 << opponent), rule.steps(t + 1, 1)[0])
    np.testing.assert_allclose(gadget.follow, expected[-1], atol=1e-12)


def test_who_is_better_off_inside_follows() -> None:
    tree = Lookahead(LEDUC, BOARD, (np.ones(6), np.ones(6)))
    leave = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    gadget = Gadget(1, leave, np.ones(6), alpha=1.0)
    for step in DCFR.steps(1, 50):
        tree.infostates[Infostate.CFV, tree.span(0, 1)] = 0.0
        update_choice(tree.arrays, gadget.choice, 2, step)
    np.testing.assert_allclose(gadget.follow, [0, 0, 0, 1, 1, 1], atol=1e-6)


@pytest.mark.parametrize("opponent", [0, 1])
def test_the_range_is_a_mixture_with_the_previous_one(opponent: int) -> None:
    own, previous = np.full(6, 0.3), np.array([1.0, 0.5, 0.0, 0.2, 0.9, 1.0])
    tree = Lookahead(LEDUC, BOARD, (own, own))
    gadget = Gadget(opponent, np.zeros(6), previous, alpha=0.2)
    gadget.follow[:] = np.linspace(0, 1, 6)
    enter(tree.arrays, gadget.choice)
    np.testing.assert_allclose(tree.root_ranges[opponent], 0.2 * np.linspace(0, 1, 6) + 0.8 * previous)
    assert (tree.root_ranges[1 - opponent] == own).all()


def test_impossible_infostates_never_follow() -> None:
    """The card on the board pays 0 inside and outside; half of it in the range would mislead the network."""
    tree = Lookahead(LEDUC, BOARD, (np.ones(6), np.ones(6))).expand_all()
    possible = np.arange(6) != 3
    gadget = Gadget(1, np.where(possible, 0.1, 0.0), 1.0 * possible, alpha=0.5, possible=possible)
    run(search(tree, 0, Budget(30, 1.0), SearchSettings(), derive_generator(0, 0, 0), gadget), zero_evaluator)
    assert gadget.follow[3] == 0.0 and tree.root_ranges[1][3] == 0.0
    assert (tree.root_ranges[1][possible] > 0).all()


# --- inside a search ---


@pytest.mark.parametrize("rule", [DCFR, SOG], ids=lambda rule: rule.name)
@pytest.mark.parametrize("opponent", [0, 1])
def test_a_search_on_a_complete_tree_is_cfr_with_the_gadget(rule: Rule, opponent: int) -> None:
    """Each turn enters the gadget's range, and the opponent's turn updates the gadget."""
    solution = whole()
    n = at(solution, BOARD)
    ranges = tuple(solution.infostates[Infostate.REACH, solution.span(n, p)].copy() for p in (0, 1))
    leave = solution.infostates[Infostate.CFV, solution.span(n, opponent)].copy()
    trees, gadgets = [], []
    for _ in range(2):
        trees.append(Lookahead(LEDUC, BOARD, (ranges[0], ranges[1])).expand_all())
        gadgets.append(Gadget(opponent, leave, ranges[opponent], alpha=0.7))
    settings = SearchSettings(rule)
    run(search(trees[0], 0, Budget(20, 1.0), settings, derive_generator(0, 0, 0), gadgets[0]), zero_evaluator)
    for step in rule.steps(1, 20):
        for players in (1, 2) if rule.alternating else (3,):
            enter(trees[1].arrays, gadgets[1].choice)
            trees[1].forward()
            trees[1].payoffs()
            trees[1].backward(step, players)
            if (players >> opponent) & 1:
                update_choice(trees[1].arrays, gadgets[1].choice, players, step)
    np.testing.assert_allclose(gadgets[0].follow, gadgets[1].follow, atol=1e-9)
    for row in (Infostate.CFV_SUM, Infostate.REACH_SUM):
        np.testing.assert_allclose(trees[0].infostates[row], trees[1].infostates[row], rtol=1e-6, atol=1e-9)
    one, other = (tree.entries[Entry.POLICY_SUM] for tree in trees)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def opponent_best_response(tree: Lookahead, opponent: int, own: Float64) -> Float64:
    """float64[I]: what each of the opponent's infostates gets at the root against the resolver's average policy."""
    tree.update_average_policy()
    tree.infostates[Infostate.REACH, tree.span(0, 1 - opponent)] = own
    return np.array(tree.evaluate(Entry.AVERAGE_POLICY, best=Players(1 << opponent))[opponent])


@pytest.mark.parametrize("opponent", [0, 1])
def test_re_solving_with_the_gadget_is_safe_and_without_it_is_not(opponent: int) -> None:
    """CFR-D, theorem 1: no infostate of the opponent gains over what its best response had before.

    The ranges are a fixed solution's and the opponent's is far off, as after a mistake: the trap for re-solving
    without the gadget, which then plays against those cards alone.
    """
    solution = whole()
    n = at(solution, BOARD)
    own = solution.infostates[Infostate.REACH, solution.span(n, 1 - opponent)].copy()
    solution.evaluate(Entry.AVERAGE_POLICY, best=Players(1 << opponent))
    leave = solution.infostates[Infostate.CFV, solution.span(n, opponent)].copy()
    wrong = np.array([1.0, 1.0, 0.01, 0.0, 0.01, 0.01])
    ranges = (own, wrong) if opponent else (wrong, own)
    worst = []
    for gadget in (Gadget(opponent, leave, wrong, 1.0, np.arange(6) != 3), None):
        tree = Lookahead(LEDUC, BOARD, ranges).expand_all()
        run(search(tree, 0, Budget(2_000, 1.0), SearchSettings(), derive_generator(0, 0, 0), gadget), zero_evaluator)
        mass = LEDUC.masses(BOARD, *((own, wrong) if opponent else (wrong, own)))[opponent]
        gain = opponent_best_response(tree, opponent, own) - leave
        worst.append(float((gain[mass > 0] / mass[mass > 0]).max()))
    assert worst[0] < 0.01  # chips
    assert worst[1] > 0.25
