"""Players of perfect-information games: given the moves so far, they think within limits and name a move.

Engines, matches and Elo curves use only this interface, whatever searches behind it. It knows no protocol, no file
and no opponent.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Game
from sog.play.position import PositionSearch
from sog.play.resolver import derive_generator
from sog.search.cfr.lookahead import Lookahead
from sog.search.gtcfr.search import PAPER, POG, Budget, SearchSettings
from sog.search.leaves.drive import run
from sog.search.leaves.evaluator import Evaluator, SearchGenerator, zero_evaluator
from sog.search.tree.public_tree import PublicTree

__all__ = [
    "BOARDS",
    "ENDLESS",
    "PAPERS_BOARDS",
    "Candidate",
    "Limits",
    "MoveTree",
    "Player",
    "RandomPlayer",
    "RandomSearch",
    "Search",
    "SogPlayer",
    "SogSearch",
    "Stopped",
    "Thought",
    "never",
    "think",
]

# Called again and again while a search runs; true ends it.
Stopped = Callable[[], bool]

# How positions are searched in play. PoG's Table 3 has this temperature for chess and Go.
BOARDS: Final = SearchSettings(prior_temperature=1.5)
PAPERS_BOARDS: Final = {
    "sog": replace(PAPER, prior_temperature=BOARDS.prior_temperature),
    "pog": replace(POG, prior_temperature=BOARDS.prior_temperature),
}

# The number of simulations of a search that only a clock or a person stops.
ENDLESS: Final = 2**40


def never() -> bool:
    """Nothing stops this search."""
    return False


@dataclass(frozen=True)
class Candidate:
    """One legal move as a search sees it.

    action: the game's identity of it.  share: its part of the policy.  value: utility in [-1, 1] of the player who
    makes it (`Game.u_max` is 1).  visits: how often the search went there.  line: the expected play, `action` first.
    """

    action: int
    share: float
    value: float
    visits: int
    line: tuple[int, ...]


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


class Search(Protocol):
    """One position's search; `thought` may be called at any time when `steps` rests or has ended."""

    @property
    def simulations(self) -> int:
        """Simulations done in this search."""

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        """The search, as a generator of leaf beliefs; `stopped` is called at least once a batch of simulations."""

    def thought(self) -> Thought:
        """What it thinks so far. Called from `stopped` too."""


class Player(Protocol):
    """Plays one game after another, always on the game it was given last.

    name: as tables show it.  seed: decides its draws from the next search on.
    evaluator: answers its searches, those of several games together if wanted.
    """

    name: str
    seed: int
    evaluator: Evaluator

    def new_game(self, game: Game) -> None:
        """Forget everything and play this game from now on."""

    def search(self, moves: Sequence[int], simulations: int | None = None) -> Search:
        """A search of the position after these action identities; what earlier searches found there is reused.

        simulations: how many; None for the player's own number. Raises GameError where a move is illegal
        or nobody is to move.
        """


@dataclass(frozen=True)
class Limits:
    """When to stop thinking: simulations (None: the player's own number), seconds (None: no limit)."""

    simulations: int | None = None
    seconds: float | None = None


def think(
    player: Player, moves: Sequence[int], limits: Limits, watch: Callable[[Search], bool] = lambda search: False
) -> Thought:
    """Search the position after `moves` and say what came of it.

    watch: called at least once a batch of simulations, for progress; true stops the search.
    """
    started = time.monotonic()
    wanted = player.search(moves, limits.simulations)

    def stopped() -> bool:
        late = limits.seconds is not None and time.monotonic() - started >= limits.seconds
        return watch(wanted) or late

    run(wanted.steps(stopped), player.evaluator)
    return wanted.thought()


class MoveTree:
    """A game's public tree, walked by lists of moves; a position that was there before costs nothing."""

    def __init__(self, game: Game) -> None:
        """Raises GameError where the game is not one of perfect information."""
        if not game.perfect_information:
            raise GameError(f"{game.name} is not a game of perfect information")
        self.public = PublicTree(game)
        self._moves: list[int] = []  # the line walked last and the nodes along it, so that the next one is short
        self._nodes = [0]

    def node_after(self, moves: Sequence[int]) -> int:
        """The public node after these actions; GameError where one is illegal."""
        known = 0
        while known < min(len(moves), len(self._moves)) and moves[known] == self._moves[known]:
            known += 1
        nodes = self._nodes[: known + 1]
        for action in moves[known:]:
            nodes.append(self._step(nodes[-1], action))
        self._moves, self._nodes = list(moves), nodes
        return nodes[-1]

    def _step(self, node: int, action: int) -> int:
        """The child that an action leads to; GameError where it is illegal."""
        public, actions = self.public, self.actions(node)
        if action not in actions:
            raise GameError(f"action {action} is illegal in {self.name(node)}")
        public.list_fan(node)
        return public.child(node, public.edge_of(node, actions.index(action)))

    def decision_after(self, moves: Sequence[int]) -> int:
        """As `node_after`, where a player is to move; GameError where nobody is."""
        node = self.node_after(moves)
        if self.actor(node) >= NATURE:
            why = "the game is over" if self.actor(node) == TERMINAL else "chance is to move"
            raise GameError(f"{why} in {self.name(node)}")
        return node

    def result(self, node: int) -> float | None:
        """Player 0's utility where the game has ended, as a share of the largest; None where it goes on."""
        if self.actor(node) != TERMINAL:
            return None
        return self.public.utility(node, (0, 0)) / self.public.game.u_max

    def actor(self, node: int) -> int:
        return self.public.actor(node)

    def name(self, node: int) -> str:
        return self.public.game.state_name(self.public.states[node])

    def actions(self, node: int) -> list[int]:
        """The actor's actions at a node, ascending."""
        actions: list[int] = self.public.actions(node).tolist()
        return actions


class SogPlayer:
    """Student of Games on a game of perfect information: GT-CFR from the position, greedy in its average policy."""

    def __init__(
        self,
        name: str,
        evaluator: Evaluator,
        budget: Budget,
        settings: SearchSettings | None = None,
        seed: int = 0,
        reuse: bool = True,
    ) -> None:
        """settings: of the search, by default BOARDS.

        reuse: begin a search with the part of the last search's tree that is below the position.
        """
        self.name, self.evaluator, self.budget, self.seed, self.reuse = name, evaluator, budget, seed, reuse
        self.settings = settings or BOARDS
        self.tree: MoveTree | None = None
        self.last: Lookahead | None = None

    def new_game(self, game: Game) -> None:
        self.tree, self.last = MoveTree(game), None

    def search(self, moves: Sequence[int], simulations: int | None = None) -> SogSearch:
        if self.tree is None:
            raise GameError("no game was given to the player")
        node = self.tree.decision_after(moves)
        budget = Budget(simulations or self.budget.simulations, self.budget.per_update)
        rng = derive_generator(self.seed, self.tree.actor(node), node)
        last = self.last if self.reuse else None
        searching = PositionSearch(self.tree.public, node, last, budget, self.settings, rng)
        self.last = searching.tree
        return SogSearch(searching)


class SogSearch:
    """What a GT-CFR search of a position thinks of its moves."""

    def __init__(self, searching: PositionSearch) -> None:
        self.searching, self.tree, self.simulations = searching, searching.tree, 0

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        def after_round() -> bool:
            self.simulations += self.searching.budget.expansions
            return stopped()

        yield from self.searching.steps(after_round)

    def thought(self) -> Thought:
        tree = self.tree
        actions: list[int] = tree.actions(0).tolist()
        children, shares, mover = tree.children_by_action(0), self._shares(0), tree.actor(0)
        visits = [int(count) for count in tree.visits(0)[:, 0]]
        known = [self._value(c, mover) if c >= 0 else None for c in children]
        value = sum(share * v for share, v in zip(shares, known, strict=True) if v is not None)
        order = sorted(range(len(actions)), key=lambda a: (-shares[a], -visits[a], actions[a]))
        candidates = tuple(
            Candidate(
                actions[a],
                shares[a],
                value if (v := known[a]) is None else v,
                visits[a],
                (actions[a], *self._line(children[a])),
            )
            for a in order
        )
        return Thought(value, tree.size, candidates)

    def _shares(self, n: int) -> list[float]:
        """The average policy at node n; before the first update the prior, before that uniform."""
        for weights in (self.tree.policy_sum(n)[:, 0], self.tree.prior(n)[:, 0]):
            if weights.sum() > 0:
                shares: list[float] = (weights / weights.sum()).tolist()
                return shares
        return [1.0 / len(weights)] * len(weights)

    def _value(self, n: int, p: int) -> float | None:
        """Player p's value at node n, a share of the largest utility, over all iterations; None before the first."""
        share = self.tree.mean_share(n, p)
        return None if math.isnan(share) else share

    def _line(self, n: int) -> list[int]:
        """The likeliest actions from node n on, while they are in the tree."""
        line: list[int] = []
        while n >= 0 and self.tree.is_open(n):
            children, shares = self.tree.children_by_action(n), self._shares(n)
            best = max(range(len(children)), key=lambda a: (children[a] >= 0, shares[a]))
            line.append(int(self.tree.actions(n)[best]))
            n = children[best]
        return line


class RandomPlayer:
    """Plays every legal move with the same probability."""

    def __init__(self, name: str = "random", seed: int = 0) -> None:
        self.name, self.evaluator, self.seed = name, zero_evaluator, seed
        self.tree: MoveTree | None = None

    def new_game(self, game: Game) -> None:
        self.tree = MoveTree(game)

    def search(self, moves: Sequence[int], simulations: int | None = None) -> Search:
        if self.tree is None:
            raise GameError("no game was given to the player")
        actions = self.tree.actions(self.tree.decision_after(moves))
        return RandomSearch([int(a) for a in np.random.default_rng([self.seed, *moves]).permutation(actions)])


class RandomSearch:
    """No search at all: the legal moves in random order."""

    simulations = 0

    def __init__(self, order: list[int]) -> None:
        self.order = order

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        yield from ()

    def thought(self) -> Thought:
        share = 1.0 / len(self.order)
        return Thought(0.0, 1, tuple(Candidate(action, share, 0.0, 0, (action,)) for action in self.order))
