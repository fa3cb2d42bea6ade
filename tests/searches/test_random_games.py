"""Random small games beside plain Python over their histories: values, best responses, solvers and re-solving."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sog
from sog.arrays import Array, Float64
from sog.games.base import NATURE, TERMINAL, Fan, Game, Links, Moves, Operator, Scaled, State, followers, step
from sog.measure.exploitability import agent_policy
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree

SOLVERS = ("cfr", "cfr+", "lcfr", "dcfr", "pcfr+", "sog", "fp", "linear-fp", "flop")
# What a player knew and did at each of its turns so far: node, infostate, action.
Past: TypeAlias = tuple[tuple[int, int, int], ...]
# A game whose public states are numbers of rows, which hold what its methods answer.
ANSWERS = ("actor", "actions", "weights", "payoff", "features", "num_infostates", "fan")
METHODS = {name: lambda game, s, k=k: game.rows[s][k] for k, name in enumerate(ANSWERS)}
RowGame: Any = type("RowGame", (Game,), METHODS | {"root": lambda game: 0})


class RandomGame(RowGame):
    """Moves that all, some or nobody sees, some illegal; rare outcomes of chance; infostates in ever new orders."""

    def __init__(self, seed: int) -> None:
        self.rng, self.name, self.num_actions, self.u_max = np.random.default_rng(seed), f"random_{seed}", 3, 1e-9
        self.rows, self.num_slots, self.num_features = list[Any](), (99, 99), 1
        self.grow(self.shares(*self.rng.integers(1, 4, size=2).tolist()), 5)

    def shares(self, *shape: int) -> Float64:
        """Chances that sum to 1, some of them 0 and some tiny."""
        weight = self.rng.exponential(size=shape) * self.rng.choice([0.0, 1e-6, 1.0, 1.0, 1.0], size=shape)
        weight.flat[self.rng.integers(weight.size)] = 1.0
        return np.asarray(weight / weight.sum())

    def grow(self, w: Float64, levels: int) -> int:
        """The number of a new public state with these weights."""
        s, actor = len(self.rows), int(self.rng.choice([0, 1, 0, 1, NATURE])) if levels else TERMINAL
        actions = np.arange(self.rng.integers(1, 4 if w.size < 20 else 2) if actor < NATURE else 0, dtype=np.int32)
        utilities = self.rng.uniform(-1, 1, size=w.shape) * 10.0 ** self.rng.integers(-3, 4)
        self.u_max = max(self.u_max, float(np.abs(utilities).max()) if actor == TERMINAL else 0.0)
        operators = Scaled(Operator(w)), Scaled(Operator(w * utilities))
        self.rows.append([actor, actions, *operators, np.array([s], dtype=np.float32), w.shape, None])
        if actor == NATURE:
            self.rows[s][-1] = self.dealt(w, levels - 1)
        elif actor < NATURE:
            self.rows[s][-1] = self.played(w if actor == 0 else w.T, actor, len(actions), levels - 1)
        return s

    def dealt(self, w: Float64, levels: int) -> Fan:
        """Outcomes are public, and within each of them both players may see one of two things."""
        edges = self.rng.integers(1, 3 if w.size < 9 else 2, size=(int(self.rng.integers(1, 4)), 2))
        parts = np.split(self.shares(int(edges.prod(axis=1).sum())), np.cumsum(edges.prod(axis=1))[:-1])
        children, carry = list[State](), []
        for ways, part in zip(edges.tolist(), parts, strict=True):
            after = np.kron(w, part.reshape(ways))
            order = [self.rng.permutation(n) for n in after.shape]
            if part.any():
                children.append(self.grow(after[np.ix_(*order)], levels))
                carry.append((links(order[0] // ways[0]), links(order[1] // ways[1])))
        return Fan(children, None, carry)

    def played(self, own: Float64, actor: int, actions: int, levels: int) -> Fan:
        """own: the weights, whose rows are the actor's infostates."""
        legal = self.rng.random((len(own), actions)) < 0.7
        legal[:, self.rng.integers(actions)] = True
        legal &= own.any(axis=1, keepdims=True)
        edge, target = np.full(legal.shape, -1, dtype=np.int32), np.full(legal.shape, -1, dtype=np.int32)
        edge[legal] = np.unique(self.rng.integers(self.rng.integers(1, 4), size=legal.sum()), return_inverse=True)[1]
        children, carry = list[State](), []
        for e in range(edge.max() + 1):
            infostate, column = np.nonzero(edge == e)
            order = self.rng.permutation(len(infostate))
            target[infostate[order], column[order]] = np.arange(len(order))
            other = np.flatnonzero(own[infostate].any(axis=0))  # the others are impossible now
            after = own[infostate[order]][:, other]
            children.append(self.grow(after if actor == 0 else after.T, levels))
            carry.append((None, links(other)) if actor == 0 else (links(other), None))
        return Fan(children, Moves(edge, target), carry)


def links(source: Array) -> Links:
    return Links(source.astype(np.int32), np.arange(len(source), dtype=np.int32))


def ends(public: PublicTree, node: int, pair: tuple[int, int], pasts: tuple[Past, ...]) -> Iterator[Any]:
    """(player 0's utility times chance, both pasts) of every history below a pair of infostates, by the rules alone."""
    game, s = public.game, public.states[node]
    actor, fan = game.actor(s), game.fan(s)
    if actor == TERMINAL:
        yield game.payoff(s).entry(*pair), *pasts
    elif actor == NATURE:
        for e, child in enumerate(fan.children):
            for i, j in product(followers(fan, e, 0, pair[0]), followers(fan, e, 1, pair[1])):
                if game.weights(child).entry(i, j) > 0:
                    yield from ends(public, public.child(node, e), (i, j), pasts)
    else:
        for column in np.flatnonzero(fan.moves.edge[pair[actor]] >= 0).tolist():  # type: ignore[union-attr]
            e, after = step(fan, actor, pair, column)
            did = [((node, pair[actor], column),) if p == actor else () for p in (0, 1)]
            yield from ends(public, public.child(node, e), after, (pasts[0] + did[0], pasts[1] + did[1]))


def best(worths: list[tuple[float, Past]], turn: int = 0) -> float:
    """What the best action at every infostate earns, from (worth against the other's policy, own past) of each end."""
    later: Any = defaultdict(lambda: defaultdict(list))
    for worth, past in worths:
        if len(past) > turn:
            later[past[turn][:2]][past[turn][2]].append((worth, past))
    over = sum(worth for worth, past in worths if len(past) == turn)
    return over + sum(max(best(some, turn + 1) for some in by_action.values()) for by_action in later.values())


def measured(public: PublicTree, policy: exact.Policy) -> tuple[float, float, float]:
    """Value and both best responses."""
    pairs = np.argwhere(public.game.weights(0).dense() > 0).tolist()
    lines = [line for i, j in pairs for line in ends(public, 0, (i, j), ((), ()))]
    odds = [[float(np.prod([policy[n][a, i] for n, i, a in past])) for past in pasts] for _, *pasts in lines]
    value = sum(won * zero * one for (won, _, _), (zero, one) in zip(lines, odds, strict=True))
    first = best([(won * one, past) for (won, past, _), (_, one) in zip(lines, odds, strict=True)])
    return value, first, best([(-won * zero, past) for (won, _, past), (zero, _) in zip(lines, odds, strict=True)])


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_measures_and_solvers_are_those_of_plain_enumeration(seed: int) -> None:
    game, rng = RandomGame(seed), np.random.default_rng(seed)
    assert sog.check_game(game).complete
    public = PublicTree(game).list_all()
    mixed = {n: rng.random(public.legal(n).shape) ** 9 * public.legal(n) for n in public.decisions()}
    policy = {n: rows / np.maximum(rows.sum(axis=0), 1e-300) for n, rows in mixed.items()}
    shown = exact.measure_policy(public, policy)
    assert (shown.value, *shown.best) == pytest.approx(measured(public, policy), abs=1e-9)
    solution = sog.solve(game, SOLVERS[seed % len(SOLVERS)], iterations=50)
    value, *both = measured(public, solution.policy)
    assert (solution.value, solution.exploitability) == pytest.approx((value, sum(both) / 2), abs=1e-9)
    resolved = agent_policy(public, ResolveSettings(Budget(100, 1.0), complete=True), zero_evaluator, seed=0)
    assert -1e-9 < sum(measured(public, resolved)[1:]) / 2 < 0.02 * game.u_max
