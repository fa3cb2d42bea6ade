"""Local Best Response: how much a simple opponent that knows an agent's strategy wins from it (Lisy and Bowling, 2017).

LBR keeps the agent's exact range and decides as if both players checked or called to the end after its action. What it
wins is a lower bound of what a best response wins, in games where no best response can be computed (arXiv 1612.07547).
The figure means little without the bets that LBR considers and the streets on which it must call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.poker import Poker, poker_of
from sog.measure.intervals import mean_interval
from sog.measure.lbr_bets import FOLD_CALL, Menu, read_bets
from sog.measure.lbr_hand import LbrHand
from sog.play.agent import Agent
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import listed_tree

__all__ = ["LbrFigure", "LbrSettings", "Seats", "local_best_response"]

# Makes the agent of a seat on a public tree, player 0 or 1.
Seats = Callable[[PublicTree, int], Agent]


@dataclass(frozen=True)
class LbrSettings:
    """How LBR plays and how its hands are scored.

    bets: see `sog.measure.lbr_bets.read_bets`.  call_streets: on how many streets from the first it checks or calls.
    raw: hands are scored as they were dealt; otherwise by their mean over the agent's range given LBR's cards.
    seed: of the deals and of the agent's draws.
    """

    bets: str = FOLD_CALL
    call_streets: int = 0
    raw: bool = False
    seed: int = 0


@dataclass(frozen=True)
class LbrFigure:
    """What LBR won a hand, in chips.

    pairs: float64[P], the mean of a duplicate's two hands: the same cards and chance, LBR in either seat.
    """

    game: Game
    settings: LbrSettings
    pairs: Float64 = field(repr=False)

    @property
    def hands(self) -> int:
        return 2 * len(self.pairs)

    @property
    def mean(self) -> float:
        """Chips a hand."""
        return float(self.pairs.mean())

    @property
    def half(self) -> float | None:
        """Half of the 95% interval, None for one pair of hands."""
        return mean_interval(self.pairs)[1]

    @property
    def error(self) -> float:
        """The standard error of the mean; infinite for one pair."""
        return float(self.pairs.std(ddof=1)) / len(self.pairs) ** 0.5 if len(self.pairs) > 1 else float("inf")


def local_best_response(
    game: Game,
    seats: Seats,
    hands: int,
    settings: LbrSettings | None = None,
    report: Callable[[int, str], None] = lambda done, note: None,
) -> LbrFigure:
    """LBR against an agent for a number of hands, an odd one rounded up: each deal is played from both seats.

    seats: makes the agent; for games whose public states can be listed once, for others anew for each hand, on a tree
    that grows with the hand.  report: takes hands played and a note.
    Raises GameError where the game is not poker, SettingError for bets that it lacks.
    """
    settings = settings or LbrSettings()
    if hands < 1:
        raise SettingError(f"LBR plays at least 1 hand, not {hands}")
    table = _LbrTable(game, seats, settings)
    pairs = np.zeros((hands + 1) // 2)
    for deal in range(len(pairs)):
        pairs[deal] = (table.play(deal, 0) + table.play(deal, 1)) / 2.0
        report(2 * (deal + 1), f"{pairs[: deal + 1].mean() * game.unit.per_utility:,.4g} {game.unit.name}")
    return LbrFigure(game, settings, pairs)


class _LbrTable:
    """Where hands of one game are dealt and played."""

    def __init__(self, game: Game, seats: Seats, settings: LbrSettings) -> None:
        self.game, self.seats, self.settings = game, seats, settings
        self.poker: Poker = poker_of(game)
        self.menu: Menu = read_bets(settings.bets, game)
        # Hold'em's tree may get bets that one hand needs: each hand has its own.
        shared = None if self.menu.fractions or self.menu.all_in else listed_tree(game)
        self._agents = None if shared is None else (seats(shared, 0), seats(shared, 1))
        self._dealer = _Dealer(PublicTree(game) if shared is None else shared)

    def play(self, deal: int, seat: int) -> float:
        """LBR's utility in one hand from a seat."""
        agent = self._agents[1 - seat] if self._agents else self.seats(PublicTree(self.game), 1 - seat)
        agent.new_game()
        seed = (self.settings.seed, deal)
        hand = LbrHand(agent, self.poker, self._dealer.draw(np.random.default_rng(seed)), seed)
        return hand.play(self.menu, self.settings.call_streets, self.settings.raw)


class _Dealer:
    """Draws pairs of infostates in proportion to chance and both ranges, one after the other."""

    def __init__(self, public: PublicTree) -> None:
        self.public, self.ranges = public, public.game.root_ranges()
        self.first = np.cumsum(self.ranges[0] * public.masses(0, *self.ranges)[0])

    def draw(self, rng: np.random.Generator) -> tuple[int, int]:
        """A pair at the root."""
        i0 = _drawn(self.first, rng)
        own = np.zeros(len(self.ranges[0]))
        own[i0] = self.ranges[0][i0]
        second = np.cumsum(self.ranges[1] * self.public.masses(0, own, self.ranges[1])[1])
        return i0, _drawn(second, rng)


def _drawn(cumulated: Float64, rng: np.random.Generator) -> int:
    """An index in proportion to weights that are given as running sums."""
    return int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
