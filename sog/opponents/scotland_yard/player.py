"""Players of Scotland Yard that read the public history and their own station; PimBot is the one that searches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sog.arrays import Array, Float64, Int64
from sog.errors import GameError
from sog.games.scotland_yard.game import ScotlandYard
from sog.opponents.scotland_yard.board import make_board
from sog.opponents.scotland_yard.categories import KINDS, weigh_stations
from sog.opponents.scotland_yard.moves import Cell, ChasePosition, Ending, empty_position
from sog.opponents.scotland_yard.playouts import DETECTIVE_POLICIES, X_POLICIES, PlayoutPolicy
from sog.opponents.scotland_yard.replay import events_of, replay, start_cells, starting_set
from sog.opponents.scotland_yard.settings import PimBotSettings
from sog.opponents.scotland_yard.tree import TreeRule, clear, make_tree, search

__all__ = ["ChasePlayer", "PimBot", "Searched"]


class ChasePlayer(ABC):
    """Chooses actions of one game from what all have seen, and for Mr X from his own station.

    The draws of a decision depend on the seed and on the public history alone.
    """

    def __init__(self, game: ScotlandYard, seed: int = 0) -> None:
        self.game, self.seed, self.board = game, seed, make_board(game)
        self.position = empty_position(self.board)
        self.classes = np.zeros(self.board.stations, dtype=np.int64)
        self._cells = start_cells(game, self.board)
        self._possible = np.zeros_like(self.position.possible)
        for station in starting_set(game).tolist():
            self._possible[station // 64] |= np.uint64(1) << np.uint64(station % 64)

    def new_game(self, seed: int | None = None) -> None:
        """Forget the last game.  seed: of the game's draws; None for the one there is."""
        self.seed = self.seed if seed is None else seed

    def move(self, log: Sequence[str], station: int | None = None) -> int:
        """The action after a public history, which is the `log` of the game's public state.

        station: Mr X's, by its index on the map, where he is to move; None for the detectives.
        GameError where the chase is over or the station is not possible after the history.
        """
        return self.move_after(events_of(self.game, log), station)

    def move_after(self, events: Int64, station: int | None = None) -> int:
        """`move` after the same history as rows of numbers (replay.py)."""
        self._replay(events)
        s = self.position
        if (station is None) == (s.cells[Cell.TURN] == 0):
            raise GameError("Mr X moves by his own station, the detectives without it")
        if s.cells[Cell.ENDING] != Ending.NONE:
            raise GameError("the chase is over")
        if station is not None:
            if not int(s.possible[station // 64]) >> (station % 64) & 1:
                raise GameError(f"Mr X cannot be on {self.game.city.stations[station]}")
            s.cells[Cell.STATION] = station
        rng = np.random.SeedSequence((self.seed, len(events))).generate_state(1, np.uint64)
        return self.choose(rng)

    def _replay(self, events: Int64) -> None:
        """Bring `position` and `classes` to the end of a public history."""
        s = self.position
        s.cells[:], s.possible[:], s.held[:] = self._cells, self._possible, 0
        replay(self.board, s, events, self.narrow, self.kind, self.classes)

    narrow: bool = True
    kind: int = 0

    @abstractmethod
    def choose(self, rng: Array) -> int:
        """The action in `position`, whose STATION is -1 where a detective moves.  rng: uint64[1]."""


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search found: of the root's actions the visits and mean scores; how the simulations ended.

    actions: int64[A].  visits: int64[A].  means: float64[A].  endings: int64[4], by `Ending`.
    """

    actions: Int64
    visits: Int64
    means: Float64
    endings: Int64


class PimBot(ChasePlayer):
    """Monte Carlo tree search of Nijssen and Winands (2012): plays the root's action with the most visits.

    searched: the last search.
    """

    def __init__(self, game: ScotlandYard, settings: PimBotSettings, seed: int = 0) -> None:
        super().__init__(game, seed)
        self.settings = settings
        self.narrow, self.kind = settings.narrow, KINDS.index(settings.categories)
        self._tree = make_tree(self.board, settings.simulations)
        self._work = empty_position(self.board)
        self._table = np.array(settings.weights)
        self._rule = TreeRule(float(settings.exploration), float(settings.history), float(settings.reduction))
        self._policies = _policy(settings, True), _policy(settings, False)
        self.searched: Searched | None = None

    def choose(self, rng: Array) -> int:
        """Search, and take the most visits; among equals the higher score, then the lower action."""
        t, s, wanted = self._tree, self.position, self.settings.simulations
        t.rng[:] = rng
        drawn = 0
        if s.cells[Cell.STATION] < 0:
            by_class = self.settings.draw == "class"
            drawn = weigh_stations(s, self.classes, self._table, by_class, t.stations, t.sums)
        policy = self._policies[int(drawn > 0)]
        trees = self.settings.trees if drawn else 0
        searches = [self._search(s, policy, drawn, wanted)] if not trees else self._separate(policy, drawn, trees)
        self.searched = _added(searches)
        order = np.lexsort((-self.searched.actions, self.searched.means, self.searched.visits))
        return int(self.searched.actions[order[-1]])

    def _separate(self, policy: PlayoutPolicy, drawn: int, trees: int) -> list[Searched]:
        """A search of each of some drawn stations, each with its share of the simulations."""
        t, s = self._tree, self.position
        rng = np.random.default_rng(t.rng)
        places = np.searchsorted(t.sums[:drawn], rng.random(trees) * t.sums[drawn - 1], side="right")
        searches = []
        for k, station in enumerate(t.stations[np.minimum(places, drawn - 1)].tolist()):
            count = self.settings.simulations * (k + 1) // trees - self.settings.simulations * k // trees
            s.cells[Cell.STATION] = station
            searches.append(self._search(s, policy, 0, count))
        s.cells[Cell.STATION] = -1
        return searches

    def _search(self, s: ChasePosition, policy: PlayoutPolicy, drawn: int, count: int) -> Searched:
        """One tree."""
        t = self._tree
        clear(t)
        search(self.board, s, self._work, t, policy, self._rule, drawn, count)
        children, child = [], int(t.nodes.child[0])
        while child:
            children.append(child)
            child = int(t.nodes.sibling[child])
        visits = t.nodes.visits[children].astype(np.int64)
        actions = t.nodes.action[children].astype(np.int64)
        return Searched(actions, visits, t.nodes.score[children] / visits, t.endings.copy())


def _policy(settings: PimBotSettings, of_x: bool) -> PlayoutPolicy:
    """The playouts of Mr X's search, or of a detective's."""
    detectives = settings.hidden_playout if of_x else settings.detective_playout
    return PlayoutPolicy(
        x=X_POLICIES.index(settings.x_playout),
        detectives=DETECTIVE_POLICIES.index(detectives),
        epsilon=float(settings.x_epsilon if of_x else settings.detective_epsilon),
        double=float(settings.playout_double),
        filtered=int(settings.filtered),
        within=float(settings.double_within),
        track=int(settings.filtered or detectives in ("redrawn", "total")),
    )


def _added(searches: Sequence[Searched]) -> Searched:
    """Several searches' visits and scores by action."""
    actions = np.unique(np.concatenate([one.actions for one in searches]))
    visits, scores, endings = np.zeros(len(actions), np.int64), np.zeros(len(actions)), np.zeros(4, np.int64)
    for one in searches:
        places = np.searchsorted(actions, one.actions)
        visits[places] += one.visits
        scores[places] += one.visits * one.means
        endings += one.endings
    return Searched(actions, visits, scores / visits, endings)
