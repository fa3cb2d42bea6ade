"""How the time and the memory of a search grow with its simulations, by game, network and c.

    python -m soglab.bench.growth [GAME ...] [--most 64000] [--seconds 5] [--json] [--out FOLDER]

One search of the first decision for each number of simulations, four times as many each time and --most at the end,
until the next one would take longer than --seconds, growing as the last two did, or the whole game is in the tree.
Exponents are those of the last two searches: x where the time (the tree's bytes) grows as s^x. Processor time of one
core. Held is the most that the process held during a search beyond what it held before. `sweeps` updates the whole tree
in every iteration, `paths` the nodes that trajectories passed, in games where that is possible; `tolerance` sweeps,
too, and does not evaluate leaves anew whose belief has moved little (SearchSettings). FOLDER gets growth.png and
growth.csv.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np

from sog.algorithms.student.player import BOARDS
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.memory import held_bytes
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
from soglab.plots import Line, Panel, Picture, Scale, log_scale
from soglab.study import Outcome, write

__all__ = ["GrowthRow", "growth_of", "picture_of"]

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
_SIMULATIONS: Final = Scale("simulations", "log")
_COLOURS: Final = {("constant", 1.0): "C0", ("constant", 10.0): "C1", ("shipped", 1.0): "C2", ("shipped", 10.0): "C3"}


@dataclass(frozen=True)
class GrowthRow:
    """A series of searches.

    updates: sweeps, paths or tolerance.  simulations, seconds, megabytes: of each; the tree's bytes.  held: megabytes
    that the process held more than before it, at most, the tree among them.
    time, memory: the exponents; NaN where the searches are too short.
    """

    game: str
    network: str
    per_update: float
    updates: str
    simulations: list[int]
    seconds: list[float]
    megabytes: list[float]
    held: list[float]
    time: float
    memory: float

    def __str__(self) -> str:
        times = ", ".join(f"{s:,}: {t:.3g}" for s, t in zip(self.simulations, self.seconds, strict=True))
        growth = f"{self.time:.2f}, {self.memory:.2f} | {self.megabytes[-1]:,.1f} | {self.held[-1]:,.1f}"
        return f"{self.game} | {self.network} | {self.per_update:g} | {self.updates} | {times} | {growth}"


def growth_of(
    game: Game, evaluator: Evaluator, network: str, settings: SearchSettings, c: float, most: int, seconds: float
) -> GrowthRow:
    """Searches of the game's first decision with more and more simulations, up to `most` or this many seconds each."""
    counts, times, sizes, held = list[int](), list[float](), list[float](), list[float]()
    _search(game, evaluator, settings, Budget(_FIRST, c))  # compiles
    for s in _counts(most):
        if _expected(counts, times, s) > seconds:
            break
        before = _least_held()
        tree, took = _search(game, evaluator, settings, Budget(s, c))
        counts, times, sizes = [*counts, s], [*times, took], [*sizes, tree.num_bytes / 1e6]
        held.append((_most_held() - before) / 1e6)
        if tree.size < s / 2:  # all of the game
            break
        del tree  # the next search does not count it
    updates = "paths" if settings.paths else "tolerance" if settings.tolerance else "sweeps"
    exponents = _exponent(counts, times, _LEAST), _exponent(counts, sizes)
    return GrowthRow(game.name, network, c, updates, counts, times, sizes, held, *exponents)


def _counts(most: int) -> Iterator[int]:
    """Simulations of the searches: _FIRST, _FACTOR times as many each time, and `most`."""
    s = _FIRST
    while s < most:
        yield s
        s *= _FACTOR
    yield most


def _search(game: Game, evaluator: Evaluator, settings: SearchSettings, budget: Budget) -> tuple[Lookahead, float]:
    tree, started = Lookahead(PublicTree(game), 0, game.root_ranges()), process_time()
    run(search(tree, 0, budget, settings, np.ones(1, dtype=np.uint64)), evaluator)
    return tree, process_time() - started


def _least_held() -> int:
    """Bytes that the process holds; what it held at most is counted from now on (Linux)."""
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return held_bytes()


def _most_held() -> float:
    """Bytes that the process held at most since `_least_held`; NaN where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return math.nan
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), math.nan)


def _expected(counts: list[int], times: list[float], s: int) -> float:
    """Seconds of a search of s simulations if time grows on as between the last two; as s^2 after the first."""
    if not times:
        return 0.0
    exponent = _exponent(counts, times) if len(times) > 1 else 2.0
    return times[-1] * math.pow(s / counts[-1], exponent)


def _exponent(counts: list[int], figures: list[float], least: float = 0.0) -> float:
    """x of the last two figures; NaN where there are fewer, or the first of the two is below `least`."""
    if len(figures) < 2 or figures[-2] <= least:
        return math.nan
    return math.log(figures[-1] / figures[-2]) / math.log(counts[-1] / counts[-2])


def _all(game: Game, most: int, seconds: float) -> Iterator[GrowthRow]:
    evaluators: dict[str, Evaluator] = {"constant": zero_evaluator}
    if (folder := named_checkpoint(game.name)) is not None:
        evaluators["shipped"] = network_evaluator(load_network(folder)[1])
    base = replace(BOARDS, paths=False) if game.perfect_information else SearchSettings()
    for name, evaluator in evaluators.items():
        for c in (1.0, 10.0):
            yield growth_of(game, evaluator, name, base, c, most, seconds)
            if game.deterministic:
                yield growth_of(game, evaluator, name, replace(base, paths=True), c, most, seconds)
            elif not game.perfect_information and name != "constant":  # beliefs about leaves worth 0 hardly move
                yield growth_of(game, evaluator, name, replace(base, tolerance=_TOLERANCE), c, most, seconds)


def picture_of(rows: list[GrowthRow]) -> Picture:
    """A column for each game: seconds by simulations, below them the tree's megabytes; dashed where all is swept."""
    games = list(dict.fromkeys(row.game for row in rows))
    times = [_panel(rows, game, "seconds", "seconds", game) for game in games]
    sizes = [_panel(rows, game, "megabytes", "MB of the tree", "") for game in games]
    return Picture([*times, *sizes], columns=len(games), size=(4.2 * len(games), 7.0))


def _panel(rows: list[GrowthRow], game: str, figure: str, label: str, title: str) -> Panel:
    lines, legend = _lines(rows, game, figure), {"fontsize": 7} if title else None
    return Panel(lines, _SIMULATIONS, log_scale(label), title.partition("(board")[0], legend=legend)


def _lines(rows: list[GrowthRow], game: str, figure: str) -> list[Line]:
    lines = list[Line]()
    for row in rows:
        if row.game == game:
            style: dict[str, Any] = {"marker": ".", "color": _COLOURS[row.network, row.per_update]}
            style["linestyle"] = "--" if row.updates == "sweeps" else "-"
            label = f"{row.network}, c = {row.per_update:g}, {row.updates}"
            lines.append(Line(row.simulations, getattr(row, figure), label, style))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"by default {', '.join(_GAMES)}")
    parser.add_argument("--most", type=int, default=64_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    rows = list[GrowthRow]()
    if not args.json:
        print("game | network | c | updates | seconds by simulations | exponents of time, memory | tree's MB | held")
    with one_core():
        for name in args.games or _GAMES:
            for growth in _all(make_game(name), args.most, args.seconds):
                rows.append(growth)
                print(json.dumps(asdict(growth)) if args.json else growth, flush=True)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        write(Outcome([asdict(row) for row in rows], {"growth": picture_of(rows)}), args.out, "growth")


if __name__ == "__main__":
    main()
