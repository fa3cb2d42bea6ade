"""AlphaZero's self-play: MCTS games whose visit counts and outcomes become training rows; it trains nothing.

AlphaZero (Science 2018), "Methods" and pseudocode; resignation as in AlphaGo Zero (Nature 2017), "Self-play".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sog.algorithms.boards.game import Visit
from sog.algorithms.boards.rows import game_rows
from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import TERMINAL, Game
from sog.nets.shape import NetworkShape
from sog.play.referee import Referee, World
from sog.searches.leaves.drive import drive
from sog.searches.leaves.evaluator import Evaluator, SearchGenerator
from sog.searches.mcts.search import PuctSettings, PuctTree, search
from sog.searches.tree.public_tree import PublicTree
from sog.training.replay import Rows, join_rows
from sog.training.settings import Harvest

__all__ = ["AlphaZeroActing", "AlphaZeroActor", "SelfPlayGame", "choose"]

# While a game's public tree has no more nodes than this, all games share it; then each has its own, to save memory.
_SHARED = 20_000


@dataclass(frozen=True)
class AlphaZeroActing:
    """How AlphaZero acts.

    simulations: new ones a move, on top of what the last move's tree holds.  sampled_moves: so many moves of a game are
    drawn in proportion to the visits, the later ones are the most visited.  moves_max: a game cut short there counts as
    a draw; 0 for never.  resign_below: value, as a share of u_max, at which a player gives up (-1 or less: never).
    no_resign: the share of games played to the end all the same.  reuse: keep the tree from move to move.
    side_by_side: games at once, their leaf batches joined.
    """

    simulations: int = 100
    search: PuctSettings = field(default_factory=lambda: PuctSettings(noise=0.25))
    sampled_moves: int = 30
    moves_max: int = 0
    resign_below: float = -2.0
    no_resign: float = 0.1
    reuse: bool = True
    side_by_side: int = 64

    def __post_init__(self) -> None:
        for name in ("simulations", "side_by_side"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name} must be positive, not {getattr(self, name)}")

    def make(self, game: Game, shape: NetworkShape) -> AlphaZeroActor:
        """An actor whose rows fit networks of this shape; SettingError for a game with hidden information."""
        return AlphaZeroActor(game, shape, self)


class SelfPlayGame:
    """One self-play game: drive `steps()`, then read the rest.

    number: among the games of a round.  visits: the states played through; a policy target is the share of the search's
    visits.  utility: player 0's.  resigned: nobody saw the end.
    """

    def __init__(self, public: PublicTree, acting: AlphaZeroActing, rng: np.random.Generator, number: int = 0) -> None:
        self.public, self.acting, self.rng, self.number = public, acting, rng, number
        self.visits: list[Visit] = []
        self.utility, self.resigned = 0.0, False

    def steps(self) -> SearchGenerator:
        """The game, as a generator of leaf beliefs."""
        public, acting, rng = self.public, self.acting, self.rng
        referee = Referee(public)
        world = referee.deal(rng)
        tree: PuctTree | None = None
        may_resign = rng.random() >= acting.no_resign
        while referee.actor(world) != TERMINAL:
            if acting.moves_max and len(self.visits) >= acting.moves_max:
                return
            tree = _tree_at(public, tree if acting.reuse else None, world)
            yield from search(tree, acting.simulations, acting.search, rng)
            tried, value, player = tree.visits(), tree.value() / public.game.u_max, referee.actor(world)
            self.visits.append(Visit(world.node, tried / tried.sum(), value, 0.0, grown=True))
            if may_resign and (value if player == 0 else -value) < acting.resign_below:
                self.utility, self.resigned = public.game.u_max * (-1.0 if player == 0 else 1.0), True
                return
            world = referee.act(world, choose(tried, len(self.visits) <= acting.sampled_moves, rng), rng)
        self.utility = referee.utility(world)


class AlphaZeroActor:
    """Plays games side by side on one core, all their leaf batches joined."""

    def __init__(self, game: Game, shape: NetworkShape, acting: AlphaZeroActing) -> None:
        if not game.perfect_information:
            raise SettingError(f"AlphaZero learns games of perfect information only, not {game.name}")
        self.game, self.shape, self.acting = game, shape, acting
        self.shared: PublicTree | None = PublicTree(game)

    def round(self, games: int, evaluator: Evaluator, rng: np.random.Generator, number: int = 0) -> Harvest:
        """Play so many games; each has a generator of its own, so that it does not depend on the others."""
        if self.shared is not None and self.shared.size > _SHARED:
            self.shared = None
        seeds = rng.integers(2**62, size=games)
        rows: dict[int, Rows] = {}

        def begun() -> Iterator[SelfPlayGame]:
            for k, seed in enumerate(seeds):
                yield SelfPlayGame(self.shared or PublicTree(self.game), self.acting, np.random.default_rng(seed), k)

        for game in drive(begun(), evaluator, self.acting.side_by_side):
            rows[game.number] = game_rows(game.public, game.visits, game.utility, self.shape, share=0.0)
        joined = join_rows([rows[k] for k in range(games)], self.shape)
        return Harvest(joined, games, len(joined), 0)


def _tree_at(public: PublicTree, tree: PuctTree | None, world: World) -> PuctTree:
    """The tree of the last move from the current state on, or a new one."""
    if tree is None:
        return PuctTree(public, world.node)
    tree.advance(world.node)
    return tree


def choose(visits: Float64, sampled: bool, rng: np.random.Generator) -> int:
    """A column drawn in proportion to the visits, or the most visited one."""
    if sampled:
        return int(rng.choice(len(visits), p=visits / visits.sum()))
    return int(visits.argmax())
