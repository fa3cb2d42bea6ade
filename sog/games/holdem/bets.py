"""Which raises a hold'em game offers: pot fractions and all-in, every whole amount, or a drawn size."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from sog.errors import GameError
from sog.games.holdem.betting import Betting

ALL_IN = "allin"
ANY = "any"
RANDOM = "random"
FIRST_RAISE = 2  # identities 0 and 1 are fold and call
LARGEST_FRACTION = 1000.0
MOST_SIZES = 100


class BetSizes(ABC):
    """The raises offered at a decision, as (action identity, total to raise to), identities ascending."""

    @abstractmethod
    def num_actions(self, stacks: tuple[int, int]) -> int:
        """Identities are 0..num_actions-1, fold and call included."""

    @abstractmethod
    def options(self, betting: Betting, dead: float) -> list[tuple[int, int]]:
        """The raises at this point of the betting; `dead`: the pot at the root, chips."""

    @abstractmethod
    def name(self, action: int) -> str:
        """What the raise with this identity is called, such as "0.5" or "allin"."""


@dataclass(frozen=True)
class EveryAmount(BetSizes):
    """Every whole amount; a raise's identity is the total it raises to, as OpenSpiel's full game has it."""

    def num_actions(self, stacks: tuple[int, int]) -> int:
        return min(stacks) + 1

    def options(self, betting: Betting, dead: float) -> list[tuple[int, int]]:
        smallest, largest = betting.raise_limits
        return [(x, x) for x in range(smallest, largest + 1)] if largest else []

    def name(self, action: int) -> str:
        return str(action)


@dataclass(frozen=True)
class Fractions(BetSizes):
    """Fractions of the pot after a call, and all-in where `all_in` says so.

    first: for the first bet of a round.  later: for raises.  A raise is made at least the smallest legal
    one and at most all-in; sizes that come out alike are offered once, under the highest identity.
    """

    first: tuple[float, ...]
    later: tuple[float, ...]
    all_in: tuple[bool, bool] = (True, True)

    @property
    def most(self) -> int:
        """How many fractions have an identity."""
        return max(len(self.first), len(self.later))

    def num_actions(self, stacks: tuple[int, int]) -> int:
        return FIRST_RAISE + self.most + 1

    def options(self, betting: Betting, dead: float) -> list[tuple[int, int]]:
        largest = betting.raise_limits[1]
        if not largest:
            return []
        again = betting.raises > 0
        by_amount: dict[int, int] = {}
        for k, fraction in enumerate(self.later if again else self.first):
            by_amount[amount_of(fraction, betting, dead)] = FIRST_RAISE + k
        if self.all_in[again]:
            by_amount[largest] = FIRST_RAISE + self.most
        return sorted((action, amount) for amount, action in by_amount.items())

    def name(self, action: int) -> str:
        k = action - FIRST_RAISE
        if k == self.most:
            return ALL_IN
        fractions = [f"{f[k]:.3g}" for f in (self.first, self.later) if k < len(f)]
        return "/".join(dict.fromkeys(fractions))

    def __str__(self) -> str:
        return _written(self.first, self.all_in[0])

    def raises_text(self) -> str:
        """The raises' part of a game string."""
        return _written(self.later, self.all_in[1])


def amount_of(fraction: float, betting: Betting, dead: float) -> int:
    """The total that a raise by a fraction of the pot after a call raises to, within the limits."""
    smallest, largest = betting.raise_limits
    amount = max(betting.paid) + math.floor(fraction * betting.pot_after_call(dead) + 0.5)
    return min(max(amount, smallest), largest)


def parse_sizes(bets: str, raises: str | None = None) -> BetSizes:
    """Sizes written like "0.5;1.0;allin", or "any"; `raises` after the first bet of a round, if others. GameError."""
    if bets == ANY:
        if raises is not None:
            raise GameError("holdem: bets=any takes no raises")
        return EveryAmount()
    first, first_all_in = _fractions(bets)
    later, later_all_in = (first, first_all_in) if raises is None else _fractions(raises)
    return Fractions(first, later, (first_all_in, later_all_in))


def drawn_size(rng: np.random.Generator) -> Fractions:
    """One raise of a size drawn between 0.5 and 1.0 pot, for all hands of a game (PoG B.7: for each hand)."""
    fraction = (float(rng.uniform(0.5, 1.0)),)
    return Fractions(fraction, fraction, (False, False))


def perturbed(sizes: Fractions, noise: float, rng: np.random.Generator) -> Fractions:
    """Every fraction moved by up to `noise` pot, for one hand (ReBeL C.2 has 0.1); GameError if a bet might vanish."""
    if not 0 <= noise < min(sizes.first + sizes.later, default=math.inf):
        raise GameError(f"holdem: noise is at least 0 and below the smallest bet, not {noise}")
    first = tuple(sorted(f + float(rng.uniform(-noise, noise)) for f in sizes.first))
    later = tuple(sorted(f + float(rng.uniform(-noise, noise)) for f in sizes.later))
    return replace(sizes, first=first, later=first if sizes.later == sizes.first else later)


def _fractions(text: str) -> tuple[tuple[float, ...], bool]:
    """The fractions of a list and whether all-in is in it."""
    fractions, all_in = [], False
    words = [word.strip() for word in str(text).split(";")]
    if len(words) > MOST_SIZES:
        raise GameError(f"holdem: at most {MOST_SIZES} bet sizes, not {len(words):,}; bets=any has every whole amount")
    for word in words:
        if word == ALL_IN:
            all_in = True
            continue
        try:
            fraction = float(word)
        except ValueError:
            fraction = math.nan
        if not 0 < fraction <= LARGEST_FRACTION:
            raise GameError(f"holdem: no bet is called {word!r}; write pot fractions and allin, as 0.5;1.0;allin")
        if fraction in fractions:
            raise GameError(f"holdem: bet {word} occurs twice in {text!r}")
        fractions.append(fraction)
    return tuple(sorted(fractions)), all_in


def _written(fractions: tuple[float, ...], all_in: bool) -> str:
    return ";".join([f"{f:.12g}" for f in fractions] + [ALL_IN] * all_in)
