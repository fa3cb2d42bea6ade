"""How the time and the memory of a search grow with its simulations, by game, network and c.

    python -m soglab.bench.growth [GAME ...] [--most 64000] [--seconds 5] [--json]

One search of the first decision for each number of simulations, four times as many each time, until the next one would
take longer than --seconds, growing as the last two did, or the whole game is in the tree. Exponents are those of the
last two searches: x where the time (the tree's bytes) grows as s^x. Processor time of one core. `sweeps` updates the
whole tree in every iteration, `paths` the nodes that trajectories passed, in games where that is possible; `tolerance`
sweeps, too, and does not evaluate leaves anew whose belief has moved little (SearchSettings).
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from time import process_time
from typing import Final

import numpy as np

from sog.algorithms.student.player import BOARDS
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.nets.inference import network_evaluator
from sog.nets.one_core import one_core
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Evaluator, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training.checkpoint import load_network
from sog.training.shipped import named_checkpoint
from soglab.bench.holdem import TURN

__all__ = ["GrowthRow", "growth_of"]

_GAMES: Final = (
    "connect_four",
    "chess",
    "liars_dice(numdice=1,dice_sides=6)",
    "scotland_yard(map=glasses)",
    TURN.game,
)
_TOLERANCE: Final = 0.01
_FIRST: Final = 100
_FACTOR: Final = 4
_LEAST: Final = 0.02  # seconds of a search before the last, below which its time says nothing of the exponent


@dataclass(frozen=True)
class GrowthRow:
    """A series of searches.

    updates: sweeps, paths or tolerance.  simulations, seconds, megabytes: of each; the tree's bytes.
    time, memory: the exponents; NaN where the searches are too short.
    """

    game: str
    network: str
    per_update: float
    updates: str
    simulations: list[int]
    seconds: list[float]
    megabytes: list[float]
    time: float
    memory: float

    def __str__(self) -> str:
        times = ", ".join(f"{s:,}: {t:.3g}" for s, t in zip(self.simulations, self.seconds, strict=True))
        growth = f"{self.time:.2f} | {self.memory:.2f} | {self.megabytes[-1]:,.1f}"
        return f"{self.game} | {self.network} | {self.per_update:g} | {self.updates} | {times} | {growth}"


def growth_of(
    game: Game, evaluator: Evaluator, network: str, settings: SearchSettings, c: float, most: int, seconds: float
) -> GrowthRow:
    """Searches of the game's first decision with more and more simulations, up to `most` or this many seconds each."""
    counts, times, sizes = list[int](), list[float](), list[float]()
    _search(game, evaluator, settings, Budget(_FIRST, c))  # compiles
    s = _FIRST
    while s <= most and _next(times) <= seconds:
        tree, took = _search(game, evaluator, settings, Budget(s, c))
        counts, times, sizes = [*counts, s], [*times, took], [*sizes, tree.num_bytes / 1e6]
        if tree.size < s / 2:  # all of the game
            break
        s *= _FACTOR
    updates = "paths" if settings.paths else "tolerance" if settings.tolerance else "sweeps"
    return GrowthRow(game.name, network, c, updates, counts, times, sizes, _exponent(times), _exponent(sizes))


def _search(game: Game, evaluator: Evaluator, settings: SearchSettings, budget: Budget) -> tuple[Lookahead, float]:
    tree, started = Lookahead(PublicTree(game), 0, game.root_ranges()), process_time()
    run(search(tree, 0, budget, settings, np.ones(1, dtype=np.uint64)), evaluator)
    return tree, process_time() - started


def _next(times: list[float]) -> float:
    """What the next search takes if it is to the last as that is to the one before; the square of _FACTOR at first."""
    if len(times) < 2:
        return times[0] * _FACTOR**2 if times else 0.0
    return times[-1] * times[-1] / max(times[-2], 1e-9)


def _exponent(figures: list[float]) -> float:
    """x of the last two figures, whose simulations are apart by _FACTOR."""
    if len(figures) < 2 or figures[-2] < _LEAST:
        return math.nan
    return math.log(figures[-1] / figures[-2]) / math.log(_FACTOR)


def _all(game: Game, most: int, seconds: float) -> Iterator[GrowthRow]:
    evaluators: dict[str, Evaluator] = {"constant": zero_evaluator}
    if (folder := named_checkpoint(game.name)) is not None:
        evaluators["shipped"] = network_evaluator(load_network(folder)[1])
    base = BOARDS if game.perfect_information else SearchSettings()
    for name, evaluator in evaluators.items():
        for c in (1.0, 10.0):
            yield growth_of(game, evaluator, name, base, c, most, seconds)
            if game.deterministic:
                yield growth_of(game, evaluator, name, replace(base, paths=True), c, most, seconds)
            elif not game.perfect_information and name != "constant":  # beliefs about leaves worth 0 hardly move
                yield growth_of(game, evaluator, name, replace(base, tolerance=_TOLERANCE), c, most, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"by default {', '.join(_GAMES)}")
    parser.add_argument("--most", type=int, default=64_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if not args.json:
        print("game | network | c | updates | seconds by simulations | exponent of time | of memory | MB at the end")
    with one_core():
        for name in args.games or _GAMES:
            for growth in _all(make_game(name), args.most, args.seconds):
                print(json.dumps(asdict(growth)) if args.json else growth, flush=True)


if __name__ == "__main__":
    main()
