"""What every history of a listed game is exactly worth under a policy and its transformations: a critic without error.

Beside it one sees how much of a learned critic's play is the critic's error, and how much the search's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.sepot.transformations import Transformations
from sog.arrays import Bool, Float32, Float64, Int32, Int64
from sog.games.base import NATURE, TERMINAL
from sog.games.histories.base import HistoryGame
from sog.games.histories.listing import Histories, list_histories
from sog.nets.cvpn import CVPN


class _Seen(NamedTuple):
    """See `sog.algorithms.sepot.transformations.Decisions`."""

    states: Int32
    inputs: Float32
    legal: Bool


class ExactCritic:
    """See `sog.algorithms.sepot.search.Critic`.

    states: int32[H, K], the histories of the game, shorter ones first.  turns: int64[H], actions so far, chance's
    included.  going: bool[H], not over yet.  profiles: int64[Q, 2], profiles of transformations as a learned critic has
    them.  worth: float64[H, Q], player 0's utility under each.  reach: float64[H], how likely the policy gets there.
    """

    def __init__(self, game: HistoryGame, network: CVPN, transformations: Transformations, profiles: Int64) -> None:
        """TooManyHistories for a game with more than a million."""
        histories = list_histories(game)
        actors = game.actors(histories.states)
        parent, action = _ways(histories)
        policies = _policies(game, network, transformations, histories.states, actors)
        self.states, self.turns = histories.states, (histories.actions >= 0).sum(axis=1)
        self.profiles, self.going = profiles, actors != TERMINAL
        self.worth = np.zeros((len(histories), len(profiles)))
        self.worth[~self.going] = game.utilities(histories.states[~self.going])[:, None]
        self.reach = np.ones(len(histories))
        players = np.minimum(actors, 1)  # chance's policy is the same with every transformation
        for turn in range(int(self.turns.max()), 0, -1):
            here = np.flatnonzero(self.turns == turn)
            above = parent[here]
            played = policies[above[:, None], profiles[:, players[above]].T, action[here, None]]
            np.add.at(self.worth, above, played * self.worth[here])
        for turn in range(1, int(self.turns.max()) + 1):
            here = np.flatnonzero(self.turns == turn)
            self.reach[here] = self.reach[parent[here]] * policies[parent[here], 0, action[here]]
        self._number = {row.tobytes(): k for k, row in enumerate(histories.states)}

    def values(self, states: Int32, chooser: int) -> Float64:
        numbers = [self._number[row.tobytes()] for row in states]
        return self.worth[numbers][:, self.profiles[:, 1 - chooser] == 0]


def _ways(histories: Histories) -> tuple[Int64, Int64]:
    """int64[H], each history's parent, and int64[H], the action that leads from there; -1 at the start."""
    number = {row[row >= 0].tobytes(): k for k, row in enumerate(histories.actions)}
    parent, action = np.full(len(histories), -1, dtype=np.int64), np.full(len(histories), -1, dtype=np.int64)
    for k, row in enumerate(histories.actions):
        taken = row[row >= 0]
        if len(taken):
            parent[k], action[k] = number[taken[:-1].tobytes()], taken[-1]
    return parent, action


def _policies(
    game: HistoryGame, network: CVPN, transformations: Transformations, states: Int32, actors: Int32
) -> Float64:
    """float64[H, F, max(A, C)]: of who acts, under each transformation; chance's under all of them."""
    out = np.zeros((len(states), transformations.count, max(game.num_actions, game.num_outcomes)))
    policy = NetworkPolicy(game, network)
    for player in (0, 1):
        rows = np.flatnonzero(actors == player)
        viewers = np.full(len(rows), player, dtype=np.int32)
        seen = _Seen(states[rows], game.inputs(states[rows], viewers), game.legal(states[rows]))
        played = policy(states[rows], player).astype(np.float32)
        out[rows, :, : game.num_actions] = transformations.of(seen, played)
    dealt = np.flatnonzero(actors == NATURE)
    if len(dealt):
        out[dealt, :, : game.num_outcomes] = game.chances(states[dealt])[:, None, :]
    return out
