"""SoG Fig. 3 (PoG Fig. 7): exploitability of the search agent against training steps, a line for each search budget.

The networks are the snapshots of one training run for each game. Beside every line is what the same budget
reaches with exact leaves, where that can be had: what is left there is the search's error, not the network's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, Final, cast

from sog.algorithms.student.measure import EXACT_LEAVES, Subject, measure_seed, network_leaves
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.measure.intervals import mean_and_range
from sog.measure.listed import listed
from sog.play.resolver import ResolveSettings, paper_settings
from sog.searches.gtcfr.settings import Budget
from soglab.plots import DOTS, Band, Level, Mark, Panel, Picture, Scale, Style, line_through, log_scale
from soglab.runs import check_unchanged, networks_of, runs_there
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

# The folders that `sog train` gives the paper's two games.
RUNS: Final = (Path("runs/leduc_poker"), Path("runs/scotland_yard-map-glasses"))
BUDGETS: Final = ((10, 1.0), (100, 1.0), (100, 0.1), (1_000, 1.0))
SEEDS: Final = 3  # SoG uses 50
EXACT_SEEDS: Final = 1
# Games with more public states than this have no exact-leaf lines: every leaf needs a solution of what is below.
_EXACT_STATES: Final = 1_000


def plan(options: Options, note: Note) -> list[Key]:
    """Every snapshot of every run with every budget and seed, and the budgets with exact leaves."""
    runs = options.runs or _default_runs(note)
    seeds = options.num_seeds(SEEDS)
    budgets = BUDGETS[:2] if options.quick else BUDGETS
    rule = "paper" if options.paper else "best"
    keys: list[Key] = []
    for run in runs:
        networks = list(_networks(run, note))
        if any(key["game"] == networks[0]["game"] for key in keys):
            raise SettingError(f"two runs are of {networks[0]['game']}: name one")
        if options.quick:
            networks = [networks[k] for k in sorted({0, len(networks) // 2, len(networks) - 1})]
        leaves = [*networks, *([] if options.quick else _exact(str(networks[0]["game"])))]
        keys += [
            {**source, "simulations": s, "per_update": c, "rule": rule, "seed": seed}
            for source in leaves
            for s, c in budgets
            for seed in range(min(seeds, EXACT_SEEDS) if source["leaves"] == EXACT_LEAVES else seeds)
        ]
    return keys


def _default_runs(note: Note) -> list[Path]:
    runs = runs_there(RUNS, "leduc_poker")
    for run in RUNS:
        if run not in runs:
            note(f"no training run in {run}: its figure is left out")
    return runs


def _networks(run: Path, note: Note) -> Iterator[Key]:
    """The run's different networks by training step."""
    networks = networks_of(run)
    if len(networks) == 1:
        note(f"{run} has one network: a point instead of a curve")
    for folder, meta in networks:
        yield {"game": meta.game, "leaves": str(folder), "network": meta.network_id, "step": meta.step}


def _exact(game: str) -> list[Key]:
    if listed(game).size > _EXACT_STATES:
        return []
    return [{"game": game, "leaves": EXACT_LEAVES, "network": "", "step": None}]


def compute(key: Key) -> Result:
    """Exploitability of one seed's whole policy, in the game's unit."""
    game, leaves = key["game"], key["leaves"]
    if key["network"]:
        check_unchanged(Path(leaves), key["network"])
        _, leaves = network_leaves(Path(leaves), game)
    budget = Budget(key["simulations"], key["per_update"])
    settings = paper_settings(budget) if key["rule"] == "paper" else ResolveSettings(budget)
    return {"exploitability": measure_seed(Subject(game, leaves, settings), key["seed"])}


def present(points: list[StudyPoint]) -> Outcome:
    """A picture for each game, and its last network's exploitability beside exact leaves."""
    pictures: dict[str, Picture] = {}
    beside: list[Beside] = []
    rows: list[dict[str, Any]] = []
    for number, (game, own) in enumerate(grouped(points, lambda point: str(point.key["game"])).items()):
        unit = make_game(game).unit.name
        short = game.split("(")[0]
        pictures[f"{short}-{number}" if short in pictures else short] = _picture(game, unit, own)
        beside += _latest(game, unit, own)
        rows += [{**point.row, "unit": unit} for point in own]
    return Outcome(rows, pictures, beside)


def _spread(points: list[StudyPoint], budget: tuple[int, float]) -> dict[int | None, list[float]]:
    """Exploitability of all seeds by training step; under None with exact leaves."""
    own = [point for point in points if (point.key["simulations"], point.key["per_update"]) == budget]
    steps = grouped(own, lambda point: cast(int | None, point.key["step"]))
    return {step: [point.result["exploitability"] for point in same] for step, same in steps.items()}


def _latest(game: str, unit: str, points: list[StudyPoint]) -> Iterator[Beside]:
    for budget in BUDGETS:
        by_step = _spread(points, budget)
        exact = by_step.pop(None, [])
        if not by_step:
            continue
        step = max(k for k in by_step if k is not None)
        values = by_step[step]
        ours = f"{mean_and_range(values)} {unit}"
        ours += f"; exact leaves {fmean(exact):.4g} ({_seeds(len(exact))})" if exact else ""
        yield Beside(f"{game}, SoG{Budget(*budget)} after {step:,} steps", "", ours)


def _picture(game: str, unit: str, points: list[StudyPoint]) -> Picture:
    marks: list[Mark] = []
    for k, budget in enumerate(BUDGETS):
        marks += _marks(f"SoG{Budget(*budget)}", {"color": f"C{k}"}, _spread(points, budget))
    steps = sorted({point.key["step"] for point in points if point.key["step"]})
    # Not "log": step 0, the untrained network, has a place.
    axis = Scale("training steps", "symlog", {"linthresh": steps[0] if steps else 1, "linscale": 0.3})
    return Picture([Panel(marks, axis, log_scale(f"exploitability, {unit}"), _title(game, points))])


def _title(game: str, points: list[StudyPoint]) -> str:
    rule = "the papers' rule" if points[0].key["rule"] == "paper" else "our best rule"
    seeds = 1 + max(point.key["seed"] for point in points)
    exact = [point.key["seed"] for point in points if point.key["step"] is None]
    dashed = f", dashed: exact leaves, {_seeds(1 + max(exact))}" if exact else ""
    spread = _seeds(1) if seeds == 1 else f"mean and range of {_seeds(seeds)}"
    return f"{game}: {rule}, {spread}{dashed}"


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def _marks(label: str, color: Style, by_step: dict[int | None, list[float]]) -> Iterator[Mark]:
    """A budget's mean over seeds and its range; dashed: with exact leaves."""
    exact = by_step.get(None)
    if exact:
        yield Level(fmean(exact), None, {**color, "linestyle": "--", "linewidth": 1})
    curve = {step: by_step[step] for step in sorted(step for step in by_step if step is not None)}
    if curve:
        yield line_through({step: fmean(values) for step, values in curve.items()}, label, {**DOTS, **color})
        low, high = ([end(values) for values in curve.values()] for end in (min, max))
        yield Band(list(curve), low, high, {**color, "alpha": 0.2})


EXPERIMENT: Final = Experiment(
    id="sog-fig3",
    paper="SoG",
    figure="Fig. 3 (PoG Fig. 7)",
    minutes=10,
    what="Exploitability against training steps of the runs in runs/ or --run, SoG(10,1) to SoG(1000,1), 3 seeds",
    study=Study(plan, compute, present, takes=("seeds", "runs", "paper")),
)
