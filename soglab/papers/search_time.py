"""How the time of one search grows with s at c = 1, 10 and 100, on chess with a constant network.

SoG, "Growing-tree counterfactual regret minimization": each iteration sweeps the whole tree, so the cost grows with the
square of the number of iterations, s / c of them.
"""

from __future__ import annotations

import math
from time import process_time
from typing import Final

import numpy as np

from sog.games.catalog import make_game
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from soglab.plots import Panel, Picture, line_through, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

GAME: Final = "chess"
WIDTHS: Final = (1, 10, 100)
SIMULATIONS: Final = (100, 300, 1_000, 3_000)


def plan(options: Options, note: Note) -> list[Key]:
    """Every s at every c; --full goes to 30,000."""
    counts = SIMULATIONS[:2] if options.quick else (*SIMULATIONS, 10_000, 30_000) if options.full else SIMULATIONS
    return [{"game": GAME, "s": s, "c": c} for c in WIDTHS for s in counts]


def compute(key: Key) -> Result:
    """Processor seconds of the second of two searches from the first position, with a new tree each."""
    for _ in range(2):
        game = make_game(key["game"])
        tree = Lookahead(PublicTree(game), 0, game.root_ranges())
        budget = Budget(key["s"], float(key["c"]))
        start = process_time()
        run(search(tree, 0, budget, SearchSettings(), np.ones(1, dtype=np.uint64)), zero_evaluator)
        seconds = process_time() - start
    return {"seconds": seconds, "us_per_simulation": 1e6 * seconds / key["s"], "nodes": tree.size}


def present(points: list[StudyPoint]) -> Outcome:
    """Seconds at the most simulations and the slope of the last step in the log-log plot, for each c."""
    beside, lines = [], []
    for c in WIDTHS:
        curve = sorted((p.key["s"], p.result["seconds"]) for p in points if p.key["c"] == c)
        lines.append(line_through(dict(curve), f"c = {c}"))
        (s0, t0), (s1, t1) = curve[-2:]
        slope = math.log(t1 / t0) / math.log(s1 / s0)
        beside.append(Beside(f"c = {c}: growth from s = {s0:,} to {s1:,}", "", f"s^{slope:.2f}, {t1:.3g} s"))
    axes = (log_scale("s, simulations"), log_scale("processor seconds a search"))
    picture = Picture([Panel(lines, *axes, f"{GAME}, first position, constant network")])
    return Outcome([p.row for p in points], {"sog-search-time": picture}, beside)


EXPERIMENT: Final = Experiment(
    id="sog-search-time",
    paper="SoG",
    figure="GT-CFR",
    minutes=1,
    what="Chess, constant network: time of a search against s at c = 1, 10 and 100, to s = 3,000 (--full: 30,000)",
    study=Study(plan, compute, present, takes=("full",), alone=True),
)
