"""Safe re-solving by the spot solver: the opponent's choice, with every hand, to follow into a spot or to leave.

The gadget of `sog.searches.resolving.gadget`, above each of several spots that are solved side by side. Its formulas
are those of `sog.searches.cfr.iterate.update_choice`, on hand vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.arrays import Float64
from sog.games.holdem.cards import disjoint_mass
from sog.searches.cfr.rules import DCFR, Rule
from sog.searches.holdem.exact_values import scaled_range
from sog.searches.holdem.solver import HoldemSolver

__all__ = ["SpotBounds", "resolve"]


@dataclass(frozen=True, eq=False)
class SpotBounds:
    """What a player's last searches say of K states: where its next solve begins.

    own: float64[K, 1326], the player's range.  other: float64[K, 1326], the opponent's mean range.
    values: float64[K, 1326], what the opponent's hands are worth there, conditional on the hand; utilities.
    """

    own: Float64
    other: Float64
    values: Float64


def resolve(
    solver: HoldemSolver, player: int, bounds: SpotBounds, iterations: int, alpha: float = 0.5, rule: Rule = DCFR
) -> None:
    """Solve the solver's roots anew for `player`, whose policies count then; the opponent's are those of the gadget.

    The opponent's range at a root is alpha * follow + (1 - alpha) * other, with `other` scaled to a maximum of 1, and
    to leave pays values[i] * mass[i], the mass by the player's range (`sog.play.resolver`).
    """
    opponent = 1 - player
    own = np.array([scaled_range(weights) for weights in bounds.own])
    other = bounds.other / np.maximum(bounds.other.max(axis=1, keepdims=True), 1e-300)
    mass = np.array([disjoint_mass(weights) for weights in own])
    leave = bounds.values * mass
    regret = np.zeros((2, *own.shape))
    follow = np.where(mass > 1e-9 * mass.max(axis=1, keepdims=True), 0.5, 0.0)

    def enter() -> None:
        entered = alpha * follow + (1.0 - alpha) * other
        for k in range(len(own)):
            solver.set_ranges(k, (own[k], entered[k]) if player == 0 else (entered[k], own[k]))

    solver.restart()
    enter()
    for step in rule.steps(1, iterations):
        for updated in (0, 1):
            solver.update(updated, rule)
            if updated == opponent:
                inside = solver.cfvs(opponent)
                # v = follow * inside + (1 - follow) * leave, and each choice's regret against it, then discounted.
                value = follow * inside + (1.0 - follow) * leave
                regret += np.stack([inside, leave]) - value
                regret *= np.where(regret > 0, step[0], step[1])
                gained = np.maximum(regret, 0.0)
                total = gained.sum(axis=0)
                follow = np.where(total > 0, gained[0] / np.maximum(total, 1e-300), follow)
                enter()
