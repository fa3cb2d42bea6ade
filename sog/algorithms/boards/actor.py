"""The actor of self-play on boards: games side by side, their queries, and the rows of both; it trains nothing.

Student of Games and AlphaZero share it and differ in the search alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sog.algorithms.boards.game import BoardGame, BoardPlay, QuerySolve
from sog.algorithms.boards.openings import drawn_game, names_starts
from sog.algorithms.boards.rows import add_owners, game_rows, repeats
from sog.errors import SettingError
from sog.games.base import Game
from sog.nets.shape import NetworkShape
from sog.searches.leaves.drive import drive_with_followers
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training.packing import PackedRows, join_packed, pack_all
from sog.training.rows import Rows
from sog.training.settings import Harvest

__all__ = ["BoardActing", "BoardActor"]


@dataclass(frozen=True)
class BoardActing:
    """How board games are played and turned into rows.

    value_share: the share of the search's value in a position's value target; the rest is the game's outcome.
    discount: the factor of the game's outcome for each move up to its end (rows.value_targets).
    surprise: the share of a row's weight that depends on how much the search changed its policy (rows.repeats).
    side_by_side: games played at once, with one call of the network for all.
    """

    play: BoardPlay
    value_share: float = 0.5
    discount: float = 1.0
    surprise: float = 0.0
    side_by_side: int = 64

    def __post_init__(self) -> None:
        if not (0.0 <= self.value_share <= 1.0 and 0.0 <= self.surprise <= 1.0):
            raise SettingError(f"value_share and surprise are shares, not {self.value_share} and {self.surprise}")
        if not 0.0 < self.discount <= 1.0:
            raise SettingError(f"discount lies above 0 and is at most 1, not {self.discount}")
        if self.side_by_side < 1:
            raise SettingError(f"side_by_side must be positive, not {self.side_by_side}")

    def make(self, game: Game, shape: NetworkShape) -> BoardActor:
        """An actor whose rows fit networks of this shape; SettingError for a game with hidden information."""
        return BoardActor(game, shape, self)


class BoardActor:
    """Plays games side by side on one core, all their leaf batches joined."""

    def __init__(self, game: Game, shape: NetworkShape, acting: BoardActing) -> None:
        if not game.perfect_information:
            raise SettingError(f"boards are for games of perfect information, not {game.name}")
        self.game, self.shape, self.acting = game, shape, acting
        if acting.play.starts and not names_starts(game):
            raise SettingError(f"{game.name} names no positions for self-play to begin from")

    def round(self, games: int, evaluator: Evaluator, rng: np.random.Generator, number: int = 0) -> Harvest:
        """Play this many games of round `number`, and search their queries."""
        rows: dict[tuple[int, int], PackedRows] = {}
        searches = queries = 0
        for job in self.finished(games, evaluator, rng, number):
            rows[job.number] = pack_all(self.shape, self.rows_of(job, job.rng))
            queries += isinstance(job, QuerySolve)
            searches += len(job.visits) if isinstance(job, BoardGame) else 0
        # In the order of jobs, not in that in which they ended.
        return Harvest(join_packed([rows[key] for key in sorted(rows)]), games, searches, queries)

    def finished(
        self, games: int, evaluator: Evaluator, rng: np.random.Generator, number: int = 0
    ) -> Iterator[BoardGame | QuerySolve]:
        """A round's games and their queries, each as it ends.

        Every job has a generator of its own, so that it does not depend on the others.
        """
        seeds = rng.integers(2**62, size=games)
        begun: Iterator[BoardGame | QuerySolve] = (
            self._game(k, np.random.default_rng(seed), number) for k, seed in enumerate(seeds)
        )

        def queries(job: BoardGame | QuerySolve) -> Sequence[Callable[[], BoardGame | QuerySolve]]:
            return job.followers() if isinstance(job, BoardGame) else ()

        yield from drive_with_followers(begun, queries, evaluator, self.acting.side_by_side)

    def _game(self, k: int, rng: np.random.Generator, number: int) -> BoardGame:
        """The k-th game of round `number`."""
        play = self.acting.play
        game, named = drawn_game(self.game, play.starts, rng)
        return BoardGame(PublicTree(game), play.from_start() if named else play, number, rng, (k, 0))

    def rows_of(self, job: BoardGame | QuerySolve, rng: np.random.Generator) -> list[Rows]:
        """The training rows that a finished job leaves.  rng draws which are repeated."""
        if isinstance(job, QuerySolve):
            return [game_rows(job.public, [job.visit], None, self.shape)]
        if not job.visits:
            return []
        acting = self.acting
        rows = game_rows(job.public, job.visits, job.utility, self.shape, acting.value_share, acting.discount)
        add_owners(rows, job.public, job.final)
        return [rows.take(repeats(job.visits, acting.surprise, rng)) if acting.surprise else rows]
