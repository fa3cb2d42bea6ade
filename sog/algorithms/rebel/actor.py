"""ReBeL's actor: chains of subgames down to random leaves, each a training row (ReBeL, Algorithms 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from sog.algorithms.rebel.agent import PublicBelief, sample_iterations, start_position
from sog.algorithms.rebel.leaf_sampling import sample_leaf
from sog.arrays import Float64
from sog.errors import SettingError, TooLarge, check_not_negative, check_share
from sog.games.base import Game
from sog.games.holdem.game import Holdem
from sog.nets.encode import encode
from sog.nets.shape import NetworkShape
from sog.nets.values import values_of
from sog.play.tally import PLAYED
from sog.play.turn_chain import public_state
from sog.searches.depth_limited.batching import Layouts
from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.holdem.exact_values import SpotBelief, exact_values, is_exact, is_settled
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluator, SearchGenerator, drop_if_over
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import listed_tree
from sog.training.packing import PackedRows, join_packed, pack
from sog.training.rows import Rows, blank_rows, write_policy, write_values
from sog.training.settings import Harvest

__all__ = ["Generating", "RebelActing", "RebelActor"]

_SOLVED_AT_ONCE: Final = 4  # beliefs of hold'em, for about a second


@dataclass(frozen=True)
class RebelActing:
    """How ReBeL generates training rows.

    epsilon: one player of each game explores with this probability at each action.  side_by_side: subgames solved at
    once.  share: subgames of a round with equal ranges (the root above all) are solved once and leave one row.
    games_a_draw: games played with each stack, board and bet sizes that a family of games draws.
    exact: DCFR iterations with which the spot solver solves hold'em's beliefs on the river and before the river card,
    where a game then ends; 0: they are solved like all others.
    random_beliefs: games go to leaves with ranges of independent uniform weights, and not with those of the solve
    (ReBeL, Fig. 2, "Random Beliefs").
    """

    solve: SolveSettings = field(default_factory=SolveSettings)
    epsilon: float = 0.25
    side_by_side: int = 64
    share: bool = True
    games_a_draw: int = 1
    exact: int = 0
    random_beliefs: bool = False

    def __post_init__(self) -> None:
        if self.games_a_draw < 1 or self.side_by_side < 1:
            raise SettingError("games_a_draw and side_by_side are at least 1")
        check_share("epsilon", self.epsilon)
        check_not_negative("exact", self.exact)

    def make(self, game: Game, shape: NetworkShape) -> RebelActor:
        """An actor whose rows fit networks of this shape; SettingError for a setting that means nothing in the game."""
        if self.exact and not isinstance(game, Holdem):
            raise SettingError(f"exact is for hold'em, whose rivers the spot solver solves, not for {game.name}")
        if self.games_a_draw > 1 and not game.draws:
            raise SettingError(f"games_a_draw is for families of games, and {game.name} is one game")
        return RebelActor(game, shape, self)


# ReBeL, Algorithm 1 (and 2), and where each line of it is:
#
#   while beta_r is not terminal                    RebelActor.round: `waiting` holds the games' beliefs beta_r
#     G = ConstructSubgame(beta_r)                  depth_limited/subgames.Subgames
#     pi, t_warm = InitializePolicy                 depth_limited/warm_start
#     t_sample ~ unif or linear {t_warm + 1, T}     rebel/agent.sample_iterations: by the averages' weights
#     for t = t_warm + 1 .. T                       depth_limited/solve.solve
#       if t = t_sample: beta' = SampleLeaf(G, pi)  Generating._visit, leaf_sampling.sample_leaf
#       UpdatePolicy, SetLeafValues, v(beta_r)      depth_limited/turns.advance, Subgames.root_values
#     add {beta_r, v(beta_r)} to D_v                Generating.rows
#     add {beta, pi(beta)} to D_pi                  Generating.policy_rows
class RebelActor:
    """Plays games level by level on one core: all subgames of a level are solved side by side."""

    def __init__(self, game: Game, shape: NetworkShape, acting: RebelActing) -> None:
        self.game, self.shape, self.acting = game, shape, acting
        self.public = listed_tree(game)

    def round(self, games: int, evaluator: Evaluator, rng: np.random.Generator, number: int = 0) -> Harvest:
        """Play this many games, each from the root to its end."""
        values = values_of(evaluator, self.acting.solve.warm > 0, self.acting.solve.pairs)
        rows: list[PackedRows] = []
        if not self.game.draws:
            solves = self._play(self.public or PublicTree(self.game), games, values, rng, rows)
        else:
            most = self.acting.games_a_draw
            counts = [min(most, games - begun) for begun in range(0, games, most)]
            solves = sum(self._play(PublicTree(self.game.drawn(rng)), count, values, rng, rows) for count in counts)
        return Harvest(join_packed(rows), games, solves, 0)

    def _play(
        self, public: PublicTree, games: int, values: Evaluator, rng: np.random.Generator, rows: list[PackedRows]
    ) -> int:
        """Play this many games on one public tree and add the rows they leave; how many subgames were solved."""
        layouts = Layouts(public, self.acting.solve.depth, self.acting.solve.to_chance)
        waiting, solves = [start_position(public)] * games, 0
        while waiting:
            if self.acting.exact:
                ended = [position for position in waiting if is_exact(public, position.node)]
                waiting = [position for position in waiting if not is_exact(public, position.node)]
                for first in range(0, len(ended), _SOLVED_AT_ONCE):
                    drop_if_over(values)
                    rows.append(pack(self.shape, self._exact_rows(public, ended[first : first + _SOLVED_AT_ONCE])))
                solves += len(ended)
            # Equal beliefs of one level are one subgame, which games leave at iterations of their own.
            groups = _alike(waiting) if self.acting.share else [(position, 1) for position in waiting]
            waiting = []
            for start in range(0, len(groups), self.acting.side_by_side):
                group = groups[start : start + self.acting.side_by_side]
                solving = Generating(public, group, self.acting, rng, layouts)
                run(solving, values)
                rows.append(pack(self.shape, solving.rows(self.shape)))
                if self.acting.solve.warm:
                    rows.append(pack(self.shape, solving.policy_rows(self.shape)))
                leaves = solving.leaves
                waiting += self._randomised(public, leaves, rng) if self.acting.random_beliefs else leaves
                solves += len(group)
        return solves

    def _exact_rows(self, public: PublicTree, positions: list[PublicBelief]) -> Rows:
        """Rows of hold'em's positions that the spot solver solves; none of those where nothing can be bet any more."""
        game, open_ones = public.game, [p for p in positions if not is_settled(public, p.node)]
        if not open_ones:
            return blank_rows(self.shape, 0)
        assert isinstance(game, Holdem)
        beliefs = [
            SpotBelief(public_state(public, p.node), public.ranges_of_slots(p.node, p.ranges)) for p in open_ones
        ]
        PLAYED.add(queries=len(open_ones))
        solved = exact_values(game, beliefs, self.acting.exact)
        return _value_rows(public, open_ones, [(zero, one) for zero, one in solved], self.shape)

    def _randomised(
        self, public: PublicTree, positions: list[PublicBelief], rng: np.random.Generator
    ) -> list[PublicBelief]:
        """The same public states with independent uniform weights for the infostates that are possible there."""
        out = []
        for position in positions:
            counts = public.num_infostates(position.node)
            masses = public.masses(position.node, np.ones(counts[0]), np.ones(counts[1]))
            # An infostate that meets no other is impossible.
            zero, one = (rng.random(count) * (mass > 0) for count, mass in zip(counts, masses, strict=True))
            out.append(PublicBelief(position.node, public.ranges_by_slot(position.node, (zero, one))))
        return out


def _alike(positions: list[PublicBelief]) -> list[tuple[PublicBelief, int]]:
    """Positions with equal node and ranges taken together, each with their number, in order of first sight."""
    out: dict[tuple[int, bytes], tuple[PublicBelief, int]] = {}
    for position in positions:
        key = position.node, position.ranges.tobytes()
        out[key] = position, out.get(key, (position, 0))[1] + 1
    return list(out.values())


def _value_rows(
    public: PublicTree, positions: list[PublicBelief], values: list[tuple[Float64, Float64]], shape: NetworkShape
) -> Rows:
    """A row for each position: both players' values there, conditional on the infostate, in utilities."""
    nodes = np.array([position.node for position in positions], dtype=np.int32)
    ranges = np.array([position.ranges for position in positions])
    rows = blank_rows(shape, len(nodes))
    rows.inputs[:] = encode(Beliefs(public, nodes, ranges), shape.crossed, shape.matchups)
    for k, (position, pair) in enumerate(zip(positions, values, strict=True)):
        believed = public.ranges_of_slots(position.node, position.ranges)
        write_values(rows, k, public, position.node, pair, believed)
    return rows


class Generating:
    """Subgames side by side, each left at random iterations: drive `steps()`, then read the rest.

    leaves: the positions of games that continue.  leaving: by iteration, the subgame of each game that leaves at it.
    """

    def __init__(
        self,
        public: PublicTree,
        groups: list[tuple[PublicBelief, int]],
        acting: RebelActing,
        rng: np.random.Generator,
        layouts: Layouts | None = None,
    ) -> None:
        """groups: [K] positions, and how many games are at each.  layouts: see Subgames.

        Raises TooLarge at a chance event too large to list.
        """
        self.public, self.acting, self.rng = public, acting, rng
        self.positions = [position for position, _ in groups]
        roots = [(position.node, position.ranges) for position in self.positions]
        self.games = Subgames(public, roots, acting.solve.depth, acting.solve.to_chance, layouts)
        if any(self.games.tree.is_leaf(int(root)) for root in self.games.roots):
            raise TooLarge(f"{public.game.name} has a chance event too large to list")
        self.leaves: list[PublicBelief] = []
        self.leaving: dict[int, list[int]] = {}
        # One number for each game: the subgame it leaves.
        leavers = np.repeat(np.arange(len(groups)), [count for _, count in groups])
        for k, t in zip(leavers, sample_iterations(acting.solve, len(leavers), rng), strict=True):
            self.leaving.setdefault(int(t), []).append(int(k))

    def steps(self) -> SearchGenerator:
        """The solve, as a generator of leaf beliefs."""
        yield from solve(self.games, self.acting.solve, self._visit, self.leaving)
        # A game that left its subgame without a leaf has ended.
        PLAYED.add(sum(map(len, self.leaving.values())) - len(self.leaves), searches=len(self.positions))

    def _visit(self, t: int) -> None:
        """The games that leave their subgames at iteration t go to leaves."""
        for k in self.leaving.get(t, ()):
            n = sample_leaf(self.games, k, self.acting.solve.solver, self.acting.epsilon, self.rng)
            # A game that has ended leaves no belief.
            if self.games.tree.is_leaf(n):
                ranges = self.games.reaches(n, mean=self.acting.solve.solver.average)
                self.leaves.append(PublicBelief(self.games.tree.public_node(n), ranges))

    def rows(self, shape: NetworkShape) -> Rows:
        """A row for each subgame: the values at its root, in value units, of infostates that can meet an opponent."""
        values = [self.games.root_values(k) for k in range(len(self.positions))]
        return _value_rows(self.public, self.positions, values, shape)

    def policy_rows(self, shape: NetworkShape) -> Rows:
        """A row for each opened public state: the average policy at the belief that the average policies give."""
        public, tree = self.public, self.games.tree
        # Beliefs of the average policies all the way down, as a warm start will ask for them.
        tree.play_average()
        opened = list(tree.decisions())
        nodes = np.array([tree.public_node(n) for n in opened], dtype=np.int32)
        rows = blank_rows(shape, len(opened))
        ranges = np.array([self.games.reaches(n) for n in opened])
        rows.inputs[:] = encode(Beliefs(public, nodes, ranges), shape.crossed, shape.matchups)
        for k, n in enumerate(opened):
            write_policy(rows, k, public, int(nodes[k]), tree.policy(n))
        return rows
