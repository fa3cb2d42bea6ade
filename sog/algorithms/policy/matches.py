"""Matches of policies in games by histories: seats swapped, chance in common, many games side by side."""

from __future__ import annotations

import numpy as np

from sog.algorithms.policy.own_policy import OwnPolicy
from sog.arrays import Float64
from sog.games.base import NATURE, TERMINAL
from sog.games.histories.base import HistoryGame, drawn
from sog.games.histories.rows import equal_rows

__all__ = ["UniformPolicy", "play_pairs"]


class UniformPolicy:
    """Every legal action alike."""

    def __init__(self, game: HistoryGame) -> None:
        self.game = game

    def __call__(self, states: np.ndarray, player: int) -> Float64:
        legal = self.game.legal(states)
        policy: Float64 = legal / legal.sum(axis=1, keepdims=True)
        return policy


def play_pairs(game: HistoryGame, first: OwnPolicy, second: OwnPolicy, pairs: int, seed: int) -> Float64:
    """float64[pairs, 2]: what `first` wins as player 0 and as player 1 of pairs of games, in utilities.

    Both games of a pair meet the same draws, as long as they last alike. A policy is called with the states of one
    public state at a time.
    """
    rng = np.random.default_rng(seed)
    states = game.begin(2 * pairs)
    swapped = np.arange(2 * pairs) >= pairs
    while True:
        actors = game.actors(states)
        if (actors == TERMINAL).all():
            break
        uniforms = np.tile(rng.random(pairs), 2)
        actions = np.full(len(states), -1, dtype=np.int32)
        dealt = actors == NATURE
        if dealt.any():
            actions[dealt] = drawn(game.chances(states[dealt]), uniforms[dealt])
        for player in (0, 1):
            for whose, policy in ((0, first), (1, second)):
                rows = np.flatnonzero((actors == player) & (swapped == (player != whose)))
                # A policy may search: it is called once a public state.
                for same in equal_rows(game.public(states[rows])):
                    own = rows[same]
                    actions[own] = drawn(policy(states[own], player), uniforms[own])
        game.step(states, actions)
    won: Float64 = game.utilities(states).reshape(2, pairs).T * np.array([1.0, -1.0])
    return won
