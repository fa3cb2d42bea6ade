"""ReBeL Fig. 5, left: four ways of solving a depth-limited subgame whose leaves an oracle values, on Liar's Dice.

The oracle solves the game below every leaf that it evaluates. What is measured is the whole policy: above the
leaves the solver's, below them the oracle's of each iteration, averaged as the solver averages. The oracle's
equilibria jump where beliefs hardly move, so with --seeds each solver begins from several starts that differ by 1e-9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sog.algorithms.rebel.agent import start_position
from sog.arrays import Float64
from sog.games.rules.liars_dice import LiarsDice
from sog.measure.intervals import mean_and_range
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import DCFR
from sog.searches.depth_limited.settings import CFR_AVE, CFR_D, MODIFIED_CFR_AVE, REBEL_FP, SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations
from sog.searches.tree.public_tree import PublicTree
from soglab.plots import DOTS, LOG_2, Panel, Picture, Scale, line_through, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

FACES: Final = 3
SOLVERS: Final = {solver.name: solver for solver in (CFR_D, CFR_AVE, MODIFIED_CFR_AVE, REBEL_FP)}
_MOST, _QUICK = 512, 32
_ORACLE_ITERATIONS: Final = 200
_NUDGE: Final = 1e-9  # of each infostate's probability at the start, at most, as a share of it


class Oracle:
    """Solves the game below each leaf, and remembers the latest policies there.

    pairs: answer with player 0's utilities by pair of slots, as CFR-AVE needs, in place of conditional values.
    """

    def __init__(self, pairs: bool) -> None:
        self.pairs = pairs
        self.policy: exact.Policy = {}
        self._trees: dict[int, Lookahead] = {}

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [self._answer(beliefs) for beliefs in requests]

    def _answer(self, beliefs: Beliefs) -> Evaluations:
        values = [
            self._solve(beliefs.public, int(node), ranges)
            for node, ranges in zip(beliefs.nodes, beliefs.ranges, strict=True)
        ]
        return Evaluations(np.array(values), np.zeros((len(values), 1, 1)))

    def _solve(self, public: PublicTree, node: int, ranges: Float64) -> Float64:
        """float64[S0 + S1] or float64[S0 * S1]; Liar's Dice's infostates are its slots."""
        pair = public.ranges_of_slots(node, ranges)
        tree = self._trees.setdefault(node, Lookahead(public, node, pair))
        if tree.size == 1:
            tree.expand_all()
        tree.restart(pair)
        tree.iterate(DCFR, _ORACLE_ITERATIONS)
        tree.update_average_policy()
        self.policy.update(exact.policy_of(tree))
        if self.pairs:
            return _utilities(tree, public.game.weights(public.states[node]).dense()).ravel()
        return np.concatenate(public.conditional(node, tree.evaluate(), pair))


def _utilities(tree: Lookahead, weights: Float64) -> Float64:
    """float64[I0, I1]: player 0's utility of each pair under the average policies of a tree."""
    out = np.zeros_like(weights)
    for j in range(weights.shape[1]):
        tree.set_root_ranges((np.ones(weights.shape[0]), np.eye(weights.shape[1])[j]))
        out[:, j] = tree.evaluate()[0]
    return out / weights


def plan(options: Options, note: Note) -> list[Key]:
    """A point for each solver and start; start 0 is the game's own."""
    iterations, starts = _QUICK if options.quick else _MOST, range(options.num_seeds(1))
    return [{"solver": name, "iterations": iterations, "start": k} for name in SOLVERS for k in starts]


def compute(key: Key) -> Result:
    """Exploitability of the whole average policy after 8, 16, 32, ... iterations, each an update of both players."""
    public, solver = PublicTree(LiarsDice(1, FACES)).list_all(), SOLVERS[key["solver"]]
    settings = SolveSettings(solver, updates=2 * key["iterations"], simultaneous=True, prune=False)
    start = start_position(public)
    games = Subgames(public, [(start.node, _nudged(start.ranges, key["start"]))], settings.depth)
    whole, oracle, curve = exact.full_tree(public), Oracle(solver is CFR_AVE), {}
    steps = settings.weights
    trunk: exact.Policy = {}

    def add(t: int) -> None:
        """Iteration t, whose leaves have been answered by now, enters the average."""
        exact.add_policy(whole, {**oracle.policy, **trunk}, float(steps[t - 1]))
        if t >= 8 and t & (t - 1) == 0:
            whole.update_average_policy()
            curve[str(t)] = exact.measure(whole).exploitability

    def visit(t: int) -> None:
        nonlocal trunk
        if solver is REBEL_FP:  # known when the iteration is over
            trunk = exact.current_policy_of(games.tree)
            add(t)
            return
        if t > 1:
            add(t - 1)
        trunk = exact.current_policy_of(games.tree)

    run(solve(games, settings, visit), oracle)
    if solver is not REBEL_FP:
        add(settings.iterations)
    return {"exploitability": curve}


def _nudged(ranges: Float64, start: int) -> Float64:
    """The ranges, moved by up to _NUDGE of themselves; start 0 moves nothing."""
    moved = np.random.default_rng(start).uniform(-_NUDGE, _NUDGE, ranges.shape) if start else 0.0
    return ranges * (1.0 + moved)


def present(points: list[StudyPoint]) -> Outcome:
    """Exploitability against iterations, a line for each solver and start."""
    rows = [
        {"solver": p.key["solver"], "start": p.key["start"], "iterations": t, "exploitability": x}
        for p in points
        for t, x in p.curve().items()
    ]
    beside, lines = [], []
    for k, (solver, starts) in enumerate(grouped(points, lambda p: str(p.key["solver"])).items()):
        t, last = max(starts[0].curve()), [p.curve()[max(p.curve())] for p in starts]
        beside.append(Beside(f"{solver}, {t} iterations", "", mean_and_range(last, ".5f")))
        lines += [
            line_through(p.curve(), solver if p is starts[0] else None, {**DOTS, "color": f"C{k}"}) for p in starts
        ]
    axes = (Scale("iterations", *LOG_2), log_scale("exploitability"))
    panel = Panel(lines, *axes, f"Liar's Dice 1x{FACES}f, oracle leaves")
    return Outcome(rows, {"rebel-fig5": Picture([panel])}, beside)


EXPERIMENT: Final = Experiment(
    id="rebel-fig5",
    paper="ReBeL",
    figure="Fig. 5, left",
    minutes=2,
    what="Liar's Dice 1x3f to depth 2 with oracle leaves: CFR-D, CFR-AVE, modified CFR-AVE, FP",
    study=Study(plan, compute, present, takes=("seeds",)),
)
