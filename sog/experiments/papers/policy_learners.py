"""Policy learners beside each other: exploitability over minutes of training, of the network and of search on top.

Runs of `sog train GAME --algorithm sepot --policy NAME` have both; runs of other algorithms stand beside them by a
measure of their own. Runs of one game and one learner are seeds of one line.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sog.agents.algorithms.table import learner
from sog.evaluate.intervals import mean_interval, plus_minus
from sog.experiments.papers.sepot_figures import NETWORK, OWN, compute, one_search, plan
from sog.experiments.study import Beside, Draw, Key, Outcome, Point, Study
from sog.games.histories.catalog import make_history_game

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["STUDY"]


def _line(key: Key) -> str:
    """The learner, and whether a search uses its policy."""
    if key["depth"] == OWN:
        return str(key["by"])
    title = learner(key["policy"]).title if key["policy"] else "R-NaD as in SePoT's Table 2"
    return f"{title}: {'network' if key['depth'] == NETWORK else 'with search'}"


def _row(point: Point) -> dict[str, Any]:
    key = point.key
    return {
        "game": key["game"],
        "line": _line(key),
        "run": Path(key["run"]).name,
        "minutes": key["minutes"],
        "steps": key["step"],
        "exploitability": point.result["exploitability"],
        "unit": make_history_game(key["game"]).unit.name,
    }


def present(points: list[Point]) -> Outcome:
    """A row for every network of every run; printed is each run's last, as a mean over the runs of a line."""
    rows = [_row(point) for point in points]
    last: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows:
        runs = last.setdefault((row["game"], row["line"]), {})
        if row["run"] not in runs or row["steps"] >= runs[row["run"]]["steps"]:
            runs[row["run"]] = row
    beside = []
    for (game, line), runs in last.items():
        mean, half = mean_interval([row["exploitability"] for row in runs.values()])
        minutes = sum(row["minutes"] for row in runs.values()) / len(runs)
        counted = f"{len(runs)} run{'s' * (len(runs) > 1)} of {minutes:.1f} minutes"
        unit = make_history_game(game).unit.name
        beside.append(Beside(f"{game.split('(')[0]}: {line}, {counted}", "", f"{plus_minus(mean, half)} {unit}"))
    pictures: dict[str, Draw] = {
        f"policy-learners-{k}-{game.split('(')[0]}": partial(_draw, rows=[row for row in rows if row["game"] == game])
        for k, game in enumerate(dict.fromkeys(row["game"] for row in rows))
    }
    return Outcome(rows, pictures, beside)


def _draw(figure: Figure, rows: list[dict[str, Any]]) -> None:
    axis = figure.subplots()
    lines = list(dict.fromkeys(row["line"] for row in rows))
    colours = list(dict.fromkeys(_by(line) for line in lines))
    for line in lines:
        own = [row for row in rows if row["line"] == line]
        for j, run in enumerate(dict.fromkeys(row["run"] for row in own)):
            curve = sorted((row["minutes"], row["exploitability"]) for row in own if row["run"] == run)
            minutes, found = zip(*curve, strict=True)
            style = "--" if line.endswith("with search") else "-"
            colour = f"C{colours.index(_by(line)) % 10}"
            axis.plot(minutes, found, style, marker=".", color=colour, label=None if j else line)
    title = rows[0]["game"]
    axis.set(xlabel="minutes of training", ylabel=f"exploitability, {rows[0]['unit']}", title=title, yscale="log")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)


def _by(line: str) -> str:
    """The learner alone."""
    return line.split(":")[0]


def _describe(key: Key) -> str:
    return f"{Path(key['run']).name} after {key['minutes']:.1f} minutes, {_line(key)}"


STUDY: Final = Study(partial(plan, one_search), compute, present, takes=("runs", "paper"), describe=_describe)
