"""What is common to poker games: which action folds, calls or bets, what is in the pot, and who would win at the end.

Code that measures or plays poker by rules of thumb gets the game's `Poker` from `poker_of`. Hold'em's reads the betting
and the equities, that of every other game here its payoffs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from sog.arrays import Float64
from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Game, State, carried_down, carried_up
from sog.games.holdem.betting import RIVER
from sog.games.holdem.equity import against_each
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.abstract import AbstractLeduc
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.leduc.ranks import LeducRanks

__all__ = ["NONE", "HoldemPoker", "ListedPoker", "Poker", "Stakes", "poker_of"]

NONE: Final = -1  # where nobody can fold


@dataclass(frozen=True)
class Stakes:
    """Chips where a player acts.  pot: on the table, the other's bet included.  asked: what the player must pay to
    call.  Chips that the player's stack cannot match are in neither.
    """

    pot: float
    asked: float


class Poker(ABC):
    """A poker game's actions by their columns, and its chips."""

    @abstractmethod
    def street(self, s: State) -> int:
        """The betting round, from 0."""

    @abstractmethod
    def fold(self, s: State) -> int:
        """The column of the fold at a decision; NONE where nothing is asked."""

    def call(self, s: State) -> int:
        """The column of check or call at a decision."""
        return self.fold(s) + 1

    def bets(self, s: State) -> range:
        """The columns of bets and raises at a decision."""
        return range(self.call(s) + 1, self._count(s))

    @abstractmethod
    def stakes(self, s: State) -> Stakes:
        """Pot and asked chips at a decision."""

    @abstractmethod
    def added(self, s: State, column: int) -> float:
        """The chips that a bet or raise asks of the opponent."""

    @abstractmethod
    def settled(self, s: State) -> bool:
        """Whether nobody folded and nobody decides any more: at a showdown, or before it with a player all-in."""

    @abstractmethod
    def lost(self, s: State) -> float:
        """The chips that the loser loses, after a fold or where `settled`; half of a pot at the root included."""

    @abstractmethod
    def equities(self, s: State, player: int, infostate: int) -> Float64:
        """float64[I]: how often an infostate beats each of the opponent's if both check or call to the end, ties half.

        Over all chance events to come, exactly. 0 where the pair cannot be.
        """

    @abstractmethod
    def _count(self, s: State) -> int:
        """How many actions a decision has."""


def poker_of(game: Game) -> Poker:
    """The poker of a game; GameError where the game is not a known poker."""
    if isinstance(game, Holdem):
        return HoldemPoker(game)
    if isinstance(game, Kuhn | Leduc | LeducRanks | AbstractLeduc):
        return ListedPoker(game)
    raise GameError(f"{game.name} is no poker game; kuhn_poker, leduc_poker and hold'em are")


class HoldemPoker(Poker):
    """Hold'em's actions and chips, read from the betting."""

    def __init__(self, game: Holdem) -> None:
        self.game = game

    def street(self, s: State) -> int:
        assert isinstance(s, HoldemState)
        return s.betting.street

    def fold(self, s: State) -> int:
        assert isinstance(s, HoldemState)
        return 0 if s.betting.facing else NONE

    def stakes(self, s: State) -> Stakes:
        assert isinstance(s, HoldemState)
        betting, p = s.betting, s.betting.actor
        own, other = betting.paid[p], min(betting.paid[1 - p], betting.stacks[p])
        return Stakes(float(self.game.spot.pot + own + other), float(max(0, other - own)))

    def added(self, s: State, column: int) -> float:
        assert isinstance(s, HoldemState)
        return float(self.game.raises(s)[column - self.call(s) - 1][1] - max(s.betting.paid))

    def settled(self, s: State) -> bool:
        assert isinstance(s, HoldemState)
        betting = s.betting
        return betting.closed and betting.folded < 0 and (betting.all_in or betting.street == RIVER)

    def lost(self, s: State) -> float:
        assert isinstance(s, HoldemState)
        return self.game.spot.pot / 2 + s.betting.matched

    def equities(self, s: State, player: int, infostate: int) -> Float64:
        assert isinstance(s, HoldemState)
        return against_each(s.board, infostate)

    def _count(self, s: State) -> int:
        assert isinstance(s, HoldemState)
        return self.call(s) + 1 + len(self.game.raises(s))


class ListedPoker(Poker):
    """A small poker game's actions and chips, read from its payoffs: if both call, the chips at stake are fixed."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._fold = lru_cache(maxsize=None)(self._find_fold)
        self._called = lru_cache(maxsize=None)(self._find_called)
        self._pairs = lru_cache(maxsize=None)(self._find_equities)

    def street(self, s: State) -> int:
        """Kuhn poker has one round; in Leduc poker the second has a board card."""
        return int(getattr(s, "board", -1) >= 0)

    def fold(self, s: State) -> int:
        return self._fold(s)

    def stakes(self, s: State) -> Stakes:
        called, fold = self._called(s), self.fold(s)
        paid = called if fold == NONE else self.lost(self.game.child(s, fold))
        return Stakes(paid + called, called - paid)

    def added(self, s: State, column: int) -> float:
        return self._called(self.game.child(s, column)) - self._called(s)

    def settled(self, s: State) -> bool:
        return self.game.actor(s) == TERMINAL and len(np.unique(self._signs(s))) > 1

    def lost(self, s: State) -> float:
        weights = self.game.weights(s).dense()
        return float(np.abs(self.game.payoff(s).dense()[weights > 0] / weights[weights > 0]).max())

    def equities(self, s: State, player: int, infostate: int) -> Float64:
        return self._pairs(s, player, infostate)

    def _count(self, s: State) -> int:
        return len(self.game.actions(s))

    def _signs(self, s: State) -> Float64:
        """float64[*]: player 0's signs at a terminal, of the pairs that are possible."""
        signs: Float64 = np.sign(self.game.payoff(s).dense()[self.game.weights(s).dense() > 0])
        return signs

    def _find_fold(self, s: State) -> int:
        """0 where the first action loses at once, whatever the players hold."""
        after, lost = self.game.child(s, 0), -1.0 if self.game.actor(s) == 0 else 1.0
        return 0 if self.game.actor(after) == TERMINAL and (self._signs(after) == lost).all() else NONE

    def _find_called(self, s: State) -> float:
        """The chips that a player has paid at the end if both check or call."""
        while (actor := self.game.actor(s)) != TERMINAL:
            s = self.game.child(s, 0 if actor == NATURE else self.call(s))
        return self.lost(s)

    def _find_equities(self, s: State, player: int, infostate: int) -> Float64:
        own, other = np.zeros(self.game.num_infostates(s)[player]), 1 - player
        own[infostate] = 1.0
        weights = self.game.weights(s).dense()
        mass = weights[infostate] if player == 0 else weights[:, infostate]
        won = self._won(s, player, own) / self._called(s)
        assert won.shape == (self.game.num_infostates(s)[other],)
        return np.divide(mass + won, 2 * mass, out=np.zeros_like(mass), where=mass > 0)

    def _won(self, s: State, player: int, own: Float64) -> Float64:
        """float64[I] of the opponent: what a player's range wins against each infostate, chance's weights included."""
        game, actor = self.game, self.game.actor(s)
        if actor == TERMINAL:
            payoff = game.payoff(s).dense()
            return own @ payoff if player == 0 else -(payoff @ own)
        fan, total = game.fan(s), np.zeros(game.num_infostates(s)[1 - player])
        edges = range(len(fan.children)) if actor == NATURE else (self.call(s),)
        for e in edges:
            child, carry = fan.children[e], (None, None) if fan.carry is None else fan.carry[e]
            below = carried_down(carry[player], own, game.num_infostates(child)[player])
            carried_up(carry[1 - player], self._won(child, player, below), total)
        return total
