"""How long the page of `sog serve` takes to draw the tree of a search: what is known of it, and its SVG.

    python -m soglab.bench.drawing [GAME] [--simulations 1000 10000 100000]

One search of the first decision a row, with leaves of value 0, so that the tree is wide. Milliseconds of one core,
medians of fifteen.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

import numpy as np

from sog.algorithms.student.player import BOARDS
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.nets.one_core import one_core
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.web.positions import tree_picture
from sog.web.recorded import snapshot_of

__all__ = ["DrawnTree", "drawings_of"]


@dataclass(frozen=True)
class DrawnTree:
    """A tree that was drawn.  drawn: how many of its nodes.  kilobytes: of the SVG."""

    game: str
    nodes: int
    drawn: int
    milliseconds: float
    kilobytes: float

    def __str__(self) -> str:
        return f"{self.game} | {self.nodes:,} | {self.drawn} | {self.milliseconds:.1f} | {self.kilobytes:.0f}"


def drawings_of(game: Game, simulations: Sequence[int]) -> Iterator[DrawnTree]:
    """A row for each number of simulations."""
    settings = BOARDS if game.perfect_information else SearchSettings()
    for count in simulations:
        tree, times = Lookahead(PublicTree(game), 0, game.root_ranges()), []
        run(search(tree, 0, Budget(count, 10.0), settings, np.ones(1, dtype=np.uint64)), zero_evaluator)
        for _ in range(15):
            started = process_time()
            snapshot = snapshot_of(tree, 0, count)
            svg = tree_picture(snapshot).svg
            times.append(1_000 * (process_time() - started))
        yield DrawnTree(game.name, tree.size, len(snapshot.blocks), median(times), len(svg) / 1_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", metavar="GAME", default="connect_four")
    parser.add_argument("--simulations", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    args = parser.parse_args()
    print("game | nodes | drawn | milliseconds | kB")
    with one_core():
        for drawing in drawings_of(make_game(args.game), args.simulations):
            print(drawing, flush=True)


if __name__ == "__main__":
    main()
