"""A player that rates the moves of a position all at once, by a function: most opponents on boards are made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from sog.errors import GameError
from sog.games.base import Game, State
from sog.games.boards.positions import BoardPosition
from sog.play.openspiel_states import openspiel_game
from sog.play.player import Candidate, Player, Stopped, Thought, never
from sog.searches.leaves.evaluator import SearchGenerator, zero_evaluator

__all__ = ["Decision", "Rate", "Rated", "RatingPlayer", "rated_root", "spiel_state"]


@dataclass(frozen=True)
class Decision:
    """The position to rate.

    moves: since the game's root.  actions: those legal, ascending.  simulations: how many are wanted, 0 for the
    player's own number.  rng: draws of this position.  stopped: true once time is up.
    """

    game: Game
    state: State
    moves: tuple[int, ...]
    actions: tuple[int, ...]
    simulations: int
    rng: np.random.Generator
    stopped: Stopped = never


@dataclass(frozen=True)
class Rated:
    """How good each action is, in the order of `Decision.actions`.

    order: the larger the better; equal ones are drawn between.  values: utilities in [-1, 1] of the player to move.
    visits: simulations that went there.  nodes: positions held in memory.
    """

    order: Sequence[float]
    values: Sequence[float]
    visits: Sequence[int] = ()
    nodes: int = 1


Rate: TypeAlias = Callable[[Decision], Rated]


class RatingPlayer(Player):
    """Plays the move that its function rates highest; among equals each has the same chance."""

    def __init__(self, name: str, rate: Rate, seed: int = 0) -> None:
        super().__init__(name, zero_evaluator, seed)
        self._rate = rate

    def search_at(self, node: int, simulations: int | None) -> RatingSearch:
        public, moves = self.tree.public, self.tree.moves
        rng = np.random.default_rng((self.seed, len(moves), *moves))
        actions = tuple(self.tree.actions(node))
        decision = Decision(public.game, public.states[node], moves, actions, simulations or 0, rng)
        return RatingSearch(decision, self._rate)


class RatingSearch:
    """One position's rating, made when `steps` is driven or a thought is wanted."""

    def __init__(self, decision: Decision, rate: Rate) -> None:
        self._decision, self._rate = decision, rate
        self._luck = decision.rng.random(len(decision.actions))
        self._rated: Rated | None = None

    @property
    def simulations(self) -> int:
        """Simulations done in this search."""
        return 0 if self._rated is None else int(sum(self._rated.visits))

    def steps(self, stopped: Stopped = never) -> SearchGenerator:
        """The rating; it needs no network."""
        if self._rated is None:
            self._rated = self._rate(replace(self._decision, stopped=stopped))
        yield from ()

    def thought(self) -> Thought:
        """The moves, best first."""
        for _ in self.steps():
            pass
        assert self._rated is not None
        rated, actions = self._rated, self._decision.actions
        visits = rated.visits or [0] * len(actions)
        order = sorted(range(len(actions)), key=lambda k: (-rated.order[k], self._luck[k]))
        total = sum(visits)
        candidates = tuple(
            Candidate(
                actions[k],
                visits[k] / total if total else float(k == order[0]),
                float(rated.values[k]),
                int(visits[k]),
                (actions[k],),
            )
            for k in order
        )
        return Thought(float(rated.values[order[0]]), rated.nodes, candidates)


def spiel_state(game: Game, state: State) -> Any:
    """OpenSpiel's state at a public state of a deterministic game; GameError where OpenSpiel lacks the game."""
    if isinstance(state, BoardPosition):
        return state.spiel.clone()
    if not game.deterministic:
        raise GameError(f"{game.name} is no game of perfect information without chance")
    history = game.history(state, 0, 0)
    if history is None:
        raise GameError(f"OpenSpiel's history of {game.name} is not known")
    spiel = openspiel_game(game).new_initial_state()
    for action in history:
        spiel.apply_action(action)
    return spiel


def rated_root(root: Any, decision: Decision) -> Rated:
    """The moves of a search of OpenSpiel's, by its root: the one that it would play first, then by visits.

    After a single simulation, as where time is short, no move has been looked at: any of them.
    """
    if not root.children:
        nothing = [0] * len(decision.actions)
        return Rated(decision.rng.random(len(nothing)).tolist(), [0.0] * len(nothing), nothing, root.explore_count)
    best = root.best_child().action
    children = {child.action: child for child in root.children}
    nodes = [children[action] for action in decision.actions]
    values = [child.total_reward / child.explore_count if child.explore_count else 0.0 for child in nodes]
    order = [(child.action == best) * 1e12 + child.explore_count for child in nodes]
    return Rated(order, values, [child.explore_count for child in nodes], root.explore_count)
