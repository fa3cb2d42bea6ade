"""Exploitability of ReBeL's play in turn spots of hold'em: the turn as solved, rivers from each iteration's ranges.

ReBeL plays the policies of one iteration of its solve, and its next solve begins with that iteration's ranges (section
6). What it plays in expectation is the average over iterations, on the turn and on the rivers below.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from typing import Final

import numpy as np

from sog.algorithms.rebel.agent import sample_iterations
from sog.arrays import Float32, Float64
from sog.games.base import NATURE
from sog.games.holdem.game import Holdem
from sog.measure.endgame import SAFE, EndgameMeasure, EndgamePolicy, TurnPolicy, turn_tree
from sog.play.turn_chain import public_state
from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.holdem.exact_values import FLOOR, believe
from sog.searches.holdem.resolving import SpotBounds
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluator

__all__ = ["RIVER_ITERATIONS", "SampledTurn", "average_turn", "measure_average", "measure_turn"]

RIVER_ITERATIONS: Final = 60  # of DCFR, in each iteration's rivers
SAFE_ITERATIONS: Final = 200  # and where they are solved once


class SampledTurn:
    """A turn solved with leaves where the river card comes, and the whole policy of some of its iterations.

    Call `run`; then, and whenever it reports, `measure` is of the average over the iterations so far, rivers included.
    """

    def __init__(self, game: Holdem, settings: SolveSettings, threads: int = 0) -> None:
        """settings: of the turn's solve; subgames end where the river card comes.  threads: 0 for one a core."""
        public, self.settings = turn_tree(game), settings
        root = public.ranges_by_slot(0, game.root_ranges())
        self.games = Subgames(public, [(0, root)], settings.depth, settings.to_chance)
        self.policy = EndgamePolicy(game, threads or os.cpu_count() or 1)
        states = self.policy.solver.program.cut_states()
        self.rivers = HoldemSolver(game, self.policy.threads, states=states)
        tree = self.games.tree
        nodes = {public_state(public, tree.public_node(int(n))): int(n) for n in self.games.leaves}
        self.ends = [nodes[state] for state in states]
        self.sums: Float32 = np.zeros(self.policy.solver.program.entries, dtype=np.float32)

    def run(self, evaluator: Evaluator, weights: Float64, added: Callable[[int], None] = lambda t: None) -> None:
        """Solve the turn once and add the iterations that have a weight.

        weights: float64[T], by iteration.  added: called with the number of each iteration that was added, 1, 2, ...
        """
        wanted = {int(t) + 1: [0] for t in np.flatnonzero(weights)}

        def visit(t: int) -> None:
            if t in wanted:
                self._add(float(weights[t - 1]))
                added(t)

        run(solve(self.games, self.settings, visit, wanted), evaluator)

    def measure(self) -> EndgameMeasure:
        """Value and best responses."""
        self.policy.solver.averages[:] = self.sums
        return self.policy.measure()

    def _add(self, weight: float) -> None:
        """The iteration that the tree holds: its policies, and those of rivers solved from its ranges."""
        tree, public, whole = self.games.tree, self.games.public, self.policy.solver
        mean = self.settings.solver.average
        self.policy.play({public_state(public, tree.public_node(n)): tree.current_policy(n) for n in tree.decisions()})
        ranges = [public.ranges_of_slots(tree.public_node(n), self.games.reaches(n, mean)) for n in self.ends]
        self.rivers.restart()
        believe(self.rivers, ranges, FLOOR)
        self.rivers.iterate(RIVER_ITERATIONS)
        whole.averages[-self.rivers.program.entries :] = self.rivers.averages
        whole.add_averages(self.sums, weight)


def measure_turn(
    game: Holdem,
    settings: SolveSettings,
    evaluator: Evaluator,
    playthroughs: int = 0,
    seed: int = 0,
    done: Callable[[int], None] = lambda number: None,
    threads: int = 0,
) -> EndgameMeasure:
    """Of the average over all iterations, which is what is played in expectation, or over drawn ones.

    playthroughs: how many iterations are drawn, whose average is exploited more than the expectation is; 0: all.
    done: called with the number of iterations that were added.
    """
    weights = settings.weights
    if playthroughs:
        drawn = sample_iterations(settings, playthroughs, np.random.default_rng(seed))
        weights = np.bincount(drawn - 1, minlength=settings.iterations) / playthroughs
    sampled, number = SampledTurn(game, settings, threads), count(1)
    sampled.run(evaluator, weights, lambda t: done(next(number)))
    return sampled.measure()


def measure_average(game: Holdem, settings: SolveSettings, evaluator: Evaluator, threads: int = 0) -> EndgameMeasure:
    """Of the turn's average policies, rivers re-solved safely from them: as Student of Games plays, unlike ReBeL."""
    policy = EndgamePolicy(game, threads or os.cpu_count() or 1)
    policy.solve_rivers(average_turn(game, settings, evaluator), SAFE, SAFE_ITERATIONS)
    return policy.measure()


def average_turn(game: Holdem, settings: SolveSettings, evaluator: Evaluator) -> TurnPolicy:
    """The average policies of a turn's solve, and the bounds that the evaluator gives where the river card comes."""
    public = turn_tree(game)
    root = public.ranges_by_slot(0, game.root_ranges())
    games = Subgames(public, [(0, root)], settings.depth, settings.to_chance)
    run(solve(games, settings), evaluator)
    tree = games.tree
    tree.play_average()
    nodes = {public_state(public, tree.public_node(n)): int(n) for n in range(tree.size)}
    policies = {s: tree.policy(n).copy() for s, n in nodes.items() if tree.is_open(n) and tree.actor(n) < NATURE}
    ends = [nodes[state] for state in HoldemSolver(game, states=[game.root()]).program.cut_states()]
    ranges = np.array([tree.ranges(n) for n in ends])
    public_nodes = np.array([tree.public_node(n) for n in ends], dtype=np.int32)
    by_slot = [public.ranges_by_slot(int(s), (r[0], r[1])) for s, r in zip(public_nodes, ranges, strict=True)]
    (evaluations,) = evaluator([Beliefs(public, public_nodes, np.array(by_slot))])
    places = [[public.places_of(int(s), p) for p in (0, 1)] for s in public_nodes]
    values = np.array([[row[at] for at in both] for row, both in zip(evaluations.values, places, strict=True)])
    zero, one = (SpotBounds(ranges[:, p], ranges[:, 1 - p], values[:, 1 - p]) for p in (0, 1))
    return TurnPolicy(policies, (zero, one))
