"""Self-play on boards: one game of either search, and what its positions leave for training; it makes no rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from sog.algorithms.boards.caps import PlayoutCaps
from sog.algorithms.boards.openings import random_opening
from sog.algorithms.boards.searches import Searcher, Searching
from sog.algorithms.boards.targets import Found, TargetSettings, divergence, improved_logits, policy_target
from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import TERMINAL
from sog.play.referee import Referee
from sog.searches.leaves.evaluator import SearchGenerator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["BoardGame", "BoardPlay", "QuerySolve", "Visit"]


# A game's number among a round's, and 0 for the game itself or the number of its query, from 1.
Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class BoardPlay:
    """How self-play games on boards are played.

    openings: a game begins with up to so many uniform moves.  starts: the share of games that begin
    from a position that the game names (Game.random_start), without uniform or drawn moves; nobody gives up there.
    start_moves: they are cut short after so many, 0 for moves_max.  start_simulations: every move there is searched in
    full with so many, 0 for those of other games.  gumbel: the scale of the Gumbel noise on the root's logits in full
    searches.  sampled_moves: so many moves of a game, the opening's included, are drawn; the later ones are the
    best.  queries: positions that a full search met and that are searched by themselves, for each full search
    on average.  moves_max: a game is cut short there, 0 for never.  resign_below: value, as a share of the largest
    utility, at which a player gives up (-1 or less: never); no_resign: the share of games played to the end all the
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
        for name in ("openings", "start_moves", "start_simulations", "gumbel", "sampled_moves", "queries", "moves_max"):
            if not getattr(self, name) >= 0:
                raise SettingError(f"{name} must not be negative, but is {getattr(self, name)}")
        if not 0.0 <= self.starts <= 1.0:
            raise SettingError(f"starts is a share of the games, not {self.starts}")

    def from_start(self) -> BoardPlay:
        """How a game from a named position is played: without random opening moves, drawn moves or resignation."""
        longest = self.start_moves or self.moves_max
        full = self.start_simulations
        caps = replace(self.caps, simulations=full, share=1.0) if full else self.caps
        return replace(self, caps=caps, openings=0, sampled_moves=0, moves_max=longest, no_resign=1.0)


@dataclass(frozen=True, eq=False)
class Visit:
    """A position that was searched.

    policy: float64[A], the target; None where the search was a cheap one.  value: player 0's by the search, a share of
    the largest utility.  surprise: KL of the target from the network's policy, 0 without one.  grown: see Searcher.
    """

    node: int
    policy: Float64 | None
    value: float
    surprise: float
    grown: bool


class BoardGame:
    """One self-play game: drive `steps()`, then read the rest.

    number: its place among the jobs of a round.  visits: the positions searched.  utility: player 0's; None: cut short.
    final: the public node that it ended at; None where it was cut short or given up.
    queried: public nodes to be searched by themselves.
    """

    def __init__(
        self, public: PublicTree, play: BoardPlay, round_number: int, rng: np.random.Generator, number: Place = (0, 0)
    ) -> None:
        self.public, self.play, self.round_number, self.rng, self.number = public, play, round_number, rng, number
        self.visits: list[Visit] = []
        self.queried: list[int] = []
        self.utility: float | None = None
        self.final: int | None = None

    def steps(self) -> SearchGenerator:
        """The game, as a generator of leaf beliefs."""
        public, play, rng = self.public, self.play, self.rng
        referee = Referee(public)
        world = random_opening(referee, play.openings, rng)
        moves = len(public.path(world.node)) - 1
        may_resign = rng.random() >= play.no_resign
        searcher = play.search.begin(public, rng)
        while (mover := referee.actor(world)) != TERMINAL:
            if play.moves_max and moves >= play.moves_max:
                return
            full = play.caps.is_full(rng)
            noise = self._noise(len(public.actions(world.node))) if full else None
            yield from searcher.steps(world.node, play.caps.of_move(full, self.round_number), noise)
            found = searcher.found()
            self.visits.append(visit_of(world.node, found, play.target, full, mover, searcher.grown))
            if full:
                self._draw_queries(searcher)
            if may_resign and found.value < play.resign_below:
                self.utility = public.game.u_max * (-1.0 if mover == 0 else 1.0)
                return
            moves += 1
            world = referee.act(world, self._choose(found, noise, moves <= play.sampled_moves), rng)
        self.utility, self.final = referee.utility(world), world.node

    def followers(self) -> list[Callable[[], QuerySolve]]:
        """What makes the searches of its queries, each with a generator of its own."""
        generators = [np.random.default_rng(seed) for seed in self.rng.integers(2**62, size=len(self.queried))]
        return [
            partial(QuerySolve, self.public, node, self.play, self.round_number, rng, (self.number[0], k))
            for k, (node, rng) in enumerate(zip(self.queried, generators, strict=True), start=1)
        ]

    def _noise(self, actions: int) -> Float64 | None:
        """float64[A]: Gumbel noise for the root's logits; None where there is none."""
        return self.play.gumbel * self.rng.gumbel(size=actions) if self.play.gumbel else None

    def _choose(self, found: Found, noise: Float64 | None, drawn: bool) -> int:
        """The move: the best by the target; while moves are drawn, one drawn from it.

        The largest of logits plus Gumbel noise is such a draw, and the search has looked at it (Danihelka et al.).
        """
        target = self.play.target
        if drawn and noise is not None and target.completed:
            return int((noise + improved_logits(found, target)).argmax())
        policy = policy_target(found, target)
        return int(self.rng.choice(len(policy), p=policy)) if drawn else int(policy.argmax())

    def _draw_queries(self, searcher: Searcher) -> None:
        """Draw positions that the search met, `queries` of them on average."""
        rate, rng = self.play.queries, self.rng
        count = int(rate) + int(rng.random() < rate - int(rate)) if rate else 0
        if count and (met := searcher.met()):
            self.queried += [int(node) for node in rng.choice(met, size=min(count, len(met)), replace=False)]


class QuerySolve:
    """A position searched by itself, in full and without noise: drive `steps()`, then read `visit`."""

    def __init__(
        self, public: PublicTree, node: int, play: BoardPlay, round_number: int, rng: np.random.Generator, number: Place
    ) -> None:
        self.public, self.node, self.play, self.round_number, self.number = public, node, play, round_number, number
        self.rng = rng
        self._searcher = play.search.begin(public, rng)

    def steps(self) -> SearchGenerator:
        """The search, as a generator of leaf beliefs."""
        yield from self._searcher.steps(self.node, self.play.caps.of_move(True, self.round_number), None)

    @property
    def visit(self) -> Visit:
        """What it found."""
        mover = self.public.actor(self.node)
        return visit_of(self.node, self._searcher.found(), self.play.target, True, mover, self._searcher.grown)


def visit_of(node: int, found: Found, target: TargetSettings, full: bool, mover: int, grown: bool) -> Visit:
    """What a search leaves for training."""
    value = found.value if mover == 0 else -found.value
    if not full:
        return Visit(node, None, value, 0.0, grown)
    policy = policy_target(found, target)
    return Visit(node, policy, value, divergence(policy, found.logits), grown)
