"""What a policy network plays at the public states of a listed game: each infostate by one of its histories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sog.algorithms.policy.networks import policies_in_parts, policies_of
from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.errors import CheckpointError
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame, replay
from sog.nets.cvpn import module_of
from sog.nets.network import Network
from sog.play.agent import Agent
from sog.searches.cfr import exact
from sog.searches.tree.histories import padded, reached_at
from sog.searches.tree.public_tree import PublicTree

__all__ = [
    "Infostates",
    "PolicyAgent",
    "infostates_of",
    "network_policy",
    "policy_at",
    "policy_exploitability",
    "refuse_no_policy",
]


@dataclass(frozen=True, eq=False)
class Infostates:
    """What a network sees of the infostates of a listed game where a player acts, each by one of its histories.

    states: int32[R, K], those histories.  inputs: float32[R, N].  legal: bool[R, A], by action identity.
    node, place: int32[R], the public node and the infostate's number there.  starts: by node, the first of its rows
    and the one after its last.
    Infostates that chance never deals are left out.
    """

    states: Int32
    inputs: Float32
    legal: Bool
    node: Int32
    place: Int32
    starts: dict[int, tuple[int, int]]


@lru_cache(maxsize=2)
def infostates_of(public: PublicTree) -> Infostates:
    """The acting infostates of a listed game, each by a history of it; GameError where a game does not give them."""
    game = make_history_game(public.game.name)
    histories: list[list[int]] = []
    node, place, viewers = [], [], []
    starts: dict[int, tuple[int, int]] = {}
    for n in public.decisions():
        before = len(histories)
        for i, history in reached_at(public, n):
            histories.append(history)
            node.append(n)
            place.append(i)
            viewers.append(public.actor(n))
        starts[n] = before, len(histories)
    states = replay(game, padded(histories, game.longest))
    inputs = game.inputs(states, np.array(viewers, dtype=np.int32))
    nodes, places = np.array(node, dtype=np.int32), np.array(place, dtype=np.int32)
    return Infostates(states, inputs, game.legal(states), nodes, places, starts)


def network_policy(public: PublicTree, network: Network) -> exact.Policy:
    """The network's policy at every public node of a listed game where a player acts."""
    seen = infostates_of(public)
    refuse_no_policy(make_history_game(public.game.name), network)
    policy = policies_in_parts(module_of(network), seen.inputs, seen.legal)
    return {n: policy_at(public, n, policy[first:stop]) for n, (first, stop) in seen.starts.items()}


def refuse_no_policy(game: HistoryGame, network: Network) -> None:
    """CheckpointError for a network that is not a policy network of the game, such as one that values beliefs."""
    shape = network.shape
    if (shape.features, shape.slots, shape.actions) != (game.num_inputs, (1, 1), game.num_actions):
        raise CheckpointError(f"the network is no policy network of {game.name}; train one, say by rnad")


def policy_exploitability(public: PublicTree, network: Network) -> float:
    """Exploitability of the network's policy, in utilities."""
    return exact.measure_policy(public, network_policy(public, network)).exploitability


def policy_at(public: PublicTree, node: int, rows: Array) -> Float64:
    """float64[A, I]: rows by action identity, of the infostates that are dealt, as a node's policy.

    Infostates that are never dealt play each legal action alike.
    """
    legal = public.legal(node)
    # Uniform first: infostates that chance never deals have no history to ask the network about.
    policy: Float64 = legal / np.maximum(legal.sum(axis=0), 1.0)
    first, stop = infostates_of(public).starts[node]
    probabilities = rows[:, public.actions(node)].T.astype(np.float64)
    policy[:, infostates_of(public).place[first:stop]] = probabilities / probabilities.sum(axis=0)
    return policy


class PolicyAgent(Agent):
    """Plays a policy network as it is: no search."""

    def __init__(self, public: PublicTree, player: int, network: Network, seed: int = 0) -> None:
        super().__init__(public, player, seed)
        refuse_no_policy(make_history_game(public.game.name), network)
        self.network = module_of(network)

    def policy(self, node: int) -> Float64:
        """float64[A, I]: see `Agent.policy`."""
        seen = infostates_of(self.public)
        first, stop = seen.starts[node]
        rows = policies_of(self.network, seen.inputs[first:stop], seen.legal[first:stop])
        return policy_at(self.public, node, rows)
