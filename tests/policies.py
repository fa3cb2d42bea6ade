"""Policies of games by histories, fixed and of random networks, and what histories are exactly worth under them."""

from __future__ import annotations

import numpy as np
import torch

from sog.algorithms.policy.agent import infostates_of
from sog.algorithms.policy.trajectories import Trajectories, sample
from sog.arrays import Float64, Int32
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_history_game
from sog.games.histories.base import HistoryGame
from sog.games.histories.listing import children
from sog.nets.cvpn import CVPN
from sog.nets.shape import policy_shape
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree


def played(name: str, count: int, seed: int = 0) -> tuple[Trajectories, CVPN]:
    """Games of a network with random weights, its last layer's too."""
    game = make_history_game(name)
    network = CVPN(policy_shape(game, 16, 1), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in network.head.parameters():
            weight.normal_(0.0, 0.4, generator=generator)
    return sample(game, network, count, np.random.default_rng(seed)), network


def infostate_keys(game: HistoryGame, states: Int32, player: int) -> list[bytes]:
    """Public and private rows as one bytes each."""
    viewers = np.full(len(states), player, dtype=np.int32)
    rows = np.concatenate((game.public(states), game.private(states, viewers)), axis=1)
    return [row.tobytes() for row in rows]


class RandomPolicy:
    """The same random policy at every call, by infostate; an `OwnPolicy`.  asked: infostates in all calls."""

    def __init__(self, game: HistoryGame, seed: int = 0) -> None:
        self.game, self.seed, self.asked = game, seed, 0
        self.known: dict[bytes, Float64] = {}

    def __call__(self, states: Int32, player: int) -> Float64:
        self.asked += len(states)
        legal = self.game.legal(states)
        out = np.zeros(legal.shape)
        for k, key in enumerate(infostate_keys(self.game, states, player)):
            if key not in self.known:
                rng = np.random.default_rng([self.seed, *key])
                weights = rng.random(legal.shape[1]) * legal[k]
                self.known[key] = weights / weights.sum()
            out[k] = self.known[key]
        return out


class TablePolicy:
    """The policy of a listed game as an `OwnPolicy`."""

    def __init__(self, public: PublicTree, policy: exact.Policy) -> None:
        self.game = make_history_game(public.game.name)
        seen = infostates_of(public)
        self.known: dict[bytes, Float64] = {}
        for n, (first, stop) in seen.starts.items():
            player = public.actor(n)
            for r, key in enumerate(infostate_keys(self.game, seen.states[first:stop], player)):
                row = np.zeros(self.game.num_actions)
                row[public.actions(n)] = policy[n][:, seen.place[first + r]]
                self.known[key] = row

    def __call__(self, states: Int32, player: int) -> Float64:
        return np.array([self.known[key] for key in infostate_keys(self.game, states, player)])


class ExactCritic:
    """What histories are exactly worth; a `Critic`. policies[p]: player p's transformed policies, the first its own."""

    def __init__(self, game: HistoryGame, policies: list[list[object]]) -> None:
        self.game, self.policies = game, policies

    def values(self, states: Int32, chooser: int) -> Float64:
        own, other = self.policies[chooser], self.policies[1 - chooser][0]
        pairs = [(f, other) if chooser == 0 else (other, f) for f in own]
        return np.stack([value_of(self.game, states, pair) for pair in pairs], axis=1)


def value_of(game: HistoryGame, states: Int32, policies: tuple[object, object]) -> Float64:
    """float64[H]: player 0's expected utility of histories, by the whole tree below them."""
    if not len(states):
        return np.zeros(0)
    actors, out = game.actors(states), np.zeros(len(states))
    ended = actors == TERMINAL
    out[ended] = game.utilities(states[ended])
    going = np.flatnonzero(~ended)
    if not len(going):
        return out
    below = children(game, states[going])
    odds = np.zeros((len(going), max(game.num_actions, game.num_outcomes)))
    for p in (0, 1):
        for rows in by_public(game, states, going[actors[going] == p]):
            odds[np.searchsorted(going, rows), : game.num_actions] = policies[p](states[rows], p)  # type: ignore[operator]
    dealt = actors[going] == NATURE
    if dealt.any():
        odds[dealt, : game.num_outcomes] = game.chances(states[going[dealt]])
    worth = value_of(game, below.states, policies) * odds[below.parent, below.action]
    np.add.at(out, going[below.parent], worth)
    return out


def by_public(game: HistoryGame, states: Int32, rows: np.ndarray) -> list[np.ndarray]:
    """Rows by public state."""
    keys = [row.tobytes() for row in game.public(states[rows])]
    return [rows[[k for k, key in enumerate(keys) if key == one]] for one in sorted(set(keys))]
