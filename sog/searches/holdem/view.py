"""Decisions of a solved spot for people to read: hand by hand, and as a 13 x 13 grid of classes of hands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sog.arrays import Bool, Float64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.cards import CARDS, hand_name, in_order, live_hands
from sog.games.holdem.game import HoldemState
from sog.games.holdem.ranges import class_grid
from sog.searches.holdem.solver import HoldemSolver

__all__ = ["View", "view", "views"]


@dataclass(frozen=True, eq=False)
class View:
    """A decision: who acts, the names of the actions, and how often each hand takes them.

    policy: float64[A, 1326].  reach: float64[1326], the actor's range here: its weights at the root times the
    probability that it acts so as to come here.  other: float64[1326], the opponent's.
    """

    state: HoldemState
    actor: int
    actions: tuple[str, ...]
    policy: Float64
    reach: Float64
    other: Float64

    @property
    def frequencies(self) -> Float64:
        """float64[A]: how often the actor's whole range takes each action."""
        total = self.reach.sum()
        out: Float64 = self.policy @ self.reach / total if total > 0 else self.policy.mean(axis=1)
        return out

    def numbers(self, listed: Bool | None = None) -> list[int]:
        """The numbers of the hands with a weight here, highest cards first.  listed: bool[1326], or of these alone."""
        return in_order(self.reach if listed is None else np.where(listed, self.reach, 0.0))

    def hands(self, listed: Bool | None = None) -> list[tuple[str, float, list[float]]]:
        """(hand, weight, how often it takes each action) of each of `numbers`."""
        return [(hand_name(h), float(self.reach[h]), self.policy[:, h].tolist()) for h in self.numbers(listed)]

    def grid(self) -> tuple[Float64, Float64]:
        """float64[13, 13], float64[A, 13, 13]: see `class_grid`."""
        return class_grid(self.reach, self.policy)


def view(solver: HoldemSolver, s: HoldemState) -> View:
    """The decision at a public state of the tree; GameError where nobody decides."""
    game = solver.game
    actor = game.actor(s)
    if actor in (NATURE, TERMINAL):
        reason = "a card comes next" if actor == NATURE else "the hand is over"
        raise GameError(f"{reason} at {game.state_name(s)}")
    return next(views(solver, s))


def views(solver: HoldemSolver, s: HoldemState) -> Iterator[View]:
    """The decisions from a public state of the tree on, in the order of play, with every card that may come."""
    game, ranges = solver.game, solver.game.root_ranges()
    at = game.root()
    for action in s.line:
        # A line of actions leaves out the cards: the board says which came.
        if game.actor(at) == NATURE:
            dealt = s.board[len(at.board) : len(at.board) + game.cards_to_deal(at)]
            at = game.deal(at, dealt)
        children = [game.after(at, int(a)) for a in game.actions(at)]
        place = [c.line[-1] for c in children].index(action)
        ranges = _passed(ranges, game.actor(at), solver.policy(at)[place])
        at = children[place]
    yield from _below(solver, s, ranges)


def _below(solver: HoldemSolver, s: HoldemState, ranges: tuple[Float64, Float64]) -> Iterator[View]:
    """The decisions from a state on.  ranges: both players' there."""
    game = solver.game
    actor = game.actor(s)
    if actor == NATURE:
        for card in (c for c in range(CARDS) if c not in s.board):
            yield from _below(solver, game.deal(s, (card,)), ranges)
    elif actor != TERMINAL:
        policy, actions = solver.policy(s), game.actions(s).tolist()
        # Hands with a later card of the board are not in the range here.
        own, other = (np.where(live_hands(s.board), ranges[p], 0.0) for p in (actor, 1 - actor))
        yield View(s, actor, tuple(game.action_name(s, a) for a in actions), policy, own, other)
        for taken, a in zip(policy, actions, strict=True):
            yield from _below(solver, game.after(s, a), _passed(ranges, actor, taken))


def _passed(ranges: tuple[Float64, Float64], actor: int, taken: Float64) -> tuple[Float64, Float64]:
    """Both ranges after an action: a range is the product of the player's own probabilities alone."""
    zero, one = ranges
    return (zero * taken, one) if actor == 0 else (zero, one * taken)
