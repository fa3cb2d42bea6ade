"""How likely a player's own policy is to play its part of histories: ranges from queries along the way (SePoT, 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sog.arrays import Array, Float64, Int32
from sog.games.histories.base import HistoryGame
from sog.games.histories.rows import distinct_rows, equal_rows

if TYPE_CHECKING:
    from sog.algorithms.policy.own_policy import OwnPolicy

__all__ = ["infostate_reach", "reach_of"]


def reach_of(game: HistoryGame, histories: Array, player: int, policy: OwnPolicy) -> Float64:
    """float64[H]: the product of the player's own probabilities along histories, int[H, T] padded with -1.

    The histories are those of one public state, so that at each of its turns the player is at one public state too.
    """
    states, reach = game.begin(len(histories)), np.ones(len(histories))
    for column in np.asarray(histories).T:
        acting = np.flatnonzero((column >= 0) & (game.actors(states) == player))
        # By public state: a history's turns come at different places where chance's are unequally many.
        for same in equal_rows(game.public(states[acting])):
            rows = acting[same]
            played = policy(states[rows], player)
            reach[rows] *= played[np.arange(len(rows)), column[rows]]
        game.step(states, column)
    return reach


def infostate_reach(game: HistoryGame, states: Int32, histories: Array, player: int, policy: OwnPolicy) -> Float64:
    """float64[H]: `reach_of` of all histories of one public state, by one history of each infostate of the player.

    So the policy is queried at most |S_i| x l_max times.
    """
    private = game.private(states, np.full(len(states), player, dtype=np.int32))
    first, numbers = distinct_rows(private)
    # All histories of an infostate have the same own reach: perfect recall.
    reach: Float64 = reach_of(game, np.asarray(histories)[first], player, policy)[numbers]
    return reach
