"""The hold'em solver against plain numpy over the game's own rules, and spots with known answers."""

from __future__ import annotations

import numpy as np
import pytest

from sog.arrays import Float64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem import Holdem, HoldemState
from sog.games.holdem_cards import HIGH, LOW, live_hands
from sog.games.holdem_names import holdem_from
from sog.games.holdem_operator import SHOWDOWN, CardOperator
from sog.games.holdem_strength import ladder
from sog.games.names import parse_game
from sog.search.holdem_solver import HoldemSolver
from sog.search.regret import SOG

RANGES = 'range0="AA,KQ:0.5,76s,QhJh",range1="JJ,AQo,T9s:0.3,KsTs,44"'
RIVER = f"holdem(board=2s2h7d9cKs,pot=1000,stacks=4000,bets=0.5;1.0;allin,{RANGES})"
TURN = f"holdem(board=2s2h7d9c,pot=1000,stacks=2000,bets=1.0;allin,{RANGES})"
TWINS = f'holdem(board=2s7s9sKs,pot=1000,stacks=1500,bets=1.0,range0="AA,KQ:0.5,76",range1="JJ,AQ,T9:0.3")'


def game(text: str) -> Holdem:
    return holdem_from(parse_game(text)[1])


class BestResponse:
    """What a best response earns, by recursion over public states and matrices of the hands in play."""

    def __init__(self, solver: HoldemSolver) -> None:
        self.solver, self.game = solver, solver.game
        self.ranges = self.game.root_ranges()
        self.hands = [np.flatnonzero(r) for r in self.ranges]
        low, high = ([side[h] for h in self.hands] for side in (LOW, HIGH))
        meets = [a[0][:, None] == a[1][None, :] for a in (low, high, (low[0], high[1]), (high[0], low[1]))]
        self.apart = ~np.any(meets, axis=0)
        self.ladders: dict[tuple[int, ...], Float64] = {}

    def value(self, p: int) -> float:
        mine, theirs = (self.ranges[k][self.hands[k]] for k in (p, 1 - p))
        values = self.below(self.game.root(), p, theirs)
        pairs = self.ranges[0][self.hands[0]] @ self.apart @ self.ranges[1][self.hands[1]]
        return float(values @ mine / pairs)

    def matrix(self, s: HoldemState) -> Float64:
        """Player 0's utility for every pair at a terminal, chance from the root on included."""
        payoff = self.game.payoff(s)
        assert isinstance(payoff.operator, CardOperator)
        if s.board not in self.ladders:
            live = live_hands(s.board)
            both = self.apart * live[self.hands[0]][:, None] * live[self.hands[1]][None, :]
            self.ladders[s.board] = both
            if len(s.board) == 5:
                place = ladder(s.board).places()
                sign = np.sign(place[self.hands[0]][:, None] - place[self.hands[1]][None, :])
                self.ladders[(*s.board, -1)] = both * sign
        key = (*s.board, -1) if payoff.operator.kind == SHOWDOWN else s.board
        return self.ladders[key] * (payoff.scale / self.game.weights(self.game.root()).scale)

    def below(self, s: HoldemState, p: int, reach: Float64) -> Float64:
        actor = self.game.actor(s)
        if actor == TERMINAL:
            matrix = self.matrix(s)
            return matrix @ reach if p == 0 else -(reach @ matrix)
        children = [c for c in self.game.fan(s).children if isinstance(c, HoldemState)]
        if actor in (p, NATURE):
            values = np.array([self.below(c, p, reach) for c in children])
            total: Float64 = values.max(axis=0) if actor == p else values.sum(axis=0)
            return total
        policy = self.solver.policy(s)[:, self.hands[1 - p]]
        total = sum(
            (self.below(c, p, reach * row) for c, row in zip(children, policy, strict=True)), np.zeros(1)
        )
        return total


@pytest.mark.parametrize("text", [RIVER, TURN, TWINS])
def test_best_responses_equal_plain_recursion(text: str) -> None:
    solver = HoldemSolver(game(text))
    solver.iterate(3)
    plain = BestResponse(solver)
    expected = [plain.value(p) for p in (0, 1)]
    assert solver.best_responses() == pytest.approx(expected, rel=2e-4, abs=1e-3)
