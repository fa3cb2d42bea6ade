"""Student of Games and ReBeL on Liar's Dice with equal numbers of averaged policies.

Both draw while they search: Student of Games the worlds in which its tree grows, ReBeL the iteration whose policy it
plays. One draw is one whole policy, and what an agent plays in expectation is the average over draws. The average of
finitely many bounds its exploitability from above and falls with their number, so that figures compare like with like
only at equal numbers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sog.algorithms.base import SOG
from sog.algorithms.rebel.agent import RebelSettings
from sog.algorithms.rebel.algorithm import REBEL, Rebel
from sog.algorithms.rebel.measure import measure_rebel
from sog.algorithms.table import trained_by
from sog.measure.exploitability import agent_policy
from sog.measure.listed import listed
from sog.nets.inference import network_evaluator
from sog.nets.one_core import one_core
from sog.play.resolver import ResolveSettings
from sog.searches.cfr import exact
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import Evaluator
from sog.training.checkpoint import load_meta, load_network
from sog.training.settings import preset_of
from sog.training.shipped import find_checkpoint
from soglab.papers.rebel_table2 import GAMES
from soglab.plots import Panel, Picture, Scale, line_through, log_scale
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, grouped

__all__ = ["EXPERIMENT", "averaged_seeds"]

COUNTS: Final = (1, 4, 16, 64, 256, 1024)
PLAYED: Final = ("1x4f", "1x6f")
BUDGET: Final = Budget(100, 1.0)
_LABELS: Final = {SOG: f"Student of Games {BUDGET}", REBEL: "ReBeL, 1,024 updates"}


def plan(options: Options, note: Note) -> list[Key]:
    """Each game's two shipped networks, each searched by what trained it."""
    games = PLAYED[:1] if options.quick else PLAYED
    keys = [{"game": _name(game), "player": player} for game in games for player in (SOG, REBEL)]
    most = COUNTS[2 if options.quick else -1]
    return [{**key, "network": load_meta(_checkpoint(key)).network_id, "most": most} for key in keys]


def _name(game: str) -> str:
    dice, sides = GAMES[game]
    return f"liars_dice(numdice={dice},dice_sides={sides})"


def _checkpoint(key: Key) -> Path:
    return find_checkpoint(key["game"], key["player"])


def compute(key: Key) -> Result:
    """Exploitability in utilities by the number of averaged policies, and processor seconds for all of them."""
    folder = _checkpoint(key)
    check_unchanged(folder, key["network"])
    counts = [count for count in COUNTS if count <= key["most"]]
    started = time.process_time()
    exploitabilities = _sog(key["game"], counts) if key["player"] == SOG else _rebel(key["game"], counts)
    curve = {str(count): exploitability for count, exploitability in zip(counts, exploitabilities, strict=True)}
    return {"exploitability": curve, "seconds": time.process_time() - started}


def _sog(game: str, counts: list[int]) -> Iterator[float]:
    network = load_network(find_checkpoint(game, SOG))[1]
    with one_core():
        yield from averaged_seeds(game, ResolveSettings(BUDGET), network_evaluator(network), counts)


def averaged_seeds(game: str, settings: ResolveSettings, evaluator: Evaluator, counts: list[int]) -> Iterator[float]:
    """Exploitability of the average of a search agent's policies by the seeds 0, 1, ..., after each of `counts`.

    The average is that of mixed strategies: a seed counts at an infostate as much as its own actions lead there.
    """
    public = listed(game)
    tree = exact.full_tree(public)
    for seed in range(counts[-1]):
        exact.add_policy(tree, agent_policy(public, settings, evaluator, seed))
        if seed + 1 in counts:
            tree.update_average_policy()
            yield exact.measure(tree).exploitability


def _rebel(game: str, counts: list[int]) -> Iterator[float]:
    """As `sog exploit GAME --algorithm rebel --playthroughs COUNT`, so that draws differ between counts."""
    folder = find_checkpoint(game, REBEL)
    meta = load_meta(folder)
    settings = RebelSettings(Rebel().as_trained(trained_by(meta)).solving(preset_of(meta.settings)))
    for count in counts:
        yield measure_rebel(folder, settings, count, 0, lambda done: None).sampled


def present(points: list[StudyPoint]) -> Outcome:
    """A line for each game and player, and a panel for each game."""
    beside, panels = list[Beside](), list[Panel]()
    for game, own in grouped(points, lambda point: str(point.key["game"])).items():
        lines = []
        for point in own:
            label, curve = _LABELS[point.key["player"]], point.curve()
            lines.append(line_through(curve, label))
            figures = ", ".join(f"{count:,}: {figure:.4f}" for count, figure in curve.items())
            beside.append(Beside(f"{game}, {label}", "", f"{figures}; {point.result['seconds']:,.0f} s"))
        panels.append(Panel(lines, Scale("averaged policies", "log"), log_scale("exploitability"), game))
    picture = Picture(panels, size=(5.5 * len(panels), 4.0))
    return Outcome([point.row for point in points], {"averaged-play": picture}, beside)


EXPERIMENT: Final = Experiment(
    id="averaged-play",
    paper="ReBeL",
    figure="Table 2",
    minutes=45,
    what="Liar's Dice 1x4f, 1x6f: SoG and ReBeL with equal numbers of averaged policies",
    study=Study(plan, compute, present),
)
