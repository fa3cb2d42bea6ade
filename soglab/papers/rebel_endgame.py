"""Turn endgame hold'em as ReBeL measures it (C.2): exploitability of full-tree CFR by iteration.

Both players have 20,000 chips behind a pot of 2,000, the board is 3s7hTdKs, every hand is possible; the first raise
of a round is 0.5 pot, 1 pot or all-in, later ones 0.75 pot or all-in. ReBeL's Fig. 2 plots its agent's exploitability
beside such a curve, and its text says that the agent is as exploitable as full-game CFR after about 125 iterations. Its
CFR is linear and alternating.
"""

from __future__ import annotations

import os
import time
from typing import Final

from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.searches.cfr.rules import CFR_PLUS, DCFR, LINEAR_CFR
from sog.searches.holdem.solver import HoldemSolver
from soglab.plots import Level, Panel, Picture, line_through, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

ENDGAME: Final = "holdem(board=3s7hTdKs,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)"
RULES: Final = {"Linear CFR": LINEAR_CFR, "DCFR": DCFR, "CFR+": CFR_PLUS}
PAPER_ITERATIONS: Final = 125  # of full-game CFR, as exploitable as ReBeL's agent
_MARKS: Final = (1, 2, 3, 5, 8, 12, 20, 32, 50, 75, PAPER_ITERATIONS, 180, 250, 350, 500, 700, 1000)
_QUICK: Final = 12


def plan(options: Options, note: Note) -> list[Key]:
    """A point for each rule."""
    iterations = _QUICK if options.quick else _MARKS[-1]
    return [{"game": ENDGAME, "rule": name, "iterations": iterations} for name in RULES]


def compute(key: Key) -> Result:
    """Exploitability, chips, after each mark; seconds until then without measuring; memory of the solver's arrays.

    All cores take part. Numbers other than seconds do not depend on how many there are.
    """
    solver = HoldemSolver(holdem_from(parse_game(key["game"])[1]), os.cpu_count() or 1)
    solver.iterate(0)  # compiles
    chips, seconds, spent = {}, {}, 0.0
    for mark in (m for m in _MARKS if m <= key["iterations"]):
        before = time.perf_counter()
        solver.iterate(mark - solver.iterations, RULES[key["rule"]])
        spent += time.perf_counter() - before
        chips[str(mark)], seconds[str(mark)] = solver.progress().exploitability, spent
    memory = solver.program.memory(solver.threads) / 1e6
    return {"chips": chips, "seconds": seconds, "threads": solver.threads, "memory_mb": memory}


def present(points: list[StudyPoint]) -> Outcome:
    """Exploitability in chips and in % of the pot by iteration; seconds and memory are this machine's."""
    rows = [
        {
            "rule": p.key["rule"],
            "iterations": int(mark),
            "exploitability_chips": chips,
            "percent_of_pot": 100 * chips / _pot(p.key),
            "seconds": p.result["seconds"][mark],
            "threads": p.result["threads"],
            "memory_mb": p.result["memory_mb"],
        }
        for p in points
        for mark, chips in p.result["chips"].items()
    ]
    lines = [line_through(p.curve("chips"), p.key["rule"]) for p in points]
    dotted = {"color": "grey", "linestyle": ":"}
    paper = Level(PAPER_ITERATIONS, "where ReBeL's agent stands (Fig. 2)", dotted, upright=True)
    axes = (log_scale("iterations"), log_scale(f"exploitability, chips (pot {_pot(points[0].key):,})"))
    panel = Panel([*lines, paper], *axes, "Turn endgame hold'em, board 3s7hTdKs, full tree")
    return Outcome(rows, {"rebel-endgame": Picture([panel])}, [_beside(p) for p in points])


def _pot(key: Key) -> int:
    return holdem_from(parse_game(key["game"])[1]).spot.pot


def _beside(p: StudyPoint) -> Beside:
    chips, last = p.result["chips"], str(p.key["iterations"])
    figures = [f"{chips[m]:.3g} after {m}" for m in dict.fromkeys((str(PAPER_ITERATIONS), last)) if m in chips]
    pace = p.result["seconds"][last] / p.key["iterations"]
    cost = f"{pace:.3g} s an iteration, {p.result['threads']} threads, {p.result['memory_mb']:,.0f} MB"
    return Beside(f"{p.key['rule']}: exploitability, chips", "", f"{', '.join(figures)} ({cost})")


EXPERIMENT: Final = Experiment(
    id="rebel-endgame",
    paper="ReBeL",
    figure="C.2, Fig. 2 (full-game CFR)",
    minutes=15,
    what="Turn endgame hold'em, every hand, no abstraction: exploitability by iteration to 1,000, three rules",
    study=Study(plan, compute, present, alone=True),
)
