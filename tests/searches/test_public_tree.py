"""The listed game against a plain walk of its rules: nodes, edges, operators, slots, features, limits."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from sog.arrays import Array, Float32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Game, State
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.liars_dice import LiarsDice
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import PublicStates
from sog.searches.tree.tables import grown

GAMES = (
    Kuhn(),
    Leduc(),
    LiarsDice(1, 3),
    Goofspiel(3, "random"),
    RockPaperScissors(),
    make_game("scotland_yard(map=glasses,rounds=2)"),
)


def walk(game: Game, s: State) -> Iterator[State]:
    yield s
    if game.actor(s) != TERMINAL:
        for child in game.fan(s).children:
            yield from walk(game, child)


def test_kernels_call_chance_and_ends_as_games_do() -> None:
    assert (NATURE, TERMINAL) == (NATURE, TERMINAL)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_the_whole_game_is_listed(game: Game) -> None:
    public = PublicTree(game).list_all()
    states = list(walk(game, game.root()))
    assert public.size == len(states) == len(public.states)
    assert set(public.states) == set(states)
    assert public.states[0] == game.root() and public.parent[0] == -1
    for n, s in enumerate(public.states):
        row = public.nodes[n]
        assert row.actor == game.actor(s)
        assert tuple(row.width) == game.num_infostates(s)
        weights = public.matrix(int(row.weight)) * public.nodes.weight_scale[n]
        assert (weights == game.weights(s).dense()).all()
        if game.actor(s) == TERMINAL:
            payoff = public.matrix(int(row.payoff)) * public.nodes.payoff_scale[n]
            assert (payoff == game.payoff(s).dense()).all()
            continue
        assert public.nodes.value_unit[n] == game.value_unit(s)
        for p in (0, 1):
            assert (public.slots_of(n, p) == game.slot(s, p)).all()
        children = [public.child(n, e) for e in range(row.edges)]
        assert [public.states[c] for c in children] == list(game.fan(s).children)
        assert all(c > n and public.parent[c] == n for c in children)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_ranges_lie_at_their_players_slots(game: Game) -> None:
    public, rng = PublicTree(game).list_all(), np.random.default_rng(0)
    for n in public.decisions():
        r0, r1 = (rng.random(count) for count in public.num_infostates(n))
        by_slot = public.ranges_by_slot(n, (r0, r1))
        expected = np.zeros(sum(game.num_slots))
        expected[game.slot(public.states[n], 0)] = r0 / r0.sum()
        expected[game.num_slots[0] + game.slot(public.states[n], 1)] = r1 / r1.sum()
        np.testing.assert_allclose(by_slot, expected)
        back = public.ranges_of_slots(n, by_slot)
        np.testing.assert_allclose(np.concatenate(back), np.concatenate([r0 / r0.sum(), r1 / r1.sum()]))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_utilities_are_payoffs_without_their_weights(game: Game) -> None:
    """Whatever scale the rules give either of them."""
    public = PublicTree(game).list_all()
    ends = [n for n in range(public.size) if public.actor(n) == TERMINAL]
    for n in ends[:: max(1, len(ends) // 50)]:
        weights, payoff = game.weights(public.states[n]).dense(), game.payoff(public.states[n]).dense()
        for i, j in np.argwhere(weights > 0):
            assert public.utility(n, (int(i), int(j))) == pytest.approx(payoff[i, j] / weights[i, j])


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_rows_are_the_legal_actions(game: Game) -> None:
    public = PublicTree(game).list_all()
    decisions = list(public.decisions())
    assert decisions == [n for n, s in enumerate(public.states) if game.actor(s) < NATURE]
    for n in decisions:
        moves = game.fan(public.states[n]).moves
        assert moves is not None
        first, count = int(public.nodes.action0[n]), int(public.nodes.actions[n])
        assert (public.action_rows.identity[first : first + count] == game.actions(public.states[n])).all()
        assert (public.legal(n) == (moves.edge.T >= 0)).all()
        for a in range(count):
            row = public.action_rows[first + a]
            assert public.nodes.plain[n] == (row.edge >= 0)
            if row.edge < 0:
                links = public.links[row.link0 : row.link0 + row.links]
                assert (links.edge == moves.edge[links.source, a]).all()
                target = links.source if moves.target is None else moves.target[links.source, a]
                assert (links.target == target).all()
            else:
                assert moves.target is None and (moves.edge[:, a] == row.edge).all()


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_carries_are_the_fans(game: Game) -> None:
    public = PublicTree(game).list_all()
    for n, s in enumerate(public.states):
        if game.actor(s) == TERMINAL:
            continue
        carry = game.fan(s).carry or [(None, None)] * int(public.nodes.edges[n])
        assert public.nodes.same[n] == all(links is None for pair in carry for links in pair)
        for e, pair in enumerate(carry):
            edge = public.edges[public.nodes.edge0[n] + e]
            for p, links in enumerate(pair):
                start, count = edge.carry0[p], edge.carries[p]
                if links is None:
                    assert start == -1
                    continue
                written = public.links[start : start + count]
                assert (written.source == links.source).all() and (written.target == links.target).all()


def test_nodes_are_listed_when_they_are_asked_for() -> None:
    public = PublicTree(Leduc())
    assert public.size == 1
    assert public.list_fan(0) and public.size == 1
    edge = public.child(0, 1)
    assert public.size == 2 and public.child(0, 1) == edge
    assert public.edges.child[public.nodes.edge0[0]] == -1
    assert public.list_fan(0) and public.child(0, 0) == 2
    assert public.path(edge) == [0, edge] and public.path(0) == [0]


def listed_by(game: Game) -> PublicTree:
    """A few random lines of play, and the fans on the way."""
    public, rng = PublicTree(game), np.random.default_rng(0)
    for _ in range(30):
        node = 0
        while public.nodes.actor[node] != TERMINAL and public.list_fan(node):
            node = public.child(node, int(rng.integers(public.nodes.edges[node])))
    return public


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "go(board_size=2)"])
def test_a_deterministic_game_is_listed_as_any_other(name: str) -> None:
    fast, slow = make_game(name), make_game(name)
    slow.deterministic = False
    one, other = listed_by(fast), listed_by(slow)
    assert fast.deterministic and one.size == other.size > 50 and one.all_plain and other.all_plain
    used = slice(0, one.size)
    apart = {"edge0", "edges", "action0", "plain", "same"}  # a fan lies where it was listed, and some never were
    for name in set(PublicStates.layout.names or ()) - apart:
        np.testing.assert_array_equal(getattr(one.nodes, name)[used], getattr(other.nodes, name)[used])
    np.testing.assert_array_equal(one.parent[used], other.parent[used])
    for n in np.flatnonzero(other.nodes.edge0[used] >= 0).tolist():
        rows, edges = zip(*(_fan_of(tree, n) for tree in (one, other)), strict=True)
        np.testing.assert_array_equal(*rows)
        np.testing.assert_array_equal(*edges)
        assert one.nodes.plain[n] == one.nodes.same[n] == 1


def _fan_of(public: PublicTree, n: int) -> tuple[Array, Array]:
    """The rows and the edges of a node."""
    state = public.nodes[n]
    rows = public.action_rows[state.action0 : state.action0 + state.actions]
    return rows, public.edges[state.edge0 : state.edge0 + state.edges]


def test_an_operator_is_kept_once() -> None:
    public = PublicTree(Leduc()).list_all()
    deals = {int(op) for op in public.nodes.weight[: public.size]}
    payoffs = {int(op) for op in public.nodes.payoff[: public.size]} - {-1}
    assert len(deals) == 7  # before the board card, and one for each
    assert len(payoffs) == 13 and len(deals & payoffs) == 7  # folds pay by the deal itself


def test_too_large_games_are_refused_in_one_line() -> None:
    with pytest.raises(GameError, match="more than 8 public states"):
        PublicTree(Kuhn(), limit=8).list_all()
    assert PublicTree(Kuhn(), limit=9).list_all().size == 9


class WideBoard(Leduc):
    """Leduc whose board card counts as too many to list."""

    def listable(self, s: State) -> bool:
        return self.actor(s) != NATURE


def test_a_chance_event_too_large_to_list() -> None:
    public = PublicTree(WideBoard())
    with pytest.raises(GameError, match="too large to list"):
        public.list_all()
    node = next(n for n in range(public.size) if public.nodes.actor[n] == NATURE)
    assert not public.list_fan(node) and public.nodes.edge0[node] == -1


class CountingKuhn(Kuhn):
    asked: list[State]

    def features(self, s: State) -> Float32:
        self.asked.append(s)
        return super().features(s)


def test_features_are_computed_once_a_node() -> None:
    game = CountingKuhn()
    game.asked = []
    public = PublicTree(game).list_all()
    for nodes in ([0, 1], [1, 4, 1], [4], [0, 1, 2]):
        found = public.features(np.array(nodes, dtype=np.int32))
        assert (found == np.array([Kuhn().features(public.states[n]) for n in nodes])).all()
    assert sorted(map(str, game.asked)) == sorted(str(public.states[n]) for n in (0, 1, 2, 4))


def test_grown_keeps_what_there_is() -> None:
    before = np.arange(6).reshape(2, 3)
    for need, axis, shape in ((3, 0, (4, 3)), (9, 0, (9, 3)), (4, 1, (2, 6))):
        after = grown(before, need, axis)
        assert after.shape == shape and (after[:2, :3] == before).all() and after.sum() == before.sum()


def test_a_tree_that_nobody_holds_is_freed_at_once() -> None:
    """CFR-D discards subgames by the thousand: none may wait for the collector of cycles."""
    gc.disable()
    try:
        public = PublicTree(Leduc()).list_all()
        tree = Lookahead(public, 0, public.game.root_ranges()).expand_all()
        tree.forward()
        held = weakref.ref(public), weakref.ref(tree)
        del public, tree
        assert [reference() for reference in held] == [None, None]
    finally:
        gc.enable()


def test_kernels_get_the_tables_as_they_are_after_growth() -> None:
    public = PublicTree(Leduc())
    before = public.arrays
    assert public.arrays is before
    public.list_all()
    assert len(public.arrays.nodes) > len(before.nodes)
    for ours, theirs in zip(public.arrays[:3], (public.nodes, public.edges, public.action_rows), strict=True):
        assert np.shares_memory(ours, theirs)


@pytest.mark.parametrize(
    ("node", "action", "says"),
    [
        (0, 2, "no action has place 2: its actions"),  # 2 is an action's identity there
        (0, -1, "no action has place -1"),
        (10_000, 0, "has no public node 10000"),
        (-1, 0, "has no public node -1"),
    ],
)
def test_an_action_that_is_not_there_has_no_edge(node: int, action: int, says: str) -> None:
    public = PublicTree(Leduc()).list_all()
    with pytest.raises(GameError, match=says):
        public.edge_of(node, action)


@pytest.mark.parametrize(("node", "edge"), [(0, 2), (0, -1), (465, 0), (-1, 0)])
def test_an_edge_that_is_not_there_has_no_child(node: int, edge: int) -> None:
    public = PublicTree(Leduc()).list_all()
    with pytest.raises(GameError, match=r"none is|has no public node"):
        public.child(node, edge)


@pytest.mark.parametrize("game", [Leduc(), make_game("tic_tac_toe")], ids=lambda game: game.name)
@pytest.mark.parametrize("edge", [-1, 9])
def test_a_game_refuses_an_edge_that_is_not_there(game: Game, edge: int) -> None:
    with pytest.raises(GameError, match="none is"):
        game.child(game.root(), edge)


def test_an_infostate_that_is_not_there_takes_no_edge() -> None:
    with pytest.raises(GameError, match="player 0 has no infostate 6"):
        PublicTree(Leduc()).list_all().edge_of(0, 0, 6)


@pytest.mark.parametrize("node", [-1, 465, 500, 10**6])
@pytest.mark.parametrize(
    "question",
    [
        *("actor", "actions", "num_infostates", "legal", "edges_of", "children", "num_edges"),
        *("is_plain", "value_unit", "weights", "path", "line", "list_fan"),
    ],
)
def test_a_node_that_is_not_there_is_refused(question: str, node: int) -> None:
    """The tables have more rows than nodes: 465 was answered as a node where player 0 acts without an action."""
    public = PublicTree(Leduc()).list_all()
    assert public.size == 465 < len(public.nodes)
    with pytest.raises(GameError, match=f"has no public node {node}, of 465"):
        getattr(public, question)(node)
    with pytest.raises(GameError, match=f"has no public node {node}, of 465"):
        public.slots_of(node, 0)


def test_a_utility_is_of_an_end_and_of_infostates_that_are_there() -> None:
    public = PublicTree(Leduc()).list_all()
    end = next(n for n in range(public.size) if public.actor(n) == TERMINAL)
    assert public.utility(end, (0, 1)) == 1.0
    for node, pair in ((0, (0, 1)), (end, (99, 0)), (end, (0, -1))):
        with pytest.raises(GameError, match="there is no utility for the infostates"):
            public.utility(node, pair)
