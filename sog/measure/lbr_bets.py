"""The bets that Local Best Response considers, read from text: fold-call, 56, pot fractions, or the game's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sog.errors import SettingError
from sog.games.base import Game
from sog.games.holdem.bets import Fractions, amount_of, parse_sizes
from sog.games.holdem.game import Holdem, HoldemState

__all__ = ["FOLD_CALL", "OFFERED", "Menu", "read_bets"]

FOLD_CALL: Final = "fold-call"
OFFERED: Final = "offered"
_POT_ALL_IN: Final = "fold-call-pot-allin"
_FIFTY_SIX: Final = "56"


@dataclass(frozen=True)
class Menu:
    """Bets besides fold, check and call.

    text: as it was written.  fractions: of the pot after a call.  all_in: whether that is one.  offered: every bet
    that the game's own tree has, and no other.
    """

    text: str
    fractions: tuple[float, ...] = ()
    all_in: bool = False
    offered: bool = False

    @property
    def empty(self) -> bool:
        """Whether there are no bets at all."""
        return not (self.fractions or self.all_in or self.offered)

    def amounts(self, game: Holdem, s: HoldemState) -> list[int]:
        """The totals to raise to at a decision of hold'em, ascending; each once.

        A fraction that cannot be bet becomes the smallest bet or all-in.
        """
        largest = s.betting.raise_limits[1]
        if not largest:
            return []
        if self.offered:
            return sorted(amount for _, amount in game.raises(s))
        amounts = {amount_of(fraction, s.betting, game.spot.pot) for fraction in self.fractions}
        return sorted(amounts | {largest} if self.all_in else amounts)


def read_bets(text: str, game: Game) -> Menu:
    """The bets of a text; SettingError for one that says none, or sizes for a game whose bets have a fixed size."""
    if text == FOLD_CALL:
        return Menu(text)
    if text == OFFERED:
        return Menu(text, offered=True)
    if not isinstance(game, Holdem):
        raise SettingError(f"the bets of {game.name} have a fixed size: write {FOLD_CALL} or {OFFERED}, not {text}")
    if text == _POT_ALL_IN:
        return Menu(text, (1.0,), all_in=True)
    if text == _FIFTY_SIX:
        # Lisy and Bowling, Section 5: all-in and 55 fractions, each 1.15 times the one before.
        return Menu(text, tuple(0.05 * 1.15**k for k in range(55)), all_in=True)
    sizes = parse_sizes(text)
    if not isinstance(sizes, Fractions):
        raise SettingError(f"bets are {FOLD_CALL}, {_POT_ALL_IN}, {_FIFTY_SIX}, {OFFERED} or fractions as 0.5;1;allin")
    return Menu(text, sizes.first, sizes.all_in[0])
