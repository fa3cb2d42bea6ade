"""Lookahead trees: their layout, partly opened nodes, room, restarts and sums over iterations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sog
from sog.errors import GameError
from sog.games.base import NATURE, Game
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR, RULES, SOG, Rule
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Infostate, Kind

GAMES = (
    Leduc(),
    Goofspiel(3, "random"),
    RockPaperScissors(),
    make_game("scotland_yard(map=glasses,rounds=2)"),
)


def ranges(public: PublicTree, node: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.random(int(public.nodes.width[node, 0])), rng.random(int(public.nodes.width[node, 1]))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_layout(game: Game) -> None:
    public = PublicTree(game).list_all()
    tree = exact.full_tree(public)
    assert sorted(tree.nodes.public[: tree.size]) == list(range(public.size))
    slots, entries = np.zeros(tree.infostates.shape[1], int), np.zeros(tree.entries.shape[1], int)
    for n in range(tree.size):
        for p in (0, 1):
            slots[tree.span(n, p)] += 1
        if tree.nodes.actor[n] < NATURE:
            entries[tree.block(n)] += 1
            assert tree.table(n, Entry.REGRET).shape == public.legal(int(tree.nodes.public[n])).shape
        if tree.nodes.kind[n] == Kind.INTERIOR:
            for e in range(tree.nodes.edges[n]):
                c = tree.child.node[tree.nodes.child0[n] + e]
                assert c > n and tree.nodes.parent[c] == n
                assert tree.nodes.public[c] == public.child(int(tree.nodes.public[n]), e)
                for p in (0, 1):
                    assert tree.child.offset[tree.nodes.child0[n] + e, p] == tree.span(c, p).start
    for used in (slots, entries):
        assert set(used) <= {0, 1} and (np.diff(used) <= 0).all()  # each place belongs to one node, without gaps


@given(st.integers(0, 2**32 - 1))
def test_closed_actions_are_never_played(seed: int) -> None:
    """Trees opened edge by edge: policies are over what is open, and ranges arrive whole at the open children."""
    rng = np.random.default_rng(seed)
    game = GAMES[seed % len(GAMES)]
    public = PublicTree(game)
    tree = Lookahead(public, 0, game.root_ranges(), room=1)
    for _ in range(12):
        n = int(rng.integers(tree.size))
        if tree.nodes.kind[n] != Kind.ENDED:
            public.list_fan(int(tree.nodes.public[n]))
            tree.expand(n, int(rng.integers(public.nodes.edges[tree.nodes.public[n]])))
    tree.forward()
    for n in range(tree.size):
        if tree.nodes.kind[n] != Kind.INTERIOR or tree.nodes.actor[n] >= NATURE:
            continue
        p, s = int(tree.nodes.actor[n]), public.states[int(tree.nodes.public[n])]
        moves = game.fan(s).moves
        assert moves is not None
        edges = np.array([tree.child.node[tree.nodes.child0[n] + e] for e in range(tree.nodes.edges[n])])
        opened = ((moves.edge >= 0) & (edges[moves.edge] >= 0)).T
        policy = tree.table(n, Entry.POLICY)
        np.testing.assert_allclose(policy, opened / np.maximum(opened.sum(axis=0), 1))
        reach = tree.infostates[Infostate.REACH]
        below = sum(reach[tree.span(c, p)].sum() for c in edges[edges >= 0])
        assert below == pytest.approx(reach[tree.span(n, p)] @ opened.any(axis=0))


def test_opening_an_action_later_starts_it_without_regret() -> None:
    game = RockPaperScissors()
    public = PublicTree(game).list_all()
    tree = Lookahead(public, 0, game.root_ranges())
    tree.expand(0)
    second = int(tree.child.node[tree.nodes.child0[0]])
    tree.expand(second, 0)
    tree.expand(second, 1)
    for _ in range(3):
        tree.forward()
        tree.payoffs()
        tree.backward(SOG.steps(tree.iterations + 1, 1)[0])
    assert tree.table(second, Entry.POLICY)[2, 0] == 0 and tree.table(second, Entry.REGRET)[2, 0] == 0
    before = tree.table(second, Entry.POLICY).copy()
    tree.expand(second, 2)
    assert tree.table(second, Entry.REGRET)[2, 0] == 0
    np.testing.assert_array_equal(tree.table(second, Entry.POLICY), before)
    tree.forward()
    tree.payoffs()
    tree.backward(SOG.steps(tree.iterations + 1, 1)[0])
    assert tree.table(second, Entry.REGRET)[2, 0] != 0


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_room_changes_nothing(game: Game) -> None:
    public = PublicTree(game).list_all()
    small, large = (Lookahead(public, 0, game.root_ranges(), room).expand_all() for room in (1, 5_000))
    for tree in (small, large):
        tree.iterate(DCFR, 5)
    used = large.counts.tolist()
    assert small.counts.tolist() == used
    assert (small.nodes[: used[0]] == large.nodes[: used[0]]).all()
    assert (small.infostates[:, : used[1]] == large.infostates[:, : used[1]]).all()
    assert (small.entries[:, : used[2]] == large.entries[:, : used[2]]).all()


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_restart_forgets_everything(game: Game) -> None:
    public = PublicTree(game).list_all()
    node = 1
    used = Lookahead(public, node, ranges(public, node, 1)).expand_all()
    used.iterate(DCFR, 7)
    used.update_average_policy()
    used.evaluate()
    fresh = Lookahead(public, node, ranges(public, node, 2)).expand_all()
    used.restart(ranges(public, node, 2))
    for tree in (used, fresh):
        tree.iterate(DCFR, 7)
        tree.update_average_policy()
        tree.evaluate()
    assert (used.infostates == fresh.infostates).all() and (used.entries == fresh.entries).all()
    assert used.iterations == fresh.iterations


@pytest.mark.parametrize("least", [1e-306, 1e-320])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("game", GAMES[:2], ids=lambda game: game.name)
def test_ranges_may_be_next_to_nothing(game: Game, rule: Rule, least: float) -> None:
    """As deep in a tree, where each action on the way was hardly ever played: 1 over a regret is infinite."""
    public = PublicTree(game).list_all()
    zero, one = game.root_ranges()
    tree = Lookahead(public, 0, (least * zero, least * one)).expand_all()
    tree.iterate(rule, 5)
    tree.update_average_policy()
    for n in tree.decisions():
        legal = public.legal(tree.public_node(n))
        assert not exact.flaw_of(tree.current_policy(n), legal) and not exact.flaw_of(tree.policy(n), legal)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_sums_over_iterations(rule: Rule) -> None:
    """CFV_SUM and REACH_SUM are the sums of each iteration's values and ranges times the averaging weight."""
    public = PublicTree(Leduc()).list_all()
    tree = exact.full_tree(public)
    cfv, reach = np.zeros(tree.infostates.shape[1]), np.zeros(tree.infostates.shape[1])
    for step in rule.steps(1, 6):
        tree.forward()
        tree.payoffs()
        reach += step[2] * tree.infostates[Infostate.REACH]
        tree.backward(step)
        cfv += step[2] * tree.infostates[Infostate.CFV]
    np.testing.assert_allclose(tree.infostates[Infostate.CFV_SUM], cfv, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tree.infostates[Infostate.REACH_SUM], reach, rtol=1e-12)


@pytest.mark.parametrize("game", [Leduc(), Goofspiel(3, "random")], ids=lambda game: game.name)
def test_policies_are_averaged_by_their_players_own_reaches(game: Game) -> None:
    """With a child for each action, as in Leduc, and where several actions share children."""
    tree = exact.full_tree(PublicTree(game).list_all())
    sums = {n: np.zeros_like(tree.policy_sum(n)) for n in tree.decisions()}
    assert all(tree.nodes.plain[n] == isinstance(game, Leduc) for n in sums)
    for step in DCFR.steps(1, 6):
        tree.forward()
        tree.payoffs()
        for n, total in sums.items():
            total += step[2] * tree.ranges(n)[tree.actor(n)] * tree.current_policy(n)
        tree.backward(step)
    for n, total in sums.items():
        np.testing.assert_allclose(tree.policy_sum(n), total, atol=1e-6)


def test_policies_are_normalised_once_a_node() -> None:
    public = PublicTree(Goofspiel(3, "random")).list_all()
    tree = exact.solve(public, DCFR, 20)
    for node, policy in exact.policy_of(tree).items():
        legal = public.legal(node)
        np.testing.assert_allclose(policy.sum(axis=0), 1.0)
        assert (policy[legal == 0] == 0).all()


@pytest.mark.parametrize(
    "question",
    [*("children", "policy", "visits", "values", "ranges"), *("actor", "is_leaf", "is_open", "actions", "cfvs")],
)
def test_a_node_that_is_not_there_is_refused(question: str) -> None:
    """The arrays have more rows than nodes: values were computed from such rows by a kernel that wrote past its end."""
    tree = sog.search("leduc_poker", sog.Budget(20, 1.0)).tree
    for n in (-1, tree.size, 10**6):
        with pytest.raises(GameError, match=f"the nodes 0 to {tree.size - 1}, not"):
            getattr(tree, question)(n)


def test_there_is_no_policy_where_nobody_acts() -> None:
    tree = sog.search("leduc_poker", sog.Budget(20, 1.0)).tree
    n = next(n for n in range(tree.size) if tree.actor(n) >= NATURE)
    with pytest.raises(GameError, match=f"no player acts at node {n}"):
        tree.policy(n)
