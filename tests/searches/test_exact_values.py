"""Exact values of hold'em beliefs against GT-CFR's whole trees, and against plain NumPy over the game's own rules."""

from __future__ import annotations

import numpy as np
import pytest

from sog.arrays import Float64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game
from sog.games.holdem.cards import disjoint_mass, live_hands
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.holdem.lines import follow
from sog.games.holdem.operator import CardOperator
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR
from sog.searches.holdem.exact_values import FLOOR, SpotBelief, believe, exact_values, fixed_values
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.tree.public_tree import PublicTree

GAME = "holdem(board=3s7hTdKs,pot=2000,stacks=3000,bets=1.0;allin,raises=allin)"
RIVERS = ("check, check, 2c", "check, bet 1.0, call, Ah")
TURN_END = "check, bet 1.0, call"


def game() -> Holdem:
    found = make_game(GAME)
    assert isinstance(found, Holdem)
    return found


def beliefs(lines: tuple[str, ...], share: float = 0.4) -> list[SpotBelief]:
    """Random ranges of a share of all hands, at states of the game."""
    rng, out = np.random.default_rng(5), []
    for line in lines:
        state = follow(game(), line)
        zero, one = (rng.random(1326) * (rng.random(1326) < share) * live_hands(state.board) for _ in range(2))
        out.append(SpotBelief(state, (zero / zero.sum(), one / one.sum())))
    return out


class PlainSolver:
    """Alternating DCFR by recursion over public states, every pair of hands in a matrix."""

    def __init__(self, rules: Holdem, belief: SpotBelief) -> None:
        """Hands that neither player holds are left out."""
        self.rules, self.belief = rules, belief
        self.hands = np.flatnonzero(belief.ranges[0] + belief.ranges[1])
        self.matrices: dict[tuple[int, tuple[int, ...]], Float64] = {}
        self.regrets: dict[HoldemState, Float64] = {}
        self.averages: dict[HoldemState, Float64] = {}

    def solve(self, iterations: int) -> Float64:
        """float64[2, 1326]: both players' values under the average policies, conditional on the hand."""
        state = self.belief.state
        ranges = [r[self.hands] for r in self.belief.ranges]
        for self.step in DCFR.steps(1, iterations):
            for p in (0, 1):
                self.sweep(state, p, ranges[1 - p], True)
        out = np.zeros((2, 1326))
        for p in (0, 1):
            mass = disjoint_mass(self.belief.ranges[1 - p])[self.hands]
            out[p, self.hands] = self.sweep(state, p, ranges[1 - p], False) / mass
        return out

    def matrix(self, s: HoldemState) -> Float64:
        """Player 0's utility of every pair of hands at the end of the game, by what chance gives them at the root."""
        payoff, at_root = self.rules.payoff(s), self.rules.weights(self.belief.state)
        assert isinstance(payoff.operator, CardOperator)
        key = payoff.operator.kind, s.board
        if key not in self.matrices:
            self.matrices[key] = payoff.operator.matrix[np.ix_(self.hands, self.hands)]
        return self.matrices[key] * (payoff.scale / at_root.scale)

    def policy(self, s: HoldemState, actions: int, learns: bool) -> Float64:
        table = self.regrets if learns else self.averages
        positive = np.maximum(table.setdefault(s, np.zeros((actions, len(self.hands)))), 0)
        total = positive.sum(axis=0)
        found: Float64 = np.where(total > 0, positive / np.maximum(total, 1e-300), 1 / actions)
        return found

    def sweep(self, s: HoldemState, p: int, reach: Float64, learns: bool) -> Float64:
        actor = self.rules.actor(s)
        if actor == TERMINAL:
            matrix = self.matrix(s)
            return (matrix if p == 0 else -matrix.T) @ reach
        children = [c for c in self.rules.fan(s).children if isinstance(c, HoldemState)]
        if actor == NATURE:
            live = [live_hands(c.board)[self.hands] for c in children]
            return np.sum([self.sweep(c, p, reach * x, learns) for c, x in zip(children, live, strict=True)], axis=0)
        policy = self.policy(s, len(children), learns)
        if actor != p:
            if learns:
                self.averages[s] = self.averages.get(s, 0) + self.step[2] * reach * policy
            return np.sum([self.sweep(c, p, reach * x, learns) for c, x in zip(children, policy, strict=True)], axis=0)
        values = np.array([self.sweep(c, p, reach, learns) for c in children])
        value: Float64 = (values * policy).sum(axis=0)
        if learns:
            regret = self.regrets[s] + values - value
            self.regrets[s] = regret * np.where(regret > 0, self.step[0], self.step[1])
        return value


def held(belief: SpotBelief) -> tuple[Float64, Float64]:
    """Both ranges as weights of a mean."""
    return belief.ranges[0] / belief.ranges[0].sum(), belief.ranges[1] / belief.ranges[1].sum()


def test_rivers_agree_with_plain_numpy() -> None:
    asked = beliefs(RIVERS, 0.1)
    found = exact_values(game(), asked, 200)
    for k, belief in enumerate(asked):
        plain = PlainSolver(game(), belief).solve(200)
        unit = game().value_unit(belief.state)
        for p in (0, 1):
            assert np.abs(found[k, p] - plain[p]) @ held(belief)[p] < 0.01 * unit
        # What one wins the other loses: over pairs of hands that can meet.
        zero = held(belief)[0] * disjoint_mass(belief.ranges[1]) @ found[k, 0]
        one = held(belief)[1] * disjoint_mass(belief.ranges[0]) @ found[k, 1]
        assert zero == pytest.approx(-one, abs=1e-3 * unit)


def test_states_before_the_river_card_and_after_it_agree_with_the_search_of_a_whole_tree() -> None:
    """Converged: the lookahead holds everything below the state, the same rule iterates it."""
    asked = beliefs((TURN_END, *RIVERS))
    found = exact_values(game(), asked, 400)
    for k, belief in enumerate(asked):
        public, node = listed_to(belief.state)
        tree = Lookahead(public, node, belief.ranges).expand_all()
        tree.iterate(DCFR, 400)
        tree.update_average_policy()
        tree.evaluate()
        theirs = public.conditional(node, tree.cfvs(0), belief.ranges)
        for p in (0, 1):
            error = np.abs(found[k, p] - theirs[p]) @ held(belief)[p]
            assert error < 0.01 * public.value_unit(node)


def listed_to(state: HoldemState) -> tuple[PublicTree, int]:
    """A public tree in which a state is listed, and its node."""
    public, node = PublicTree(game()), 0
    while public.states[node] != state:
        public.list_fan(node)
        children = [public.child(node, edge) for edge in range(public.num_edges(node))]
        node = next(c for c in children if leads_to(public.states[c], state))
    return public, node


def leads_to(above: object, state: HoldemState) -> bool:
    assert isinstance(above, HoldemState)
    line, board = above.line, above.board
    return state.line[: len(line)] == line and state.board[: len(board)] == board


def test_beliefs_of_one_board_are_solved_as_if_each_were_alone() -> None:
    asked = beliefs(("check, check, 2c", "check, bet 1.0, call, 2c", "check, check, 2c, check"))
    together = exact_values(game(), asked, 20)
    alone = [exact_values(game(), [belief], 20)[0] for belief in asked]
    assert np.array_equal(together, alone)
    with pytest.raises(GameError, match="one board"):
        HoldemSolver(game(), states=[asked[0].state, follow(game(), "check")])


def solved(belief: SpotBelief, iterations: int) -> Float64:
    solver = HoldemSolver(game(), states=[belief.state])
    believe(solver, [belief.ranges], FLOOR)
    solver.iterate(iterations)
    found: Float64 = fixed_values(solver)[0]
    return found


def test_adding_averages_mixes_strategies() -> None:
    """The sum of one solver's averages, added twice with weights 1 and 2, plays as the averages do."""
    solver = HoldemSolver(game(), states=[game().root()])
    solver.iterate(3)
    total = np.zeros_like(solver.averages)
    solver.evaluate()
    worth = solver.chips(0)
    for weight in (1.0, 2.0):
        solver.add_averages(total, weight)
    solver.averages[:] = total
    solver.evaluate()
    assert solver.chips(0) == pytest.approx(worth, abs=1e-2)
