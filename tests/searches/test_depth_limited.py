"""Depth-limited solving: what whole trees, fixed leaves and exact leaves say it must come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sog.arrays import Array, Float64
from sog.errors import SettingError
from sog.games.base import NATURE
from sog.games.catalog import make_game
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import LINEAR_CFR
from sog.searches.depth_limited.settings import (
    CFR_AVE,
    CFR_D,
    MODIFIED_CFR_AVE,
    REBEL_FLOP,
    REBEL_FP,
    Solver,
    SolveSettings,
)
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.depth_limited.turns import AT_ONCE
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Kind

KUHN_VALUE = -1 / 18
DICE = "liars_dice(numdice=1,dice_sides=3)"


def listed(name: str) -> PublicTree:
    return PublicTree(make_game(name)).list_all()


def start(public: PublicTree) -> tuple[int, Float64]:
    return 0, public.ranges_by_slot(0, public.game.root_ranges())


def solved(
    public: PublicTree, roots: list[tuple[int, Float64]], settings: SolveSettings, evaluator: Evaluator
) -> Subgames:
    games = Subgames(public, roots, settings.depth, settings.to_chance)
    run(solve(games, settings), evaluator)
    return games


def policies(games: Subgames, k: int) -> dict[int, Float64]:
    tree = games.tree
    return {
        tree.public_node(n): tree.table(n, Entry.AVERAGE_POLICY).copy()
        for n in np.flatnonzero(games.owner == k)
        if tree.nodes.kind[n] == Kind.INTERIOR and tree.nodes.actor[n] < NATURE
    }


def root_value(games: Subgames) -> float:
    """Player 0's value at the root of the first subgame, in the mean over pairs."""
    public = games.public
    ranges = public.ranges_of_slots(games.tree.public_node(0), games.ranges[0])
    joint = public.game.weights(public.states[games.tree.public_node(0)]).dense() * np.outer(*ranges)
    return float(games.root_values(0)[0] @ joint.sum(axis=1) / joint.sum())


class FixedUtilities:
    """Leaves that are as good as terminal: player 0's utility of each pair is given once for all.

    pairs: answer with the utilities themselves, as CFR-AVE asks, in place of their expectations.
    """

    def __init__(self, public: PublicTree, pairs: bool = False) -> None:
        self.pairs, self.asked = pairs, 0
        self.utilities = np.random.default_rng(3).normal(size=(public.size, *public.game.num_slots))

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [self.answer(beliefs) for beliefs in requests]

    def answer(self, beliefs: Beliefs) -> Evaluations:
        self.asked += len(beliefs.nodes)
        game, tables = beliefs.public.game, self.utilities[beliefs.nodes]
        logits = np.zeros((len(tables), max(game.num_slots), game.num_actions))
        if self.pairs:
            return Evaluations(tables.reshape(len(tables), -1), logits)
        out = np.zeros((len(tables), sum(game.num_slots)))
        for b, node in enumerate(beliefs.nodes):
            out[b] = expectations(beliefs.public, int(node), beliefs.ranges[b], tables[b])
        return Evaluations(out, logits)


def expectations(public: PublicTree, node: int, ranges: Float64, table: Array) -> Float64:
    """Conditional values by slot of a table of utilities by pair of slots."""
    slots0 = public.game.num_slots[0]
    joint = np.zeros(public.game.num_slots)
    at = public.slots_of(node, 0)[:, None], public.slots_of(node, 1)[None, :]
    joint[at] = public.game.weights(public.states[node]).dense()
    r0, r1 = ranges[:slots0], ranges[slots0:]
    with np.errstate(invalid="ignore", divide="ignore"):
        v0 = (joint * table * r1).sum(axis=1) / (joint * r1).sum(axis=1)
        v1 = -(joint * table * r0[:, None]).sum(axis=0) / (joint * r0[:, None]).sum(axis=0)
    return np.nan_to_num(np.concatenate([v0, v1]))


@pytest.mark.parametrize("name", ["kuhn_poker", DICE])
def test_a_subgame_to_the_end_of_the_game_is_solved_bit_for_bit_as_by_the_plain_solver(name: str) -> None:
    public = listed(name)
    node, ranges = start(public)
    games = solved(public, [(node, ranges)], SolveSettings(depth=0, updates=64), zero_evaluator)
    tree = Lookahead(public, node, public.ranges_of_slots(node, ranges)).expand_all()
    tree.iterate(LINEAR_CFR, 32)
    tree.update_average_policy()
    for s, table in exact.policy_of(tree).items():
        np.testing.assert_array_equal(policies(games, 0)[s], table)


@pytest.mark.parametrize("solver", [REBEL_FP, REBEL_FLOP], ids=lambda solver: solver.name)
def test_fictitious_play_to_the_end_of_the_game_is_the_plain_one(solver: object) -> None:
    public = listed(DICE)
    settings = SolveSettings(solver, depth=0, updates=64)  # type: ignore[arg-type]
    games = solved(public, [start(public)], settings, zero_evaluator)
    tree = Lookahead(public, 0, public.ranges_of_slots(*start(public))).expand_all()
    settings.solver.rule.iterate(tree, 32)  # type: ignore[union-attr]
    tree.update_average_policy()
    for s, table in exact.policy_of(tree).items():
        np.testing.assert_allclose(policies(games, 0)[s], table, atol=1e-9)
    # The value of the average policies, not an average of values:
    assert root_value(games) == pytest.approx(exact.measure_policy(public, exact.policy_of(tree)).value, abs=1e-9)


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("solver", [CFR_AVE, MODIFIED_CFR_AVE], ids=lambda solver: solver.name)
def test_where_leaves_are_as_good_as_terminal_every_cfr_solver_is_cfr(solver: object, simultaneous: bool) -> None:
    public = listed(DICE)
    settings = SolveSettings(updates=64, simultaneous=simultaneous, prune=False)
    roots = [start(public)]
    plain = solved(public, roots, settings, FixedUtilities(public))
    other = solved(
        public,
        roots,
        replace(settings, solver=solver),
        FixedUtilities(public, pairs=solver is CFR_AVE),  # type: ignore[arg-type]
    )
    for s, table in policies(plain, 0).items():
        np.testing.assert_allclose(policies(other, 0)[s], table, atol=1e-6)
    np.testing.assert_allclose(other.root_values(0)[0], plain.root_values(0)[0], atol=1e-6)


def test_pruning_asks_less_and_changes_nothing() -> None:
    public = listed(DICE)
    found = []
    for prune in (False, True):
        evaluator = FixedUtilities(public)
        games = solved(public, [start(public)], SolveSettings(updates=256, prune=prune, remember=False), evaluator)
        found.append((evaluator.asked, games.root_values(0), policies(games, 0)))
    (many, values, table), (few, same_values, same_table) = found
    assert few < 0.9 * many
    np.testing.assert_array_equal(values[0], same_values[0])
    np.testing.assert_array_equal(values[1], same_values[1])
    for s in table:
        np.testing.assert_array_equal(table[s], same_table[s])


@pytest.mark.parametrize("changes", [{"simultaneous": True}, {"recycle": 1.0}])
def test_fewer_looks_at_the_leaves(changes: dict[str, object]) -> None:
    public = listed(DICE)
    plain, fewer = FixedUtilities(public), FixedUtilities(public)
    settings = SolveSettings(updates=64, prune=False, remember=False)
    solved(public, [start(public)], settings, plain)
    solved(public, [start(public)], replace(settings, **changes), fewer)  # type: ignore[arg-type]
    wanted = {"recycle": 2 * 6}.get(next(iter(changes)), 32)  # iterations 1, 3, 7, 15, 31: and 32 is not 1.0 beyond
    assert plain.asked == 64 * (plain.asked // 64)
    if "recycle" in changes:
        assert fewer.asked * 64 == plain.asked * 10
    else:
        assert fewer.asked * 64 == plain.asked * wanted


def test_subgames_side_by_side_are_solved_as_they_would_be_alone() -> None:
    public = listed(DICE)
    _, ranges = start(public)
    node = int(public.child(0, 1))
    lopsided = np.array([0.7, 0.2, 0.1, 0.1, 0.3, 0.6])
    roots = [(0, ranges), (node, lopsided), (0, lopsided)]
    settings = SolveSettings(updates=64)
    together = solved(public, roots, settings, FixedUtilities(public))
    for k, root in enumerate(roots):
        alone = solved(public, [root], settings, FixedUtilities(public))
        for s, table in policies(alone, 0).items():
            np.testing.assert_array_equal(policies(together, k)[s], table)
        for p in (0, 1):
            np.testing.assert_array_equal(together.root_values(k)[p], alone.root_values(0)[p])


def made_up(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Values that depend on the beliefs a little, the same for the same beliefs."""
    return [Evaluations(np.cos(3.0 * b.ranges + b.nodes[:, None]), np.zeros((len(b.nodes), 1, 1))) for b in requests]


@pytest.mark.parametrize("name", ["leduc_poker", DICE])
@pytest.mark.parametrize("solver", [REBEL_FP, REBEL_FLOP], ids=lambda solver: solver.name)
def test_fictitious_play_responds_to_values_as_they_are_answered(solver: Solver, name: str) -> None:
    """That both players' values at a leaf sum to zero is seen to only where the average policies are valued."""
    public = listed(name)
    plain, balanced = (
        solved(public, [start(public)], SolveSettings(solver, updates=32, correct=correct), made_up)
        for correct in (False, True)
    )
    for s, table in policies(plain, 0).items():
        np.testing.assert_array_equal(policies(balanced, 0)[s], table)
    assert np.abs(balanced.root_values(0)[0] - plain.root_values(0)[0]).max() > 0.01


@pytest.mark.parametrize("solver", [CFR_D, MODIFIED_CFR_AVE, REBEL_FP], ids=lambda solver: solver.name)
def test_many_subgames_whose_infostates_change_over_edges_are_solved_as_they_would_be_alone(solver: Solver) -> None:
    """More than go through a sweep at a time: those behind the first must find the widths of their own nodes."""
    public = listed("goofspiel(imp_info=True,num_cards=3,points_order=random)")
    starts, rng, roots = list(public.decisions()), np.random.default_rng(3), []
    widths = {tuple(public.nodes.width[[n, *public.children(n)], p]) for n in starts for p in (0, 1)}
    assert any(len(set(several)) > 1 for several in widths)
    for k in range(41):
        node = starts[k % len(starts)]
        own = rng.uniform(0.1, 1.0, size=public.num_infostates(node)[0])
        other = rng.uniform(0.1, 1.0, size=public.num_infostates(node)[1])
        roots.append((node, public.ranges_by_slot(node, (own, other))))
    assert len(roots) > 2 * AT_ONCE
    settings = SolveSettings(solver, depth=2, updates=32)
    together = solved(public, roots, settings, made_up)
    for k, root in enumerate(roots):
        alone = solved(public, [root], settings, made_up)
        for s, table in policies(alone, 0).items():
            np.testing.assert_array_equal(policies(together, k)[s], table, err_msg=f"policy at {s} in subgame {k}")
        for p in (0, 1):
            values = together.root_values(k)[p]
            np.testing.assert_array_equal(values, alone.root_values(0)[p], err_msg=f"subgame {k}")


@pytest.mark.parametrize("solver", [CFR_D, REBEL_FP], ids=lambda solver: solver.name)
def test_with_exact_leaves_the_root_has_the_value_of_the_game(solver: object) -> None:
    public = listed("kuhn_poker")
    settings = SolveSettings(solver, depth=1, updates=600)  # type: ignore[arg-type]
    games = solved(public, [start(public)], settings, exact.ExactEvaluator(100))
    # Player 0 alone acts above the leaves and is answered at once, so that its mean lacks its regret.
    assert root_value(games) == pytest.approx(KUHN_VALUE, abs=0.02)


@pytest.mark.parametrize("correct", [False, True])
def test_the_root_s_values_sum_to_zero_where_that_is_wanted(correct: bool) -> None:
    """Players who update in turn each receive too little: at leaves that are as good as terminal only the root's do."""
    public = listed(DICE)
    ranges = public.ranges_by_slot(0, (np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.5, 0.3])))
    games = solved(public, [(0, ranges)], SolveSettings(updates=16, correct=correct), FixedUtilities(public))
    joint = public.weights(0) * np.outer(*public.ranges_of_slots(0, ranges))
    zero, one = games.root_values(0)
    surplus = (zero @ joint.sum(axis=1) + one @ joint.sum(axis=0)) / joint.sum()
    assert surplus == pytest.approx(0.0, abs=1e-9) if correct else surplus < -0.01


def test_depth_counts_actions_and_leaves_may_end_a_betting_round() -> None:
    public = listed("leduc_poker")
    shallow = Subgames(public, [start(public)], depth=1)
    assert set(shallow.tree.nodes.parent[: shallow.tree.size]) == {-1, 0}
    games = Subgames(public, [start(public)], depth=0, to_chance=True)
    assert len(games.leaves) > 0
    assert all(games.tree.nodes.actor[n] == NATURE for n in games.leaves)
    after = Subgames(public, [(games.tree.public_node(int(games.leaves[0])), games.ranges[0])], depth=0, to_chance=True)
    assert len(after.leaves) == 0 and after.tree.size > 1


def test_iterations_are_told_with_the_policies_that_enter_the_average() -> None:
    public = listed(DICE)
    games = Subgames(public, [start(public)])
    settings = SolveSettings(updates=32)
    total = np.zeros_like(games.tree.table(0, Entry.POLICY))

    def visit(t: int) -> None:
        nonlocal total
        total = total + settings.weights[t - 1] * games.tree.table(0, Entry.POLICY)

    run(solve(games, settings, visit), FixedUtilities(public))
    np.testing.assert_allclose(total, games.tree.table(0, Entry.AVERAGE_POLICY), atol=1e-6)


@pytest.mark.parametrize("remember", [False, True])
@pytest.mark.parametrize("solver", [CFR_D, CFR_AVE], ids=lambda solver: solver.name)
def test_values_of_another_form_are_refused(solver: Solver, remember: bool) -> None:
    public = listed("kuhn_poker")
    wrong = FixedUtilities(public, pairs=solver is CFR_D)
    with pytest.raises(SettingError, match=r"reads (6 values a leaf, not 9|9 values a leaf, not 6)"):
        solved(public, [start(public)], SolveSettings(solver, depth=1, updates=4, remember=remember), wrong)


@pytest.mark.parametrize("wrong", [{"updates": 7}, {"updates": 0}, {"depth": -1}, {"recycle": -0.1}, {"recycle": 2.0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        SolveSettings(**wrong)  # type: ignore[arg-type]


def test_a_player_who_has_no_mean_yet_has_its_current_range() -> None:
    """CFR-AVE hands on the averages' ranges; after one iteration player 0's average is the policy that it played."""
    public = listed(DICE)
    ranges = public.ranges_by_slot(0, (np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.5, 0.3])))
    games = Subgames(public, [(0, ranges)])
    found: list[tuple[Float64, Float64]] = []

    def visit(t: int) -> None:
        if t == 1:
            found.extend((games.reaches(int(n), mean=True), games.reaches(int(n))) for n in games.leaves)

    run(solve(games, SolveSettings(CFR_AVE, updates=8), visit), FixedUtilities(public, pairs=True))
    assert found
    for mean, current in found:
        np.testing.assert_allclose(mean[:3], current[:3])


def test_mean_ranges_are_those_of_all_iterations_so_far() -> None:
    """Of player 1 in CFR-AVE, who moves last: iteration t counts t times."""
    public = listed(DICE)
    games = Subgames(public, [start(public)])
    sums = {int(n): np.zeros(3) for n in games.leaves}
    apart = 0.0

    def visit(t: int) -> None:
        nonlocal apart
        for n, total in sums.items():
            total += t * games.tree.ranges(n)[1]
            mean = games.reaches(n, mean=True)[3:]
            np.testing.assert_allclose(mean, total / total.sum(), atol=1e-12)
            apart = max(apart, np.abs(mean - games.reaches(n)[3:]).max())

    run(solve(games, SolveSettings(CFR_AVE, updates=16), visit), FixedUtilities(public, pairs=True))
    assert apart > 0.1
