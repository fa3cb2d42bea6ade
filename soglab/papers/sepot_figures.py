"""SePoT Figs. 3 to 5: exploitability over training of the policy network and of search on top of it.

Fig. 3: search to several depths.  Fig. 4: the gadget's values from the critic or from the search before.
Fig. 5: learned transformations, predefined ones, and the identity alone, at depth 1; the same networks are searched
with leaves at which nobody chooses, too. Runs of one game and one kind of transformations are seeds of one line. Runs
of other algorithms are measured each by a measure of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from sog.algorithms.policy.agent import policy_exploitability
from sog.algorithms.sepot.agent import papers_limit, search_exploitability
from sog.algorithms.sepot.below import DepthLimit
from sog.algorithms.sepot.search import SepotSearchSettings
from sog.algorithms.table import find, read
from sog.games.histories.base import HistoryGame
from sog.measure.intervals import mean_interval, paired_difference, plus_minus, ratio_interval
from sog.measure.listed import listed
from sog.training.checkpoint import Meta
from soglab.papers.sepot_runs import (
    UNTRAINED,
    minutes_of,
    opened,
    own_measure,
    own_title,
    quick_runs,
    search_effort,
    short_name,
    unit_of,
)
from soglab.plots import DOTS, Panel, Picture, Scale, line_of
from soglab.runs import check_unchanged, networks_of, spread
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

NETWORK: Final = -1  # the depth of a point without search
OWN: Final = -2  # that of another algorithm's run, which has no critic
NOBODY: Final = "nobody"  # chooses at leaves: they are worth what the policy itself gets
MOST: Final = 1_000_000  # histories: every public state is searched
SNAPSHOTS: Final = 12
_SEARCH: Final = ("game", "run", "depth", "gadget")  # what points with and without a choice at leaves share
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
                **search_effort(options),
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
        check_unchanged(Path(key["folder"]), key["network"])
        return {"exploitability": own_measure(Path(key["folder"])), "searched": 0}
    run, public = opened(key["folder"], key["game"], key["network"]), listed(key["game"])
    unit = public.game.unit.per_utility
    if key["depth"] == NETWORK:
        return {"exploitability": unit * policy_exploitability(public, run.network), "searched": 0}
    search = run.search(search_of_key(key, run.game))
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


def present(name: str, points: list[StudyPoint]) -> Outcome:
    """Means over seeds with 95% intervals, a picture for each game; each search less the network of the same run."""
    rows: list[dict[str, Any]] = []
    for (game, line, step), own in grouped(points, lambda p: (p.key["game"], _line(p.key), p.key["step"])).items():
        mean, half = mean_interval([p.result["exploitability"] for p in own])
        figures = {"mean": mean, "interval": half, "seeds": len(own), "unit": unit_of(game)}
        rows.append({"game": game, "line": line, "step": step, **figures})
    last = {run: max(p.key["step"] for p in own) for run, own in grouped(points, lambda p: str(p.key["run"])).items()}
    at_last = [p for p in points if p.key["step"] == last[p.key["run"]]]
    pictures = {
        f"{name}-{k}-{short_name(game)}": Picture([_panel(own)])
        for k, (game, own) in enumerate(grouped(rows, lambda row: str(row["game"])).items())
    }
    return Outcome(rows, pictures, [*_gains(at_last), *_worth_of_choices(at_last)])


def _gains(points: list[StudyPoint]) -> Iterator[Beside]:
    """Each way of searching with the last networks less the network alone."""
    alone = {p.key["run"]: p.result["exploitability"] for p in points if p.key["depth"] == NETWORK}
    searches = [p for p in points if p.key["depth"] not in (NETWORK, OWN)]
    for (game, line), own in grouped(searches, lambda p: (p.key["game"], _line(p.key))).items():
        mean, half = mean_interval([p.result["exploitability"] - alone[p.key["run"]] for p in own])
        label = f"{short_name(game)}: {line}, less the network alone, {len(own)} seeds"
        yield Beside(label, "", f"{plus_minus(mean, half, '+.4g')} {unit_of(game)}")


def _worth_of_choices(points: list[StudyPoint]) -> Iterator[Beside]:
    """By game: of each run's last network, exploitability with the opponent's choice at leaves less that without."""
    learned = [p for p in points if p.key["transformations"] != "identity"]
    by_search = {(*(p.key[name] for name in _SEARCH), "choosers" in p.key): p.result["exploitability"] for p in learned}
    both = [about for *about, without in by_search if without and (*about, False) in by_search]
    for game, own in grouped(both, lambda about: str(about[0])).items():
        chosen, without = ([by_search[*about, no_choice] for about in own] for no_choice in (False, True))
        mean, half = paired_difference(chosen, without)
        ratio, low, high = ratio_interval(chosen, without)
        label = f"{short_name(game)}: searched with the choice at leaves, less without, {len(own)} runs"
        times = f"{ratio:.3g} times" + (f" [{low:.2g}, {high:.2g}]" if half is not None else "")
        yield Beside(label, "", f"{plus_minus(mean, half, '+.4g')} {unit_of(game)}; {times} that without")


def _panel(rows: list[dict[str, Any]]) -> Panel:
    lines = []
    for line, own in grouped(rows, lambda row: str(row["line"])).items():
        steps = sorted(own, key=lambda row: int(row["step"]))
        lines.append(line_of(steps, "step", "mean", line, {**DOTS, "capsize": 2}, "interval"))
    axes = (Scale("learner steps", "symlog", {"linthresh": 100}), Scale(f"exploitability, {rows[0]['unit']}"))
    return Panel(lines, *axes, rows[0]["game"], legend={"fontsize": 8})


def _describe(key: Key) -> str:
    return f"{Path(key['folder']).name}, {_line(key)}"


def _study(name: str, ways: Ways) -> Study:
    return Study(partial(plan, ways), compute, partial(present, name), takes=("runs", "paper"), describe=_describe)


FIG3: Final = Experiment(
    id="sepot-fig3",
    paper="SePoT",
    figure="Fig. 3",
    minutes=3,
    what="Exploitability over training, network and search to depths 1 to 3, of the runs in runs/sepot-GAME-N or --run",
    study=_study("sepot-fig3", _depths),
)
FIG4: Final = Experiment(
    id="sepot-fig4",
    paper="SePoT",
    figure="Fig. 4",
    minutes=3,
    what="The same with the gadget's values from the critic or from the search before",
    study=_study("sepot-fig4", _gadgets),
)
FIG5: Final = Experiment(
    id="sepot-fig5",
    paper="SePoT",
    figure="Fig. 5",
    minutes=3,
    what="The same at depth 1: runs with learned and predefined transformations and with the identity alone",
    study=_study("sepot-fig5", _shallow),
)
EXPERIMENTS: Final = (FIG3, FIG4, FIG5)
