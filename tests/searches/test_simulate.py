"""The expansion phase's trajectories: what they draw, what PUCT picks, where they end, what they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sog.arrays import Array, Float64, Int64
from sog.games.base import NATURE, TERMINAL, Fan, Game, Links, Operator, Scaled, State, plain_moves
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc, LeducState
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr import trajectories
from sog.searches.gtcfr.trajectories import ALL, Selection, Walks
from sog.searches.tree import draws
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Evaluated, Infostate, Kind

GAMES = (
    Kuhn(),
    Leduc(),
    Goofspiel(3, "random"),
    RockPaperScissors(),
    TicTacToe(),
    make_game("scotland_yard(map=glasses,rounds=2)"),
)
SEEDS = st.integers(0, 2**32 - 1)
C_PUCT = 1.25


@dataclass
class Walk:
    """Trajectories through one tree; by PUCT alone, since no policy is in the row they draw from."""

    tree: Lookahead
    start: int = 0
    row: Entry = Entry.AVERAGE_POLICY
    rng: Array = field(default_factory=lambda: np.array([7], dtype=np.uint64))
    fixed: bool = False
    belief: Float64 | None = None
    path: Int64 = field(default_factory=lambda: np.zeros(4095, dtype=np.int64))
    walk: Walks = field(default_factory=lambda: Walks.zeros(1))

    @property
    def pair(self) -> Int64:
        """int64[2]: the infostates on the way."""
        pair: Int64 = self.walk.pair[0]
        return pair

    def beliefs(self) -> Float64:
        """float64[2, I0 + I1]: the fixed belief, and ones."""
        width = sum(self.tree.public.num_infostates(self.tree.public_node(self.start)))
        return np.stack([np.zeros(width) if self.belief is None else self.belief, np.ones(width)])

    def selection(self) -> Selection:
        """How it goes."""
        unit = self.tree.public.game.u_max
        return Selection(
            self.start, C_PUCT, int(self.row), unit, self.rng, self.fixed, self.beliefs(), self.path, self.walk
        )

    def go(self) -> tuple[int, int]:
        """(node, edge) to expand."""
        trajectories.trajectory(self.tree.public.arrays, self.tree.arrays, self.selection())
        return int(self.walk.node[0]), int(self.walk.edge[0])

    def chosen(self) -> Int64:
        """int64[*]: the entries chosen since the last settling."""
        return self.path[: int(self.walk.length[0])]

    def taken(self) -> list[tuple[int, int, int]]:
        """(node, action, infostate) of every choice since the last settling."""
        return [decode(self.tree, int(k)) for k in self.chosen()]


def decode(tree: Lookahead, entry: int) -> tuple[int, int, int]:
    n = next(
        n for n in range(tree.size)
        if tree.nodes.actor[n] < NATURE and tree.block(n).start <= entry < tree.block(n).stop
    )  # fmt: skip
    width = tree.table(n, Entry.REGRET).shape[1]
    return n, (entry - tree.block(n).start) // width, (entry - tree.block(n).start) % width


def grown_tree(game: Game, rng: np.random.Generator, opened: int = 8) -> Lookahead:
    """A tree opened at random, partly edge by edge, with random ranges, values, priors and visits."""
    public = PublicTree(game)
    tree = Lookahead(public, 0, game.root_ranges())
    for _ in range(opened):
        n = int(rng.integers(tree.size))
        actor = tree.nodes.actor[n]
        if actor == TERMINAL:
            continue
        public.list_fan(int(tree.nodes.public[n]))
        some = actor < NATURE and rng.random() < 0.5
        tree.expand(n, int(rng.integers(public.nodes.edges[tree.nodes.public[n]])) if some else -1)
    tree.nodes.evaluated[: tree.size] = 1
    tree.infostates[Infostate.REACH] = rng.random(tree.infostates.shape[1])
    # Unlikely to be reached by player 1, and more so the further down: values shrink with the mass.
    for n in range(tree.size):
        tree.infostates[Infostate.REACH, tree.span(n, 1)] *= 0.1**n
    entries = tree.entries
    entries[Entry.PRIOR] = rng.random(entries.shape[1]) + 0.01
    entries[Entry.VISITS] = rng.integers(0, 4, entries.shape[1])
    entries[Entry.VIRTUAL] = rng.integers(0, 2, entries.shape[1])
    for n in decisions(tree):
        mass = opponent_mass(tree, n)
        entries[Entry.ACTION_CFV, tree.block(n)] = (rng.normal(size=tree.table(n, Entry.REGRET).shape) * mass).ravel()
    return tree


def decisions(tree: Lookahead) -> list[int]:
    return [n for n in range(tree.size) if tree.nodes.kind[n] == Kind.INTERIOR and tree.nodes.actor[n] < NATURE]


def state(tree: Lookahead, n: int) -> State:
    return tree.public.states[int(tree.nodes.public[n])]


def opponent_mass(tree: Lookahead, n: int) -> Float64:
    """float64[I]: the weight of each of the actor's infostates against the opponent's range, W included."""
    w = tree.public.game.weights(state(tree, n)).dense()
    p = int(tree.nodes.actor[n])
    r = tree.infostates[Infostate.REACH, tree.span(n, 1 - p)]
    mass: Float64 = w @ r if p == 0 else w.T @ r
    return mass


def puct_scores(tree: Lookahead, n: int, i: int) -> Float64:
    """float64[A]: SoG's score of each action, -inf where it is illegal.

    Q + c P sqrt(1 + N) / (1 + n), with Q conditional on the infostate and in units of the largest utility; a virtual
    visit is a visit that lost; an action outside the tree has the mean Q of those inside.
    """
    game = tree.public.game
    moves = game.fan(state(tree, n)).moves
    assert moves is not None
    edge = moves.edge[i]
    legal = edge >= 0
    children = [tree.child.node[tree.nodes.child0[n] + e] if e >= 0 else -1 for e in edge]
    inside = np.array(children) >= 0
    mass = opponent_mass(tree, n)[i]
    q = tree.table(n, Entry.ACTION_CFV)[:, i] / (mass * game.u_max) if mass > 0 else np.zeros(len(edge))
    q = np.where(inside, q, q[inside].mean() if inside.any() else 0.0)
    visits, virtual = tree.table(n, Entry.VISITS)[:, i], tree.table(n, Entry.VIRTUAL)[:, i]
    q = np.where(virtual > 0, (visits * q - virtual) / np.maximum(visits + virtual, 1), q)
    prior = tree.table(n, Entry.PRIOR)[:, i] * legal
    total = (visits + virtual)[legal].sum()
    scores: Float64 = q + C_PUCT * prior / prior.sum() * np.sqrt(1 + total) / (1 + visits + virtual)
    return np.where(legal, scores, -np.inf)


# --- random numbers ---


def test_splitmix64() -> None:
    """The generator's published first numbers for the seed 1234567, their upper 53 bits."""
    known = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)
    rng = np.array([1234567], dtype=np.uint64)
    assert [draws.random(rng) for _ in known] == [(k >> 11) / 2**53 for k in known]


# --- what is drawn ---


def counts_of(drawn: Sequence[tuple[int, ...]], expected: Mapping[Any, float]) -> float:
    """The p-value of the draws' frequencies; a draw that is impossible has p = 0."""
    if not set(drawn) <= {key for key, p in expected.items() if p > 0}:
        return 0.0
    keys = [key for key, p in expected.items() if p > 0]
    total = sum(expected[key] for key in keys)
    found = [sum(draw == key for draw in drawn) for key in keys]
    return float(chisquare(found, [expected[key] / total * len(drawn) for key in keys]).pvalue)


@pytest.mark.parametrize("game", [Kuhn(), Leduc()], ids=lambda game: game.name)
def test_pairs_are_drawn_by_weight_and_both_ranges(game: Game) -> None:
    tree = Lookahead(PublicTree(game), 0, (np.arange(1.0, len(game.root_ranges()[0]) + 1), game.root_ranges()[1]))
    tree.infostates[Infostate.REACH, tree.span(0, 1)][0] = 0.0
    walk, drawn = Walk(tree), []
    for _ in range(3_000):
        walk.go()
        drawn.append((int(walk.pair[0]), int(walk.pair[1])))
    r0, r1 = tree.root_ranges
    joint = r0[:, None] * game.weights(game.root()).dense() * r1[None, :]
    assert counts_of(drawn, {(i, j): p for (i, j), p in np.ndenumerate(joint)}) > 1e-3


@pytest.mark.parametrize("case", ["fixed", "current", "vanished"])
def test_worlds_are_drawn_by_a_belief_that_cannot_vanish(case: str) -> None:
    """By the fixed belief or the current ranges; by chance alone where those allow no pair."""
    game = Leduc()
    weights = game.weights(game.root()).dense()
    current, fixed = (np.arange(6.0), np.ones(6)), (np.ones(6), np.arange(6.0)[::-1])
    lone = (np.arange(6) == 2) * 1.0  # both hold the same card
    if case == "vanished":
        current = fixed = (lone, lone)
    tree = Lookahead(PublicTree(game), 0, current)
    walk, drawn = Walk(tree, fixed=case != "current", belief=np.concatenate(fixed)), []
    for _ in range(3_000):
        walk.go()
        drawn.append((int(walk.pair[0]), int(walk.pair[1])))
    r0, r1 = current if case == "current" else fixed
    joint = weights if case == "vanished" else r0[:, None] * weights * r1
    assert counts_of(drawn, {(i, j): p for (i, j), p in np.ndenumerate(joint / joint.sum())}) > 1e-3


def test_the_board_card_is_drawn_given_both_hands() -> None:
    game = Leduc()
    public = PublicTree(game).list_all()
    node = public.states.index(LeducState("cc"))
    r0, r1 = np.array([1.0, 0, 0, 0, 2, 0]), np.array([0, 1.0, 0, 0, 1, 1])
    tree = Lookahead(public, node, (r0, r1))
    tree.expand(0)
    tree.nodes.evaluated[: tree.size] = 1
    walk, drawn, expected = Walk(tree), [], {}
    for _ in range(3_000):
        n, edge = walk.go()
        assert edge == ALL
        drawn.append((n, int(walk.pair[0]), int(walk.pair[1])))
    for c in range(1, tree.size):
        w = game.weights(state(tree, c)).dense()
        for i in range(6):
            for j in range(6):
                expected[c, i, j] = r0[i] * w[i, j] * r1[j]
    assert counts_of(drawn, expected) > 1e-3


class LateDeal(Kuhn):
    """Player 0 passes, and only then are the cards dealt: each player's one infostate becomes three. Player 1 acts."""

    def actor(self, s: State) -> int:
        return {"": 0, "p": NATURE, "pd": 1}.get(str(s), TERMINAL)

    def num_infostates(self, s: State) -> tuple[int, int]:
        return (3, 3) if str(s).startswith("pd") else (1, 1)

    def actions(self, s: State) -> Array:
        return np.arange({"": 1, "pd": 2}.get(str(s), 0), dtype=np.int32)

    def fan(self, s: State) -> Fan:
        if s == "p":
            split = Links(np.zeros(3, dtype=np.int32), np.arange(3, dtype=np.int32))
            return Fan(["pd"], carry=[(split, split)])
        return Fan(["p"], plain_moves(1, 1)) if s == "" else Fan(["pdp", "pdb"], plain_moves(3, 2))

    def weights(self, s: State) -> Scaled:
        return super().weights(s) if str(s).startswith("pd") else Scaled(Operator(np.ones((1, 1))))


def test_a_private_deal_on_the_way_splits_infostates() -> None:
    tree = Lookahead(PublicTree(LateDeal()).list_all(), 0, (np.ones(1), np.ones(1))).expand_all()
    tree.forward()
    walk, drawn = Walk(tree), []
    for _ in range(2_000):
        walk.go()
        drawn.append((int(walk.pair[0]), int(walk.pair[1])))
    expected = {(i, j): float(i != j) for i in range(3) for j in range(3)}
    assert counts_of(drawn, expected) > 1e-3


# --- PUCT ---


@given(SEEDS)
def test_puct_picks_the_best_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = grown_tree(GAMES[seed % len(GAMES)], rng)
    walk = Walk(tree, rng=np.array([seed], dtype=np.uint64))
    widths = {n: tree.table(n, Entry.REGRET).shape[1] for n in decisions(tree)}
    scores = {n: [puct_scores(tree, n, i) for i in range(width)] for n, width in widths.items()}
    before = tree.entries[Entry.VIRTUAL].copy()
    node, edge = walk.go()
    taken = walk.taken()
    assert len(taken) == len({n for n, _, _ in taken})
    assert (tree.nodes.actor[0] < NATURE and tree.nodes.kind[0] == Kind.INTERIOR) <= bool(taken)
    for n, a, i in taken:
        assert a == int(np.argmax(scores[n][i]))
        before[tree.block(n).start + a * tree.table(n, Entry.REGRET).shape[1] + i] += 1
    assert (tree.entries[Entry.VIRTUAL] == before).all()
    if node >= 0 and edge != ALL:
        assert tree.child.node[tree.nodes.child0[node] + edge] < 0
    elif node >= 0:
        assert tree.nodes.kind[node] == Kind.LEAF


@given(SEEDS)
def test_an_unlikely_line_is_judged_like_a_likely_one(seed: int) -> None:
    """Scaling the opponent's range, and with it all counterfactual values, changes no choice."""
    rng = np.random.default_rng(seed)
    tree = grown_tree(GAMES[seed % len(GAMES)], rng)
    taken = []
    for scale in (1.0, 1e-4):
        for n in decisions(tree):
            tree.infostates[Infostate.REACH, tree.span(n, 1 - int(tree.nodes.actor[n]))] *= scale
            tree.entries[Entry.ACTION_CFV, tree.block(n)] *= scale
        walk = Walk(tree, rng=np.array([seed], dtype=np.uint64))
        walk.go()
        taken.append(walk.taken())
        tree.entries[Entry.VIRTUAL, walk.chosen()] -= 1
    assert taken[0] == taken[1]


# --- the policy's half ---


def one_choice() -> Lookahead:
    """Kuhn's root opened; PUCT always bets."""
    game = Kuhn()
    tree = Lookahead(PublicTree(game), 0, game.root_ranges())
    tree.expand(0)
    tree.entries[Entry.PRIOR], tree.table(0, Entry.ACTION_CFV)[1] = 1.0, 100.0
    tree.nodes.evaluated[: tree.size] = 1
    return tree


@pytest.mark.parametrize("row", [Entry.POLICY_SUM, Entry.POLICY])
def test_half_of_the_choices_follow_the_policy(row: Entry) -> None:
    tree = one_choice()
    tree.table(0, Entry.POLICY)[:], tree.table(0, Entry.POLICY_SUM)[:] = 0.0, 0.0
    tree.table(0, row)[:] = np.array([[6.0], [2.0]])  # not normalised: three quarters pass
    walk = Walk(tree, row=row)
    for _ in range(2_000):
        walk.go()
        tree.entries[Entry.VIRTUAL] = 0.0
    passes = sum(a == 0 for _, a, _ in walk.taken())
    assert chisquare([passes, 2_000 - passes], [750, 1_250]).pvalue > 1e-3


def test_without_a_policy_puct_chooses_alone() -> None:
    tree = one_choice()
    walk = Walk(tree, row=Entry.POLICY_SUM)
    for _ in range(100):
        walk.go()
        tree.entries[Entry.VIRTUAL] = 0.0
    assert {a for _, a, _ in walk.taken()} == {1}


# --- ends and counts ---


def test_where_trajectories_end() -> None:
    tree = one_choice()
    walk = Walk(tree)
    after_bet = int(tree.child.node[tree.nodes.child0[0] + 1])
    assert walk.go() == (after_bet, ALL)
    tree.entries[Entry.VIRTUAL] = 0.0
    tree.nodes.evaluated[after_bet] = 0  # as when it was added in this very phase
    assert walk.go()[0] == -1
    tree.entries[Entry.VIRTUAL] = 0.0
    tree.expand(after_bet)
    assert walk.go()[0] == -1  # the game is over
    assert Walk(tree, start=after_bet).go()[0] == -1


def test_virtual_visits_become_visits() -> None:
    tree = one_choice()
    walk = Walk(tree)
    tree.entries[Entry.VISITS, 0] = 5.0
    for _ in range(7):
        walk.go()
    taken = walk.taken()
    assert tree.entries[Entry.VIRTUAL].sum() == 7
    trajectories.settle(tree.arrays, walk.selection())
    assert (tree.entries[Entry.VIRTUAL] == 0).all() and len(walk.chosen()) == 0
    assert tree.entries[Entry.VISITS].sum() == 5 + 7
    for _, a, i in taken:
        assert tree.table(0, Entry.VISITS)[a, i] >= 1


def test_virtual_losses_spread_one_phase_over_the_tree() -> None:
    """With equal priors and values, two trajectories of a phase never take the same action."""
    game = TicTacToe()
    tree = Lookahead(PublicTree(game), 0, game.root_ranges())
    tree.expand(0)
    tree.entries[Entry.PRIOR] = 1.0
    tree.nodes.evaluated[: tree.size] = 1
    walk = Walk(tree)
    assert sorted(walk.go()[0] for _ in range(9)) == list(range(1, 10))


def test_the_oldest_leaf_is_the_first_below_the_start_and_then_the_first_beside_it() -> None:
    """In the order in which nodes were added; none is passed over, the first included."""
    tree = Lookahead(PublicTree(Leduc()).list_all(), 0, Leduc().root_ranges())
    for n in (0, 2, 1):
        tree.expand(n)
    start, opened = 1, []
    tree.nodes.evaluated[: tree.size] = Evaluated.READY
    first = int(tree.child.node[tree.nodes.child0[start]])
    while (n := trajectories.oldest_leaf(tree.arrays, start)) >= 0:
        opened.append(n)
        tree.nodes.evaluated[n] = Evaluated.CLOSED
    leaves = [n for n in range(tree.size) if tree.nodes.kind[n] == Kind.LEAF]
    assert opened == [n for n in leaves if n >= first] + [n for n in leaves if n < first]
    assert opened[0] == first and len(opened) == len(leaves) > 3 and opened != sorted(opened)


def test_the_best_prior_is_of_a_legal_action() -> None:
    game = Goofspiel(3, "descending")
    public = PublicTree(game).list_all()
    rng = np.random.default_rng(0)
    tree = Lookahead(public, 0, game.root_ranges()).expand_all()
    tree.entries[Entry.PRIOR] = rng.random(tree.entries.shape[1])
    for n in decisions(tree):
        moves = game.fan(state(tree, n)).moves
        assert moves is not None
        for i in range(moves.edge.shape[0]):
            edge = trajectories.best_prior(tree.public.arrays, tree.arrays, n, i)
            prior = np.where(moves.edge[i] >= 0, tree.table(n, Entry.PRIOR)[:, i], -1)
            assert edge == moves.edge[i, int(prior.argmax())]
