"""One decision of a solved spot for people to read: hand by hand, and as a 13 x 13 grid of classes of hands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.arrays import Bool, Float64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.cards import HIGH, LOW, hand_name
from sog.games.holdem.game import HoldemState
from sog.games.holdem.ranges import class_grid
from sog.searches.holdem.solver import HoldemSolver

__all__ = ["View", "view"]


@dataclass(frozen=True, eq=False)
class View:
    """A decision: who acts, the names of the actions, and how often each hand takes them.

    policy: float64[A, 1326].  reach: float64[1326], the actor's range here: its weights at the root times the
    probability that it acts so as to come here.
    """

    state: HoldemState
    actor: int
    actions: tuple[str, ...]
    policy: Float64
    reach: Float64

    @property
    def frequencies(self) -> Float64:
        """float64[A]: how often the actor's whole range takes each action."""
        total = self.reach.sum()
        out: Float64 = self.policy @ self.reach / total if total > 0 else self.policy.mean(axis=1)
        return out

    def hands(self, listed: Bool | None = None) -> list[tuple[str, float, list[float]]]:
        """(hand, weight, how often it takes each action) of every hand with a weight here, highest cards first.

        listed: bool[1326], or of these hands alone.
        """
        shown = self.reach > 0 if listed is None else (self.reach > 0) & listed
        # By the higher card, then the lower; of equals the lower hand number first.
        numbers = [int(h) for h in np.argsort(-(100 * (HIGH // 4) + LOW // 4), kind="stable") if shown[h]]
        return [(hand_name(h), float(self.reach[h]), self.policy[:, h].tolist()) for h in numbers]

    def grid(self) -> tuple[Float64, Float64]:
        """float64[13, 13], float64[A, 13, 13]: see `class_grid`."""
        return class_grid(self.reach, self.policy)


def view(solver: HoldemSolver, s: HoldemState) -> View:
    """The decision at a public state of the tree; GameError where nobody decides."""
    game = solver.game
    actor = game.actor(s)
    if actor in (NATURE, TERMINAL):
        what = "a card comes next" if actor == NATURE else "the hand is over"
        raise GameError(f"{what} at {game.state_name(s)}")
    reach = game.root_ranges()[actor]
    at = game.root()
    for action in s.line:
        # A line of actions leaves out the cards: the board says which came.
        if game.actor(at) == NATURE:
            dealt = s.board[len(at.board) : len(at.board) + game.cards_to_deal(at)]
            at = game.deal(at, dealt)
        children = [game.after(at, int(a)) for a in game.actions(at)]
        place = [c.line[-1] for c in children].index(action)
        # A range is the product of the player's own probabilities alone.
        if game.actor(at) == actor:
            reach = reach * solver.policy(at)[place]
        at = children[place]
    names = tuple(game.action_name(s, int(a)) for a in game.actions(s))
    # Hands with a later card of the board are not in the range here.
    blocked = np.isin(LOW, s.board) | np.isin(HIGH, s.board)
    return View(s, actor, names, solver.policy(s), np.where(blocked, 0.0, reach))
