"""Leduc as the papers play it, and with each of our deviations, or of PoG's differences from SoG, one at a time.

The network is one and the same, the shipped one or that of --run, so that only the search differs. (That the first
tree holds all children of the searched state, and the gadget in perfect information, are not deviations here: of games
with hidden information every search has them.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Final

from sog.algorithms.student.measure import Subject, measure_seed, network_leaves
from sog.errors import CheckpointError
from sog.measure.intervals import mean_and_range, paired_difference, plus_minus
from sog.play.resolver import ResolveSettings, paper_settings, pog_settings
from sog.searches.cfr.rules import DCFR
from sog.searches.gtcfr.settings import PAPER, POG, Budget, SearchSettings
from sog.training.checkpoint import load_meta
from sog.training.shipped import find_checkpoint
from soglab.plots import Level, Line, Mark, Panel, Picture, log_scale
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, one_run

GAME: Final = "leduc_poker"
BUDGETS: Final = ((10, 1.0), (100, 1.0), (100, 0.1), (1_000, 1.0), (1_000, 0.1))
_USUAL: Final = ((100, 1.0),)
_LONG: Final = (1_000, 0.1)  # minutes a seed: the papers' and ours alone, and few seeds
SEEDS: Final = 10
_LONG_SEEDS: Final = 3
PAPERS: Final = "the papers' (--paper)"
OURS: Final = "ours, all of it"
OURS_MORE: Final = "ours, and the opponent's decisions searched"


def _searched(search: SearchSettings) -> Callable[[Budget], ResolveSettings]:
    """The papers' settings with another search."""
    return lambda budget: replace(paper_settings(budget), search=search)


SETTINGS: Final[dict[str, Callable[[Budget], ResolveSettings]]] = {
    PAPERS: paper_settings,
    "alternating DCFR": _searched(replace(PAPER, rule=DCFR)),
    "opened nodes begin at their prior": _searched(replace(PAPER, warm_start=1.0)),
    "no expansion is lost (fill)": _searched(replace(PAPER, fill=True)),
    "zero-sum correction at leaves": _searched(replace(PAPER, correct=True)),
    "worlds drawn by the last iteration's ranges": _searched(replace(PAPER, fixed_belief=False)),
    "opponent's decisions not searched": lambda budget: replace(paper_settings(budget), every_decision=False),
    "PoG: alpha 0.2": lambda budget: replace(paper_settings(budget), alpha=0.2),
    "PoG: selection by the current policy": _searched(POG),
    "PoG, both: sog(paper=pog)": pog_settings,
    OURS: ResolveSettings,
    OURS_MORE: lambda budget: ResolveSettings(budget, every_decision=True),
}


def plan(options: Options, note: Note) -> list[Key]:
    """Every setting at (100, 1) for each seed, with --full at all five budgets."""
    leaves = find_checkpoint(one_run(options) or GAME)
    meta = load_meta(leaves)
    if meta.game != GAME:
        raise CheckpointError(f"{leaves} holds a network of {meta.game}; this experiment is about {GAME}")
    seeds = options.num_seeds(SEEDS)
    budgets = BUDGETS[:1] if options.quick else BUDGETS if options.full else _USUAL
    network = meta.network_id
    return [
        {"leaves": str(leaves), "network": network, "simulations": s, "per_update": c, "setting": name, "seed": seed}
        for s, c in budgets
        for seed in range(min(seeds, _LONG_SEEDS) if (s, c) == _LONG else seeds)
        for name in ((PAPERS, OURS) if (s, c) == _LONG else SETTINGS)
    ]


def compute(key: Key) -> Result:
    """Exploitability of one seed's whole policy, mbb/h."""
    check_unchanged(Path(key["leaves"]), key["network"])
    settings = SETTINGS[key["setting"]](Budget(key["simulations"], key["per_update"]))
    _, network = network_leaves(Path(key["leaves"]), GAME)
    return {"mbb_per_hand": measure_seed(Subject(GAME, network, settings), key["seed"])}


def present(points: list[StudyPoint]) -> Outcome:
    """For each budget and setting the mean and range over seeds, and its difference from the papers' seed by seed."""
    table = _table(points)
    beside = [
        Beside(f"{Budget(*budget)}, {name}", "", _figure(values, by_setting.get(PAPERS, {})))
        for budget, by_setting in table.items()
        for name, values in by_setting.items()
    ]
    panels = [_panel(Budget(*budget), by_setting) for budget, by_setting in table.items()]
    picture = Picture(panels, size=(4.5 + 3.5 * len(table), 4.5), same_y=True)
    return Outcome([p.row for p in points], {"paper-deviations": picture}, beside)


# Results in mbb/h by budget, setting and seed; of a run that is not over, of whatever seeds there are.
Table = dict[tuple[int, float], dict[str, dict[int, float]]]


def _table(points: list[StudyPoint]) -> Table:
    """All seeds' results by budget and setting."""
    table: Table = {}
    for point in points:
        key = point.key
        by_setting = table.setdefault((key["simulations"], key["per_update"]), {})
        by_setting.setdefault(key["setting"], {})[key["seed"]] = float(point.result["mbb_per_hand"])
    return table


def _figure(by_seed: dict[int, float], papers: dict[int, float]) -> str:
    values = by_seed.values()
    figure = f"{mean_and_range(values)} mbb/h"
    both = sorted(by_seed.keys() & papers.keys())
    if by_seed is papers or not both:
        return figure
    own, other = [by_seed[seed] for seed in both], [papers[seed] for seed in both]
    difference = plus_minus(*paired_difference(own, other), "+.3g")
    return f"{figure}, {fmean(own) / fmean(other) - 1.0:+.0%} ({difference})"


def _panel(budget: Budget, by_setting: dict[str, dict[int, float]]) -> Panel:
    """A dot for each setting's mean and a line over its seeds; dotted: the papers' mean."""
    marks: list[Mark] = []
    for name, by_seed in by_setting.items():
        k, values = list(SETTINGS).index(name), by_seed.values()
        color = {"color": f"C{k % 10}"}
        marks.append(Line([min(values), max(values)], [k, k], None, {**color, "linewidth": 2}))
        marks.append(Line([fmean(values)], [k], None, {**color, "marker": "o"}))
    if PAPERS in by_setting:
        marks.append(Level(fmean(by_setting[PAPERS].values()), None, {"color": "grey", "linestyle": ":"}, upright=True))
    places = {"yticks": range(len(SETTINGS)), "yticklabels": list(SETTINGS), "ylim": (len(SETTINGS) - 0.5, -0.5)}
    grid = {"axis": "x", "which": "both"}
    return Panel(marks, log_scale("exploitability, mbb/h"), title=f"{GAME}, {budget}", axes=places, grid=grid)


EXPERIMENT: Final = Experiment(
    id="paper-deviations",
    paper="SoG",
    figure="Methods (PoG B.1, B.5)",
    minutes=2,
    what="Leduc with one network, (100,1), --full: five budgets: the papers' search, each deviation of ours, PoG's",
    study=Study(plan, compute, present, takes=("seeds", "runs", "full")),
)
