"""One game of self-play from its beginning to its end, whatever searches its moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Protocol

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError, check_not_negative, check_share
from sog.games.base import TERMINAL
from sog.play.referee import Referee, World
from sog.play.tally import PLAYED
from sog.searches.leaves.evaluator import Beliefs, Evaluations, SearchGenerator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["EarlyEnd", "MoveSearch", "SelfPlayGame", "check_early_end", "pick_action"]

# The search of a move: a generator of leaf beliefs that returns the mover's value, a share of the largest utility.
MoveSearch = Generator[Beliefs, Evaluations, float]


class EarlyEnd(Protocol):
    """When a game ends before its rules end it; settings of self-play have these fields.

    moves_max: moves after which a game is cut short; 0 for never.
    resign_below: value, as a share of the largest utility, at which a player gives up (-1 or less: never).
    no_resign: the share of games that are played to the end all the same.
    """

    @property
    def moves_max(self) -> int: ...
    @property
    def resign_below(self) -> float: ...
    @property
    def no_resign(self) -> float: ...


def check_early_end(settings: EarlyEnd) -> None:
    """SettingError for a setting out of its range."""
    check_not_negative("moves_max", settings.moves_max)
    check_share("no_resign", settings.no_resign)
    if not settings.resign_below <= 1.0:
        raise SettingError(f"resign_below is a share of the largest utility, at most 1, not {settings.resign_below}")


class SelfPlayGame(ABC):
    """A game of self-play: drive `steps()`, then read the rest. Each way to play is a class with `search` and `choose`.

    utility: player 0's; None where the game was cut short.  resigned: whether a player gave up.
    final: the public node that the game ended at; None where it was cut short or given up.
    """

    def __init__(self, public: PublicTree, early_end: EarlyEnd, rng: np.random.Generator) -> None:
        self.public, self.early_end, self.rng = public, early_end, rng
        self.referee = Referee(public)
        self.utility: float | None = None
        self.resigned = False
        self.final: int | None = None

    def steps(self) -> SearchGenerator:
        """The game, as a generator of leaf beliefs."""
        yield from self._moves()
        PLAYED.add(games=1)

    def _moves(self) -> SearchGenerator:
        """Its moves, to its end or until it is ended early."""
        referee, early_end, rng = self.referee, self.early_end, self.rng
        # PoG, Algorithm 2, SelfPlay. The coin for do_not_resign falls before the first move, as there.
        world, moves = self.begin()
        may_resign = rng.random() >= early_end.no_resign
        while (mover := referee.actor(world)) != TERMINAL:
            if self.is_cut(world) or (early_end.moves_max and moves >= early_end.moves_max):
                return
            # A resigned game is lost by the mover, with the largest utility at stake.
            value = yield from self.search(world, mover)
            PLAYED.add(searches=1)
            if may_resign and early_end.resign_below > -1.0 and value < early_end.resign_below:
                self.utility, self.resigned = self.public.game.u_max * (-1.0 if mover == 0 else 1.0), True
                return
            moves += 1
            world = referee.act(world, self.choose(world, moves), rng)
        self.utility, self.final = referee.utility(world), world.node

    def begin(self) -> tuple[World, int]:
        """The first world that is searched, and how many moves were made before it."""
        return self.referee.deal(self.rng), 0

    def is_cut(self, world: World) -> bool:
        """Whether the game is cut short here."""
        return False

    @abstractmethod
    def search(self, world: World, mover: int) -> MoveSearch:
        """The search of the move to be made; records what it leaves for training."""

    @abstractmethod
    def choose(self, world: World, moves: int) -> int:
        """The column of the action, by the search that has just ended.  moves: with this one."""


def pick_action(policy: Float64, drawn: bool, rng: np.random.Generator) -> int:
    """A column of the policy, float64[A]: drawn from it, or the likeliest."""
    return int(rng.choice(len(policy), p=policy)) if drawn else int(policy.argmax())
