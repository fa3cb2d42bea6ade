"""A depth-limited subgame with multi-valued leaves as a game by public states, for any solver of those (SePoT, 3.1).

At a leaf the opponent chooses one of F ways to play on; then the subgame ends with what the histories are worth under
the choice. So a multi-valued state is no more than a decision, and what solves games solves it: nothing here or in the
solver knows a critic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.algorithms.sepot.below import Below
from sog.arrays import Bool, Float32, Float64, Int32, Int64
from sog.errors import GameError
from sog.games.base import TERMINAL, State
from sog.games.compiled.game import CompiledGame
from sog.games.compiled.tree import Partition, joint
from sog.games.histories.base import HistoryGame, TooManyHistories
from sog.games.histories.rows import distinct_rows

__all__ = ["LeafChoice", "Subgame"]

_PAIRS: Final = 20_000_000  # of infostates in all public states, of which operators of float64 are made


@dataclass(frozen=True, eq=False)
class LeafChoice:
    """Who chooses at the leaves, and what comes of it.

    player: whose choice it is.  values: float64[L, F], player 0's utility at each leaf under each of them.
    """

    player: int
    values: Float64


@dataclass(frozen=True, eq=False)
class _SubgameMoments:
    """See `sog.games.compiled.tree.Moments`."""

    parent: Int32
    action: Int32
    chance: Float64
    actor: Int32
    utility: Float64


@dataclass(frozen=True, eq=False)
class _Rows:
    """Moments beside those of the game, distinguished by what each player knows and what everybody knows.

    depth: int64[M].  known: int64[M, 2].  public: int64[M].
    """

    depth: Int64
    known: Int64
    public: Int64


class Subgame(CompiledGame):
    """Histories below a public state as a game. Its weights are chance's alone: players' reaches are ranges.

    below: the histories; they are the game's first moments.
    """

    sparse = True  # where both players hide what they did, most pairs of infostates have no history

    def __init__(self, game: HistoryGame, below: Below, choice: LeafChoice | None = None) -> None:
        """choice: at the leaves, None without leaves.

        GameError for a game without public observations, TooManyHistories where its matrices would be too large.
        """
        public = game.public(below.states)
        if not public.shape[1]:
            raise GameError(f"{game.name} has no public observations that could bound a subgame")
        self.name, self.unit, self.num_features = f"a subgame of {game.name}", game.unit, 1
        self.below, self._history_game = below, game
        ways = 0 if choice is None else choice.values.shape[1]
        self.num_actions = max(game.num_actions, ways)
        decisions = below.actor != TERMINAL
        known = np.stack([self._known(p, public) for p in (0, 1)], axis=1)
        _, states = distinct_rows(public)
        rows = _Rows(below.depth.astype(np.int64), known, states)
        ended = ~decisions
        utility = np.zeros(len(below))
        utility[ended] = game.utilities(below.states[ended])
        moments = _SubgameMoments(below.parent, below.action, below.chance, below.actor.copy(), utility)
        if choice is not None and below.leaf.any():
            moments, rows = _chosen(moments, rows, below.leaf, choice)
        self.compile(moments, _partition(rows, moments.actor != TERMINAL))
        if self.num_entries > _PAIRS:
            raise TooManyHistories(f"{self.name} has {self.num_entries:,} pairs of infostates, more than {_PAIRS:,}")

    def _known(self, p: int, public: Int32) -> Int64:
        """int64[M]: the infostate of player p at each moment; earlier and later ones may have the same number."""
        private = self._history_game.private(self.below.states, np.full(len(self.below), p, dtype=np.int32))
        return distinct_rows(np.concatenate((public, private), axis=1))[1]

    def features(self, s: State) -> Float32:
        """float32[1]: nothing; no network sees a subgame."""
        return np.zeros(1, dtype=np.float32)

    def own_moments(self, s: State) -> Int64:
        """int64[K]: the histories of a public state, as numbers in `below`."""
        m: Int64 = self.moments_of(int(s))[0]  # type: ignore[call-overload]
        return m[m < len(self.below)]

    def private_rows(self, s: State, p: int) -> Int32:
        """int32[I, Q]: what player p knows besides what is public, with each infostate of a state of `own_moments`."""
        m = self.own_moments(s)
        rows = self._history_game.private(self.below.states[m], np.full(len(m), p, dtype=np.int32))
        out = np.zeros((self.num_infostates(s)[p], rows.shape[1]), dtype=np.int32)
        out[self.tree.place[m, p]] = rows
        return out


def _chosen(moments: _SubgameMoments, rows: _Rows, leaf: Bool, choice: LeafChoice) -> tuple[_SubgameMoments, _Rows]:
    """Moments with the choices at leaves, and the ends below them."""
    at, ways = np.flatnonzero(leaf), choice.values.shape[1]
    actor = moments.actor.copy()
    actor[at] = choice.player
    above = np.repeat(at, ways)
    # Each leaf becomes a decision of the chooser, with one end for each way to play on: a multi-valued state.
    longer = _SubgameMoments(
        np.concatenate((moments.parent, above)).astype(np.int32),
        np.concatenate((moments.action, np.tile(np.arange(ways), len(at)))).astype(np.int32),
        np.concatenate((moments.chance, moments.chance[above])),
        np.concatenate((actor, np.full(len(above), TERMINAL))).astype(np.int32),
        np.concatenate((moments.utility, choice.values.ravel())),
    )
    unknown = np.zeros(len(above), dtype=np.int64)  # of an end nothing need be known
    depth, public = np.concatenate((rows.depth, unknown)), np.concatenate((rows.public, unknown))
    return longer, _Rows(depth, np.concatenate((rows.known, np.stack((unknown, unknown), axis=1))), public)


def _partition(rows: _Rows, decision: Bool) -> Partition:
    state = np.full(len(decision), -1, dtype=np.int64)
    infostate = np.full((len(decision), 2), -1, dtype=np.int64)
    # By depth too, so that a public state is never above itself.
    state[decision] = joint(rows.depth[decision], rows.public[decision])
    for p in (0, 1):
        infostate[decision, p] = joint(state[decision], rows.known[decision, p])
    return Partition("public rows", infostate, state)
