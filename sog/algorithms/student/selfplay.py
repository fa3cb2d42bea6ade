"""Sound self-play: games in which each player re-solves with its own chain of searches (PoG, Algorithm 2).

In games of perfect information the position itself is searched, for both players alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sog.algorithms.student.queries import Query, query_log
from sog.arrays import Float64
from sog.errors import check_not_negative, check_share
from sog.play.position import PositionSearch
from sog.play.referee import World
from sog.play.resolver import ResolveSettings, Resolving, Solved, derive_generator
from sog.play.selfplay import MoveSearch, SelfPlayGame, check_early_end, pick_action
from sog.searches.gtcfr.search import SearchLog
from sog.searches.tree.public_tree import PublicTree

__all__ = ["SelfPlaySettings", "SogGame", "StateVisit", "choose"]


@dataclass(frozen=True)
class SelfPlaySettings:
    """How games of self-play are played (PoG, Table 3).

    queries: q_search, the queries that a search leaves on average.  uniform_queries: queries are drawn uniformly from
    all leaf evaluations of a search; otherwise an iteration is drawn first (see `query_log`).
    uniform_mix: epsilon, the share of the uniform policy in the policy that self-play draws actions from.
    td1: p_td1, the chance that a played state becomes a TD(1) example.
    main_line_policies: policy targets come from the main line's searches (SoG, "Computing training targets") instead of
    the solved queries and the TD(1) examples (PoG, Algorithm 2).
    greedy_after: moves of a game after which the best action is played; 0 for never.
    moves_max: moves after which a game is cut short; 0 for never.
    resign_below: value, as a share of u_max, at which a player gives up (-1 or less: never).
    no_resign: the share of games that are played to the end all the same.
    td1_resigned: resigned games leave TD(1) examples too, as lost games; in Algorithm 2 they leave none.
    resolve_positions: re-solve in games of perfect information too, as the papers do, instead of searching the position
    itself.
    reuse: where the position itself is searched, keep the tree from move to move (PoG, B.5, begins anew).
    """

    resolve: ResolveSettings
    queries: float = 1.0
    uniform_queries: bool = False
    uniform_mix: float = 0.1
    td1: float = 0.0
    main_line_policies: bool = False
    greedy_after: int = 0
    moves_max: int = 0
    resign_below: float = -2.0
    no_resign: float = 0.2
    td1_resigned: bool = True
    resolve_positions: bool = False
    reuse: bool = True

    def __post_init__(self) -> None:
        for name in ("uniform_mix", "td1"):
            check_share(name, getattr(self, name))
        for name in ("queries", "greedy_after"):
            check_not_negative(name, getattr(self, name))
        check_early_end(self)


@dataclass(frozen=True, eq=False)
class StateVisit:
    """A state played through: the belief there, the policy found and the infostates of the world.

    grown: whether the search grew its budget or its whole subgame.
    """

    node: int
    ranges: Float64  # float64[S0 + S1], by slot
    policy: Float64  # float64[A, I]
    pair: tuple[int, int]
    grown: bool


# PoG, Algorithm 2, and where each part of it is:
#
#   SelfPlay                    play/selfplay.SelfPlayGame.steps: resignation, moves_max, one search a move
#     pi_selfplay = (1 - epsilon) pi_controller + epsilon pi_uniform       choose
#     TD(1) examples            student/actor.SogActor.rows_of, queries.visit_row
#   PogSelfPlayController       SogGame.search
#   Training-GT-CFR             gtcfr/search.search with a log (queries.query_log): q_search queries on average
#   Query Solver                queries.Solving, with q_recursive queries; driven by SogActor.finished
class SogGame(SelfPlayGame):
    """One game of Student of Games' self-play.

    visits: the states played through.  queries: left by its searches.
    """

    def __init__(
        self,
        public: PublicTree,
        settings: SelfPlaySettings,
        rng: np.random.Generator,
        ends: Callable[[PublicTree, int], bool] | None = None,
    ) -> None:
        """ends: whether the game is cut short at a public node, since no search is needed from there on."""
        super().__init__(public, settings, rng)
        self.settings, self._ends = settings, ends
        self.visits: list[StateVisit] = []
        self.queries: list[Query] = []
        self._chains: list[Solved | None] = [None, None]  # each player's last search
        self._last: Solved | None = None  # the last one of all

    def is_cut(self, world: World) -> bool:
        return self._ends is not None and self._ends(self.public, world.node)

    def search(self, world: World, mover: int) -> MoveSearch:
        settings, rng = self.settings, self.rng
        log = query_log(settings.queries, settings.uniform_queries, settings.resolve.budget, rng)
        searching = self._search(mover, world.node, _seed(rng), log)
        yield from searching.steps()
        solved = self._chains[mover] = self._last = searching.solved()
        # The log kept them while the search ran; they are solved after this game's end.
        self.queries.extend(Query(self.public, node, ranges) for node, ranges in log.picked)
        self.visits.append(_visit(solved, world, log.grown))
        # The mover's value with its own infostate: a player resigns by what it can know.
        return float(solved.root_values()[mover][world.pair[mover]]) / self.public.game.u_max

    def choose(self, world: World, moves: int) -> int:
        policy = self.visits[-1].policy[:, world.pair[self.referee.actor(world)]]
        return choose(policy, self.referee.legal(world), self.settings, moves, self.rng)

    def _search(self, player: int, node: int, seed: int, log: SearchLog) -> Resolving | PositionSearch:
        """The search that chooses a player's move at a public node."""
        public, settings, resolve = self.public, self.settings, self.settings.resolve
        if settings.resolve_positions or not public.game.perfect_information:
            return Resolving(public, player, node, self._chains[player], resolve, seed, log)
        # The last tree of all: in perfect information both players search the same game.
        tree = self._last.tree if self._last is not None and settings.reuse else None
        rng = derive_generator(seed, player, node)
        return PositionSearch(public, node, tree, resolve.budget, resolve.search, rng, log)


def choose(policy: Float64, legal: list[int], settings: SelfPlaySettings, moves: int, rng: np.random.Generator) -> int:
    """A legal column drawn from the policy mixed with uniform play, or its best one late in the game."""
    mixed = np.zeros(len(policy))
    # pi_selfplay = (1 - epsilon) * pi_controller + epsilon * pi_uniform, over legal columns alone.
    mixed[legal] = (1.0 - settings.uniform_mix) * policy[legal] + settings.uniform_mix / len(legal)
    drawn = not settings.greedy_after or moves <= settings.greedy_after
    return pick_action(mixed / mixed.sum(), drawn, rng)


def _visit(solved: Solved, world: World, grown: bool) -> StateVisit:
    tree = solved.tree
    # The belief that the search's values and policy are of: ranges summed over its iterations.
    ranges = tree.public.ranges_by_slot(world.node, tree.range_sums(solved.start))
    return StateVisit(world.node, ranges, solved.policy(), world.pair, grown)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))
