"""ReBeL Table 2, lower half: what training runs on Liar's Dice reach, and their curves.

The table: each run's last three networks, by 1,024 playthroughs of 1,024 updates (on 1x6f and 2x3f, where each costs
one to three seconds, the two before the last by 256; --full: 1,024). The curve: all its networks, by few and short
playthroughs, since the mean policy, which costs one, is unsafe search. Runs of Student of Games are searched by their
own, in the table at two budgets, and, since a network values leaves for any search, in the curve by ReBeL's too. What a
search costs is given with each figure.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.algorithms.base import SOG
from sog.algorithms.rebel.agent import RebelSettings
from sog.algorithms.rebel.algorithm import REBEL, Rebel
from sog.algorithms.rebel.measure import measure_rebel
from sog.algorithms.student.measure import Subject, measure_seed, network_leaves
from sog.algorithms.table import trained_by
from sog.errors import SettingError
from sog.games.rules.liars_dice import LiarsDice
from sog.measure.exploitability import decision_count
from sog.measure.intervals import mean_and_range
from sog.measure.listed import listed
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget
from sog.training.checkpoint import Meta, load_meta
from sog.training.settings import preset_of
from soglab.plots import Level, Mark, Panel, Picture, line_of, log_scale
from soglab.runs import TrainedNetwork, check_unchanged, checkpoint_of, networks_of
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

# (dice a player, faces a die) by the paper's names, and Table 2's two lines of ReBeL by solver. Section 7 says that its
# fictitious play is linear and optimistic (flop); the tabular rows are nearest to the plain one (docs/notes.md).
GAMES: Final = {"1x4f": (1, 4), "1x5f": (1, 5), "1x6f": (1, 6), "2x3f": (2, 3)}
_FICTITIOUS: Final = {"1x4f": 0.041, "1x5f": 0.020, "1x6f": 0.040, "2x3f": 0.020}
TABLE_2: Final = {
    "cfr-d": {"1x4f": 0.017, "1x5f": 0.015, "1x6f": 0.024, "2x3f": 0.017},
    "fp": _FICTITIOUS,
    "flop": _FICTITIOUS,
}
_LAST: Final = 3
TABLE, CURVE = "table", "curve"


@dataclass(frozen=True)
class _Effort:
    """How closely a network is measured: playthroughs and updates of ReBeL's search, budgets (s, c) of SoG's."""

    playthroughs: int
    updates: int
    budgets: tuple[tuple[int, float], ...]


_EFFORTS: Final = {
    TABLE: _Effort(1024, 1024, ((100, 1.0), (1000, 1.0))),
    CURVE: _Effort(64, 512, ((100, 1.0),)),
}
_FEWER: Final = {
    TABLE: replace(_EFFORTS[TABLE], playthroughs=256),
    CURVE: replace(_EFFORTS[CURVE], playthroughs=16),
}
_LARGE: Final = ("1x6f", "2x3f")
_QUICK: Final = {TABLE: _Effort(16, 64, ((10, 1.0),)), CURVE: _Effort(4, 32, ((5, 1.0),))}


def plan(options: Options, note: Note) -> list[Key]:
    """Points of every run in --run or runs/: first the curves, then the table. SettingError where there is no run."""
    named = options.runs or tuple(sorted(Path("runs").glob("*/checkpoint")))
    folders = tuple(path.parent if path.name == "checkpoint" else path for path in named)
    names = {LiarsDice(*size).name: name for name, size in GAMES.items()}
    keys: dict[str, list[Key]] = {CURVE: [], TABLE: []}
    for folder in folders:
        meta = load_meta(checkpoint_of(folder))
        algorithm = meta.algorithm
        if meta.game not in names or algorithm not in _SEARCHED_BY:
            note(f"{folder}: {algorithm} on {meta.game} is not in the table")
            continue
        if "round" not in meta.settings:
            note(f"{folder}: was not trained by self-play")
            continue
        networks, examples, game = networks_of(folder), _examples(folder), names[meta.game]
        for part, chosen in ((CURVE, [n for n in networks if n.meta.step]), (TABLE, networks[-_LAST:])):
            for network in chosen:
                about = {"part": part, "game": game, "run": _named(folder, folders), **_training(meta)}
                about |= _row(network, examples)
                effort = _effort(part, game, network is networks[-1], options)
                searches = (_SEARCHES[name] for name in _SEARCHED_BY[algorithm][part])
                keys[part] += [{**about, **settings} for search in searches for settings in search.plan(meta, effort)]
    if not (keys[CURVE] or keys[TABLE]):
        raise SettingError("no run on Liar's Dice: train one with --algorithm rebel, or name it with --run")
    return keys[CURVE] + keys[TABLE]


def _named(folder: Path, folders: Sequence[Path]) -> str:
    """The folder's last part, all of it where another run's is the same."""
    return folder.name if [other.name for other in folders].count(folder.name) == 1 else str(folder)


def _effort(part: str, game: str, last: bool, options: Options) -> _Effort:
    """How closely a part measures a game's network, which may be a run's last."""
    if options.quick:
        return _QUICK[part]
    fewer = game in _LARGE and not options.full and not (part == TABLE and last)
    return (_FEWER if fewer else _EFFORTS)[part]


def _examples(run: Path) -> dict[int, int]:
    """How many rows a run had learned from after each round."""
    if not (run / "curve.csv").exists():
        return {}
    with (run / "curve.csv").open() as file:
        return {int(line["round"]): int(float(line["rows"])) for line in csv.DictReader(file)}


def _training(meta: Meta) -> dict[str, Any]:
    """How a run was trained."""
    algorithm = meta.algorithm
    solver = _rebel(meta).solver_named.name if algorithm == REBEL else ""
    return {"algorithm": algorithm, "solver": solver, "network": f"{meta.shape.depth}x{meta.shape.width}"}


def _rebel(meta: Meta) -> Rebel:
    """How ReBeL plays with a network: as it was trained, with a network of another algorithm as by default."""
    return Rebel().as_trained(trained_by(meta))


def _row(network: TrainedNetwork, examples: dict[int, int]) -> dict[str, Any]:
    """Which network, and what had been learned from when it was saved."""
    number, minutes = network.meta.settings["round"], network.meta.settings["minutes"]
    return {
        "checkpoint": str(network.folder),
        "network_id": network.meta.network_id,
        "round": number,
        "step": network.meta.step,
        "minutes": round(minutes, 2),
        "examples": examples.get(number, 0),
    }


@dataclass(frozen=True)
class _Search:
    """One way to search with a network.

    plan: the entries of a point's key, for so close a measure.  measure: what `compute` finds, and how many searches
    that took.  label: in words.
    """

    plan: Callable[[Meta, _Effort], list[dict[str, Any]]]
    measure: Callable[[Key, Meta], tuple[Result, int]]
    label: Callable[[Key], str]


def _plan_sog(meta: Meta, effort: _Effort) -> list[dict[str, Any]]:
    return [{"search": SOG, "s": s, "c": c} for s, c in effort.budgets]


def _measure_sog(key: Key, meta: Meta) -> tuple[Result, int]:
    _, network = network_leaves(Path(key["checkpoint"]), meta.game)
    subject = Subject(meta.game, network, ResolveSettings(Budget(key["s"], key["c"])))
    return {"exploitability": measure_seed(subject, 0)}, decision_count(listed(meta.game))


def _label_sog(key: Key) -> str:
    return f"SoG({key['s']},{key['c']:g})"


def _plan_rebel(meta: Meta, effort: _Effort) -> list[dict[str, Any]]:
    """As the run was trained; of a run without a solver of its own, ReBeL's usual one."""
    solve = _rebel(meta).varied(updates=effort.updates).solving(preset_of(meta.settings))
    search = {"search": REBEL, "search_solver": solve.solver.name, "warm": solve.warm}
    if solve.recycle:
        search["recycle"] = solve.recycle
    return [{**search, "playthroughs": effort.playthroughs, "updates": effort.updates}]


def _measure_rebel(key: Key, meta: Meta) -> tuple[Result, int]:
    settings = RebelSettings(_rebel(meta).varied(updates=key["updates"]).solving(preset_of(meta.settings)))
    measured = measure_rebel(Path(key["checkpoint"]), settings, key["playthroughs"], 0, lambda done: None)
    return {"exploitability": measured.sampled, "mean_policy": measured.mean}, measured.solves


def _label_rebel(key: Key) -> str:
    warm = f", warm {key['warm']}" if key["warm"] else ""
    recycle = f", recycle {key['recycle']:g}" if "recycle" in key else ""
    return f"ReBeL {key['playthroughs']} x {key['updates']} {key['search_solver']}{warm}{recycle}"


_SEARCHES: Final = {
    SOG: _Search(_plan_sog, _measure_sog, _label_sog),
    REBEL: _Search(_plan_rebel, _measure_rebel, _label_rebel),
}
# By the algorithm of the run, how its networks are searched. A network values leaves for any search.
_SEARCHED_BY: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    SOG: {TABLE: (SOG,), CURVE: (SOG, REBEL)},
    REBEL: {TABLE: (REBEL,), CURVE: (REBEL,)},
}


def compute(key: Key) -> Result:
    """Exploitability of a network's play, and the processor time of a search in milliseconds."""
    folder = Path(key["checkpoint"])
    check_unchanged(folder, key["network_id"])
    meta = load_meta(folder)
    started = time.process_time()
    result, searches = _SEARCHES[key["search"]].measure(key, meta)
    seconds = time.process_time() - started
    return {**result, "searches": searches, "seconds": seconds, "ms_a_search": 1000.0 * seconds / searches}


def present(points: list[StudyPoint]) -> Outcome:
    """A row for each point; the table's means beside the paper's."""
    beside = []
    for game in GAMES:
        for line, mine in _lines(points, TABLE, game).items():
            exploitabilities = [p.result["exploitability"] for p in mine]
            newest = mine[-1].key
            cost = np.median([p.result["ms_a_search"] for p in mine])
            ours = (
                f"{mean_and_range(exploitabilities, '.4f')}, {len(exploitabilities)} networks, "
                f"{newest['minutes']:.0f} min, {newest['examples']:,} examples, {cost:.0f} ms a search"
            )
            beside.append(Beside(f"{game}, {line}", _paper(newest), ours))
    panels = [_panel(game, points) for game in GAMES if any(p.key["game"] == game for p in points)]
    columns = min(len(panels), 2)
    picture = Picture(panels, columns=columns, size=(7.0 * columns, 5.0 * ((len(panels) + 1) // 2)))
    return Outcome([p.row for p in points], {"rebel-table2": picture}, beside)


def _paper(key: Key) -> str:
    """Table 2's figure for a run of ReBeL searched by ReBeL as closely as there."""
    # Only searches of ReBeL have playthroughs, and only runs of ReBeL a solver.
    published = TABLE_2.get(key["solver"], {}) if key.get("playthroughs", 0) >= 1024 else {}
    return f"{published[key['game']]:.3f}" if published else ""


def _lines(points: list[StudyPoint], part: str, game: str) -> dict[str, list[StudyPoint]]:
    """The points of a game by run and search, oldest network first."""
    return grouped((p for p in points if (p.key["part"], p.key["game"]) == (part, game)), lambda p: _label(p.key))


def _label(key: Key) -> str:
    """A run and how it is searched, in words."""
    trained = f"{key['run']} ({' '.join(filter(None, (key['algorithm'], key['solver'], key['network'])))})"
    return f"{trained}, {_SEARCHES[key['search']].label(key)}"


def _panel(game: str, points: list[StudyPoint]) -> Panel:
    """Exploitability against training minutes; squares: the table; dashed: the paper's."""
    marks: list[Mark] = []
    for part, style in ((CURVE, {"marker": "."}), (TABLE, {"marker": "s", "linestyle": ""})):
        for label, mine in _lines(points, part, game).items():
            thin = {**style, "markersize": 4, "linewidth": 1.0}
            marks.append(line_of((p.row for p in mine), "minutes", "exploitability", label, thin))
    solvers = dict.fromkeys(p.key["solver"] for p in points if p.key["game"] == game)
    for name, dashes in zip(filter(None, solvers), ("--", ":", "-."), strict=False):
        if name in TABLE_2:
            paper, grey = TABLE_2[name][game], {"color": "gray", "linestyle": dashes, "linewidth": 0.8}
            marks.append(Level(paper, f"Table 2, {name}: {paper}", grey))
    axes = (log_scale("training minutes"), log_scale("exploitability"))
    return Panel(marks, *axes, game, legend={"fontsize": "small"})


EXPERIMENT: Final = Experiment(
    id="rebel-table2",
    paper="ReBeL",
    figure="Table 2",
    minutes=60,
    what="Liar's Dice, runs in runs/ or --run, ReBeL and SoG: curves, "
    "and 1,024 playthroughs of the last three networks",
    study=Study(plan, compute, present, takes=("full", "runs")),
)
