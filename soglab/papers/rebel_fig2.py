"""ReBeL Fig. 2: turn endgame hold'em solved on the turn, its ends valued by networks that were trained in several ways.

The policy that is measured is what ReBeL plays in expectation: each iteration's policies of the turn, and of rivers
solved from that iteration's ranges. Perfect values are those of every river solved at every iteration. The paper solves
with CFR-AVE, whose values by pair of hands no network here answers; all lines are of CFR-D.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sog.algorithms.rebel.algorithm import REBEL, Rebel
from sog.algorithms.rebel.turn_spots import RIVER_ITERATIONS, SampledTurn
from sog.algorithms.table import trained_by
from sog.games.catalog import make_game
from sog.nets.values import value_evaluator
from sog.searches.depth_limited.settings import CFR_D, SolveSettings
from sog.searches.leaves.evaluator import Evaluator
from sog.training.checkpoint import Meta, load_meta, load_network
from sog.training.opened import refuse_other
from sog.training.shipped import find_checkpoint
from soglab.papers.rebel_fig5_teh import RiverOracle
from soglab.papers.teh import ENDGAME, SMALL_ENDGAME, turn_game
from soglab.plots import LOG_2, Panel, Picture, Scale, line_through, log_scale
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

_PERFECT: Final = "perfect values"
_VALUES: Final = "self-play, values"
_POLICIES: Final = "self-play, values and policies"
_RANDOM: Final = "random beliefs"
# Both players update on one evaluation of all of the turn's ends, in every iteration, as the oracle answers.
_TURN: Final = SolveSettings(CFR_D, depth=0, to_chance=True, simultaneous=True, prune=False, remember=False)
_PAPERS_TARGET: Final = "about that of full-game tabular CFR after 125 iterations"


def plan(options: Options, note: Note) -> list[Key]:
    """A line for perfect values, and one or two for each run: a network that learned policies has a second, warm one.

    SettingError for a run of another family of games.
    """
    size: Key = {"game": SMALL_ENDGAME, "iterations": 4} if options.quick else {"game": ENDGAME, "iterations": 256}
    # Perfect values cost as much again as the rivers that are measured.
    perfect = size["iterations"] if options.quick or options.full else 64
    keys: list[Key] = [{"line": _PERFECT, **size, "iterations": perfect}]
    for folder in [find_checkpoint(str(run)) for run in options.runs] or [find_checkpoint(ENDGAME, REBEL)]:
        meta = load_meta(folder)
        refuse_other(meta.shape, make_game(meta.game), turn_game(size["game"]))
        network = {"checkpoint": str(folder), "network": meta.network_id, "minutes": meta.settings["minutes"]}
        warm = _warm(meta)
        keys += [{"line": _line(meta), **network, **size}]
        keys += [{"line": _POLICIES, "warm": min(warm, size["iterations"] // 2), **network, **size}] if warm else []
    return keys


def _line(meta: Meta) -> str:
    """What a run was trained on, and by which algorithm where that is not ReBeL."""
    algorithm = trained_by(meta)
    trained_on = _RANDOM if dict(algorithm.training).get("random_beliefs") else _VALUES
    return trained_on if algorithm.name == REBEL else f"{trained_on}, {algorithm.title}"


def _warm(meta: Meta) -> int:
    algorithm = trained_by(meta)
    return algorithm.warm or 0 if isinstance(algorithm, Rebel) else 0


def compute(key: Key) -> Result:
    """Exploitability of the whole policy, chips, after 1, 2, 4, ... iterations of both players."""
    game = turn_game(key["game"])
    settings = replace(_TURN, updates=2 * key["iterations"], warm=key.get("warm", 0))
    evaluator: Evaluator
    if key["line"] == _PERFECT:
        evaluator = RiverOracle(game, RIVER_ITERATIONS, average=False)
    else:
        folder = find_checkpoint(key["checkpoint"])
        check_unchanged(folder, key["network"])
        evaluator = value_evaluator(load_network(folder)[1], settings.warm > 0)
    solved, curve = SampledTurn(game, settings), dict[str, float]()

    def added(t: int) -> None:
        if t & (t - 1) == 0:
            curve[str(t)] = solved.measure().exploitability

    solved.run(evaluator, settings.weights, added)
    return {"exploitability": curve}


def present(points: list[StudyPoint]) -> Outcome:
    """Exploitability against iterations, a line for each kind of training."""
    pot = turn_game(points[0].key["game"]).spot.pot
    rows = [
        {"line": p.key["line"], "iterations": t, "chips": x, "percent_of_pot": 100 * x / pot}
        for p in points
        for t, x in p.curve().items()
    ]
    beside = []
    for p in points:
        ours = ", ".join(f"{x:.4g} after {t}" for t, x in p.curve().items() if t >= 8)
        beside.append(Beside(f"{p.key['line']}: chips", _PAPERS_TARGET if p.key["line"] == _VALUES else "", ours))
    lines = [line_through(p.curve(), p.key["line"]) for p in points]
    axes = (Scale("iterations", *LOG_2), log_scale(f"exploitability, chips (pot {pot:,})"))
    return Outcome(rows, {"rebel-fig2": Picture([Panel(lines, *axes, "Turn endgame hold'em, CFR-D")])}, beside)


EXPERIMENT: Final = Experiment(
    id="rebel-fig2",
    paper="ReBeL",
    figure="Fig. 2",
    minutes=40,
    what="Turn endgame hold'em: CFR-D with perfect values, and with networks of --run: self-play, random beliefs",
    study=Study(plan, compute, present, takes=("runs", "full")),
)
