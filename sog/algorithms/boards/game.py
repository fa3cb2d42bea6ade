"""Self-play on boards: one game of either search, and what its positions leave for training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from sog.algorithms.boards.caps import PlayoutCaps
from sog.algorithms.boards.openings import random_opening
from sog.algorithms.boards.searches import Searching
from sog.algorithms.boards.targets import RootStatistics, TargetSettings, divergence, improved_logits, policy_target
from sog.arrays import Float64
from sog.errors import check_not_negative, check_share
from sog.play.referee import World
from sog.play.selfplay import MoveSearch, SelfPlayGame, check_early_end, pick_action
from sog.play.tally import PLAYED
from sog.searches.leaves.evaluator import SearchGenerator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["BoardGame", "BoardPlay", "PositionVisit", "QuerySolve"]


# A game's number among a round's, and 0 for the game itself or the number of its query, from 1.
Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class BoardPlay:
    """How self-play games on boards are played.

    openings: the most uniform moves that a game begins with.  starts: the share of games that begin
    from a position that the game names (Game.random_start), without uniform or drawn moves and without resigning.
    start_moves: moves after which such games are cut short, 0 for moves_max.
    start_simulations: simulations of every move of such games; 0 for as many as in other games.
    gumbel: the scale of the Gumbel noise on the root's logits in full searches.
    sampled_moves: the first moves of a game, the opening's included, which are drawn; the later ones are the
    best.  queries: positions that a full search met and that are searched by themselves, for each full search
    on average.  moves_max: a game is cut short there, 0 for never.  resign_below: value, as a share of the largest
    utility, at which a player gives up (-1 or less: never).  no_resign: the share of games played to the end all the
    same.
    """

    search: Searching
    caps: PlayoutCaps
    target: TargetSettings = field(default_factory=TargetSettings)
    openings: int = 0
    starts: float = 0.0
    start_moves: int = 0
    start_simulations: int = 0
    gumbel: float = 1.0
    sampled_moves: int = 20
    queries: float = 0.0
    moves_max: int = 0
    resign_below: float = -2.0
    no_resign: float = 0.2

    def __post_init__(self) -> None:
        for name in ("openings", "start_moves", "start_simulations", "gumbel", "sampled_moves", "queries"):
            check_not_negative(name, getattr(self, name))
        check_share("starts", self.starts)
        check_early_end(self)

    def from_start(self) -> BoardPlay:
        """How a game from a named position is played: without random opening moves, drawn moves or resignation."""
        longest = self.start_moves or self.moves_max
        full = self.start_simulations
        caps = replace(self.caps, simulations=full, share=1.0) if full else self.caps
        return replace(self, caps=caps, openings=0, sampled_moves=0, moves_max=longest, no_resign=1.0)


@dataclass(frozen=True, eq=False)
class PositionVisit:
    """A position that was searched.

    policy: float64[A], the target; None where the search was a cheap one.  value: player 0's by the search, a share of
    the largest utility.  surprise: KL of the target from the network's policy, 0 without one.  grown: see GameSearches.
    """

    node: int
    policy: Float64 | None
    value: float
    surprise: float
    grown: bool


class BoardGame(SelfPlayGame):
    """One game of self-play on a board.

    number: its place among the jobs of a round.  visits: the positions searched.
    queried: public nodes to be searched by themselves.
    """

    _root: RootStatistics  # of the last search
    _noise: Float64 | None  # on its logits

    def __init__(
        self, public: PublicTree, play: BoardPlay, round_number: int, rng: np.random.Generator, number: Place = (0, 0)
    ) -> None:
        super().__init__(public, play, rng)
        self.play, self.round_number, self.number = play, round_number, number
        self.visits: list[PositionVisit] = []
        self.queried: list[int] = []
        self._searches = play.search.begin(public, rng)

    def begin(self) -> tuple[World, int]:
        world = random_opening(self.referee, self.play.openings, self.rng)
        return world, len(self.public.path(world.node)) - 1

    def search(self, world: World, mover: int) -> MoveSearch:
        play, searches = self.play, self._searches
        # KataGo's playout caps: a cheap search plays the game on without noise, and its visits are not a policy target.
        full = play.caps.is_full(self.rng)
        self._noise = self._drawn_noise(len(self.public.actions(world.node))) if full else None
        yield from searches.steps(world.node, play.caps.of_move(full, self.round_number), self._noise)
        self._root = searches.root()
        self.visits.append(visit_of(world.node, self._root, play.target, full, mover, searches.grown))
        if full:
            self._draw_queries()
        return self._root.value

    def choose(self, world: World, moves: int) -> int:
        """The best by the target; while moves are drawn, one drawn from it.

        The largest of logits plus Gumbel noise is such a draw, and the search has looked at it (Danihelka et al.).
        """
        root, target, noise = self._root, self.play.target, self._noise
        drawn = moves <= self.play.sampled_moves
        # argmax(noise + logits + sigma(values)) is a draw from the improved policy where gumbel is 1.
        if drawn and noise is not None and target.completed:
            return int((noise + improved_logits(root, target)).argmax())
        return pick_action(policy_target(root, target), drawn, self.rng)

    def followers(self) -> list[Callable[[], QuerySolve]]:
        """What makes the searches of its queries, each with a generator of its own."""
        generators = [np.random.default_rng(seed) for seed in self.rng.integers(2**62, size=len(self.queried))]
        return [
            partial(QuerySolve, self.public, node, self.play, self.round_number, rng, (self.number[0], k))
            for k, (node, rng) in enumerate(zip(self.queried, generators, strict=True), start=1)
        ]

    def _drawn_noise(self, actions: int) -> Float64 | None:
        """float64[A]: Gumbel noise for the root's logits; None without noise."""
        return self.play.gumbel * self.rng.gumbel(size=actions) if self.play.gumbel else None

    def _draw_queries(self) -> None:
        """Draw positions that the search met, `queries` of them on average."""
        rate, rng = self.play.queries, self.rng
        count = int(rate) + int(rng.random() < rate - int(rate)) if rate else 0
        if count and (met := self._searches.met()):
            self.queried += [int(node) for node in rng.choice(met, size=min(count, len(met)), replace=False)]


class QuerySolve:
    """A position searched by itself, in full and without noise: drive `steps()`, then read `visit`."""

    def __init__(
        self, public: PublicTree, node: int, play: BoardPlay, round_number: int, rng: np.random.Generator, number: Place
    ) -> None:
        self.public, self.node, self.play, self.round_number, self.number = public, node, play, round_number, number
        self.rng = rng
        self._searches = play.search.begin(public, rng)

    def steps(self) -> SearchGenerator:
        """The search, as a generator of leaf beliefs."""
        yield from self._searches.steps(self.node, self.play.caps.of_move(True, self.round_number), None)
        PLAYED.add(queries=1)

    @property
    def visit(self) -> PositionVisit:
        """What it found."""
        mover = self.public.actor(self.node)
        return visit_of(self.node, self._searches.root(), self.play.target, True, mover, self._searches.grown)


def visit_of(
    node: int, root: RootStatistics, target: TargetSettings, full: bool, mover: int, grown: bool
) -> PositionVisit:
    """What a search leaves for training."""
    # Player 0's in all rows, whoever moved.
    value = root.value if mover == 0 else -root.value
    if not full:
        return PositionVisit(node, None, value, 0.0, grown)
    policy = policy_target(root, target)
    return PositionVisit(node, policy, value, divergence(policy, root.logits), grown)
