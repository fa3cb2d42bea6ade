"""ReBeL Fig. 5, left, on its own game: four ways of solving the turn of turn endgame hold'em with an oracle below.

The oracle solves all rivers at every iteration. What is measured is the whole policy: on the turn the solver's, on the
rivers the oracle's of each iteration, averaged as the solver averages; best responses are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sog.arrays import Float32, Float64
from sog.games.holdem.game import Holdem
from sog.measure.endgame import EndgamePolicy, turn_tree
from sog.play.turn_chain import public_state
from sog.searches.depth_limited.settings import CFR_AVE, CFR_D, MODIFIED_CFR_AVE, REBEL_FP, Solver, SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.holdem.exact_values import FLOOR, believe, fixed_values
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations
from soglab.papers.teh import ENDGAME, SMALL_ENDGAME, ranges_at, turn_ends, turn_game, values_by_slot
from soglab.plots import LOG_2, Panel, Picture, Scale, line_through, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

# CFR-AVE reads utilities by pair of hands, which are too many here. Its values are the same where leaves are asked at
# current ranges, and the oracle solves them at the average ones: it iterates as CFR-D does.
SOLVERS: Final = {
    CFR_D.name: CFR_D,
    CFR_AVE.name: Solver(CFR_AVE.name),
    MODIFIED_CFR_AVE.name: MODIFIED_CFR_AVE,
    REBEL_FP.name: REBEL_FP,
}


class RiverOracle:
    """Solves every river below the beliefs that it evaluates, all of them at once; an evaluator of the turn's ends.

    solver: the rivers alone; its averages are the latest solve's policies.
    mean: float64[C, 2, 1326], the summed ranges that CFR-AVE solves at; None: rivers are solved at the beliefs.
    """

    def __init__(self, game: Holdem, iterations: int, average: bool) -> None:
        self.states, self.iterations = turn_ends(game), iterations
        self.solver = HoldemSolver(game, states=self.states)
        self.mean = np.zeros((len(self.states), 2, 1326)) if average else None

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [Evaluations(self._values(beliefs), np.zeros((0, 0, 0))) for beliefs in requests]

    def _values(self, beliefs: Beliefs) -> Float64:
        """float64[B, S0 + S1]: both players' values at beliefs, one for each of the turn's ends."""
        ranges = ranges_at(self.states, beliefs)
        solved_at = ranges if self.mean is None else self.mean
        self.solver.restart()
        believe(self.solver, [(zero, one) for zero, one in solved_at], FLOOR)
        self.solver.iterate(self.iterations)
        if self.mean is not None:
            believe(self.solver, [(zero, one) for zero, one in ranges], FLOOR)
        return values_by_slot(self.states, beliefs, fixed_values(self.solver))


class _Averaged:
    """The whole average policy as it grows, iteration by iteration."""

    def __init__(self, game: Holdem, oracle: RiverOracle) -> None:
        self.policy, self.oracle = EndgamePolicy(game), oracle
        self.sums: Float32 = np.zeros(self.policy.solver.program.entries, dtype=np.float32)

    def add(self, trunk: dict[int, Float64], games: Subgames, weight: float) -> None:
        """An iteration: the turn's policies by public node, and what the oracle's rivers play."""
        whole, below = self.policy.solver, self.oracle.solver
        self.policy.play({public_state(games.public, s): policy for s, policy in trunk.items()})
        whole.averages[-below.program.entries :] = below.averages
        whole.add_averages(self.sums, weight)

    def exploitability(self) -> float:
        """Of the average so far, chips."""
        self.policy.solver.averages[:] = self.sums
        return self.policy.measure().exploitability


def plan(options: Options, note: Note) -> list[Key]:
    """One point for each solver."""
    size = {"game": SMALL_ENDGAME, "iterations": 8, "oracle": 20} if options.quick else {}
    full = {"game": ENDGAME, "iterations": 64, "oracle": 60}
    return [{"solver": name, **full, **size} for name in SOLVERS]


def compute(key: Key) -> Result:
    """Exploitability of the whole average policy, chips, after 1, 2, 4, ... iterations of both players."""
    game, solver = turn_game(key["game"]), SOLVERS[key["solver"]]
    settings = SolveSettings(
        solver,
        depth=0,
        to_chance=True,
        updates=2 * key["iterations"],
        simultaneous=True,
        prune=False,
        remember=False,
    )
    public = turn_tree(game)
    games = Subgames(public, [(0, public.ranges_by_slot(0, game.root_ranges()))], depth=0, to_chance=True)
    oracle = RiverOracle(game, key["oracle"], key["solver"] == CFR_AVE.name)
    averaged, curve, weights = _Averaged(game, oracle), {}, settings.weights
    leaves = {public_state(public, games.tree.public_node(int(n))): int(n) for n in games.leaves}
    trunk: dict[int, Float64] = {}

    def add(t: int) -> None:
        """Iteration t, whose leaves have been answered by now, enters the average."""
        averaged.add(trunk, games, float(weights[t - 1]))
        if t & (t - 1) == 0:
            curve[str(t)] = averaged.exploitability()

    def visit(t: int) -> None:
        nonlocal trunk
        # Fictitious play's policies are known when the iteration is over, the others' when its leaves are asked.
        if solver is not REBEL_FP and t > 1:
            add(t - 1)
        trunk = {games.tree.public_node(n): games.tree.current_policy(n).copy() for n in games.tree.decisions()}
        if solver is REBEL_FP:
            add(t)
        if oracle.mean is not None:
            oracle.mean += float(weights[t - 1]) * np.array([games.tree.ranges(leaves[s]) for s in oracle.states])

    run(solve(games, settings, visit), oracle)
    if solver is not REBEL_FP:
        add(settings.iterations)
    return {"exploitability": curve}


def present(points: list[StudyPoint]) -> Outcome:
    """Exploitability against iterations, a line for each solver."""
    rows = [
        {"solver": p.key["solver"], "iterations": t, "chips": x, "percent_of_pot": 100 * x / _pot(p.key)}
        for p in points
        for t, x in p.curve().items()
    ]
    beside = []
    for p in points:
        ours = ", ".join(f"{x:.4g} after {t}" for t, x in p.curve().items() if t >= 8)
        beside.append(Beside(f"{p.key['solver']}: exploitability, chips", "", ours))
    lines = [line_through(p.curve(), p.key["solver"]) for p in points]
    axes = (Scale("iterations", *LOG_2), log_scale(f"exploitability, chips (pot {_pot(points[0].key):,})"))
    panel = Panel(lines, *axes, "Turn endgame hold'em, rivers solved at every iteration")
    return Outcome(rows, {"rebel-fig5-teh": Picture([panel])}, beside)


def _pot(key: Key) -> int:
    return turn_game(key["game"]).spot.pot


EXPERIMENT: Final = Experiment(
    id="rebel-fig5-teh",
    paper="ReBeL",
    figure="Fig. 5, left, on turn endgame hold'em",
    minutes=20,
    what="Turn endgame hold'em with exact leaves: CFR-D, CFR-AVE, modified CFR-AVE, FP, 64 iterations on the turn",
    study=Study(plan, compute, present),
)
