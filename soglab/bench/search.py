"""Where the time of one search goes: rates of self-play's searches by budget, alone and side by side, and the shares.

Rates are processor time, the median of several batches of games. Shares come from further batches with timers around
the search's kernel calls and the network; a kernel call's time includes handing it its arrays.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, product
from time import process_time
from typing import Annotated, Final

import numpy as np

from sog.algorithms.student.selfplay import SelfPlaySettings, SogGame
from sog.games.base import Game
from sog.nets.inference import network_evaluator
from sog.nets.network import Network
from sog.nets.one_core import one_core
from sog.nets.shape import NetworkShape
from sog.play.resolver import ResolveSettings
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr import phases
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.drive import drive
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import listed_tree
from soglab.bench.form import Benchmark, Column, Report
from soglab.bench.stopwatch import Place, Stopwatch, replaced

BUDGETS: Final = (Budget(10), Budget(100), Budget(100, 0.1), Budget(1_000))
SIDE_BY_SIDE: Final = (1, 64)

DOWN, UP, FINISH, GROWTH, NETWORK = "down", "up", "finish", "growth", "network"
SWEEPS: Final = (DOWN, UP, FINISH)
# A search's parts, as `watching_searches` sees them.
SEARCH_PLACES: Final[tuple[Place, ...]] = (
    (phases, "look", DOWN, False),
    (phases, "take_up", UP, False),
    (Lookahead, "iterate", FINISH, False),
    (phases, "grow", GROWTH, False),
    (phases, "grow_positions", GROWTH, False),
    (Lookahead, "identify_newest", GROWTH, False),
    (Lookahead, "expand", GROWTH, False),
)


@contextmanager
def watching_searches(watch: Stopwatch, more: Sequence[Place] = ()) -> Iterator[None]:
    """Time the parts of searches, and more places, until the end of the block.

    Meanwhile a search's one kernel call an iteration is taken apart: its Python form calls each phase's kernel.
    """
    with replaced(phases, "advance", phases.advance.py_func), watch.watching((*SEARCH_PLACES, *more)):
        yield


@dataclass(frozen=True)
class SearchRow:
    """Searches with one budget, several side by side.

    down: ranges down and leaf beliefs out.  up: evaluations in, values up, both players' updates.  finish: both on a
    tree that has no leaves left.  sweep: these three.  growth: trajectories and new nodes.  python: the rest,
    re-solving's set-up included.
    """

    game: str
    search: Annotated[str, Column("search")]
    network: str
    side_by_side: Annotated[int, Column("at once")]
    searches_per_second: Annotated[float, Column("per s", ",.4g")]
    us_per_iteration: Annotated[float, Column("us/iter.", ",.4g")]
    network_share: Annotated[float, Column("network", ".0%")]
    sweep_share: float
    down_share: Annotated[float, Column("down", ".0%")]
    up_share: Annotated[float, Column("up", ".0%")]
    finish_share: Annotated[float, Column("finish", ".0%")]
    growth_share: Annotated[float, Column("growth", ".0%")]
    python_share: Annotated[float, Column("Python", ".0%")]


SEARCHES: Final = Benchmark("bench search", "rows", "{game}: searches that re-solve, {network}, one core")


def name_of(shape: NetworkShape) -> str:
    """The network in a word: its kind, depth and width."""
    return f"{shape.kind} {shape.depth}x{shape.width}"


def bench_searches(
    game: Game,
    network: Network,
    budgets: Sequence[Budget],
    rounds: int,
    batch_seconds: float,
    report: Report,
) -> Iterator[SearchRow]:
    """A row for each budget and each of SIDE_BY_SIDE; `report` is called with how many rows are done."""
    public = listed_tree(game) or PublicTree(game)
    with one_core():
        evaluator = network_evaluator(network)
        _Games(public, Budget(10), evaluator, 1).play(0.0, evaluator)  # compiles the kernels
        with watching_searches(Stopwatch()):  # and those of each phase, which are called one by one for the shares
            _Games(public, Budget(10), evaluator, 1).play(0.0, evaluator)
        for done, (budget, width) in enumerate(product(budgets, SIDE_BY_SIDE)):
            report(done, f"SoG{budget}, {width} side by side")
            yield _row(_Games(public, budget, evaluator, width), name_of(network.shape), rounds, batch_seconds)


class _Games:
    """Self-play games with one budget, `width` of them at once, one batch after another."""

    def __init__(self, public: PublicTree, budget: Budget, evaluator: Evaluator, width: int) -> None:
        self.public, self.budget, self.evaluator, self.width = public, budget, evaluator, width
        self.settings = SelfPlaySettings(ResolveSettings(budget))
        self.numbers = count()

    def play(self, batch_seconds: float, evaluator: Evaluator) -> tuple[int, float]:
        """Begin games for `batch_seconds` of processor time and finish them; how many searches, in how many seconds."""
        start = process_time()

        def games() -> Iterator[SogGame]:
            begun = 0
            while begun < self.width or process_time() - start < batch_seconds:
                begun += 1
                yield SogGame(self.public, self.settings, np.random.default_rng(next(self.numbers)))

        searches = sum(len(game.visits) for game in drive(games(), evaluator, self.width))
        return searches, process_time() - start


def _row(games: _Games, network: str, rounds: int, batch_seconds: float) -> SearchRow:
    each = statistics.median(_seconds_a_search(games, rounds, batch_seconds))
    budget, shares = games.budget, _shares(games, batch_seconds)
    sweeps = sum(shares[part] for part in SWEEPS)
    return SearchRow(
        game=games.public.game.name,
        search=str(budget),
        network=network,
        side_by_side=games.width,
        searches_per_second=1.0 / each,
        us_per_iteration=1e6 * each / (budget.rounds * budget.updates),
        network_share=shares[NETWORK],
        sweep_share=sweeps,
        down_share=shares[DOWN],
        up_share=shares[UP],
        finish_share=shares[FINISH],
        growth_share=shares[GROWTH],
        python_share=1.0 - sweeps - shares[GROWTH] - shares[NETWORK],
    )


def _seconds_a_search(games: _Games, rounds: int, batch_seconds: float) -> list[float]:
    """One figure a batch; fewer than `rounds` where the least batch, one game for each place, lasts long."""
    seconds: list[float] = []
    spent = 0.0
    while not seconds or (len(seconds) < rounds and spent < 3 * rounds * batch_seconds):
        searches, took = games.play(batch_seconds, games.evaluator)
        seconds.append(took / searches)
        spent += took
    return seconds


def _shares(games: _Games, batch_seconds: float) -> dict[str, float]:
    """Each timed part's share of the time."""
    watch = Stopwatch()
    evaluator = watch.timed(NETWORK, games.evaluator)
    with watching_searches(watch):
        watch.restart()
        games.play(batch_seconds, evaluator)
        total = watch.total()
    return {part: watch.seconds(part) / total for part in (*SWEEPS, GROWTH, NETWORK)}
