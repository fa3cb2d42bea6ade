"""Query solving: targets are the subgame's values and policies, at the right slots, actions and units."""

from __future__ import annotations

import numpy as np
import pytest

from sog.algorithms.student.queries import PairOutcome, Query, QuerySettings, Solving, query_log, visit_row
from sog.arrays import Float64
from sog.games.base import NATURE
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.liars_dice import LiarsDice
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.shape import NetworkShape, shape_for
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import PCFR_PLUS
from sog.searches.gtcfr.settings import PAPER, Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, zero_evaluator
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate
from sog.training.learner import losses
from sog.training.rows import Rows

GLASSES = make_game("scotland_yard(map=glasses,rounds=2)")
TREES = [PublicTree(game).list_all() for game in (Kuhn(), Leduc(), LiarsDice(1, 3), Goofspiel(3, "random"), GLASSES)]
LEDUC = TREES[1]
SHAPE = shape_for(Leduc(), 8, 1)
MANY = QuerySettings(Budget(1_500, 1.0), SearchSettings(), recursive=0.0)


def question(public: PublicTree, node: int, seed: int = 0, empty: float = 0.0) -> Query:
    """Random ranges at a node; `empty` of the infostates have none."""
    rng = np.random.default_rng(seed)
    counts = public.game.num_infostates(public.states[node])
    ranges = [rng.random(n) * (rng.random(n) >= empty) for n in counts]
    weights = public.game.weights(public.states[node]).dense()
    ranges = [r * (weights.sum(axis=1 - p) > 0) for p, r in enumerate(ranges)]  # nobody holds the card on the board
    return Query(public, node, public.ranges_by_slot(node, (ranges[0], ranges[1])))


def solved(public: PublicTree, query: Query, settings: QuerySettings = MANY, seed: int = 0) -> Solving:
    solving = Solving(query, settings, np.random.default_rng(seed))
    run(solving, zero_evaluator)
    return solving


def row_of(public: PublicTree, query: Query, settings: QuerySettings = MANY) -> Rows:
    return solved(public, query, settings).row(shape_for(public.game, 8, 1), policies=True)


def values_at(row: Rows, public: PublicTree, node: int, p: int) -> tuple[Float64, Float64]:
    """(values, mask) by infostate, in value units."""
    at = public.game.slot(public.states[node], p) + (public.game.num_slots[0] if p else 0)
    return row.values[0, at].astype(float), row.value_mask[0, at].astype(float)


@pytest.mark.parametrize("public", TREES, ids=lambda public: public.game.name)
def test_values_are_those_of_the_subgame(public: PublicTree) -> None:
    """By another rule, weighted over pairs; and no infostate has more than a best response to the policy found."""
    game = public.game
    asked = [n for n in range(public.size) if public.nodes.actor[n] <= NATURE]
    for node in asked[:: max(1, len(asked) // 6)]:
        query = question(public, node, node)
        solving = solved(public, query)
        row = solving.row(shape_for(game, 8, 1), policies=True)
        ranges = public.ranges_of_slots(node, query.ranges)
        weights, unit = game.weights(public.states[node]).dense(), game.value_unit(public.states[node])
        mass = (weights @ ranges[1], ranges[0] @ weights)
        reference = Lookahead(public, node, ranges).expand_all()
        reference.iterate(PCFR_PLUS, 1_500)
        reference.update_average_policy()
        known = float(reference.evaluate()[0] @ ranges[0])
        solving.tree.update_average_policy()
        for p, sign in ((0, 1.0), (1, -1.0)):
            values, mask = values_at(row, public, node, p)
            assert ((mass[p] > 0) == (mask == 1)).all()
            total = float((values * unit * mass[p]) @ ranges[p])
            assert total == pytest.approx(sign * known, abs=2e-3 * game.u_max * float(ranges[0] @ weights @ ranges[1]))
            best = solving.tree.evaluate(Entry.AVERAGE_POLICY, best=Players(1 << p))[p]
            assert (values * unit * mass[p] <= best + 2e-3 * game.u_max * mass[p].max() + 1e-9).all()


@pytest.mark.parametrize("settings", [SearchSettings(), PAPER], ids=["alternating", "simultaneous"])
def test_values_are_means_over_iterations(settings: SearchSettings) -> None:
    """sum(w * cfv) / (W sum(w * range)) in the state's unit, never the value of the average policy."""
    node = LEDUC.states.index(LeducState("cc", 3))
    query = question(LEDUC, node)
    row = row_of(LEDUC, query, QuerySettings(Budget(40, 1.0), settings, 0.0))
    solving = solved(LEDUC, query, QuerySettings(Budget(40, 1.0), settings, 0.0))
    cfv = solving.tree.infostates[Infostate.CFV_SUM]
    ranges = LEDUC.ranges_of_slots(node, query.ranges)
    weight = float(solving.tree.infostates[Infostate.REACH_SUM, solving.tree.span(0, 0)].sum() / ranges[0].sum())
    w = LEDUC.game.weights(LEDUC.states[node]).dense()
    unit = LEDUC.game.value_unit(LEDUC.states[node])
    for p, mass in enumerate((w @ ranges[1], ranges[0] @ w)):
        values, mask = values_at(row, LEDUC, node, p)
        held = mass > 0
        expected = cfv[solving.tree.span(0, p)][held] / weight / mass[held] / unit
        np.testing.assert_allclose(values[held], expected, rtol=1e-5)
        assert (values[~held] == 0).all() and (mask == held).all()


def test_infostates_without_weight_are_masked() -> None:
    """The card on the board, and whoever's hands all clash with the opponent's only possible one."""
    node = LEDUC.states.index(LeducState("cc", 4))
    lone = np.zeros(6)
    lone[2] = 1.0
    query = Query(LEDUC, node, LEDUC.ranges_by_slot(node, (lone, np.ones(6) * (np.arange(6) != 4))))
    row = row_of(LEDUC, query)
    assert values_at(row, LEDUC, node, 0)[1].tolist() == [1, 1, 1, 1, 0, 1]
    assert values_at(row, LEDUC, node, 1)[1].tolist() == [1, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("public", TREES, ids=lambda public: public.game.name)
def test_policies_stand_at_slots_and_action_identities(public: PublicTree) -> None:
    game = public.game
    nodes = list(public.decisions())
    for node in nodes[:: max(1, len(nodes) // 5)]:
        solving = solved(public, question(public, node, 1), QuerySettings(Budget(20, 1.0), SearchSettings(), 0.0))
        row = solving.row(shape_for(game, 8, 1), policies=True)
        s, actor = public.states[node], game.actor(public.states[node])
        moves = game.fan(s).moves
        assert moves is not None
        solving.tree.update_average_policy()
        policy = solving.tree.table(0, Entry.AVERAGE_POLICY)
        expected = np.zeros_like(row.policies[0])
        legal = np.zeros_like(row.legal[0])
        for i, slot in enumerate(game.slot(s, actor)):
            for a, action in enumerate(game.actions(s)):
                expected[slot, action] = policy[a, i]
                legal[slot, action] = moves.edge[i, a] >= 0
        np.testing.assert_allclose(row.policies[0], expected, atol=1e-6)
        assert (row.legal[0] == legal).all()
        assert (row.policy_mask[0] == legal.any(axis=1)).all()
        np.testing.assert_allclose(row.policies[0].sum(axis=1), row.policy_mask[0], atol=1e-5)
        assert (row.policies[0][~row.legal[0]] == 0).all()


def test_chance_states_have_values_and_no_policy() -> None:
    node = LEDUC.states.index(LeducState("cc"))
    row = row_of(LEDUC, question(LEDUC, node))
    assert row.value_mask.all() and not row.policy_mask.any() and not row.legal.any() and not row.policies.any()


def test_policies_may_be_left_to_the_main_line() -> None:
    row = solved(LEDUC, question(LEDUC, 0)).row(SHAPE, policies=False)
    assert row.value_mask.all() and not row.policy_mask.any()


def encoded(public: PublicTree, query: Query, shape: NetworkShape) -> Float64:
    beliefs = Beliefs(public, np.array([query.node], dtype=np.int32), query.ranges[None])
    return encode(beliefs, shape.crossed, shape.matchups).astype(float)


@pytest.mark.parametrize("matchups", [False, True])
def test_inputs_are_the_query(matchups: bool) -> None:
    game = Leduc()
    shape = shape_for(game, 8, 1, crossed=game.crossed, matchups=matchups)
    query = question(LEDUC, LEDUC.states.index(LeducState("crc", 1, "r")))
    row = solved(LEDUC, query).row(shape, policies=True)
    np.testing.assert_array_equal(row.inputs, encoded(LEDUC, query, shape))


@pytest.mark.parametrize("outcome", [None, PairOutcome((2, 5), -7.0)], ids=["policy", "with outcome"])
def test_a_visited_state_trains_its_policy_and_the_values_of_the_two_infostates_that_met(
    outcome: PairOutcome | None,
) -> None:
    node = LEDUC.states.index(LeducState("cc", 3))
    query, policy = question(LEDUC, node), np.random.default_rng(0).dirichlet(np.ones(2), 6).T
    row = visit_row(LEDUC, node, query.ranges, policy, outcome, SHAPE)
    assert row.policy_mask.all() and row.value_mask.sum() == (2 if outcome else 0)
    slots = LEDUC.game.slot(LEDUC.states[node], 0)
    np.testing.assert_allclose(row.policies[0, slots][:, [1, 2]], policy.T, rtol=1e-6)
    assert row.legal[0].tolist() == [[False, True, True]] * 6
    np.testing.assert_array_equal(row.inputs, encoded(LEDUC, query, SHAPE))
    unit = LEDUC.game.value_unit(LEDUC.states[node])
    for p, i, value in ((0, 2, -7.0 / unit), (1, 5, 7.0 / unit)) if outcome else ():
        values, mask = values_at(row, LEDUC, node, p)
        assert values[i] == pytest.approx(value)
        assert mask.tolist() == [float(k == i) for k in range(6)]


@pytest.mark.parametrize("betting", ["", "c"], ids=["player 0", "player 1"])
def test_a_policy_trains_the_actors_own_logits(betting: str) -> None:
    """With logits for each player (SoG, Fig. 6) those of the player who waits get no gradient."""
    node = LEDUC.states.index(LeducState(betting))
    actor = LEDUC.actor(node)
    policy = np.full((LEDUC.legal(node).shape[0], 6), 0.0)
    policy[0] = 1.0
    network = CVPN(shape_for(LEDUC.game, 8, 1, policies_apart=True))
    row = visit_row(LEDUC, node, question(LEDUC, node).ranges, policy, None, network.shape)
    losses(network, row)[1].backward()  # type: ignore[no-untyped-call]
    assert network.head.bias.grad is not None
    touched = network.split(network.head.bias.grad[None])[1][0].numpy().any(axis=1)
    assert touched.tolist() == [actor == 0] * 6 + [actor == 1] * 6


def test_so_many_queries_are_picked_on_average() -> None:
    rng, budget = np.random.default_rng(0), Budget(20, 0.5)
    for rate in (0.0, 0.3, 1.0, 2.6):
        for uniform in (False, True):
            logs = [query_log(rate, uniform, budget, rng) for _ in range(3_000)]
            counts = [log.uniform if uniform else len(log.iterations) for log in logs]
            assert np.mean(counts) == pytest.approx(rate, abs=0.05)
            assert set(counts) <= {int(rate), int(rate) + 1}
    picked = [t for _ in range(2_000) for t in query_log(1.0, False, budget, rng).iterations]
    assert set(picked) == set(range(40))
    assert query_log(99.0, False, Budget(3, 1.0), rng).iterations == {0, 1, 2}


@pytest.mark.parametrize("uniform", [False, True])
def test_recursive_queries_are_leaves_of_the_solve(uniform: bool) -> None:
    settings = QuerySettings(Budget(10, 1.0), SearchSettings(), recursive=3.0, uniform_recursive=uniform)
    followers = solved(LEDUC, question(LEDUC, 0), settings).followers()
    assert len(followers) == 3
    for query in followers:
        assert query.node > 0 and LEDUC.nodes.actor[query.node] <= NATURE
        assert query.ranges.sum() == pytest.approx(2.0)
    assert solved(LEDUC, question(LEDUC, 0), MANY).followers() == []


def test_root_solves_keep_both_ranges() -> None:
    query = question(LEDUC, LEDUC.states.index(LeducState("cc", 3)), empty=0.3)
    tree = solved(LEDUC, query).tree
    for mine, asked in zip(tree.root_ranges, LEDUC.ranges_of_slots(query.node, query.ranges), strict=True):
        np.testing.assert_array_equal(mine, asked)
    assert np.isfinite(tree.infostates).all()
