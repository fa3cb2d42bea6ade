"""Searches a second of several processes that share one evaluator process, or have a network each.

python -m soglab.scale.served --device cuda --precision bf16 --mode compiled --processes 16
python -m soglab.scale.served --device own --processes 2
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Final

import torch

from sog.cluster.local import LocalExecutor
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.serving.client import ServedEvaluator, serving
from sog.nets.serving.resident import Residence
from sog.nets.serving.server import Counters, Flushing
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings, Resolving
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.drive import drive
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["OWN", "ServedRow", "ServedSearches", "bench_served"]

OWN: Final = "own"  # every process has a network of its own, on one core


@dataclass(frozen=True)
class ServedSearches:
    """Searches from a game's first decision with an untrained network. side_by_side: in each process at once."""

    game: str
    depth: int
    width: int
    simulations: int
    per_update: float
    side_by_side: int

    def network(self) -> CVPN:
        game = make_game(self.game)
        return CVPN(shape_for(game, self.width, self.depth, crossed=game.crossed), seed=1)


@dataclass(frozen=True)
class ServedRow:
    """One measurement.

    searches_per_second: of all processes together.  counters: of the evaluator process, where there is one.
    """

    processes: int
    device: str
    searches_per_second: float
    counters: Counters | None


def bench_served(
    subject: ServedSearches,
    residence: Residence | None,
    processes: int,
    seconds: float,
    flushing: Flushing | None = None,
) -> ServedRow:
    """`processes` of them search for `seconds` each; residence: None for a network in every process."""
    there = LocalExecutor(processes)
    with ExitStack() as stack:
        stack.callback(there.close)
        name = ""
        if residence is not None:
            owner = stack.enter_context(serving(subject.network().shape, residence, flushing))
            owner.load(subject.network(), 1)
            name = owner.name
        searching = [there.start(_Searching, subject, name, number) for number in range(processes)]
        for pending in [one.call("search", 0.0) for one in searching]:  # kernels load
            pending.result()
        answers = [one.call("search", seconds) for one in searching]
        speed = sum(count / spent for count, spent in (answer.result() for answer in answers))
        counters = owner.counters() if residence is not None else None
    return ServedRow(processes, OWN if residence is None else residence.device, speed, counters)


class _Searching:
    """One process."""

    def __init__(self, subject: ServedSearches, name: str, number: int) -> None:
        torch.set_num_threads(1)
        self.subject, self.number = subject, number
        network = subject.network()
        self.game = make_game(subject.game)
        self.evaluator: Evaluator = ServedEvaluator(name, network.shape) if name else network_evaluator(network)

    def search(self, seconds: float) -> tuple[int, float]:
        """Searches finished after at least `seconds`, and the seconds. One round of them at least."""
        subject, started, count = self.subject, time.perf_counter(), 0
        settings = ResolveSettings(Budget(subject.simulations, subject.per_update))

        def searches() -> Iterator[Resolving]:
            public = PublicTree(self.game)
            player, seed = int(self.game.actor(self.game.root())), self.number * 1_000_000
            first = True
            while first or time.perf_counter() - started < seconds:
                for _ in range(subject.side_by_side):
                    seed += 1
                    yield Resolving(public, player, 0, None, settings, seed)
                first = False

        for _ in drive(searches(), self.evaluator, subject.side_by_side):
            count += 1
        return count, time.perf_counter() - started


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="holdem(bets=0.5;1.0;allin)")
    parser.add_argument("--network", default="6x2048", help="hidden layers x width")
    parser.add_argument("--search", default="10,0.1", help="the budget s,c")
    parser.add_argument("--side-by-side", type=int, default=8, help="searches in each process at once")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--device", default=OWN, help="of the evaluator process; own: a network in each process")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--mode", default="eager")
    parser.add_argument("--rows", type=int, default=1024, help="an answer is given at this number of rows,")
    parser.add_argument("--microseconds", type=float, default=500.0, help="or after so long")
    chosen = parser.parse_args(arguments)
    depth, width = map(int, chosen.network.split("x"))
    simulations, per_update = chosen.search.split(",")
    subject = ServedSearches(chosen.game, depth, width, int(simulations), float(per_update), chosen.side_by_side)
    residence = None if chosen.device == OWN else Residence(chosen.device, chosen.precision, chosen.mode)
    flushing = Flushing(chosen.rows, chosen.microseconds)
    print(json.dumps(asdict(bench_served(subject, residence, chosen.processes, chosen.seconds, flushing))))


if __name__ == "__main__":
    main()
