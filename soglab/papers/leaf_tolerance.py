"""What it costs not to evaluate leaves anew whose belief has moved a little: exploitability against what is saved.

At a tolerance of 0 a leaf is evaluated anew whenever its belief has moved at all, which changes no result.
"""

from __future__ import annotations

from typing import Final

from sog.games.catalog import make_game
from sog.measure.exploitability import exploitability
from sog.measure.intervals import mean_and_range
from sog.measure.listed import listed
from sog.nets.inference import network_evaluator
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training.checkpoint import load_meta, load_network
from sog.training.shipped import find_checkpoint
from soglab.bench.evaluators import CountingEvaluator
from soglab.plots import Caption, Line, Mark, Panel, Picture, Scale
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

GAMES: Final = ("leduc_poker", "liars_dice(numdice=1,dice_sides=4)")
TOLERANCES: Final = (0.0, 0.001, 0.01, 0.03, 0.1, 0.3)
BUDGET: Final = Budget(100, 1.0)
SEEDS: Final = 10


def plan(options: Options, note: Note) -> list[Key]:
    """Both games at each tolerance for each seed."""
    keys = []
    for game in GAMES[:1] if options.quick else GAMES:
        folder = find_checkpoint(game)
        network = load_meta(folder).network_id
        keys += [
            {"game": game, "network": network, "tolerance": tolerance, "seed": seed}
            for seed in range(options.num_seeds(SEEDS))
            for tolerance in TOLERANCES
        ]
    return keys


def compute(key: Key) -> Result:
    """One seed's exploitability, in the game's reporting unit, and the beliefs that its searches had evaluated."""
    public, checkpoint = listed(key["game"]), find_checkpoint(key["game"])
    check_unchanged(checkpoint, key["network"])
    network = load_network(checkpoint)[1]
    counting = CountingEvaluator(network_evaluator(network))
    settings = ResolveSettings(BUDGET, search=SearchSettings(tolerance=key["tolerance"]))
    found = exploitability(public, settings, counting, key["seed"]) * public.game.unit.per_utility
    return {"exploitability": found, "beliefs": counting.beliefs}


def present(points: list[StudyPoint]) -> Outcome:
    """For each game and tolerance the mean and range over seeds, and the beliefs as a share of those at 0."""
    table = {
        game: grouped(own, lambda point: float(point.key["tolerance"]))
        for game, own in grouped(points, lambda point: str(point.key["game"])).items()
    }
    beside = [
        Beside(f"{game}, {tolerance:g}", "", _figure(found, by_tolerance[0.0], make_game(game).unit.name))
        for game, by_tolerance in table.items()
        for tolerance, found in by_tolerance.items()
    ]
    picture = Picture([_panel(game, own) for game, own in table.items()], size=(5.0 * len(table), 4.0))
    return Outcome([p.row for p in points], {"leaf-tolerance": picture}, beside)


def _figure(found: list[StudyPoint], exact_repeats: list[StudyPoint], unit: str) -> str:
    share = _mean(found, "beliefs") / _mean(exact_repeats, "beliefs")
    return f"{mean_and_range(_values(found))} {unit}, {share:.0%} of the beliefs"


def _values(found: list[StudyPoint]) -> list[float]:
    return [float(point.result["exploitability"]) for point in found]


def _mean(found: list[StudyPoint], what: str) -> float:
    return sum(float(point.result[what]) for point in found) / len(found)


def _panel(game: str, by_tolerance: dict[float, list[StudyPoint]]) -> Panel:
    """Exploitability against the beliefs evaluated, a point and the range over seeds for each tolerance."""
    marks: list[Mark] = []
    for tolerance, found in by_tolerance.items():
        values, share = _values(found), _mean(found, "beliefs") / _mean(by_tolerance[0.0], "beliefs")
        marks.append(Line([share, share], [min(values), max(values)], None, {"color": "C0"}))
        marks.append(Line([share], [sum(values) / len(values)], None, {"color": "C0", "marker": "o"}))
        marks.append(Caption(f"{tolerance:g}", (share, max(values)), {"fontsize": 8}))
    beliefs = Scale("beliefs evaluated, as a share of those at a tolerance of 0")
    unit = Scale(f"exploitability, {make_game(game).unit.name}")
    return Panel(marks, beliefs, unit, f"{game}, {BUDGET}", {"ylim": (0, None)})


EXPERIMENT: Final = Experiment(
    id="leaf-tolerance",
    paper="SoG",
    figure="Growing-tree CFR",
    minutes=4,
    what="Leduc and 1x4f, (100,1): exploitability where leaves whose belief moved a little are not evaluated anew",
    study=Study(plan, compute, present, takes=("seeds",)),
)
