"""Turn endgame hold'em solved on the turn alone: what values the turn's ends, and turn policies that need no learning.

The game, its sizes and its board are ReBeL's (rebel_endgame.py). A turn policy is measured with the rivers below it
solved anew (sog.measure.endgame).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sog.algorithms.rebel.turn_spots import average_turn
from sog.arrays import Float64
from sog.games.catalog import make_game
from sog.games.holdem.betting import CALL
from sog.games.holdem.cards import HANDS
from sog.games.holdem.game import Holdem, HoldemState
from sog.measure.endgame import TurnPolicy, is_turn_spot
from sog.play.turn_chain import public_state
from sog.searches.depth_limited.settings import CFR_D, SolveSettings
from sog.searches.holdem.exact_values import believe, fixed_values
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.holdem.trees import DECISION, SpotNode
from sog.searches.leaves.evaluator import Beliefs, Evaluations, Evaluator

__all__ = [
    "ENDGAME",
    "SMALL_ENDGAME",
    "CheckedDown",
    "ranges_at",
    "turn_ends",
    "turn_game",
    "turn_solved_by",
    "values_by_slot",
]

ENDGAME: Final = "holdem(board=3s7hTdKs,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)"
# For quick versions: one size, two raises at most.
SMALL_ENDGAME: Final = "holdem(board=3s7hTdKs,pot=2000,stacks=3000,bets=1.0,raises=allin)"


def turn_game(text: str) -> Holdem:
    """The game of a game string that begins on the turn."""
    game = make_game(text)
    assert is_turn_spot(game)
    return game


def turn_ends(game: Holdem) -> list[HoldemState]:
    """The states where the river card comes, in the order of `Program.cuts`."""
    return HoldemSolver(game, states=[game.root()]).program.cut_states()


def ranges_at(states: Sequence[HoldemState], beliefs: Beliefs) -> Float64:
    """float64[C, 2, 1326]: both players' ranges by hand at each of the states; all hands alike where none is asked."""
    ranges = np.ones((len(states), 2, HANDS))
    for node, by_slot in zip(beliefs.nodes.tolist(), beliefs.ranges, strict=True):
        place = states.index(public_state(beliefs.public, node))
        ranges[place] = beliefs.public.ranges_of_slots(node, by_slot)
    return ranges


def values_by_slot(states: Sequence[HoldemState], beliefs: Beliefs, values: Float64) -> Float64:
    """float64[B, S0 + S1]: an evaluator's answer, from values by hand at each of the states, float64[C, 2, 1326]."""
    public, out = beliefs.public, np.zeros_like(beliefs.ranges)
    for k, node in enumerate(beliefs.nodes.tolist()):
        for p in (0, 1):
            out[k, public.places_of(node, p)] = values[states.index(public_state(public, node)), p]
    return out


class CheckedDown:
    """Values leaves as if both players checked the river: equity, exactly.  An evaluator of the turn's ends."""

    def __init__(self, game: Holdem) -> None:
        self.states = turn_ends(game)
        self.solver = HoldemSolver(game, states=self.states)
        # Of every decision on the river the call, which is a check where nothing was bet, has all of the policy.
        for forest, nodes in enumerate(self.solver.program.forest_roots):
            for node in nodes:
                self._check(node, forest)

    def _check(self, node: SpotNode, forest: int) -> None:
        program = self.solver.program
        if node.kind != DECISION:
            return
        for k, child in enumerate(node.children):
            for board in range(len(program.boards.cards)):
                at = program.entry0(forest, board) + (node.action0 + k) * program.width
                self.solver.averages[at : at + program.width] = float(child.state.line[-1] == CALL)
            self._check(child, forest)

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [Evaluations(self.values_at(beliefs), np.zeros((0, 0, 0))) for beliefs in requests]

    def values_at(self, beliefs: Beliefs) -> Float64:
        """float64[B, S0 + S1]: both players' values at the turn's ends, each of which occurs once at most."""
        ranges = ranges_at(self.states, beliefs)
        believe(self.solver, [(zero, one) for zero, one in ranges])
        return values_by_slot(self.states, beliefs, fixed_values(self.solver))


def turn_solved_by(game: Holdem, evaluator: Evaluator, iterations: int) -> TurnPolicy:
    """The turn solved by linear CFR with leaves at its ends (CFR-D), and the bounds that the evaluator gives there."""
    return average_turn(game, SolveSettings(CFR_D, depth=0, to_chance=True, updates=2 * iterations), evaluator)
