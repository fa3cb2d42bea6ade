"""Continual re-solving with complete trees on Leduc: which regret rule, which alpha, and what the gadget is worth.

SoG, "Modified continual re-solving": alpha is the gadget's share in the opponent's range. With the whole remaining
game as the search's tree no network is used, so that what is left is the error of re-solving itself.
"""

from __future__ import annotations

from typing import Any, Final

from sog.measure.exploitability import exploitability
from sog.measure.listed import listed
from sog.play.resolver import ResolveSettings
from sog.searches.cfr.rules import CFR_PLUS, DCFR, PCFR_PLUS, SOG
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.evaluator import zero_evaluator
from soglab.plots import Panel, Picture, line_of, log_scale
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

GAME: Final = "leduc_poker"
RULES: Final = {rule.name: rule for rule in (SOG, DCFR, PCFR_PLUS, CFR_PLUS)}
ALPHAS: Final = (0.2, 0.5, 1.0)
ITERATIONS: Final = (10, 30, 100, 300, 1_000)
NO_GADGET: Final = "no gadget"


def plan(options: Options, note: Note) -> list[Key]:
    """Every rule with every alpha and without the gadget, for each number of iterations a step."""
    counts = (10, 30) if options.quick else (*ITERATIONS, 3_000) if options.full else ITERATIONS
    return [
        {"game": GAME, "rule": rule, "alpha": alpha, "iterations": count}
        for count in counts
        for rule in RULES
        for alpha in (*ALPHAS, NO_GADGET)
    ]


def compute(key: Key) -> Result:
    """Exploitability in mbb/h of the agent that re-solves to the end of the game at each of its states."""
    gadget = key["alpha"] != NO_GADGET
    settings = ResolveSettings(
        Budget(1, 1.0 / key["iterations"]),  # one round of this many updates: there is nothing to expand
        SearchSettings(RULES[key["rule"]]),
        alpha=key["alpha"] if gadget else 1.0,
        complete=True,
        gadget=gadget,
    )
    public = listed(key["game"])
    return {"mbb_per_hand": exploitability(public, settings, zero_evaluator, seed=0) * public.game.unit.per_utility}


def present(points: list[StudyPoint]) -> Outcome:
    """The table at the most iterations, and exploitability against iterations a step."""
    iterations = max(point.key["iterations"] for point in points)
    last = sorted((p for p in points if p.key["iterations"] == iterations), key=lambda p: str(p.key["alpha"]))
    beside = []
    for p in last:
        label = f"{p.key['rule']}, {_column(p.key['alpha'])}, {iterations:,} iterations a step"
        beside.append(Beside(label, "", f"{p.result['mbb_per_hand']:.4g} mbb/h"))
    panels = [_panel(alpha, [p.row for p in points if p.key["alpha"] == alpha]) for alpha in (*ALPHAS, NO_GADGET)]
    picture = Picture(panels, "Continual re-solving with complete trees, Leduc", same_y=True)
    return Outcome([p.row for p in points], {"resolving": picture}, beside)


def _column(alpha: float | str) -> str:
    return alpha if isinstance(alpha, str) else f"alpha {alpha:g}"


def _panel(alpha: float | str, rows: list[dict[str, Any]]) -> Panel:
    lines = [
        line_of((row for row in rows if row["rule"] == rule), "iterations", "mbb_per_hand", rule) for rule in RULES
    ]
    return Panel(lines, log_scale("iterations a step"), log_scale("exploitability, mbb/h"), _column(alpha))


EXPERIMENT: Final = Experiment(
    id="resolving",
    paper="SoG",
    figure="Modified continual re-solving",
    minutes=2,
    what="Leduc, re-solving with complete trees: four regret rules x alpha 0.2, 0.5, 1, and without the gadget",
    study=Study(plan, compute, present, takes=("full",)),
)
