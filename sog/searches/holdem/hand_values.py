"""What each hand of a solved spot is worth at a decision: its equity, and its expected value under both policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sog.arrays import Float64
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.betting import RIVER
from sog.games.holdem.cards import disjoint_mass, live_hands
from sog.games.holdem.equity import against_range
from sog.games.holdem.game import HoldemState
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.holdem.view import View

__all__ = ["HandValues", "hand_values"]


@dataclass(frozen=True, eq=False)
class HandValues:
    """Of the player who acts at a decision.

    ev: float64[1326], chips that a hand takes out of the pot on average from here on, less those that it still pays;
    to fold is worth 0.  equity: float64[1326], how often it beats the opponent's range here over all boards to come, a
    tie a half.  met: float64[1326], how much of the opponent's range it may meet; both are 0 where that is 0.
    pot: chips in the pot, uncalled bets among them; both players' mean evs add up to it.
    """

    ev: Float64
    equity: Float64
    met: Float64
    pot: float

    def comes(self, seen: View) -> bool:
        """Whether any hands of both players come here; of nobody's hands there is nothing to say."""
        return bool((seen.reach * self.met).any())

    def means(self, seen: View) -> tuple[float, float]:
        """(ev, equity) of the player's whole range; 0 where none `comes`."""
        weights = seen.reach * self.met
        total = weights.sum()
        return (float(weights @ self.ev / total), float(weights @ self.equity / total)) if total > 0 else (0.0, 0.0)


def hand_values(solver: HoldemSolver, seen: View) -> HandValues:
    """The values of the solver's average policies at a decision, for the ranges that come there by them.

    ev[i] = (sum over j of r[j] u(i, j)) / (sum over j of r[j]) + half the root's pot + what the player paid since, over
    the opponent's hands j that share no card with hand i or the board, and u what the player wins of the hand.
    """
    s, p, pot = seen.state, seen.actor, solver.game.spot.pot
    mass = np.where(live_hands(s.board), disjoint_mass(seen.other), 0.0)
    met = np.where(mass > 1e-9 * mass.max(), mass, 0.0)  # below are differences of larger sums, rounded
    won = np.divide(_won(solver, _below(solver, s, p), s, p, seen.other), met, out=np.zeros_like(met), where=met > 0)
    ev = np.where(met > 0, won + pot / 2 + s.betting.paid[p], 0.0)
    equity = np.where(met > 0, against_range(s.board, seen.other), 0.0)
    return HandValues(ev, equity, met, pot + sum(s.betting.paid))


def _below(solver: HoldemSolver, s: HoldemState, p: int) -> dict[tuple[int, ...], Float64]:
    """What `_won` is where the river card comes, by the line of actions; nothing on the river."""
    if s.betting.street == RIVER:
        return {}
    lines = (state.line for state in solver.program.cut_states())
    return dict(zip(lines, solver.cut_cfvs(p), strict=True))


def _won(
    solver: HoldemSolver, rivers: Mapping[tuple[int, ...], Float64], s: HoldemState, p: int, other: Float64
) -> Float64:
    """float64[1326]: the sum over the opponent's hands of its range times what player p wins of the hand, chips."""
    game = solver.game
    actor, chips = game.actor(s), game.spot.pot / 2 + s.betting.matched
    if actor == NATURE:
        return rivers[s.line]
    if actor == TERMINAL:
        share = 2.0 * against_range(s.board, other) - 1.0  # of the pots that it wins, less those it loses
        if s.betting.folded >= 0:
            share = np.where(live_hands(s.board), -1.0 if s.betting.folded == p else 1.0, 0.0)
        won: Float64 = chips * share * disjoint_mass(other)
        return won
    total = np.zeros_like(other)
    for taken, action in zip(solver.policy(s), game.actions(s).tolist(), strict=True):
        after = game.after(s, action)
        if actor == p:
            total += taken * _won(solver, rivers, after, p, other)
        else:
            total += _won(solver, rivers, after, p, other * taken)
    return total
