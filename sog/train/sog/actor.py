"""Student of Games' actor: plays self-play games, solves their queries and hands back training rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sog.errors import GameError
from sog.games.base import Game
from sog.nets.cvpn import NetworkShape
from sog.search.leaves.drive import drive
from sog.search.leaves.evaluator import Evaluator
from sog.search.tree.public_tree import PublicTree
from sog.search.tree.whole import whole_tree
from sog.train.replay import Rows
from sog.train.settings import Harvest
from sog.train.sog.queries import Query, QuerySettings, Solving, outcome_row, policy_row, stack
from sog.train.sog.selfplay import SelfPlayGame, SelfPlaySettings

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
        begun: list[SelfPlayGame] = []
        waiting: list[Query] = []
        rows: list[Rows] = []

        def jobs() -> Iterator[SelfPlayGame | Solving]:
            while waiting or len(begun) < games:
                if waiting:
                    yield Solving(public, waiting.pop(), self.queries, rng)
                else:
                    begun.append(SelfPlayGame(public, self.selfplay, rng))
                    yield begun[-1]

        solved = 0
        while waiting or len(begun) < games:
            for job in drive(jobs(), evaluator, self.width):
                if isinstance(job, Solving):
                    rows.append(job.row(self.shape, policies=not self.selfplay.main_line_policies))
                    waiting.extend(job.followers())
                    solved += 1
                else:
                    rows.extend(self._main_line(public, job, rng))
                    waiting.extend(job.queries)
        searches = sum(len(game.visits) for game in begun)
        return Harvest(stack(rows, self.shape), len(begun), searches, solved)

    def _main_line(self, public: PublicTree, game: SelfPlayGame, rng: np.random.Generator) -> Iterator[Rows]:
        """Rows from the states that a game visited."""
        for visit in game.visits:
            if self.selfplay.main_line_policies:
                yield policy_row(public, visit.node, visit.ranges, visit.policy, self.shape)
            if self.selfplay.td1 and game.utility is not None and rng.random() < self.selfplay.td1:
                yield outcome_row(public, visit.node, visit.ranges, visit.pair, game.utility, self.shape)


def listed_tree(game: Game) -> PublicTree | None:
    """The whole public tree of a small game, None for a large one, such as every game of planes."""
    if game.planes is not None:
        return None
    try:
        return whole_tree(game, LISTED)
    except GameError:
        return None
