"""Hold'em games from game strings such as `holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;allin)`."""

from __future__ import annotations

import numpy as np

from sog.errors import GameError
from sog.games.holdem.bets import RANDOM, BetSizes, EveryAmount, Fractions, drawn_size, parse_sizes, perturbed
from sog.games.holdem.cards import cards_name, parse_cards
from sog.games.holdem.game import BLINDS, STACK, Holdem, Spot
from sog.games.holdem.ranges import FULL
from sog.games.strings import (
    Parameter,
    Parameters,
    int_parameter,
    number_parameter,
    refuse_unknown,
    write_game,
)

SHORT = "holdem"
KEYS = ("board", "pot", "stacks", "blinds", "bets", "raises", "noise", "seed", "range0", "range1")
BETS = "0.5;1.0;allin"


def holdem_from(parameters: Parameters) -> Holdem:
    """The game with these parameters; GameError, in one line, where one of them makes no sense.

    stacks: chips, one number or big blind's;small blind's, or 5000:25000 to draw one for both.  bets: as in
    parse_sizes, or "random" for one size drawn between 0.5 and 1.0 pot (PoG B.7).  noise: each fraction is
    moved by up to so much of the pot.  seed: of what is drawn; the game's name has what came out.
    """
    refuse_unknown(SHORT, parameters, KEYS)
    rng = np.random.default_rng(int_parameter(SHORT, parameters, "seed", 0, low=0, high=2**63 - 1))
    board = parse_cards(str(parameters.get("board", "")))
    blinds = _pair(parameters.get("blinds", f"{BLINDS[0]};{BLINDS[1]}"), "blinds")
    stacks = _stacks(parameters.get("stacks", STACK), rng)
    pot = int_parameter(SHORT, parameters, "pot", 2 * blinds[1] if board else 0)
    sizes = _sizes(parameters, rng)
    ranges = (_text(parameters, "range0"), _text(parameters, "range1"))
    spot = Spot(stacks, blinds, board, pot, ranges)
    return Holdem(spot, sizes, holdem_name(spot, sizes))


def holdem_name(spot: Spot, sizes: BetSizes) -> str:
    """The game string that makes this game again."""
    pairs: dict[str, Parameter] = {}
    if spot.board:
        pairs["board"] = cards_name(spot.board)
    if spot.pot:
        pairs["pot"] = spot.pot
    pairs["stacks"] = spot.stacks[0] if spot.stacks[0] == spot.stacks[1] else _joined(spot.stacks)
    if spot.blinds != BLINDS:
        pairs["blinds"] = _joined(spot.blinds)
    if isinstance(sizes, EveryAmount):
        pairs["bets"] = "any"
    elif isinstance(sizes, Fractions):
        pairs["bets"] = str(sizes)
        if (sizes.later, sizes.all_in[1]) != (sizes.first, sizes.all_in[0]):
            pairs["raises"] = sizes.raises_text()
    for p in (0, 1):
        if spot.ranges[p] != FULL:
            pairs[f"range{p}"] = spot.ranges[p]
    return write_game(SHORT, {key: _readable(value) for key, value in pairs.items()})


def _sizes(parameters: Parameters, rng: np.random.Generator) -> BetSizes:
    bets, raises = str(parameters.get("bets", BETS)), parameters.get("raises")
    if bets == RANDOM:
        if raises is not None or "noise" in parameters:
            raise GameError("holdem: bets=random takes no raises and no noise")
        return drawn_size(rng)
    sizes = parse_sizes(bets, None if raises is None else str(raises))
    noise = number_parameter(SHORT, parameters, "noise", 0.0)
    if not noise:
        return sizes
    if not isinstance(sizes, Fractions):
        raise GameError("holdem: bets=any takes no noise")
    return perturbed(sizes, noise, rng)


def _stacks(value: Parameter, rng: np.random.Generator) -> tuple[int, int]:
    low, colon, high = str(value).partition(":")
    if not colon:
        return _pair(value, "stacks")
    bounds = _pair(f"{low};{high}", "stacks")
    if not 0 < bounds[0] <= bounds[1]:
        raise GameError(f"holdem: stacks are drawn between two numbers such as 5000:25000, not {value}")
    stack = int(rng.integers(bounds[0], bounds[1] + 1))
    return stack, stack


def _pair(value: Parameter, key: str) -> tuple[int, int]:
    """One whole number for both players, or two with a semicolon between."""
    words = [w.strip() for w in str(value).split(";")]
    if len(words) not in (1, 2) or not all(w.isdecimal() and len(w) < 10 for w in words):
        raise GameError(f"holdem: {key} are whole numbers of chips such as 20000 or 1000;500, not {value}")
    return int(words[0]), int(words[-1])


def _text(parameters: Parameters, key: str) -> str:
    return str(parameters.get(key, FULL))


def _joined(pair: tuple[int, int]) -> str:
    return f"{pair[0]};{pair[1]}"


def _readable(value: Parameter) -> Parameter:
    """A number that stands alone, as in bets=0.5, is read as a number."""
    if isinstance(value, str):
        try:
            return float(value) if "." in value else int(value)
        except ValueError:
            return value
    return value
