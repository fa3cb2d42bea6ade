"""Opponents of poker games that are a few lines each: one always calls, one always folds, one goes by its equity.

They play any public state of any poker game, also after bets that the game's tree lacks, and search nothing.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sog.arrays import Float64
from sog.errors import GameError
from sog.games.holdem.cards import HANDS, live_hands
from sog.games.holdem.equity import against_range
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.poker import NONE, poker_of
from sog.play.agent import Agent
from sog.searches.tree.public_tree import PublicTree

__all__ = ["AlwaysCall", "AlwaysFold", "EquityThreshold"]


class AlwaysCall(Agent):
    """Checks and calls, whatever it holds."""

    def __init__(self, public: PublicTree, player: int, seed: int = 0) -> None:
        super().__init__(public, player, seed)
        self.poker = poker_of(public.game)

    def policy(self, node: int) -> Float64:
        return self.always(node, self.poker.call(self.state(node)))

    def always(self, node: int, column: int) -> Float64:
        """float64[A, I]: one action with every infostate."""
        state, count = self.state(node), len(self.public.actions(node))
        policy = np.zeros((count, self.game.num_infostates(state)[self.player]))
        policy[column] = 1.0
        return policy


class AlwaysFold(AlwaysCall):
    """Folds to every bet, the blinds included, and checks where nothing is asked."""

    def policy(self, node: int) -> Float64:
        fold = self.poker.fold(self.state(node))
        return super().policy(node) if fold == NONE else self.always(node, fold)


class EquityThreshold(AlwaysCall):
    """Bets, calls or folds by how often its hand would beat any two cards over all boards to come.

    From `bet` on it makes the smallest bet there is, up to one a street for each player; it calls from `call` on, and
    checks where nothing is asked. Hold'em only.
    """

    def __init__(self, public: PublicTree, player: int, seed: int = 0, call: float = 0.5, bet: float = 0.65) -> None:
        """GameError for other games."""
        super().__init__(public, player, seed)
        if not isinstance(public.game, Holdem):
            raise GameError(f"equities against any two cards are hold'em's: {public.game.name} has none")
        self.call, self.bet = call, bet

    def policy(self, node: int) -> Float64:
        s = self.state(node)
        assert isinstance(s, HoldemState)
        equity, bets = _equities(s.board), self.poker.bets(s)
        column = np.full(HANDS, self.poker.call(s))
        if len(bets) and s.betting.raises < 2:
            column[equity >= self.bet] = bets[0]
        if (fold := self.poker.fold(s)) != NONE:
            column[equity < self.call] = fold
        policy = np.zeros((len(self.public.actions(node)), HANDS))
        policy[column, np.arange(HANDS)] = 1.0
        return policy


@lru_cache(maxsize=1024)
def _equities(board: tuple[int, ...]) -> Float64:
    """float64[1326]: each hand's equity against a range of every hand."""
    return against_range(board, live_hands(board).astype(np.float64))
