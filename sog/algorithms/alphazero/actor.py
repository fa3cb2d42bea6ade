"""AlphaZero's self-play: MCTS games whose visit counts and outcomes become training rows.

AlphaZero (Science 2018), "Methods" and pseudocode; resignation as in AlphaGo Zero (Nature 2017), "Self-play".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sog.algorithms.boards.game import PositionVisit
from sog.algorithms.boards.rows import game_rows
from sog.errors import SettingError, check_not_negative
from sog.games.base import Game
from sog.nets.shape import NetworkShape
from sog.play.referee import World
from sog.play.selfplay import MoveSearch, SelfPlayGame, check_early_end, pick_action
from sog.searches.leaves.drive import drive
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.mcts.search import PuctSettings, PuctTree, search
from sog.searches.tree.public_tree import PublicTree
from sog.training.packing import PackedRows, join_packed, pack
from sog.training.settings import Harvest

__all__ = ["AlphaZeroActing", "AlphaZeroActor", "AlphaZeroGame"]

# While a game's public tree has no more nodes than this, all games share it; then each has its own, to save memory.
_SHARED = 20_000


@dataclass(frozen=True)
class AlphaZeroActing:
    """How AlphaZero acts.

    simulations: new simulations a move, besides those that the last move's tree has.
    sampled_moves: the first moves of a game, which are drawn in proportion to the visits; the later ones are the most
    visited.
    moves_max: a game cut short there counts as a draw; 0 for never.
    resign_below: value, as a share of u_max, at which a player gives up (-1 or less: never).
    no_resign: the share of games played to the end all the same.  reuse: keep the tree from move to move.
    side_by_side: games played at once, with one call of the network for all.
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
        check_not_negative("sampled_moves", self.sampled_moves)
        check_early_end(self)

    def make(self, game: Game, shape: NetworkShape) -> AlphaZeroActor:
        """An actor whose rows fit networks of this shape; SettingError for a game with hidden information."""
        return AlphaZeroActor(game, shape, self)


class AlphaZeroGame(SelfPlayGame):
    """One game of AlphaZero's self-play; cut short, it counts as a draw.

    number: among the games of a round.  visits: the positions searched; a policy target is the share of the search's
    visits.
    """

    def __init__(self, public: PublicTree, acting: AlphaZeroActing, rng: np.random.Generator, number: int = 0) -> None:
        super().__init__(public, acting, rng)
        self.acting, self.number = acting, number
        self.utility = 0.0
        self.visits: list[PositionVisit] = []
        self._tree: PuctTree | None = None

    def search(self, world: World, mover: int) -> MoveSearch:
        if self._tree is None or not self.acting.reuse:
            self._tree = PuctTree(self.public, world.node)
        else:
            self._tree.advance(world.node)
        tree = self._tree
        yield from search(tree, self.acting.simulations, self.acting.search, self.rng)
        # pi[a] = n[a] / sum of n: AlphaZero's policy target.
        visits, value = tree.visits(), tree.value() / self.public.game.u_max
        self.visits.append(PositionVisit(world.node, visits / visits.sum(), value, 0.0, grown=True))
        return value if mover == 0 else -value

    def choose(self, world: World, moves: int) -> int:
        """One in proportion to the visits, later the most visited."""
        policy = self.visits[-1].policy
        assert policy is not None
        return pick_action(policy, moves <= self.acting.sampled_moves, self.rng)


class AlphaZeroActor:
    """Plays games side by side on one core, all their leaf batches joined."""

    def __init__(self, game: Game, shape: NetworkShape, acting: AlphaZeroActing) -> None:
        if not game.perfect_information:
            raise SettingError(f"AlphaZero learns games of perfect information only, not {game.name}")
        self.game, self.shape, self.acting = game, shape, acting
        self.shared: PublicTree | None = PublicTree(game)

    def round(self, games: int, evaluator: Evaluator, rng: np.random.Generator, number: int = 0) -> Harvest:
        """Play a number of games; each has a generator of its own, so that it does not depend on the others."""
        # Positions of earlier rounds stay listed as long as they fit.
        if self.shared is not None and self.shared.size > _SHARED:
            self.shared = None
        seeds = rng.integers(2**62, size=games)
        rows: dict[int, PackedRows] = {}

        def begun() -> Iterator[AlphaZeroGame]:
            for k, seed in enumerate(seeds):
                yield AlphaZeroGame(self.shared or PublicTree(self.game), self.acting, np.random.default_rng(seed), k)

        for game in drive(begun(), evaluator, self.acting.side_by_side):
            played = game_rows(game.public, game.visits, game.utility, self.shape, share=0.0)
            rows[game.number] = pack(self.shape, played)
        # By number, not in the order in which games ended.
        joined = join_packed([rows[k] for k in range(games)])
        return Harvest(joined, games, len(joined), 0)
