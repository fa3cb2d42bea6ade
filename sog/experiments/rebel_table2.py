"""ReBeL Table 2, lower half: exploitability of ReBeL's play on Liar's Dice, the mean of the last three checkpoints.

Runs of Student of Games stand beside it with the exploitability of their search at (100, 1), one seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from sog.errors import SettingError
from sog.experiments.exploit import Subject, measure_seed
from sog.experiments.exploit_rebel import measure_rebel
from sog.experiments.study import Beside, Key, Note, Options, Outcome, Point, Result, Study
from sog.games.liars_dice import LiarsDice
from sog.play.rebel import RebelSettings
from sog.play.resolver import ResolveSettings
from sog.search.depth_limited import SolveSettings
from sog.search.gtcfr import Budget
from sog.train.checkpoint import load_meta
from sog.train.presets import REBEL, SOG

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# (dice a player, faces a die) by the paper's names, and Table 2's "ReBeL CFR-D".
GAMES: Final = {"1x4f": (1, 4), "1x5f": (1, 5), "1x6f": (1, 6), "2x3f": (2, 3)}
TABLE_2: Final = {"1x4f": 0.017, "1x5f": 0.015, "1x6f": 0.024, "2x3f": 0.017}
_LAST: Final = 3
_PLAYTHROUGHS, _QUICK_PLAYTHROUGHS = 1024, 16
_UPDATES, _QUICK_UPDATES = 1024, 64


def plan(options: Options, note: Note) -> list[Key]:
    """The last three networks of each run in --run or runs/. SettingError where there is none."""
    folders = options.runs or tuple(sorted(path.parent for path in Path("runs").glob("*/checkpoint")))
    names = {LiarsDice(*size).name: name for name, size in GAMES.items()}
    keys: list[Key] = []
    for folder in folders:
        meta = load_meta(folder / "checkpoint")
        algorithm = meta.settings.get("algorithm", SOG)
        if meta.game not in names or algorithm not in (REBEL, SOG):
            note(f"{folder}: {algorithm} on {meta.game} is not in the table")
            continue
        for snapshot in _last(folder):
            key = {"game": names[meta.game], "algorithm": algorithm, "checkpoint": str(snapshot)}
            playthroughs = _QUICK_PLAYTHROUGHS if options.quick else _PLAYTHROUGHS
            updates = _QUICK_UPDATES if options.quick else _UPDATES
            keys.append({**key, "step": load_meta(snapshot).step, "playthroughs": playthroughs, "updates": updates})
    if not keys:
        raise SettingError("no run on Liar's Dice: train one with --algorithm rebel, or name it with --run")
    return keys


def _last(folder: Path) -> list[Path]:
    """A run's newest networks: its checkpoint and the snapshots before it."""
    newest = folder / "checkpoint"
    step = load_meta(newest).step
    older = [path for path in sorted((folder / "snapshots").iterdir()) if load_meta(path).step < step]
    return [*older[-(_LAST - 1) :], newest]


def compute(key: Key) -> Result:
    """Exploitability of a network's play."""
    folder = Path(key["checkpoint"])
    if key["algorithm"] == SOG:
        subject = Subject(LiarsDice(*GAMES[key["game"]]).name, str(folder), ResolveSettings(Budget(100, 1.0)))
        return {"exploitability": measure_seed(subject, 0)}
    settings = RebelSettings(SolveSettings(updates=key["updates"]))
    found = measure_rebel(folder, settings, key["playthroughs"], 0, lambda done: None)
    return {"exploitability": found.sampled, "mean_policy": found.mean, "solves": found.solves}


def present(points: list[Point]) -> Outcome:
    """A row for each network, and the means beside the paper's."""
    beside = []
    for game in GAMES:
        for algorithm in (REBEL, SOG):
            runs: dict[str, list[float]] = {}
            for p in points:
                if p.key["game"] == game and p.key["algorithm"] == algorithm:
                    runs.setdefault(_run_of(p), []).append(p.result["exploitability"])
            for run, found in runs.items():
                paper = f"{TABLE_2[game]:.3f}" if algorithm == REBEL else ""
                beside.append(Beside(f"{game}, {algorithm}, {run}", paper, f"{np.mean(found):.4f}"))
    return Outcome([p.row for p in points], {"rebel-table2": lambda figure: _draw(figure, points)}, beside)


def _run_of(point: Point) -> str:
    path = Path(point.key["checkpoint"])
    return path.parent.name if path.name == "checkpoint" else path.parent.parent.name


def _draw(figure: Figure, points: list[Point]) -> None:
    """Exploitability against learner steps; dashed: the paper's."""
    axis = figure.subplots()
    for run in dict.fromkeys(_run_of(p) for p in points):
        mine = [p for p in points if _run_of(p) == run]
        axis.plot([p.key["step"] for p in mine], [p.result["exploitability"] for p in mine], marker=".", label=run)
    for game in dict.fromkeys(p.key["game"] for p in points):
        axis.axhline(TABLE_2[game], linestyle="--", linewidth=0.8, label=f"ReBeL, Table 2, {game}")
    axis.set(xlabel="learner steps", ylabel="exploitability", yscale="log", title="Liar's Dice")
    axis.legend()


STUDY: Final = Study(plan, compute, present, takes=("runs",))
