"""Hold'em games from game strings such as `holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=0.5;allin)`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np

from sog.errors import GameError
from sog.games.holdem.bets import RANDOM, BetSizes, EveryAmount, Fractions, drawn_size, parse_sizes, perturbed
from sog.games.holdem.cards import CARDS, cards_name, parse_cards
from sog.games.holdem.game import BLINDS, STACK, Holdem, HoldemSpot
from sog.games.holdem.inputs import INPUTS, STRENGTH
from sog.games.holdem.ranges import EVERY_HAND, FULL
from sog.games.parameters import GameParameter, choice, number, read_parameters, text, whole
from sog.games.strings import Parameter, Parameters, write_game

SHORT = "holdem"
DRAWN_BOARDS: Final[Mapping[str, int]] = {"flop": 3, "turn": 4, "river": 5}  # by how many cards are drawn for each hand
PARAMETERS: Final[Mapping[str, GameParameter]] = {
    "board": text("the cards on the board, such as 2s2h2d7c9c: none, or three to five; or flop, turn or river", ""),
    "pot": whole("chips in the pot; by default two big blinds after the flop, and nothing before", None),
    "stacks": text("chips, one number or big blind's;small blind's, or 5000:25000 to draw one for both", str(STACK)),
    "blinds": text("chips, small blind's;big blind's", f"{BLINDS[0]};{BLINDS[1]}"),
    "bets": text("pot fractions and allin, any, or random for one drawn from 0.5 to 1 (PoG B.7)", "0.5;1.0;allin"),
    "raises": text("the same for raises after the first bet; by default as bets"),
    "noise": number("each fraction is moved by up to this share of the pot", None),
    "seed": whole("of what is drawn where one hand alone is looked at", 0, low=0, high=2**63 - 1),
    "range0": text("player 0's hands with weights: AA,KQs:0.5,T9s@50,[25]22-77[/25]", FULL),
    "range1": text("player 1's", FULL),
    "inputs": choice("what networks see, hands by strength or PoG's Table 2", INPUTS),
}


def holdem_from(parameters: Parameters) -> Holdem:
    """The game that a game string's parameters make; GameError, in one line, where one of them makes no sense."""
    return holdem_of(read_parameters(SHORT, parameters, PARAMETERS))


def holdem_of(values: Mapping[str, Any]) -> Holdem:
    """The game with a value for each of `PARAMETERS`; GameError as above.

    Where a board, stacks or bet sizes are to be drawn it is the one that the seed draws, under the name of all of them,
    and `drawn` gives others.
    """
    first = _member(values, np.random.default_rng(values["seed"]))
    if not _draws(values):
        return first
    given = {key: values[key] for key, parameter in PARAMETERS.items() if values[key] != parameter.default}
    name = write_game(SHORT, {key: _readable(value) for key, value in given.items()})
    return Holdem(first.spot, first.sizes, name, first.inputs, partial(_member, values))


def _draws(values: Mapping[str, Any]) -> bool:
    """Whether a game string leaves something to be drawn for each hand."""
    drawn = values["board"] in DRAWN_BOARDS or ":" in values["stacks"] or values["bets"] == RANDOM
    return drawn or bool(values["noise"])


def _member(values: Mapping[str, Any], rng: np.random.Generator) -> Holdem:
    """The game with everything drawn that is to be."""
    blinds, pot = _pair(values["blinds"], "blinds"), values["pot"]
    cards = DRAWN_BOARDS.get(values["board"])
    drawn = () if cards is None else rng.choice(CARDS, size=cards, replace=False)
    board = parse_cards(values["board"]) if cards is None else tuple(sorted(int(card) for card in drawn))
    stacks = _stacks(values["stacks"], rng)
    if pot is None:
        pot = 2 * blinds[1] if board else 0
    sizes = _sizes(values["bets"], values["raises"], values["noise"], rng)
    range0, range1 = (FULL if values[key].lower() in EVERY_HAND else values[key] for key in ("range0", "range1"))
    spot = HoldemSpot(stacks, blinds, board, pot, (range0, range1))
    return Holdem(spot, sizes, holdem_name(spot, sizes, values["inputs"]), values["inputs"])


def holdem_name(spot: HoldemSpot, sizes: BetSizes, inputs: str = STRENGTH) -> str:
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
    if inputs != STRENGTH:
        pairs["inputs"] = inputs
    return write_game(SHORT, {key: _readable(value) for key, value in pairs.items()})


def _sizes(bets: str, raises: str | None, noise: float | None, rng: np.random.Generator) -> BetSizes:
    if bets == RANDOM:
        if raises is not None or noise is not None:
            raise GameError("holdem: bets=random takes no raises and no noise")
        return drawn_size(rng)
    sizes = parse_sizes(bets, raises)
    if not noise:
        return sizes
    if not isinstance(sizes, Fractions):
        raise GameError("holdem: bets=any takes no noise")
    return perturbed(sizes, noise, rng)


def _stacks(value: str, rng: np.random.Generator) -> tuple[int, int]:
    low, colon, high = value.partition(":")
    if not colon:
        return _pair(value, "stacks")
    bounds = _pair(f"{low};{high}", "stacks")
    if not 0 < bounds[0] <= bounds[1]:
        raise GameError(f"holdem: stacks are drawn between two numbers such as 5000:25000, not {value}")
    stack = int(rng.integers(bounds[0], bounds[1] + 1))
    return stack, stack


def _pair(value: str, key: str) -> tuple[int, int]:
    """One whole number for both players, or two with a semicolon between."""
    words = [w.strip() for w in value.split(";")]
    if len(words) not in (1, 2) or not all(w.isdecimal() and len(w) < 10 for w in words):
        raise GameError(f"holdem: {key} are whole numbers of chips such as 20000 or 1000;500, not {value}")
    return int(words[0]), int(words[-1])


def _joined(pair: tuple[int, int]) -> str:
    return f"{pair[0]};{pair[1]}"


def _readable(value: Parameter) -> Parameter:
    """A single number, as in bets=0.5, is read as a number."""
    if isinstance(value, str):
        try:
            return float(value) if "." in value else int(value)
        except ValueError:
            return value
    return value
