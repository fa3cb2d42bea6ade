"""What it costs not to evaluate leaves anew whose belief has moved a little: exploitability against what is saved.

At a tolerance of 0 a leaf is evaluated anew whenever its belief has moved at all, which changes no result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sog.games.catalog import make_game
from sog.measure.exploitability import exploitability
from sog.measure.intervals import mean_and_range
from sog.measure.listed import listed
from sog.nets.inference import network_evaluator
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.search import Budget, SearchSettings
from sog.training.checkpoint import load_meta, load_network
from sog.training.shipped import find_checkpoint
from soglab.bench.evaluators import CountingEvaluator
from soglab.runs import check_unchanged
from soglab.study import Beside, Key, Note, Options, Outcome, Point, Result, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES: Final = ("leduc_poker", "liars_dice(numdice=1,dice_sides=4)")
TOLERANCES: Final = (0.0, 0.001, 0.01, 0.03, 0.1, 0.3)
BUDGET: Final = Budget(100, 1.0)
SEEDS: Final = 10


def plan(options: Options, note: Note) -> list[Key]:
    """Both games at each tolerance for each seed."""
    seeds = options.seeds or (1 if options.quick else SEEDS)
    games = GAMES[:1] if options.quick else GAMES
    keys = []
    for game in games:
        folder = find_checkpoint(game)
        network = load_meta(folder).network_id
        keys += [
            {"game": game, "network": network, "tolerance": tolerance, "seed": seed}
            for seed in range(seeds)
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


def present(points: list[Point]) -> Outcome:
    """For each game and tolerance the mean and range over seeds, and the beliefs as a share of those at 0."""
    table: dict[str, dict[float, list[Point]]] = {}
    for point in points:
        table.setdefault(point.key["game"], {}).setdefault(point.key["tolerance"], []).append(point)
    beside = [
        Beside(f"{game}, {tolerance:g}", "", _figure(found, by_tolerance[0.0], make_game(game).unit.name))
        for game, by_tolerance in table.items()
        for tolerance, found in by_tolerance.items()
    ]
    return Outcome([p.row for p in points], {"leaf-tolerance": lambda figure: _draw(figure, table)}, beside)


def _figure(found: list[Point], exact_repeats: list[Point], unit: str) -> str:
    values = [float(point.result["exploitability"]) for point in found]
    return f"{mean_and_range(values)} {unit}, {_beliefs(found) / _beliefs(exact_repeats):.0%} of the beliefs"


def _beliefs(found: list[Point]) -> float:
    return sum(float(point.result["beliefs"]) for point in found) / len(found)


def _draw(figure: Figure, table: dict[str, dict[float, list[Point]]]) -> None:
    """A panel for each game: exploitability against the beliefs evaluated, a point for each tolerance."""
    figure.set_size_inches(5.0 * len(table), 4.0)
    axes = figure.subplots(1, len(table), squeeze=False)[0]
    for axis, (game, by_tolerance) in zip(axes, table.items(), strict=True):
        for tolerance, found in by_tolerance.items():
            values = [float(point.result["exploitability"]) for point in found]
            share = _beliefs(found) / _beliefs(by_tolerance[0.0])
            axis.plot([share, share], [min(values), max(values)], color="C0")
            axis.plot(share, sum(values) / len(values), "o", color="C0")
            axis.annotate(f"{tolerance:g}", (share, max(values)), fontsize=8)
        axis.set(
            xlabel="beliefs evaluated, as a share of those at a tolerance of 0",
            ylabel=f"exploitability, {make_game(game).unit.name}",
            title=f"{game}, {BUDGET}",
        )
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)


STUDY: Final = Study(plan, compute, present, takes=("seeds",))
