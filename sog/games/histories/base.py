"""The interface of games given history by history, many at once.

A history is the sequence of all actions so far, chance's included, in OpenSpiel's numbers. A batch of B games is an
array of states, int32[B, K], one row for each history, which only the game can read. Chance acts like a player: its
outcomes are actions, so that a history can be written down, int16[T], and replayed.

Two integer rows say what is known. `public` is what everybody has seen, in order and padded with -1, so that the row
of an earlier history is a beginning of it; histories with the same row make a public state. `private` is what a
player knows besides. Both rows together are the player's infostate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Unit

__all__ = ["HistoryGame", "TooManyHistories", "beginnings_of", "deal", "drawn", "replay", "uniform_weights"]


class TooManyHistories(GameError):
    """More histories than may be listed; a search then leaves the decision to the network."""


class HistoryGame(ABC):
    """Immutable rules of a two-player zero-sum game, for B histories at once.

    name: the game string that makes this game again.  u_max: the largest utility anyone can win.  unit: how utilities
    are reported.  num_actions: players' actions are 0..num_actions-1, OpenSpiel's numbers where it has the game.
    num_outcomes: chance's are 0..num_outcomes-1; 0 where there is no chance.  longest: the most actions in a history,
    chance's included.  num_inputs: N, length of `inputs`.  num_private: how many of them, the last ones, hold what
    only the viewer knows.  has_public: whether `public` says what everybody has seen; where it does not, games can be
    played and learned, not searched.
    """

    name: str
    u_max: float
    num_actions: int
    num_outcomes: int
    longest: int
    num_inputs: int
    num_private: int
    unit: Unit = Unit()
    has_public: bool = True

    @abstractmethod
    def begin(self, count: int) -> Int32:
        """int32[count, K]: this many games that have not begun."""

    @abstractmethod
    def actors(self, states: Int32) -> Int32:
        """int32[B]: 0, 1, NATURE or TERMINAL."""

    @abstractmethod
    def legal(self, states: Int32) -> Bool:
        """bool[B, A]: what the player to act may do; nothing where no player acts."""

    @abstractmethod
    def chances(self, states: Int32) -> Float64:
        """float64[B, C]: the probability of each outcome; zeros where NATURE does not act."""

    @abstractmethod
    def step(self, states: Int32, actions: Array) -> None:
        """Take int[B] actions or outcomes in place, each legal; -1 leaves a row as it is."""

    @abstractmethod
    def utilities(self, states: Int32) -> Float64:
        """float64[B]: player 0's utility of games that are over; 0 elsewhere."""

    @abstractmethod
    def inputs(self, states: Int32, viewers: Int32) -> Float32:
        """float32[B, N]: a network's input for the infostate of player viewers[b], from that player's side."""

    @abstractmethod
    def public(self, states: Int32) -> Int32:
        """int32[B, P]: what everybody has seen, in order, then -1."""

    @abstractmethod
    def private(self, states: Int32, viewers: Int32) -> Int32:
        """int32[B, Q]: what player viewers[b] knows besides."""

    def consistent(self, public: Int32, most: int) -> Array | None:
        """int16[H, longest]: the histories of a public state, int32[P], from its constraints; padded with -1.

        None where the game has no shorter way than `listing.histories_of`; TooManyHistories above `most`.
        """
        return None

    @property
    def num_critic_inputs(self) -> int:
        """M, the length of `critic_inputs`."""
        return self.num_inputs + self.num_private

    def critic_inputs(self, states: Int32) -> Float32:
        """float32[B, M]: the whole history for a critic: player 0's input and what player 1 knows besides."""
        zero, one = np.zeros(len(states), dtype=np.int32), np.ones(len(states), dtype=np.int32)
        theirs = self.inputs(states, one)[:, self.num_inputs - self.num_private :]
        return np.concatenate((self.inputs(states, zero), theirs), axis=1)


def drawn(chances: Array, uniforms: Array) -> Int32:
    """int32[B]: from each row of weights [B, C] the entry that a number in [0, 1) picks; never one of weight 0."""
    sums = np.cumsum(chances, axis=1, dtype=np.float64)
    at: Int32 = (sums <= (uniforms * sums[:, -1])[:, None]).sum(axis=1).astype(np.int32)
    entry: Int32 = np.minimum(at, chances.shape[1] - 1)
    return entry


def uniform_weights(game: HistoryGame, states: Int32, actors: Int32) -> Float64:
    """float64[B, max(A, C)]: 1 for each legal action, each outcome's probability where NATURE acts, 0 for all else."""
    weights = np.zeros((len(states), max(game.num_actions, game.num_outcomes)))
    weights[:, : game.num_actions] = game.legal(states)
    chance = actors == NATURE
    if chance.any():
        weights[chance, : game.num_outcomes] = game.chances(states[chance])
    return weights


def deal(game: HistoryGame, states: Int32, rng: np.random.Generator, record: list[Int32] | None = None) -> Int32:
    """Let chance act in place until it is nowhere to act; int32[B], who acts then.

    record: gets the outcomes, int32[B] with -1 where chance did not act, once for each time.
    """
    actors = game.actors(states)
    while (waiting := actors == NATURE).any():
        outcomes = np.full(len(states), -1, dtype=np.int32)
        outcomes[waiting] = drawn(game.chances(states[waiting]), rng.random(int(waiting.sum())))
        game.step(states, outcomes)
        if record is not None:
            record.append(outcomes)
        actors = game.actors(states)
    return actors


def replay(game: HistoryGame, histories: Array) -> Int32:
    """int32[B, K]: the states after histories, int[B, T] padded with -1; GameError where an action is illegal."""
    states = game.begin(len(histories))
    for column in np.asarray(histories).T:
        _refuse_illegal(game, states, column)
        game.step(states, column)
    return states


def _refuse_illegal(game: HistoryGame, states: Int32, actions: Array) -> None:
    going = np.flatnonzero(actions >= 0)
    actors = game.actors(states)[going]
    may = uniform_weights(game, states[going], actors) > 0
    known = actions[going] < may.shape[1]
    if (actors == TERMINAL).any() or not known.all() or not may[np.arange(len(going)), actions[going]].all():
        raise GameError(f"{game.name}: an action of the history is not legal there")


def beginnings_of(public: Int32, whole: Int32) -> Bool:
    """bool[B]: which public rows, int32[B, P], are beginnings of the public row int32[P]."""
    beginnings: Bool = ((public == whole) | (public < 0)).all(axis=1)
    return beginnings
