"""The search budget where the user gives none: one table for the command line, Python, matches and the page.

Two uses have budgets of their own: learning curves measure at (100, 1), which is quick, and engines and tournaments of
boards count their own simulations.
"""

from __future__ import annotations

from typing import Final

from sog.games.base import Game
from sog.games.holdem.betting import TURN
from sog.games.holdem.game import Holdem
from sog.games.holdem.hand_inputs import has_hand_inputs
from sog.games.scotland_yard.station_inputs import has_station_inputs
from sog.searches.gtcfr.settings import Budget

__all__ = ["BOARDS_BUDGET", "usual_budget"]

BOARDS_BUDGET: Final = Budget(400, 10.0)
_HIDDEN: Final = Budget(400, 1.0)
# Games whose networks are slow; in hold'em before the turn PoG's budget.
_BEFORE_THE_TURN, _HANDS, _STATIONS = Budget(10, 0.1), Budget(100, 1.0), Budget(30, 1.0)


def usual_budget(game: Game) -> Budget:
    """The budget of a search in this game."""
    if game.deterministic:
        return BOARDS_BUDGET
    if isinstance(game, Holdem) and game.street < TURN:
        return _BEFORE_THE_TURN
    if has_hand_inputs(game):
        return _HANDS
    return _STATIONS if has_station_inputs(game) else _HIDDEN
