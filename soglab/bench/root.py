"""What one search from a game's first decision costs: seconds, memory, and where the time goes.

The network is untrained; it takes as long as a trained one. Shares come from timers around the search's kernel calls
and the network. What the parts of an iteration cost is measured afterwards, part by part, on the tree that the search
has left.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

import numpy as np

from sog.games.base import Game
from sog.nets.inference import network_evaluator
from sog.nets.network import Network
from sog.nets.one_core import one_core
from sog.play.resolver import ResolveSettings, Resolving
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves import weighing
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.leaves.kernels import Leaves, Weighing
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from soglab.bench.evaluators import CountingEvaluator
from soglab.bench.form import Benchmark, Column, Report
from soglab.bench.search import GROWTH, NETWORK, SWEEPS, name_of, watching_searches
from soglab.bench.stopwatch import Stopwatch, in_turn

BUDGETS = (Budget(10, 0.1), Budget(100, 1))
PARTS = ("ranges down", "payoffs", "leaf masses", "values up")


@dataclass(frozen=True)
class RootRow:
    """One search with one budget.

    seconds: wall clock.  processor_seconds: what this process had of the processor meanwhile.  nodes, leaves: of the
    tree in the end.  beliefs: leaf beliefs answered.  iteration_ms: processor time by iterations of both players.
    tree_megabytes: what the tree's arrays hold in the end.  peak_megabytes: the process's largest resident memory
    until then, PyTorch and the compiler included.  Shares are of `seconds`; python: what no timer covers.
    part_ms: milliseconds of each of PARTS, once over the tree in the end.
    """

    game: str
    search: Annotated[str, Column("search")]
    network: str
    seconds: Annotated[float, Column("seconds", ",.2f")]
    processor_seconds: Annotated[float, Column("processor seconds", ",.2f")]
    nodes: Annotated[int, Column("nodes", ",")]
    leaves: Annotated[int, Column("leaves", ",")]
    beliefs: Annotated[int, Column("leaf beliefs answered", ",")]
    iteration_ms: Annotated[float, Column("ms an iteration", ",.2f")]
    tree_megabytes: Annotated[float, Column("tree", ",.0f", unit="MB")]
    peak_megabytes: Annotated[float, Column("process at its largest", ",.0f", unit="MB")]
    network_share: Annotated[float, Column("share: network", ".1%")]
    sweep_share: Annotated[float, Column("share: sweep", ".1%")]
    growth_share: Annotated[float, Column("share: growth", ".1%")]
    python_share: Annotated[float, Column("share: python", ".1%")]
    part_ms: Annotated[dict[str, float], Column("", ",.3f", unit="ms on the last tree")]


ROOT: Final = Benchmark(
    "bench root",
    "budgets",
    "{game}: first decision, {network} untrained, one core; load {load:.1f}",
    across="search",
)


def bench_root(
    game: Game, network: Network, budgets: Sequence[Budget], rounds: int, closed: bool, report: Report
) -> Iterator[RootRow]:
    """A row for each budget: of `rounds` searches the one that took the median time; `report` hears of progress.

    closed: leaves where chance is to move are never opened.
    """
    with one_core():
        evaluator = network_evaluator(network)
        with watching_searches(Stopwatch()):
            _search(game, _settings(Budget(2), closed), evaluator)  # compiles
        for k, budget in enumerate(budgets):
            report(k, f"SoG{budget}")
            made = [_row(game, _settings(budget, closed), evaluator, name_of(network.shape)) for _ in range(rounds)]
            yield sorted(made, key=lambda row: row.processor_seconds)[rounds // 2]


def _settings(budget: Budget, closed: bool) -> ResolveSettings:
    return ResolveSettings(budget, SearchSettings(chance_leaves=closed))


def _search(game: Game, settings: ResolveSettings, evaluator: Evaluator) -> Lookahead:
    resolving = Resolving(PublicTree(game), int(game.actor(game.root())), 0, None, settings, seed=0)
    run(resolving, evaluator)
    return resolving.solved().tree


def _row(game: Game, settings: ResolveSettings, evaluator: Evaluator, network: str) -> RootRow:
    watch, counting = Stopwatch(), CountingEvaluator(evaluator)
    with watching_searches(watch):
        watch.restart()
        started = time.process_time()
        tree = _search(game, settings, watch.timed(NETWORK, counting))
        total, processor = watch.total(), time.process_time() - started
    shares = {part: watch.seconds(part) / total for part in (*SWEEPS, GROWTH, NETWORK)}
    sweeps = sum(shares[part] for part in SWEEPS)
    return RootRow(
        game=game.name,
        search=str(settings.budget),
        network=network,
        seconds=total,
        processor_seconds=processor,
        nodes=tree.size,
        leaves=sum(1 for _ in tree.leaves()),
        beliefs=counting.beliefs,
        iteration_ms=1e3 * processor / tree.iterations,
        tree_megabytes=tree.num_bytes / 1e6,
        peak_megabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        network_share=shares[NETWORK],
        sweep_share=sweeps,
        growth_share=shares[GROWTH],
        python_share=1.0 - sweeps - shares[GROWTH] - shares[NETWORK],
        part_ms=_parts(tree),
    )


def _parts(tree: Lookahead) -> dict[str, float]:
    """Milliseconds of each of PARTS, the least of a few."""
    leaves = Leaves(
        np.fromiter(tree.leaves(), dtype=np.int32),
        np.zeros((0, 0)),
        np.zeros((2, tree.public.widest)),
        tree.public.game.num_slots[0],
        False,
        int(Weighing.PLAIN),
        True,
    )
    step = np.array([1.0, 1.0, 1.0, 0.0])
    weigh: Any = weighing.weigh
    calls: tuple[Callable[[], None], ...] = (
        tree.forward,
        tree.payoffs,
        partial(weigh, tree.public.arrays, tree.arrays, leaves, 0, len(leaves.nodes), Players.BOTH, 1.0),
        partial(tree.backward, step, Players.FIRST),
    )
    return {part: 1e3 * min(in_turn({part: call}, 6)[part]) for part, call in zip(PARTS, calls, strict=True)}
