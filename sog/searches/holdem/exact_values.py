"""Exact values of hold'em beliefs on the river and at the turn's end, which a network learns: by the spot solver.

Values are conditional on the hand, in utilities: as `sog.training.rows.write_values` takes them, which divides them by
`Holdem.value_unit` of the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Bool, Float64
from sog.errors import GameError
from sog.games.base import NATURE
from sog.games.holdem.betting import BOARD_CARDS, RIVER, TURN
from sog.games.holdem.cards import HANDS, disjoint_mass, live_hands
from sog.games.holdem.game import Holdem, HoldemState
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.tree.public_tree import PublicTree

__all__ = [
    "SpotBelief",
    "believe",
    "below_turn",
    "exact_values",
    "fixed_values",
    "is_exact",
    "is_settled",
    "scaled_range",
]


# The least weight of a hand in a range that is solved from: a hand without any would have no average policy.
FLOOR: Final = 1e-9


class SpotBelief(NamedTuple):
    """A public state on the turn or the river, or between, with both players' ranges, float64[1326] each."""

    state: HoldemState
    ranges: tuple[Float64, Float64]


def is_exact(public: PublicTree, node: int) -> bool:
    """Whether a public node is hold'em's river, or the chance event before it."""
    state = public.states[node]
    if not isinstance(state, HoldemState):
        return False
    waits = len(state.board) == BOARD_CARDS[TURN] and public.actor(node) == NATURE
    return waits or state.betting.street == RIVER


def is_settled(public: PublicTree, node: int) -> bool:
    """Whether nothing can be bet at a public node of hold'em any more, which then teaches nothing.

    A network's values are added to what hands win checked down, and there that is all.
    """
    state = public.states[node]
    if not (isinstance(state, HoldemState) and public.game.has_baseline):
        return False
    return state.betting.all_in and public.actor(node) == NATURE


def exact_values(game: Holdem, beliefs: Sequence[SpotBelief], iterations: int) -> Float64:
    """float64[B, 2, 1326]: both players' values at each belief under the average policies of a solve from there.

    iterations: of DCFR, to the end of the game; at a river root 100 leave about 0.6% of the pot.
    Beliefs on one board are solved side by side. A hand that the board or the opponent's range rules out has value 0;
    one that its own range leaves out has the value that it would have with next to no weight in it.
    """
    out = np.zeros((len(beliefs), 2, HANDS))
    by_board: dict[tuple[int, ...], list[int]] = {}
    for k, belief in enumerate(beliefs):
        by_board.setdefault(belief.state.board, []).append(k)
    for numbers in by_board.values():
        solver = HoldemSolver(game, states=[beliefs[k].state for k in numbers])
        believe(solver, [beliefs[k].ranges for k in numbers], FLOOR)
        solver.iterate(iterations)
        out[numbers] = fixed_values(solver)
        for k in numbers:
            out[k] *= met(beliefs[k])
    return out


def met(belief: SpotBelief) -> Bool:
    """bool[2, 1326]: of both players, the hands that the board leaves and that may meet one of the opponent's range."""
    masses = np.array([disjoint_mass(belief.ranges[1 - p]) for p in (0, 1)])
    meeting: Bool = (masses > 1e-9 * masses.max(axis=1, keepdims=True)) & live_hands(belief.state.board)
    return meeting


def believe(solver: HoldemSolver, ranges: Sequence[tuple[Float64, Float64]], floor: float = 0.0) -> None:
    """Give a solver both players' ranges at each of its roots, each scaled to a maximum of about 1.

    floor: what each hand's weight is raised by.
    """
    for k, (zero, one) in enumerate(ranges):
        solver.set_ranges(k, (scaled_range(zero) + floor, scaled_range(one) + floor))


def fixed_values(solver: HoldemSolver) -> Float64:
    """float64[R, 2, 1326]: the values of a solver's average policies at its roots, for the ranges there."""
    solver.evaluate()
    return np.stack([solver.values(0), solver.values(1)], axis=1)


def scaled_range(weights: Float64) -> Float64:
    """A range times a power of two, which rounds nothing, so that its maximum lies in [0.5, 1); all 0 as it is."""
    top = float(weights.max(initial=0.0))
    return np.ldexp(weights, -int(np.frexp(top)[1])) if top > 0 else weights


def below_turn(solver: HoldemSolver) -> HoldemSolver:
    """The rivers of a solver of the turn by themselves, side by side, with its average policies there.

    Its roots are the states where the river card comes, in the order of `Program.cuts`, all-ins among them. The
    solver's vectors below its top lie in the same order, so that averages are copied as they are.
    GameError for a solver of 16 bits.
    """
    if solver.bits < 32:
        raise GameError("holdem: rivers are taken out of a solver of 32 bits")
    below = HoldemSolver(solver.game, solver.threads, states=solver.program.cut_states())
    below.averages[:] = solver.averages[-below.program.entries :]
    return below
