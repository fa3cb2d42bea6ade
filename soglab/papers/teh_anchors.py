"""Turn endgame hold'em without learning: what turn policies from known leaf values are worth, beside full-game CFR.

Each turn policy is measured with the rivers below it solved anew, safe and unsafe, and exact best responses to the
whole. Full-game linear CFR after 125 iterations, where ReBeL's text puts its agent, is measured with its own rivers,
too.
"""

from __future__ import annotations

import os
import time
from typing import Final

from sog.games.holdem.game import Holdem
from sog.measure.endgame import SAFE, UNSAFE, EndgameMeasure, EndgamePolicy, TurnPolicy, solved_turn
from sog.searches.cfr.rules import DCFR, LINEAR_CFR, Rule
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.leaves.evaluator import zero_evaluator
from soglab.papers.teh import ENDGAME, SMALL_ENDGAME, CheckedDown, turn_game, turn_solved_by
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

ZERO: Final = "leaves worth nothing"
EQUITY: Final = "leaves worth their equity, checked down"
EXACT: Final = "the whole game solved"
PAPER: Final = "full-game linear CFR, 125 iterations"
_LEAVES_ITERATIONS: Final = 500  # of linear CFR on the turn


def plan(options: Options, note: Note) -> list[Key]:
    """One point for each turn policy."""
    game, solving, river = (SMALL_ENDGAME, 100, 40) if options.quick else (ENDGAME, 1000, 200)
    shared = {"game": game, "river_iterations": river}
    return [
        {"policy": ZERO, **shared, "iterations": min(_LEAVES_ITERATIONS, solving)},
        {"policy": EQUITY, **shared, "iterations": min(_LEAVES_ITERATIONS, solving)},
        {"policy": EXACT, **shared, "iterations": solving},
        {"policy": PAPER, **shared, "iterations": min(125, solving)},
    ]


def compute(key: Key) -> Result:
    """Chips: exploitability and the value of player 0 by who plays the rivers; seconds of solving and of measuring."""
    game, started = turn_game(key["game"]), time.perf_counter()
    measured: Result = {}
    if key["policy"] in (ZERO, EQUITY):
        evaluator = zero_evaluator if key["policy"] == ZERO else CheckedDown(game)
        turn = turn_solved_by(game, evaluator, key["iterations"])
    else:
        turn, own = _whole(game, DCFR if key["policy"] == EXACT else LINEAR_CFR, key["iterations"])
        measured["own"] = figures(own)
    measured["seconds"] = time.perf_counter() - started
    for rivers in (SAFE, UNSAFE):
        policy = EndgamePolicy(game, _threads())
        policy.solve_rivers(turn, rivers, key["river_iterations"])
        measured[rivers] = figures(policy.measure())
    return measured


def _threads() -> int:
    return os.cpu_count() or 1


def _whole(game: Holdem, rule: Rule, iterations: int) -> tuple[TurnPolicy, EndgameMeasure]:
    """The turn of a solve of the whole game, and the figures of that solve with its own rivers."""
    policy = EndgamePolicy(game, _threads())
    solver: HoldemSolver = policy.solver
    solver.iterate(iterations, rule)
    return solved_turn(solver), policy.measure()


def figures(measure: EndgameMeasure) -> Result:
    """A measure, as a study keeps it."""
    return {
        "exploitability": measure.exploitability,
        "percent_of_pot": 100 * measure.of_pot,
        "value": measure.value,
        "best": list(measure.best),
        "seconds": list(measure.seconds),
    }


def present(points: list[StudyPoint]) -> Outcome:
    """A row for each turn policy and way to play the rivers."""
    rows = [
        {**p.key, "rivers": rivers, **p.result[rivers], "solve_seconds": p.result["seconds"]}
        for p in points
        for rivers in (SAFE, UNSAFE, "own")
        if rivers in p.result
    ]
    beside = []
    for p in points:
        played = [rivers for rivers in (SAFE, UNSAFE) if rivers in p.result]
        parts = [f"{p.result[rivers]['exploitability']:.4g} ({rivers} rivers)" for rivers in played]
        if "own" in p.result:
            parts.append(f"{p.result['own']['exploitability']:.4g} (its own)")
        value = p.result["own" if "own" in p.result else UNSAFE]["value"]
        ours = f"{', '.join(parts)}; value of player 0 {value:.4g}; solved in {p.result['seconds']:.0f} s"
        beside.append(Beside(f"{p.key['policy']}: exploitability, chips", "", ours))
    return Outcome(rows, {}, beside)


EXPERIMENT: Final = Experiment(
    id="teh-anchors",
    paper="ReBeL",
    figure="C.2, what needs no learning",
    minutes=6,
    what="Turn endgame hold'em: the turn from zero, equity and exact leaves and full-game CFR, rivers solved anew",
    study=Study(plan, compute, present, alone=True),
)
