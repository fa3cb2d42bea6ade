"""Depth-limited alpha-beta on OpenSpiel's rules, as an opponent of fixed strength."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sog.opponents.rating import Decision, Rate, Rated, spiel_state

__all__ = ["Heuristic", "alpha_beta", "material", "nothing"]

# What a position at the horizon is worth to player 0, in (-1, 1).
Heuristic = Callable[[Any], float]

_SOONER: Final = 1e-4  # of a result's worth is lost with each move, so that wins come soon and losses late
_WORTH: Final = {"P": 1, "N": 3, "B": 3, "R": 5, "Q": 9}
_ALL: Final = 200.0  # more than all pieces are worth


def nothing(state: Any) -> float:
    """Every unfinished position is worth 0."""
    return 0.0


def material(state: Any) -> float:
    """Chess: Black's pieces (player 0) less White's, a pawn 1, knight and bishop 3, rook 5, queen 9, in 200ths."""
    placed = str(state.board().to_fen()).split(" ")[0]
    return sum(worth * (placed.count(p.lower()) - placed.count(p)) for p, worth in _WORTH.items()) / _ALL


def alpha_beta(depth: int, heuristic: Heuristic = nothing) -> Rate:
    """Rates moves by exact alpha-beta values to a depth of this many moves, the rated one included."""

    def rate(decision: Decision) -> Rated:
        state = spiel_state(decision.game, decision.state)
        mover = state.current_player()
        after = [state.child(action) for action in decision.actions]
        values = [-_negamax(child, depth - 1, -2.0, 2.0, 1 - mover, heuristic) for child in after]
        return Rated(values, [max(-1.0, min(1.0, value)) for value in values])

    return rate


def _negamax(state: Any, depth: int, alpha: float, beta: float, player: int, heuristic: Heuristic) -> float:
    """The state's value for `player`, who is to move unless the game is over."""
    if state.is_terminal():
        return float(state.player_return(player)) * (1.0 + _SOONER * depth)
    if depth == 0:
        return heuristic(state) * (1.0 if player == 0 else -1.0)
    for action in state.legal_actions():
        alpha = max(alpha, -_negamax(state.child(action), depth - 1, -beta, -alpha, 1 - player, heuristic))
        if alpha >= beta:
            break
    return alpha
