"""The sweeps against CFR written plainly with dense matrices, one public state at a time.

Where no weight is above 0 by more than rounding, the rule says nothing that two programs could agree on: a regret that
is 0 in exact arithmetic may come out as 1e-18 and takes the whole policy. There the plain program plays on as the
sweeps do, once it has seen that they play one of the answers that rounding allows; regrets and values are held to the
digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from sog.arrays import Array
from sog.games.base import NATURE, TERMINAL, Carry, Game, State
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.rps import RockPaperScissors
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.matching import REACH_FLOOR
from sog.searches.cfr.rules import RULES, Rule
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry

# Hidden moves and splitting pairs (rps, goofspiel), chance in the middle (goofspiel random, leduc), plain moves.
GAMES = (Kuhn(), RockPaperScissors(), Goofspiel(3, "descending"), Goofspiel(3, "random"), Leduc())


# Far above what rounding makes of a regret of 0 in a few iterations of these games, far below any other regret.
ROUNDING = 1e-13


class PlainCFR:
    """CFR on public states without trees, offsets or sweeps: dictionaries of float64[A, I] by decision state."""

    def __init__(self, game: Game, rule: Rule) -> None:
        self.game, self.rule, self.t = game, rule, 0
        self.policy: dict[State, Array] = {}
        self.regret: dict[State, Array] = {}
        self.average: dict[State, Array] = {}
        self.passages = cache(self._passages)
        self.legal = cache(self._legal)
        for s in self._decisions(game.root()):
            self.policy[s] = self.matched(s, 0.0 * self.legal(s))
            self.regret[s] = 0.0 * self.legal(s)
            self.average[s] = 0.0 * self.legal(s)

    def _decisions(self, s: State) -> Iterator[State]:
        if self.game.actor(s) == TERMINAL:
            return
        if self.game.actor(s) != NATURE:
            yield s
        for child in self.game.fan(s).children:
            yield from self._decisions(child)

    def _legal(self, s: State) -> Array:
        """float64[A, I]: 1 where the actor's infostate may take the action."""
        moves = self.game.fan(s).moves
        assert moves is not None
        return (moves.edge.T >= 0).astype(float)

    def _passages(self, s: State) -> list[tuple[State, list[list[Array]]]]:
        """For each edge: the child, and per player the 0/1 matrices [I, I at the child] of its ways over the edge.

        A non-actor has one matrix, the actor one for each action.
        """
        game, fan, actor = self.game, self.game.fan(s), self.game.actor(s)
        here, out = game.num_infostates(s), []
        for e, child in enumerate(fan.children):
            there = game.num_infostates(child)
            ways: list[list[Array]] = []
            for p in (0, 1):
                if p != actor:
                    carry = None if fan.carry is None else fan.carry[e][p]
                    ways.append([_matrix(carry, here[p], there[p])])
                    continue
                assert fan.moves is not None
                ways.append([])
                for a in range(fan.moves.edge.shape[1]):
                    m = np.zeros((here[p], there[p]))
                    for i in np.flatnonzero(fan.moves.edge[:, a] == e):
                        m[i, i if fan.moves.target is None else fan.moves.target[i, a]] = 1.0
                    ways[p].append(m)
            out.append((child, ways))
        return out

    def values(self, s: State, ranges: list[Array], seen: dict[State, tuple[Array, Array, Array]]) -> list[Array]:
        """Both players' values [I0], [I1] at s; the actors' (action values, values, reach) go into `seen`."""
        game, actor = self.game, self.game.actor(s)
        if actor == TERMINAL:
            u = game.payoff(s).dense()
            return [u @ ranges[1], -u.T @ ranges[0]]
        total = [np.zeros(n) for n in game.num_infostates(s)]
        q = np.zeros_like(self.policy[s]) if actor != NATURE else np.zeros((0, 0))
        for child, ways in self.passages(s):
            below: list[Array] = []
            for p in (0, 1):
                if p == actor:
                    below.append(sum((self.policy[s][a] * ranges[p]) @ m for a, m in enumerate(ways[p])))
                else:
                    below.append(ranges[p] @ ways[p][0])
            values = self.values(child, below, seen)
            for p in (0, 1):
                if p == actor:
                    q += np.array([m @ values[p] for m in ways[p]])
                else:
                    total[p] += ways[p][0] @ values[p]
        if actor != NATURE:
            total[actor] = (self.policy[s] * q).sum(axis=0)
            seen[s] = (q, total[actor], ranges[actor])
        return total

    def iterate(self, tree: Lookahead) -> None:
        """One iteration; `tree` has just made it, and says what is played where rounding decides."""
        self.t += 1
        theirs = {tree.public.states[int(tree.nodes.public[n])]: n for n in range(tree.size)}
        for players in ((0,), (1,)) if self.rule.alternating else ((0, 1),):
            seen: dict[State, tuple[Array, Array, Array]] = {}
            self.values(self.game.root(), list(self.game.root_ranges()), seen)
            for s, (q, v, reach) in seen.items():
                if self.game.actor(s) in players:
                    self._update(s, q, v, reach, tree.table(theirs[s], Entry.POLICY))

    def _update(self, s: State, q: Array, v: Array, reach: Array, played: Array) -> None:
        rule, t = self.rule, self.t
        self.average[s] += t**rule.gamma * (reach + REACH_FLOOR) * self.policy[s]
        instant = (q - v) * self.legal(s)
        total = self.regret[s] + instant
        kept = np.where(total > 0, _kept(t, rule.alpha), _kept(t, rule.beta))
        self.regret[s] = total * kept
        weights = self.regret[s] + (instant if rule.predictive else 0.0)
        self.policy[s] = self._followed(s, weights, self.matched(s, weights), played)

    def _followed(self, s: State, weights: Array, policy: Array, played: Array) -> Array:
        """`policy`, but what was `played` at infostates where rounding decides whether any weight is positive."""
        legal = self.legal(s) > 0
        tied = np.abs(np.where(legal, weights, -np.inf).max(axis=0)) < ROUNDING
        even = (played == np.where(legal, 1.0 / legal.sum(axis=0), 0.0)).all(axis=0)
        among_tied = (legal & (np.abs(weights) < ROUNDING)) | (played == 0.0)
        assert (even | among_tied.all(axis=0))[tied].all(), s
        np.testing.assert_allclose(played.sum(axis=0)[tied], 1.0, rtol=1e-12)
        return np.where(tied, played, policy)

    def matched(self, s: State, weights: Array) -> Array:
        """Policies in proportion to the positive weights, uniform over legal actions where there are none."""
        positive, legal = np.maximum(weights, 0.0), self.legal(s)
        sums = positive.sum(axis=0)
        return np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), legal / legal.sum(axis=0))


def _matrix(carry: Carry, here: int, there: int) -> Array:
    if carry is None:
        return np.eye(here)
    m = np.zeros((here, there))
    m[carry.source, carry.target] = 1.0
    return m


def _kept(t: int, power: float) -> float:
    if np.isinf(power):
        return 1.0 if power > 0 else 0.0
    discount: float = t**power / (t**power + 1.0)
    return discount


def assert_same(tree: Lookahead, plain: PlainCFR) -> None:
    rows = {Entry.REGRET: plain.regret, Entry.POLICY: plain.policy, Entry.POLICY_SUM: plain.average}
    compared = 0
    for n in range(tree.size):
        s = tree.public.states[int(tree.nodes.public[n])]
        if s in plain.policy:
            for row, expected in rows.items():
                np.testing.assert_allclose(
                    tree.table(n, row), expected[s], rtol=1e-9, atol=1e-12, err_msg=f"{s}, row {row}"
                )
            compared += 1
    assert compared == len(plain.policy)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_iterations_of_every_rule(game: Game, rule: Rule) -> None:
    tree = exact.full_tree(PublicTree(game).list_all())
    plain = PlainCFR(game, rule)
    assert_same(tree, plain)
    for _ in range(4):
        tree.iterate(rule, 1)
        plain.iterate(tree)
        assert_same(tree, plain)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_values_of_a_policy(game: Game) -> None:
    rule = RULES[0]
    tree = exact.full_tree(PublicTree(game).list_all())
    plain = PlainCFR(game, rule)
    for _ in range(3):
        tree.iterate(rule, 1)
        plain.iterate(tree)
    tree.update_average_policy()
    plain.policy = {s: plain.matched(s, weights) for s, weights in plain.average.items()}
    for ours, theirs in zip(tree.evaluate(), plain.values(game.root(), list(game.root_ranges()), {}), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_many_calls_are_one_call(rule: Rule) -> None:
    public = PublicTree(Goofspiel(3, "descending")).list_all()
    whole, parts = exact.full_tree(public), exact.full_tree(public)
    whole.iterate(rule, 60)
    for count in (1, 2, 7, 50):
        parts.iterate(rule, count)
        parts.update_average_policy()
        exact.measure(parts)  # looking at the average policy leaves no trace
    for row in (Entry.REGRET, Entry.POLICY, Entry.POLICY_SUM):
        for n in range(whole.size):
            if whole.nodes.actor[n] < 2:
                assert (whole.table(n, row) == parts.table(n, row)).all()
