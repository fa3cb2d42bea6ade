"""Players of perfect-information games: given the moves so far, they think within limits and name a move.

Engines, matches and Elo curves use only this interface, whatever kind of search a player uses.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sog.errors import GameError
from sog.games.base import Game
from sog.memory import available_bytes, held_bytes
from sog.play.move_tree import MoveTree
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Evaluator, SearchGenerator

__all__ = ["ENDLESS", "Candidate", "Limits", "Player", "PlayerSearch", "Stopped", "Thought", "never", "think"]

# Called again and again while a search runs; true ends it.
Stopped = Callable[[], bool]

# The number of simulations of a search that only a clock or a person stops.
ENDLESS: Final = 2**40


def never() -> bool:
    """Nothing stops this search."""
    return False


@dataclass(frozen=True)
class Candidate:
    """One legal move as a search sees it.

    action: the game's identity of it.  share: its part of the policy.  value: utility in [-1, 1] of the player who
    makes it (`Game.u_max` is 1); None where the search has none of its own.  visits: how often the search went there.
    line: the expected play, `action` first.  prior: its part of the prior; None where there is none.
    """

    action: int
    share: float
    value: float | None
    visits: int
    line: tuple[int, ...]
    prior: float | None = None


@dataclass(frozen=True)
class Thought:
    """What a search thinks of a position: every legal move, best first, and the value for the player to move.

    nodes: public states in the search's tree.
    """

    value: float
    nodes: int
    candidates: tuple[Candidate, ...]

    @property
    def action(self) -> int:
        """The move to make."""
        return self.candidates[0].action

    def value_of(self, candidate: Candidate) -> float:
        """A move's value; the position's where the move has none of its own."""
        return self.value if candidate.value is None else candidate.value


class PlayerSearch(Protocol):
    """One position's search; `thought` may be called at any time when `steps` rests or has ended."""

    @property
    def simulations(self) -> int:
        """Simulations done in this search."""

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        """The search, as a generator of leaf beliefs; `stopped` is called at least once a batch of simulations."""

    def thought(self) -> Thought:
        """What it thinks so far. Called from `stopped` too."""


class Player(ABC):
    """Plays one game after another, always on the game it was given last. A new player is one class with `search_at`.

    name: as tables show it.  seed: decides its draws from the next search on.
    evaluator: answers its searches, those of several games together if wanted.
    reuse: whether a search begins with what the last one left.
    last: what the last search of this game left for the next one; each class of players says what it is.
    """

    def __init__(self, name: str, evaluator: Evaluator, seed: int = 0, reuse: bool = True) -> None:
        self.name, self.evaluator, self.seed, self.reuse = name, evaluator, seed, reuse
        self._tree: MoveTree | None = None
        self.last: object | None = None

    @property
    def tree(self) -> MoveTree:
        """The positions of the game it plays; GameError before the first game."""
        if self._tree is None:
            raise GameError("no game was given to the player")
        return self._tree

    def new_game(self, game: Game) -> None:
        """Forget everything and play this game from now on."""
        self._tree, self.last = MoveTree(game), None

    def search(self, moves: Sequence[int], simulations: int | None = None) -> PlayerSearch:
        """A search of the position after these action identities; what earlier searches found there is reused.

        simulations: how many; None for the player's own number. Raises GameError where a move is illegal
        or nobody is to move.
        """
        # Positions that are never met again would fill the memory: the game stays, the tree begins anew.
        if self.tree.is_full:
            self.new_game(self.tree.public.game)
        node = self.tree.decision_after(moves)
        if not self.reuse:
            self.last = None
        return self.search_at(node, simulations)

    @abstractmethod
    def search_at(self, node: int, simulations: int | None) -> PlayerSearch:
        """A search of the decision at a public node of `tree`, the last of the line `tree.moves`."""


@dataclass(frozen=True)
class Limits:
    """When to stop thinking: simulations (None: the player's own number), seconds (None: no limit)."""

    simulations: int | None = None
    seconds: float | None = None


class _Room:
    """The memory that a search may take: most of what is free when it begins."""

    def __init__(self) -> None:
        self.most, self.looks = held_bytes() + _SHARE * available_bytes(), 0

    def is_taken(self) -> bool:
        """Whether it is used up; looks only now and then, since a look costs microseconds."""
        self.looks += 1
        return self.looks % _EVERY == 0 and held_bytes() > self.most


_SHARE: Final = 0.8
_EVERY: Final = 100


def think(
    player: Player, moves: Sequence[int], limits: Limits, watch: Callable[[PlayerSearch], bool] = lambda search: False
) -> Thought:
    """Search the position after `moves`; the thought at the end.

    watch: called at least once a batch of simulations, for progress; true stops the search. It stops, too, before it
    has taken all of the memory that is free.
    """
    started, room = time.monotonic(), _Room()
    wanted = player.search(moves, limits.simulations)

    def stopped() -> bool:
        # Order: the caller first, so that it sees every batch.
        late = limits.seconds is not None and time.monotonic() - started >= limits.seconds
        return watch(wanted) or late or room.is_taken()

    run(wanted.steps(stopped), player.evaluator)
    return wanted.thought()
