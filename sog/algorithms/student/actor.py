"""Student of Games' actor: plays self-play games, solves their queries and hands back training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from sog.algorithms.student.chance_queries import ChanceSolving, is_early_chance
from sog.algorithms.student.exact_queries import ExactSolving
from sog.algorithms.student.queries import PairOutcome, Query, QuerySettings, Solving, visit_row
from sog.algorithms.student.selfplay import SelfPlaySettings, SogGame
from sog.errors import SettingError, check_whole
from sog.games.base import Game
from sog.games.holdem.game import Holdem
from sog.nets.shape import NetworkShape
from sog.searches.holdem.exact_values import is_exact, is_settled
from sog.searches.leaves.drive import drive_with_followers
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import listed_tree
from sog.training.packing import pack_all
from sog.training.rows import Rows
from sog.training.settings import Harvest

__all__ = ["SogActing", "SogActor"]


# What an actor drives: a game of self-play, or one of its queries.
Job: TypeAlias = SogGame | Solving | ExactSolving | ChanceSolving


@dataclass(frozen=True)
class SogActing:
    """How Student of Games acts.  side_by_side: games and queries at once, with one call of the network for all."""

    selfplay: SelfPlaySettings
    queries: QuerySettings
    side_by_side: int = 64

    def __post_init__(self) -> None:
        check_whole("side_by_side", self.side_by_side, 1)

    def make(self, game: Game, shape: NetworkShape) -> SogActor:
        """An actor whose rows fit networks of this shape; SettingError for a setting that means nothing in the game."""
        if self.queries.exact_iterations and not isinstance(game, Holdem):
            raise SettingError(f"exact_iterations is for hold'em, whose rivers the spot solver solves, not {game.name}")
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
                solved += not isinstance(job, SogGame)
                searches += len(job.visits) if isinstance(job, SogGame) else 0

        packed = pack_all(self.shape, rows())
        return Harvest(packed, games, searches, solved)

    def finished(self, games: int, evaluator: Evaluator, rng: np.random.Generator) -> Iterator[Job]:
        """A round's games and query solves, each as it ends.

        Where the game is too large to list, each has a public tree of its own, freed with it and its queries.
        """

        def queries(job: Job) -> list[Callable[[], Job]]:
            left = job.queries if isinstance(job, SogGame) else job.followers()
            return [solve for query in left if (solve := self.solving(query, rng)) is not None]

        ends = is_exact if self.queries.exact_iterations and not self.queries.past_exact else None
        begun: Iterator[Job] = (
            SogGame(self.public or PublicTree(self.game.drawn(rng)), self.selfplay, rng, ends) for _ in range(games)
        )
        yield from drive_with_followers(begun, queries, evaluator, self.width)

    def solving(self, query: Query, rng: np.random.Generator) -> Callable[[], Job] | None:
        """What begins a query's solve; None for one that teaches nothing, or is not among those that are searched."""
        settings = self.queries
        if is_settled(query.public, query.node):
            return None
        if settings.exact_iterations and is_exact(query.public, query.node):
            return partial(ExactSolving, query, settings.exact_iterations)
        if settings.searched < 1.0 and rng.random() >= settings.searched:
            return None
        if settings.outcomes and is_early_chance(query.public, query.node):
            return partial(ChanceSolving, query, settings.outcomes, rng)
        return partial(Solving, query, settings, rng)

    def rows_of(self, job: Job, rng: np.random.Generator) -> Iterator[Rows]:
        """The training rows that a finished job leaves."""
        if not isinstance(job, SogGame):
            yield job.row(self.shape, policies=not self.selfplay.main_line_policies)
            return
        settings = self.selfplay
        # In Algorithm 2 a resigned game returns before its TD(1) examples are drawn.
        utility = job.utility if settings.td1_resigned or not job.resigned else None
        for visit in job.visits:
            sampled = settings.td1 > 0 and utility is not None and rng.random() < settings.td1
            # Policy and outcome are drawn apart: a main-line row without an outcome trains the policy only.
            if sampled or settings.main_line_policies:
                outcome = PairOutcome(visit.pair, utility) if sampled and utility is not None else None
                yield visit_row(job.public, visit.node, visit.ranges, visit.policy, outcome, self.shape)
