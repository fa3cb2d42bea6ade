"""A player's policy as a function of states of a game by histories, and a policy network as one."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sog.algorithms.policy.networks import policies_in_parts
from sog.arrays import Float64, Int32
from sog.games.histories.base import HistoryGame
from sog.nets.cvpn import module_of
from sog.nets.network import Network

__all__ = ["NetworkPolicy", "OwnPolicy"]


class OwnPolicy(Protocol):
    """float64[K, A]: what a player plays at states, int32[K, K'], of one public state where that player acts."""

    def __call__(self, states: Int32, player: int) -> Float64: ...


class NetworkPolicy:
    """A policy network as an `OwnPolicy` of games by histories.  queries: infostates evaluated so far."""

    def __init__(self, game: HistoryGame, network: Network) -> None:
        self.game, self.network, self.queries = game, module_of(network), 0

    def __call__(self, states: Int32, player: int) -> Float64:
        viewers = np.full(len(states), player, dtype=np.int32)
        inputs, legal = self.game.inputs(states, viewers), self.game.legal(states)
        self.queries += len(states)
        policy = policies_in_parts(self.network, inputs, legal).astype(np.float64)
        exact: Float64 = policy / policy.sum(axis=1, keepdims=True)
        return exact
