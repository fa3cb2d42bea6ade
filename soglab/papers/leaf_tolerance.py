"""What it costs not to evaluate leaves anew whose belief has moved a little: exploitability by processor seconds.

Searches with more and more simulations, at few and at many expansions a regret update, evaluate either every leaf that
has moved at all, which changes no result, or those that have moved by more than the tolerance. Seconds are those of
an agent's whole policy, every public state searched as in play.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean, median
from time import process_time
from typing import Final

from sog.games.catalog import make_game
from sog.measure.exploitability import agent_policy
from sog.measure.intervals import mean_and_range
from sog.measure.listed import listed
from sog.nets.inference import network_evaluator
from sog.nets.one_core import one_core
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training.checkpoint import load_meta, load_network
from sog.training.shipped import find_checkpoint
from soglab.bench.evaluators import CountingEvaluator
from soglab.plots import Line, Mark, Panel, Picture, log_scale
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

GAMES: Final = (
    "leduc_poker",
    "scotland_yard(map=glasses)",
    "liars_dice(numdice=1,dice_sides=6)",
    "liars_dice(numdice=2,dice_sides=3)",
)
# s by c.
BUDGETS: Final = {1.0: (50, 100, 200, 400), 3.0: (100, 200, 400, 800)}
TOLERANCES: Final = (0.0, 0.01)
SEEDS: Final = 10
# c and the tolerance, of the default search first.
SERIES: Final = tuple((c, tolerance) for c in BUDGETS for tolerance in TOLERANCES)


def plan(options: Options, note: Note) -> list[Key]:
    """Each budget at each tolerance for each seed, game by game."""
    keys = []
    for game in GAMES[:1] if options.quick else GAMES:
        network = load_meta(find_checkpoint(game)).network_id
        keys += [
            {"game": game, "network": network, "c": c, "tolerance": tolerance, "s": s, "seed": seed}
            for seed in range(options.num_seeds(SEEDS))
            for c, tolerance in SERIES
            for s in BUDGETS[c][: 2 if options.quick else None]
        ]
    return keys


def compute(key: Key) -> Result:
    """One seed's exploitability, in the game's reporting unit, the beliefs that were evaluated, processor seconds."""
    public, checkpoint = listed(key["game"]), find_checkpoint(key["game"])
    check_unchanged(checkpoint, key["network"])
    search = SearchSettings(tolerance=key["tolerance"])
    with one_core():
        counting = CountingEvaluator(network_evaluator(load_network(checkpoint)[1]))
        agent_policy(public, ResolveSettings(Budget(2), search=search), counting, key["seed"])  # compiles
        counting.beliefs, started = 0, process_time()
        policy = agent_policy(public, ResolveSettings(Budget(key["s"], key["c"]), search=search), counting, key["seed"])
        seconds = process_time() - started
    exploitability = exact.measure_policy(public, policy).exploitability * public.game.unit.per_utility
    return {"exploitability": exploitability, "beliefs": counting.beliefs, "seconds": seconds}


def present(points: list[StudyPoint]) -> Outcome:
    """For each search the mean and range of exploitability, median seconds and beliefs; then seconds to equal play."""
    beside, panels = list[Beside](), list[Panel]()
    for game, own in grouped(points, lambda point: str(point.key["game"])).items():
        unit = make_game(game).unit.name
        series = {setting: _curve(own, *setting) for setting in SERIES}
        for (c, tolerance), curve in series.items():
            for simulations, seeds in curve.items():
                label = f"{game}, ({simulations},{c:g}), tolerance {tolerance:g}"
                beside.append(
                    Beside(
                        label,
                        "",
                        f"{_range(seeds)} {unit}, {_seconds(seeds):.2f} processor s, {_beliefs(seeds):,.0f} beliefs",
                    )
                )
        beside += _compared(game, series)
        panels.append(_panel(game, unit, series))
    picture = Picture(panels, size=(4.5 * len(panels), 4.0))
    return Outcome([p.row for p in points], {"leaf-tolerance": picture}, beside)


def _curve(points: list[StudyPoint], c: float, tolerance: float) -> dict[int, list[StudyPoint]]:
    """The points of one series by s."""
    own = [p for p in points if p.key["c"] == c and p.key["tolerance"] == tolerance]
    return dict(sorted(grouped(own, lambda point: int(point.key["s"])).items()))


def _range(seeds: list[StudyPoint]) -> str:
    return mean_and_range([float(p.result["exploitability"]) for p in seeds])


def _beliefs(seeds: list[StudyPoint]) -> float:
    return fmean(float(p.result["beliefs"]) for p in seeds)


def _seconds(seeds: list[StudyPoint]) -> float:
    return median(float(p.result["seconds"]) for p in seeds)


def _exploitability(seeds: list[StudyPoint]) -> float:
    return fmean(float(p.result["exploitability"]) for p in seeds)


def _compared(game: str, series: dict[tuple[float, float], dict[int, list[StudyPoint]]]) -> Iterator[Beside]:
    """For each search of the first series, how many times as fast the others come to its exploitability."""
    first, *others = series
    for s, seeds in series[first].items():
        times = []
        for c, tolerance in others:
            seconds = _seconds_to(_exploitability(seeds), list(series[c, tolerance].values()))
            if seconds is not None:
                times.append(f"c {c:g} tolerance {tolerance:g}: {_seconds(seeds) / seconds:.2f}")
        yield Beside(f"{game}: times as fast to the play of ({s},{first[0]:g})", "", ", ".join(times) or "-")


def _seconds_to(figure: float, curve: list[list[StudyPoint]]) -> float | None:
    """Seconds in which a series comes to this exploitability, between two of its searches; None beyond its ends.

    log(seconds) is taken to grow evenly with -log(exploitability) between the two.
    """
    for before, after in pairwise(curve):
        high, low = _exploitability(before), _exploitability(after)
        if high >= figure >= low and high > low:
            share = math.log(high / figure) / math.log(high / low)
            return math.exp((1.0 - share) * math.log(_seconds(before)) + share * math.log(_seconds(after)))
    return None


def _panel(game: str, unit: str, series: dict[tuple[float, float], dict[int, list[StudyPoint]]]) -> Panel:
    """Exploitability against seconds: a line for each series, with the range over seeds."""
    marks: list[Mark] = []
    for k, ((c, tolerance), curve) in enumerate(series.items()):
        means = [_exploitability(seeds) for seeds in curve.values()]
        values = [[float(p.result["exploitability"]) for p in seeds] for seeds in curve.values()]
        below = [mean - min(own) for mean, own in zip(means, values, strict=True)]
        above = [max(own) - mean for mean, own in zip(means, values, strict=True)]
        style = {"color": f"C{k}", "marker": ".", "linestyle": "-" if tolerance == 0.0 else "--"}
        seconds = [_seconds(seeds) for seeds in curve.values()]
        marks.append(Line(seconds, means, f"c = {c:g}, tolerance {tolerance:g}", style, [below, above]))
    return Panel(marks, log_scale("processor seconds of a whole policy"), log_scale(f"exploitability, {unit}"), game)


EXPERIMENT: Final = Experiment(
    id="leaf-tolerance",
    paper="SoG",
    figure="Growing-tree CFR",
    minutes=25,
    what="Leduc, glasses, 1x6f, 2x3f: exploitability by seconds where leaves that moved little are not asked anew",
    study=Study(plan, compute, present, takes=("seeds",), alone=True),
)
