"""Queries: beliefs that a search evaluated, solved more closely to become training rows (PoG, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sog.arrays import Float64
from sog.errors import check_not_negative, check_share
from sog.games.base import NATURE
from sog.nets.encode import encode
from sog.nets.shape import NetworkShape
from sog.play.resolver import derive_generator
from sog.play.tally import PLAYED
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import SearchLog, search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.evaluator import Beliefs, SearchGenerator
from sog.searches.tree.public_tree import PublicTree
from sog.training.rows import Rows, blank_rows, take_baseline, write_policy, write_values

__all__ = ["PairOutcome", "Query", "QuerySettings", "Solving", "encoded", "query_log", "visit_row"]


@dataclass(frozen=True, eq=False)
class Query:
    """A node of a public tree and both ranges by slot, float64[S0 + S1]."""

    public: PublicTree
    node: int
    ranges: Float64


@dataclass(frozen=True)
class QuerySettings:
    """How queries are solved.

    recursive: q_recursive, new queries per solved one, on average.
    uniform_recursive: a solved query's new ones are drawn uniformly from all its leaf evaluations (see `query_log`).
    exact_iterations: DCFR iterations with which the spot solver solves hold'em's queries on the river and before the
    river card; 0: they are searched as all others.
    past_exact: self-play continues past the states whose queries the spot solver would solve.
    outcomes: how many flops or turn cards are drawn to value a query of hold'em before that card; 0: it is searched.
    searched: the share of all other queries that are solved.
    """

    budget: Budget
    search: SearchSettings
    recursive: float = 0.2
    uniform_recursive: bool = False
    exact_iterations: int = 0
    past_exact: bool = False
    outcomes: int = 0
    searched: float = 1.0

    def __post_init__(self) -> None:
        check_share("searched", self.searched)
        for name in ("recursive", "exact_iterations", "outcomes"):
            check_not_negative(name, getattr(self, name))


class Solving:
    """One query being solved: a root solve, both ranges fixed and no gadget. Drive `steps()`, then read the rest."""

    def __init__(self, query: Query, settings: QuerySettings, rng: np.random.Generator) -> None:
        self.query, self.settings = query, settings
        self.log = query_log(settings.recursive, settings.uniform_recursive, settings.budget, rng)
        public = query.public
        # No gadget: a query asks for values at fixed beliefs of both players (PoG, Appendix E).
        self.tree = Lookahead(public, query.node, public.ranges_of_slots(query.node, query.ranges))
        self.rng = derive_generator(int(rng.integers(2**62)), 0, query.node)

    def steps(self) -> SearchGenerator:
        """The search, as a generator of leaf beliefs."""
        yield from search(self.tree, 0, self.settings.budget, self.settings.search, self.rng, log=self.log)
        PLAYED.add(queries=1)

    def followers(self) -> list[Query]:
        """The recursive queries that this search left."""
        return [Query(self.query.public, node, ranges) for node, ranges in self.log.picked]

    def row(self, shape: NetworkShape, policies: bool) -> Rows:
        """The training row: both players' search values and, if wanted, the actor's average policy."""
        tree, public, node = self.tree, self.tree.public, self.query.node
        row = encoded(self.query, shape)
        # Means over iterations (Lookahead.values), at the query's belief.
        write_values(row, 0, public, node, tree.values(0), tree.range_sums(0))
        if policies and public.actor(node) < NATURE:
            tree.update_average_policy()
            write_policy(row, 0, public, node, tree.policy(0))
        return row


class PairOutcome(NamedTuple):
    """How a game went on from a state.  pair: the infostates that met there.  utility: player 0's at the end."""

    pair: tuple[int, int]
    utility: float


def visit_row(
    public: PublicTree,
    node: int,
    ranges: Float64,
    policy: Float64,
    outcome: PairOutcome | None,
    shape: NetworkShape,
) -> Rows:
    """A state that self-play went through: its search's policy, float64[A, I], and, of a TD(1) example, the outcome.

    outcome: only its pair's values are trained.
    """
    row = encoded(Query(public, node, ranges), shape)
    write_policy(row, 0, public, node, policy)
    if outcome is not None:
        # One pair was dealt: one infostate of each player gets the outcome, all others are masked.
        for p, sign in ((0, 1.0), (1, -1.0)):
            at = public.places_of(node, p)[outcome.pair[p]]
            row.values[0, at] = sign * outcome.utility / public.value_unit(node)
            row.value_mask[0, at] = 1.0
        take_baseline(row, 0, public, node, ranges)
    return row


def encoded(query: Query, shape: NetworkShape) -> Rows:
    """A row with the query's belief as the network sees it, and no targets yet."""
    row = blank_rows(shape, 1)
    beliefs = Beliefs(query.public, np.array([query.node], dtype=np.int32), query.ranges[None, :])
    row.inputs[:] = encode(beliefs, shape.crossed, shape.matchups)
    return row


def query_log(rate: float, uniform: bool, budget: Budget, rng: np.random.Generator) -> SearchLog:
    """The log of a search that leaves `rate` queries on average.

    uniform: drawn uniformly from all its leaf evaluations (PoG, Algorithm 2); otherwise an iteration is drawn and then
    one of its leaves, so that leaves of a small tree, near the search's root, are drawn more often.
    """
    # The whole part always, one more with the chance of the rest: `rate` on average.
    count = int(rate) + int(rng.random() < rate - int(rate))
    if uniform:
        return SearchLog(uniform=count)
    updates = budget.rounds * budget.updates
    return SearchLog(frozenset(int(t) for t in rng.choice(updates, size=min(count, updates), replace=False)))
