"""Continual re-solving with complete trees on Leduc: which regret rule, which alpha, and what the gadget is worth.

SoG, "Modified continual re-solving": alpha is the gadget's share in the opponent's range. With the whole remaining
game as the search's tree no network is used, so that what is left is the error of re-solving itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sog.measure.exploitability import exploitability
from sog.measure.listed import listed
from sog.play.resolver import ResolveSettings
from sog.searches.cfr.rules import CFR_PLUS, DCFR, PCFR_PLUS, SOG
from sog.searches.gtcfr.search import Budget, SearchSettings
from sog.searches.leaves.evaluator import zero_evaluator
from soglab.study import Beside, Key, Note, Options, Outcome, Point, Result, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        Budget(1, 1.0 / key["iterations"]),  # one round of so many updates: there is nothing to expand
        SearchSettings(RULES[key["rule"]]),
        alpha=key["alpha"] if gadget else 1.0,
        complete=True,
        gadget=gadget,
    )
    public = listed(key["game"])
    found = exploitability(public, settings, zero_evaluator, seed=0)
    return {"mbb_per_hand": found * public.game.unit.per_utility}


def present(points: list[Point]) -> Outcome:
    """The table at the most iterations, and exploitability against iterations a step."""
    most = max(point.key["iterations"] for point in points)
    beside = [
        Beside(f"{_setting(p.key)}, {most:,} iterations a step", "", f"{p.result['mbb_per_hand']:.4g} mbb/h")
        for p in sorted((p for p in points if p.key["iterations"] == most), key=lambda p: str(p.key["alpha"]))
    ]
    return Outcome([p.row for p in points], {"resolving": lambda figure: _draw(figure, points)}, beside)


def _setting(key: Key) -> str:
    return f"{key['rule']}, {_column(key['alpha'])}"


def _column(alpha: float | str) -> str:
    return alpha if isinstance(alpha, str) else f"alpha {alpha:g}"


def _draw(figure: Figure, points: list[Point]) -> None:
    """A panel for each alpha and one without the gadget, a line for each rule."""
    axes = figure.subplots(1, len(ALPHAS) + 1, sharey=True)
    settings: tuple[float | str, ...] = (*ALPHAS, NO_GADGET)
    for axis, alpha in zip(axes, settings, strict=True):
        for rule in RULES:
            line = [p for p in points if p.key["rule"] == rule and p.key["alpha"] == alpha]
            counts, found = [p.key["iterations"] for p in line], [p.result["mbb_per_hand"] for p in line]
            axis.plot(counts, found, marker=".", label=rule)
        axis.set(xscale="log", yscale="log", xlabel="iterations a step", title=_column(alpha))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("exploitability, mbb/h")
    axes[0].legend()
    figure.suptitle("Continual re-solving with complete trees, Leduc")


STUDY: Final = Study(plan, compute, present, takes=("full",))
