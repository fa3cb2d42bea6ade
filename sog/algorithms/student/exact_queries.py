"""Queries of hold'em that the spot solver answers exactly: on the river, and where the river card comes.

Such a subgame is small enough to be solved to its end, ten to twenty times cheaper than a search of it.
"""

from __future__ import annotations

from sog.algorithms.student.queries import Query, encoded
from sog.arrays import Float64
from sog.games.holdem.game import Holdem, HoldemState
from sog.nets.shape import NetworkShape
from sog.play.tally import PLAYED
from sog.searches.holdem.exact_values import SpotBelief, exact_values
from sog.searches.leaves.evaluator import SearchGenerator
from sog.training.rows import Rows, write_values

__all__ = ["ExactSolving"]


class ExactSolving:
    """One query solved to the game's end. Drive `steps()`, which asks for nothing, then read `row`."""

    def __init__(self, query: Query, iterations: int) -> None:
        """iterations: of DCFR."""
        self.query, self.iterations = query, iterations
        self._values: Float64 | None = None

    def steps(self) -> SearchGenerator:
        """The solve, as a generator of no leaf beliefs."""
        query = self.query
        public, state = query.public, query.public.states[query.node]
        assert isinstance(public.game, Holdem) and isinstance(state, HoldemState)
        belief = SpotBelief(state, public.ranges_of_slots(query.node, query.ranges))
        self._values = exact_values(public.game, [belief], self.iterations)[0]
        PLAYED.add(queries=1)
        yield from ()

    def followers(self) -> list[Query]:
        """None: nothing was searched."""
        return []

    def row(self, shape: NetworkShape, policies: bool) -> Rows:
        """The training row: both players' exact values; no policy."""
        assert self._values is not None
        query, public = self.query, self.query.public
        row = encoded(query, shape)
        ranges = public.ranges_of_slots(query.node, query.ranges)
        write_values(row, 0, public, query.node, (self._values[0], self._values[1]), ranges)
        return row
