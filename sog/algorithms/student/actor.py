"""Student of Games' actor: plays self-play games, solves their queries and hands back training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from sog.algorithms.student.queries import QuerySettings, Solving, visit_row
from sog.algorithms.student.selfplay import SelfPlaySettings, SogGame
from sog.games.base import Game
from sog.nets.shape import NetworkShape
from sog.searches.leaves.drive import drive_with_followers
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import listed_tree
from sog.training.packing import pack_all
from sog.training.rows import Rows
from sog.training.settings import Harvest

__all__ = ["SogActing", "SogActor"]


@dataclass(frozen=True)
class SogActing:
    """How Student of Games acts.  side_by_side: games and query solves at once, their leaf batches joined."""

    selfplay: SelfPlaySettings
    queries: QuerySettings
    side_by_side: int = 64

    def make(self, game: Game, shape: NetworkShape) -> SogActor:
        """An actor whose rows fit networks of this shape."""
        return SogActor(game, shape, self)


class SogActor:
    """Runs games and query solves side by side on one core, all their leaf batches joined."""

    def __init__(self, game: Game, shape: NetworkShape, acting: SogActing) -> None:
        self.game, self.shape, self.width = game, shape, acting.side_by_side
        self.selfplay, self.queries = acting.selfplay, acting.queries
        self.public = listed_tree(game)

    def round(self, games: int, evaluator: Evaluator, rng: np.random.Generator, number: int = 0) -> Harvest:
        """Play this many games and solve every query that comes of them."""
        searches = solved = 0

        def rows() -> Iterator[Rows]:
            nonlocal searches, solved
            for job in self.finished(games, evaluator, rng):
                yield from self.rows_of(job, rng)
                solved += isinstance(job, Solving)
                searches += len(job.visits) if isinstance(job, SogGame) else 0

        packed = pack_all(self.shape, rows())
        return Harvest(packed, games, searches, solved)

    def finished(self, games: int, evaluator: Evaluator, rng: np.random.Generator) -> Iterator[SogGame | Solving]:
        """A round's games and query solves, each as it ends.

        Where the game is too large to list, each has a public tree of its own, freed with it and its queries.
        """

        def queries(job: SogGame | Solving) -> list[Callable[[], SogGame | Solving]]:
            left = job.followers() if isinstance(job, Solving) else job.queries
            return [partial(Solving, query, self.queries, rng) for query in left]

        begun: Iterator[SogGame | Solving] = (
            SogGame(self.public or PublicTree(self.game.drawn(rng)), self.selfplay, rng) for _ in range(games)
        )
        yield from drive_with_followers(begun, queries, evaluator, self.width)

    def rows_of(self, job: SogGame | Solving, rng: np.random.Generator) -> Iterator[Rows]:
        """The training rows that a finished job leaves."""
        if isinstance(job, Solving):
            yield job.row(self.shape, policies=not self.selfplay.main_line_policies)
            return
        settings = self.selfplay
        # In Algorithm 2 a resigned game returns before its TD(1) examples are drawn.
        utility = job.utility if settings.td1_resigned or not job.resigned else None
        for visit in job.visits:
            sampled = settings.td1 > 0 and utility is not None and rng.random() < settings.td1
            # Policy and outcome are drawn apart: a main-line row without an outcome trains the policy only.
            if sampled or settings.main_line_policies:
                outcome = (visit.pair, utility) if sampled and utility is not None else None
                yield visit_row(job.public, visit.node, visit.ranges, visit.policy, outcome, self.shape)
