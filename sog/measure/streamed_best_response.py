"""Exact best responses to a fixed policy of a game by histories, streamed: no public state or history is kept.

Histories that look the same to the best responder are a group. Groups go down the game side by side while they have
few histories in all; where there are more, they go in parts, one after the other, so that memory stays bounded by the
depth of the game and the size of a part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from sog.arrays import Float64, Int32, Int64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.histories.base import HistoryGame
from sog.games.histories.listing import children
from sog.games.histories.rows import distinct_rows

__all__ = ["Streamed", "best_response_value", "streamed_exploitability"]

WIDEST: Final = 200_000  # histories that go side by side

# float64[K, A]: what a player plays at states, int32[K, K'], where it acts.
Policy = Callable[[Int32, int], Float64]
# Takes the share of the game that is done, and how many histories that were.
Progress = Callable[[float, int], None]


@dataclass(frozen=True)
class Streamed:
    """What best responses to a policy earn, utilities.  best: of each player.  histories: visited, both together."""

    best: tuple[float, float]
    histories: int

    @property
    def exploitability(self) -> float:
        return (self.best[0] + self.best[1]) / 2


class _Groups(NamedTuple):
    """Histories by what the responder knows.

    reach: float64[H], of chance and the opponent.  group: int64[H], ascending.
    """

    states: Int32
    reach: Float64
    group: Int64
    size: int


def streamed_exploitability(
    game: HistoryGame, policy: Policy, widest: int = WIDEST, report: Progress = lambda share, seen: None
) -> Streamed:
    """Both best responses to a policy. report: called now and then. GameError for a game without public rows."""
    values, seen = [], 0
    for player in (0, 1):

        def half(share: float, visited: int, player: int = player, before: int = seen) -> None:
            report((player + share) / 2, before + visited)

        value, visited = best_response_value(game, policy, player, widest, half)
        values.append(value)
        seen += visited
    return Streamed((values[0], values[1]), seen)


def best_response_value(
    game: HistoryGame,
    policy: Policy,
    responder: int,
    widest: int = WIDEST,
    report: Progress = lambda share, seen: None,
) -> tuple[float, int]:
    """What the responder's best response to the policy earns, in utilities, and how many histories were visited.

    GameError for a game without public observations.
    """
    start = game.begin(1)
    if not game.public(start).shape[1]:
        raise GameError(f"{game.name} does not say what is public, so infostates cannot be told apart on the way")
    walk = _StreamedWalk(game, policy, responder, widest, report)
    value = walk.values(_Groups(start, np.ones(1), np.zeros(1, dtype=np.int64), 1), 1.0)
    return float(value[0]), walk.seen


class _StreamedWalk:
    def __init__(self, game: HistoryGame, policy: Policy, responder: int, widest: int, report: Progress) -> None:
        self.game, self.policy, self.responder, self.widest, self.report = game, policy, responder, widest, report
        self.seen, self.done = 0, 0.0

    def values(self, groups: _Groups, share: float) -> Float64:
        """float64[size]: the responder's counterfactual value of each group.  share: of the game that this is.

        value(group) = sum over its histories of reach * utility where they ended, of value(next group) over what chance
        and the opponent do, and max over own actions of the sums after each.
        """
        if len(groups.states) <= self.widest or groups.size == 1:
            return self._below(groups, share)
        out = np.zeros(groups.size)
        sizes = np.bincount(groups.group, minlength=groups.size)
        # Groups in order, cut where the running number of histories passes a multiple of `widest`: groups stay whole.
        part = (np.cumsum(sizes) - 1) // self.widest
        for k in np.unique(part).tolist():
            own = np.flatnonzero(part == k)
            rows = slice(*np.searchsorted(groups.group, (own[0], own[-1] + 1)))
            some = _Groups(groups.states[rows], groups.reach[rows], groups.group[rows] - own[0], len(own))
            out[own] = self._below(some, share * len(own) / groups.size)
        return out

    def _below(self, groups: _Groups, share: float) -> Float64:
        game, me = self.game, self.responder
        self.seen += len(groups.states)
        actors = game.actors(groups.states)
        out = np.zeros(groups.size)
        ended = actors == TERMINAL
        if ended.any():
            # The responder's utility times the reach of chance and the opponent: a counterfactual value.
            won = (1 - 2 * me) * game.utilities(groups.states[ended]) * groups.reach[ended]
            out += np.bincount(groups.group[ended], won, groups.size)
        going = np.flatnonzero(~ended)
        if not len(going):
            self.done += share
            self.report(self.done, self.seen)
            return out
        below = children(game, groups.states[going])
        # 1 for the responder's own actions: reach is chance's and the opponent's alone.
        odds = self._odds(groups.states[going], actors[going])[below.parent, below.action]
        # What the opponent never plays is not visited.
        possible = np.flatnonzero(odds > 0.0)
        parent, action = going[below.parent[possible]], below.action[possible].astype(np.int64)
        # Own actions are branches apart, 1 + action; all that others do is branch 0.
        mine = actors[parent] == me
        branch = groups.group[parent] * (game.num_actions + 1) + np.where(mine, action + 1, 0)
        states = below.states[possible]
        # The next groups: the branch, and what the responder knows after it (perfect recall).
        labels, label = distinct_rows(self._labels(branch, states))
        order = np.argsort(label, kind="stable")
        reach = groups.reach[parent] * odds[possible]
        after = _Groups(states[order], reach[order], label[order], len(labels))
        values = self.values(after, share)
        owner = np.zeros(len(labels), dtype=np.int64)
        owner[label] = branch
        return out + self._best(owner, values, groups.size)

    def _best(self, branch: Int64, values: Float64, count: int) -> Float64:
        """float64[count]: sums over what chance and the opponent do, then the best of what the responder does."""
        wide = self.game.num_actions + 1
        taken, place = np.unique(branch, return_inverse=True)
        sums = np.bincount(place, values)
        group, own = taken // wide, taken % wide > 0
        # The best of the own actions, and on top of it the sums of what chance and the opponent do.
        out = np.full(count, -np.inf)
        np.maximum.at(out, group[own], sums[own])
        out[np.isinf(out)] = 0.0
        np.add.at(out, group[~own], sums[~own])
        return out

    def _labels(self, branch: Int64, states: Int32) -> Int32:
        """int32[H, 1 + P + Q]: the rows by which children are grouped: the branch, and what the responder knows."""
        viewers = np.full(len(states), self.responder, dtype=np.int32)
        known = (self.game.public(states), self.game.private(states, viewers))
        return np.concatenate((branch[:, None].astype(np.int32), *known), axis=1)

    def _odds(self, states: Int32, actors: Int32) -> Float64:
        """float64[H, max(A, C)]: how likely each action is, by chance or the opponent; 1 for the responder's own."""
        game, other = self.game, 1 - self.responder
        out = np.ones((len(states), max(game.num_actions, game.num_outcomes)))
        dealt = np.flatnonzero(actors == NATURE)
        if len(dealt):
            out[dealt, : game.num_outcomes] = game.chances(states[dealt])
        theirs = np.flatnonzero(actors == other)
        if len(theirs):
            out[theirs, : game.num_actions] = self._played(states[theirs], other)
        return out

    def _played(self, states: Int32, player: int) -> Float64:
        """The policy by one history of each infostate."""
        viewers = np.full(len(states), player, dtype=np.int32)
        known = np.concatenate((self.game.public(states), self.game.private(states, viewers)), axis=1)
        first, place = distinct_rows(known)
        probabilities: Float64 = self.policy(states[first], player)[place]
        return probabilities
