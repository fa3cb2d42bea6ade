"""Student of Games' actor: plays self-play games, solves their queries and hands back training rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np

from sog.errors import GameError
from sog.games.base import Game
from sog.nets.cvpn import NetworkShape
from sog.search.leaves.drive import drive
from sog.search.leaves.evaluator import Beliefs, Evaluations, Evaluator
from sog.search.tree.public_tree import PublicTree
from sog.train.replay import Rows
from sog.train.settings import Harvest
from sog.train.sog.queries import Query, QuerySettings, Solving, outcome_row, policy_row, stack
from sog.train.sog.selfplay import GameRecord, SelfPlaySettings, play_game

__all__ = ["LISTED", "SogActing", "SogActor", "listed_tree"]

# Games with no more public states than this are listed once and their tree shared by all searches.
LISTED = 200_000


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

    def round(self, games: int, evaluator: Evaluator, rng: np.random.Generator) -> Harvest:
        """Play so many games and solve every query that comes of them."""
        public = self.public or PublicTree(self.game)
        records: list[GameRecord] = []
        waiting: list[Query] = []
        rows: list[Rows] = []

        def jobs() -> Iterator[tuple[GameRecord | Solving, Generator[Beliefs, Evaluations, None]]]:
            while waiting or len(records) < games:
                if waiting:
                    solving = Solving(public, waiting.pop(), self.queries, rng)
                    yield solving, solving.steps()
                else:
                    record = GameRecord([], [])
                    records.append(record)
                    yield record, play_game(public, self.selfplay, rng, record)

        solved = 0
        while waiting or len(records) < games:
            for job in drive(jobs(), evaluator, self.width):
                if isinstance(job, Solving):
                    rows.append(job.row(self.shape, policies=not self.selfplay.main_line_policies))
                    waiting.extend(job.followers())
                    solved += 1
                else:
                    rows.extend(self._main_line(public, job, rng))
                    waiting.extend(job.queries)
        searches = sum(len(record.visits) for record in records)
        return Harvest(stack(rows, self.shape), len(records), searches, solved)

    def _main_line(self, public: PublicTree, record: GameRecord, rng: np.random.Generator) -> Iterator[Rows]:
        """Rows from the states that a game visited."""
        for visit in record.visits:
            if self.selfplay.main_line_policies:
                yield policy_row(public, visit.node, visit.ranges, visit.policy, self.shape)
            if self.selfplay.td1 and record.utility is not None and rng.random() < self.selfplay.td1:
                yield outcome_row(public, visit.node, visit.ranges, visit.pair, record.utility, self.shape)


def listed_tree(game: Game) -> PublicTree | None:
    """The whole public tree of a small game, None for a large one, such as every game of planes."""
    if game.planes is not None:
        return None
    try:
        return PublicTree(game, LISTED).list_all()
    except GameError:
        return None
