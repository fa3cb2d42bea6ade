"""SePoT Figs. 3 to 5: exploitability over training of the policy network and of search on top of it.

Fig. 3: search to several depths.  Fig. 4: the gadget's values from the critic or from the search before.
Fig. 5: learned transformations, predefined ones, and the identity alone, at depth 1; the same networks are searched
with leaves at which nobody chooses, too. Runs of one game and one kind of transformations are seeds of one line. Runs
of other algorithms stand beside them by a measure of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sog.algorithms.policy.agent import policy_exploitability
from sog.algorithms.sepot.agent import papers_limit, search_exploitability
from sog.algorithms.sepot.below import DepthLimit
from sog.algorithms.sepot.search import SepotSearchSettings
from sog.algorithms.table import find, read
from sog.games.histories.catalog import make_history_game
from sog.measure.intervals import mean_interval, paired_difference, plus_minus, ratio_interval
from sog.measure.listed import listed
from soglab.papers.sepot_runs import (
    UNTRAINED,
    alpha_of,
    minutes_of,
    opened,
    own_measure,
    own_title,
    quick_runs,
)
from soglab.runs import networks_of, spread
from soglab.study import Beside, Draw, Key, Note, Options, Outcome, Point, Result, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sog.algorithms.sepot.search import SepotSearchSettings
    from sog.games.histories.base import HistoryGame
    from sog.training.checkpoint import Meta

__all__ = [
    "FIG3",
    "FIG4",
    "FIG5",
    "NETWORK",
    "NOBODY",
    "OWN",
    "compute",
    "network_and_searches",
    "plan",
    "search_of_key",
    "way_of",
]

NETWORK: Final = -1  # the depth of a point without search
OWN: Final = -2  # that of another algorithm's run, which has no critic
NOBODY: Final = "nobody"  # chooses at leaves: they are worth what the policy itself gets
MOST: Final = 1_000_000  # histories: every public state is searched
SNAPSHOTS: Final = 12
_SMALL: Final = ("kuhn_poker", "goofspiel(imp_info=True,num_cards=3,points_order=descending)")
_RUNS: Final = tuple(Path(f"runs/sepot-{name}-{seed}") for name in ("leduc", "goofspiel5") for seed in range(3))

# Of a game, quick or not: what is searched with, as entries of a point's key: depth, the gadget's source, and who
# chooses at leaves where that is not the opponent.
Ways = Callable[[str, bool], list[Key]]
_ALONE: Final[Key] = {"depth": NETWORK, "gadget": ""}


def _search(depth: int, gadget: str) -> Key:
    return {"depth": depth, "gadget": gadget}


def _depths(game: str, quick: bool) -> list[Key]:
    if game == "leduc_poker":
        return [_ALONE, _search(0, "critic")]
    return [_ALONE, *(_search(depth, "critic") for depth in ((1,) if quick else (1, 2, 3)))]


def _gadgets(game: str, quick: bool) -> list[Key]:
    depth = 0 if game == "leduc_poker" else 1
    return [_ALONE, _search(depth, "critic"), _search(depth, "previous")]


def _shallow(game: str, quick: bool) -> list[Key]:
    with_choice = _search(0 if game == "leduc_poker" else 1, "critic")
    return [_ALONE, with_choice, {**with_choice, "choosers": NOBODY}]


def network_and_searches(game: str, quick: bool) -> list[Key]:
    """The network alone, Fig. 4's two searches, and to depth 2 with values from the search before."""
    deeper = [] if game == "leduc_poker" or quick else [_search(2, "previous")]
    return _gadgets(game, quick) + deeper


def plan(ways: Ways, options: Options, note: Note) -> list[Key]:
    """Up to SNAPSHOTS networks of every run, by the network alone and by each way of searching."""
    keys: list[Key] = []
    alpha = alpha_of(options)
    for run in quick_runs(options, _RUNS, _SMALL[:1], critics=False):
        snapshots = _snapshots(run["folder"], options.quick)
        note(f"{run['folder']}: {len(snapshots)} networks of {run['game']}")
        for folder, meta in snapshots:
            given = {} if meta is None else read(meta.algorithm_text).given()
            about = {
                "run": run["folder"],
                "folder": str(folder),
                "game": run["game"],
                "step": 0 if meta is None else meta.step,
                "network": "" if meta is None else meta.network_id,
                "minutes": 0.0 if meta is None else minutes_of(meta),
                "policy": given.get("policy", ""),
                "transformations": given.get("transformations", "learned"),
                "k": given.get("step", 0.0),
                "iterations": 20 if options.quick else 800,
                "alpha": alpha,
            }
            if meta is not None and "critic" not in meta.files:
                keys.append({**about, "depth": OWN, "gadget": "", "by": own_title(meta)})
                continue
            keys += [{**about, **way} for way in ways(run["game"], options.quick)]
    return keys


def _snapshots(run: str, quick: bool) -> list[tuple[Path, Meta | None]]:
    """The networks that a run's curve is made of, and what each says of itself; an untrained one says nothing."""
    if run == UNTRAINED:
        return [(Path(UNTRAINED), None)]
    return [(one.folder, one.meta) for one in spread(networks_of(Path(run)), 2 if quick else SNAPSHOTS)]


def compute(key: Key) -> Result:
    """Exploitability in the game's unit, and how many public states were searched."""
    if key["depth"] == OWN:
        return {"exploitability": own_measure(Path(key["folder"])), "searched": 0}
    found, public = opened(key["folder"], key["game"], key["network"]), listed(key["game"])
    unit = public.game.unit.per_utility
    if key["depth"] == NETWORK:
        return {"exploitability": unit * policy_exploitability(public, found.network), "searched": 0}
    search = found.search(search_of_key(key, found.game))
    return {"exploitability": unit * search_exploitability(public, search), "searched": search.searched}


def search_of_key(key: Key, game: HistoryGame) -> SepotSearchSettings:
    """How a point's key says that public states are searched, all of them."""
    limit = DepthLimit(key["depth"]) if key["depth"] else papers_limit(game)
    choosers = key.get("choosers", SepotSearchSettings().choosers)
    return SepotSearchSettings(key["iterations"], limit, MOST, key["gadget"], key["alpha"], choosers)


def _line(key: Key) -> str:
    """What a point's line in the picture is called."""
    if key["depth"] == OWN:
        return str(key["by"])
    policy = f"{find(key['policy']).title}, " if key["policy"] else ""
    step = f" k = {key['k']:g}" if key["k"] else ""
    return f"{way_of(key)} ({policy}{key['transformations']}{step})"


def way_of(key: Key) -> str:
    """The network alone, or which search, in words."""
    if key["depth"] == NETWORK:
        return "network"
    depth = f"to depth {key['depth']}" if key["depth"] else "to the public card"
    values = {"critic": "the critic", "previous": "the search before"}[key["gadget"]]
    leaves = ", leaves without a choice" if key.get("choosers") == NOBODY else ""
    return f"search {depth}, gadget from {values}{leaves}"


def present(name: str, points: list[Point]) -> Outcome:
    """Means over seeds with 95% intervals, a picture for each game; each search less the network of the same run."""
    groups: dict[tuple[str, str, int], list[float]] = {}
    gains: dict[tuple[str, str], list[float]] = {}
    alone = {(p.key["run"], p.key["step"]): p.result["exploitability"] for p in points if p.key["depth"] == NETWORK}
    last = {p.key["run"]: max(q.key["step"] for q in points if q.key["run"] == p.key["run"]) for p in points}
    for point in points:
        key, value = point.key, point.result["exploitability"]
        groups.setdefault((key["game"], _line(key), key["step"]), []).append(value)
        if key["depth"] not in (NETWORK, OWN) and key["step"] == last[key["run"]]:
            difference = value - alone[key["run"], key["step"]]
            gains.setdefault((key["game"], _line(key)), []).append(difference)
    rows: list[dict[str, Any]] = []
    for (game, line, step), values in groups.items():
        mean, half = mean_interval(values)
        found = {"mean": mean, "interval": half, "seeds": len(values), "unit": make_history_game(game).unit.name}
        rows.append({"game": game, "line": line, "step": step, **found})
    beside = []
    for (game, line), values in gains.items():
        mean, half = mean_interval(values)
        what = f"{game.split('(')[0]}: {line}, less the network alone, {len(values)} seeds"
        beside.append(Beside(what, "", f"{plus_minus(mean, half, '+.4g')} {make_history_game(game).unit.name}"))
    for game, pairs in _worth_of_choices(points, last).items():
        chosen, without = zip(*pairs, strict=True)
        mean, half = paired_difference(chosen, without)
        ratio, low, high = ratio_interval(chosen, without)
        ours = f"{plus_minus(mean, half, '+.4g')} {make_history_game(game).unit.name}"
        what = f"{game.split('(')[0]}: searched with the choice at leaves, less without, {len(pairs)} runs"
        times = f"{ratio:.3g} times" + (f" [{low:.2g}, {high:.2g}]" if half is not None else "")
        beside.append(Beside(what, "", f"{ours}; {times} that without"))
    games = list(dict.fromkeys(row["game"] for row in rows))
    pictures: dict[str, Draw] = {
        f"{name}-{k}-{game.split('(')[0]}": partial(_draw, rows=[row for row in rows if row["game"] == game])
        for k, game in enumerate(games)
    }
    return Outcome(rows, pictures, beside)


def _worth_of_choices(points: list[Point], last: dict[str, int]) -> dict[str, list[tuple[float, float]]]:
    """By game: of each run's last network, exploitability with the opponent's choice at leaves and without."""
    found = {
        (point.key["game"], point.key["run"], point.key["depth"], point.key["gadget"], "choosers" in point.key): point
        for point in points
        if point.key["step"] == last[point.key["run"]] and point.key["transformations"] != "identity"
    }
    out: dict[str, list[tuple[float, float]]] = {}
    for (*about, without), point in found.items():
        if without and (*about, False) in found:
            chosen = found[(*about, False)]
            pair = chosen.result["exploitability"], point.result["exploitability"]
            out.setdefault(str(point.key["game"]), []).append(pair)
    return out


def _draw(figure: Figure, rows: list[dict[str, Any]]) -> None:
    axis = figure.subplots()
    for line in dict.fromkeys(row["line"] for row in rows):
        own = sorted((row for row in rows if row["line"] == line), key=lambda row: row["step"])
        steps, means = [row["step"] for row in own], [row["mean"] for row in own]
        axis.errorbar(steps, means, [row["interval"] or 0.0 for row in own], label=line, marker=".", capsize=2)
    axis.set(xlabel="learner steps", ylabel=f"exploitability, {rows[0]['unit']}", title=rows[0]["game"])
    axis.set_xscale("symlog", linthresh=100)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)


def _describe(key: Key) -> str:
    return f"{Path(key['folder']).name}, {_line(key)}"


def _study(name: str, ways: Ways) -> Study:
    return Study(partial(plan, ways), compute, partial(present, name), takes=("runs", "paper"), describe=_describe)


FIG3: Final = _study("sepot-fig3", _depths)
FIG4: Final = _study("sepot-fig4", _gadgets)
FIG5: Final = _study("sepot-fig5", _shallow)
