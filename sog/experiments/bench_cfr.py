"""Microseconds an iteration of our CFR+ beside OpenSpiel's (C++) and LiteEFG's (C++), measured in one run.

The solvers take turns on one game, many short batches each, and the median of their processor times
counts (each runs on one thread), so that whatever else the machine does matters little. An iteration
updates both players once, on the whole game.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import process_time
from typing import Final, TypeAlias

import pyspiel

from sog.evaluate.openspiel_export import openspiel_game
from sog.games.base import Game
from sog.search import exact
from sog.search.public_tree import PublicTree
from sog.search.regret import CFR_PLUS, SOG, Rule

GAMES: Final = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=4)",
    "liars_dice(numdice=1,dice_sides=5)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
)
# Preparing these takes OpenSpiel and LiteEFG half a minute each.
LARGE_GAMES: Final = ("liars_dice(numdice=1,dice_sides=6)", "liars_dice(numdice=2,dice_sides=3)")

OURS: Final = "ours, CFR+"
OURS_SIMULTANEOUS: Final = "ours, CFR+ simultaneous"
OPENSPIEL: Final = "OpenSpiel CFR+"
LITEEFG: Final = "LiteEFG CFR+"

# Runs so many iterations more and returns the processor seconds that they took.
Timed: TypeAlias = Callable[[int], float]


@dataclass(frozen=True)
class Row:
    """One solver on one game.  ratio_to_ours: its time over that of our CFR+, which alternates as theirs do."""

    game: str
    solver: str
    us_per_iteration: float
    ratio_to_ours: float


def has_liteefg() -> bool:
    """Whether LiteEFG is installed."""
    return importlib.util.find_spec("LiteEFG") is not None


def bench_game(game: Game, rounds: int = 9, batch_seconds: float = 0.1) -> list[Row]:
    """One row for each solver: the median of `rounds` batches that last about `batch_seconds` each.

    A batch has at least one iteration. GameError where OpenSpiel lacks the game.
    """
    with ExitStack() as stack:
        public = PublicTree(game).list_all()
        solvers = {
            OURS: _ours(public, CFR_PLUS),
            OURS_SIMULTANEOUS: _ours(public, SOG),
            OPENSPIEL: _openspiel(game),
        }
        liteefg = stack.enter_context(_liteefg(game)) if has_liteefg() else None
        if liteefg is not None:
            solvers[LITEEFG] = liteefg
        medians = _interleaved(solvers, rounds, batch_seconds)
    return [Row(game.name, name, 1e6 * t, t / medians[OURS]) for name, t in medians.items()]


def _interleaved(solvers: dict[str, Timed], rounds: int, batch_seconds: float) -> dict[str, float]:
    """Median seconds an iteration of each solver."""
    batches = {name: _batch(timed, batch_seconds) for name, timed in solvers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in solvers}
    for _ in range(rounds):
        for name, timed in solvers.items():
            seconds[name].append(timed(batches[name]) / batches[name])
    return {name: statistics.median(times) for name, times in seconds.items()}


def _batch(timed: Timed, batch_seconds: float) -> int:
    """How many iterations last about `batch_seconds`; the first ones also compile and warm up."""
    timed(1)
    count = 1
    while (took := timed(count)) < batch_seconds / 2:
        count *= 2
    return max(1, round(count * batch_seconds / took))


def _ours(public: PublicTree, rule: Rule) -> Timed:
    tree = exact.full_tree(public)

    def timed(count: int) -> float:
        start = process_time()
        tree.iterate(rule, count)
        return process_time() - start

    return timed


def _openspiel(game: Game) -> Timed:
    solver = pyspiel.CFRPlusSolver(openspiel_game(game))

    def timed(count: int) -> float:
        start = process_time()
        for _ in range(count):
            solver.evaluate_and_update_policy()
        return process_time() - start

    return timed


@contextmanager
def _liteefg(game: Game) -> Iterator[Timed | None]:
    """LiteEFG in a process of its own, as it prints on stdout and writes files under the home folder.

    None where that process ends before it is ready; what it had to say is on stderr.
    """
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as home:
        ours, theirs = context.Pipe()
        worker = context.Process(target=_liteefg_worker, args=(theirs, game.name, home), daemon=True)
        worker.start()
        theirs.close()

        def timed(count: int) -> float:
            ours.send(count)
            return float(ours.recv())

        try:
            ready = timed(1)
        except (EOFError, OSError):
            ready = None
        try:
            yield None if ready is None else timed
        finally:
            ours.close()
            worker.terminate()
            worker.join()


def _liteefg_worker(connection: Connection, name: str, home: str) -> None:
    """Answer each number of iterations with the seconds that they took, until the other end closes."""
    os.environ["HOME"] = home
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import LiteEFG
    from LiteEFG.baselines import CFRplus

    graph = CFRplus.graph()
    environment = LiteEFG.OpenSpielEnv(pyspiel.load_game_as_turn_based(name), traverse_type="Enumerate")
    environment.set_graph(graph)
    while True:
        try:
            count = connection.recv()
        except EOFError:
            return
        start = process_time()
        for _ in range(count):  # both players in turn, then the policy averages, as its own training loop does
            graph.update_graph(environment)
            environment.update_strategy(graph.current_strategy())
        connection.send(process_time() - start)


def bench_games(games: Sequence[Game], rounds: int, report: Callable[[int, str], None]) -> list[Row]:
    """Rows of several games, one game after another; `report` is told how many are done and which is next."""
    rows: list[Row] = []
    for k, game in enumerate(games):
        report(k, game.name)
        rows += bench_game(game, rounds)
    return rows
