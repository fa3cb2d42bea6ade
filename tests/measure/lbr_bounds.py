"""Local Best Response beside exact best responses, where there are any: on average it must not win more than they do.

Leduc poker: simple agents, CFR after a few iterations, and the policy of the shipped network's search. Rivers of
hold'em: random boards and stacks, solved by a few iterations to many, so that some are far from equilibrium.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sog.agents.loaded import load_agent
from sog.agents.poker import SIMPLE, SpotAgent
from sog.arrays import Float64
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.holdem.cards import CARDS, cards_name
from sog.games.holdem.game import Holdem
from sog.measure.exploitability import composed_policy
from sog.measure.lbr import LbrFigure, LbrSettings, Seats, local_best_response
from sog.measure.lbr_bets import FOLD_CALL, OFFERED
from sog.play.agent import Agent
from sog.searches.cfr import exact
from sog.searches.cfr.rules import CFR
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import whole_tree

_RANGES = ("full", "22+,A2s+,K9s+,QTs+,JTs,T9s,98s,A9o+,KTo+,QJo", "77-22,A5s-A2s,87s-54s,AKo,AQo,J2s+")
_ITERATIONS = (1, 4, 16, 64, 400)  # of CFR or DCFR


@dataclass(frozen=True)
class Bound:
    """An agent measured both ways, in chips a hand.  exact: what best responses win, the mean over both seats."""

    name: str
    figure: LbrFigure
    exact: float

    @property
    def kept(self) -> bool:
        """Whether LBR is at most three standard errors above it; its error has none of a constant's rounding."""
        return self.figure.mean <= self.exact + 3.0 * self.figure.error + 1e-9


class TableAgent(Agent):
    """Plays the policies of a table, float64[A, I] by public node."""

    def __init__(self, public: PublicTree, player: int, table: exact.Policy) -> None:
        super().__init__(public, player)
        self.table = table

    def policy(self, node: int) -> Float64:
        return self.table[node]


def leduc_bounds(hands: int, seed: int) -> Iterator[Bound]:
    """Simple agents, CFR, and the shipped network's search at (20, 1), each with and without LBR's bets."""
    game = make_game("leduc_poker")
    public = whole_tree(game)
    tables: dict[str, exact.Policy] = {}
    for name in ("always-fold", "always-call", "random"):
        zero, one = (SIMPLE[name](public, player) for player in (0, 1))
        tables[name] = composed_policy((zero, one))
    for iterations in _ITERATIONS:
        tables[f"CFR, {iterations} iterations"] = exact.policy_of(exact.solve(public, CFR, iterations))
    agent = load_agent("leduc_poker", simulations=20, per_update=1.0)
    tables["search at (20, 1)"] = dict(agent.policies())
    for name, table in tables.items():
        response = exact.measure_policy(public, table).exploitability
        for bets in (FOLD_CALL, OFFERED):
            yield _measured(name, game, _table_seats(table), hands, LbrSettings(bets, seed=seed), response)


def river_bounds(rivers: int, hands: int, seed: int) -> Iterator[Bound]:
    """Random rivers, each with LBR's bets those of the solver's tree."""
    rng = np.random.default_rng(seed)
    for k in range(rivers):
        board = cards_name(int(c) for c in rng.choice(CARDS, 5, replace=False))
        stack, ranges = int(rng.integers(500, 5000)), [_RANGES[i] for i in rng.integers(len(_RANGES), size=2)]
        spot = f'board={board},pot=1000,stacks={stack},bets=0.5;1;allin,range0="{ranges[0]}",range1="{ranges[1]}"'
        game = make_game(f"holdem({spot})")
        assert isinstance(game, Holdem)
        solver, iterations = HoldemSolver(game), _ITERATIONS[k % len(_ITERATIONS)]
        solver.iterate(iterations)
        response, name = solver.progress().exploitability, f"{board}, stacks {stack}, {iterations} iterations"
        settings = LbrSettings(OFFERED, seed=seed + k)
        yield _measured(name, game, _spot_seats(solver), hands, settings, response)


def _spot_seats(solver: HoldemSolver) -> Seats:
    return lambda public, player: SpotAgent(public, player, solver)


def _table_seats(table: exact.Policy) -> Seats:
    return lambda public, player: TableAgent(public, player, table)


def _measured(name: str, game: Game, seats: Seats, hands: int, settings: LbrSettings, response: float) -> Bound:
    return Bound(name, local_best_response(game, seats, hands, settings), response)
