"""The settings of Scotland Yard besides its map: cards, tickets, rounds, and their words in a game string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Final

from sog.errors import GameError
from sog.games.parameters import GameParameter, text
from sog.games.scotland_yard.map import SHIPPED, CityMap, cut_name, named_cut, read_map
from sog.games.strings import Parameter, write_game

TICKETS: Final = ("taxi", "bus", "underground", "black", "double")
STATIONS: Final = "stations"
PAPER: Final = "paper"
INPUTS: Final = (STATIONS, PAPER)
BLACK: Final = 3
DOUBLE: Final = 4

_LONGEST_NUMBER: Final = 6  # digits
_EMPTY: Final = {"reveals": "none", "cards": "all"}  # how an empty list is written


@dataclass(frozen=True)
class ScotlandYardRules:
    """What a game of Scotland Yard is besides its map; the defaults are the classic London game's.

    `PARAMETERS` says what each field is; no `cards` are every station of the map.
    """

    map: str = "london"
    rounds: int = 24
    detectives: int = 5
    reveals: tuple[int, ...] = (3, 8, 13, 18, 24)
    start: str = "deal"
    cards: tuple[int, ...] = ()
    tickets: tuple[int, ...] = (10, 8, 4)
    x_tickets: tuple[int, ...] = (4, 3, 3, 5, 2)
    inputs: str = STATIONS

    def game_name(self) -> str:
        """The game string: the map and whatever differs from its preset, in the order of the fields."""
        usual = preset(self.map)
        parameters: dict[str, Parameter] = {"map": self.map}
        for f in fields(self)[1:]:
            value = getattr(self, f.name)
            given_by_start = f.name == "detectives" and self.start != "deal"
            if value != getattr(usual, f.name) and not given_by_start:
                parameters[f.name] = _listed(f.name, value) if isinstance(value, tuple) else value
        return write_game("scotland_yard", parameters)


# Lists have semicolons; what a game string leaves out is the map's preset.
PARAMETERS: Final[Mapping[str, GameParameter]] = {
    "map": text(f"{', '.join(SHIPPED)}, a cut of London such as london40, or a file of a user's own map", "glasses"),
    "rounds": text("Mr X's moves, double moves counted twice"),
    "detectives": text("how many; with a start other than deal they are counted there"),
    "reveals": text("the moves at which Mr X shows himself, or none"),
    "start": text(
        "deal (everyone draws a card), hidden;1;11 (the detectives' stations; Mr X draws a card), "
        "or 6;1;11 (Mr X's station, which all know, and the detectives')"
    ),
    "cards": text("the stations on the start cards, or all"),
    "tickets": text("a detective's taxi, bus and underground tickets"),
    "x_tickets": text("Mr X's, then his black tickets and double cards"),
    "inputs": text(
        "what networks see: each station where Mr X can be (stations; a network of kind stations), or PoG's Table 2 "
        "(paper); on the glasses map paper, otherwise stations"
    ),
}

_LONDON_CARDS: Final = (13, 26, 29, 34, 50, 53, 91, 94, 103, 112, 117, 132, 138, 141, 155, 174, 197, 198)
LONDON: Final = ScotlandYardRules(cards=_LONDON_CARDS)
# Maps by name: glasses of Player of Games, and three small ones of ours whose values are well inside (-1, 1).
_PRESETS: Final = {
    "london": LONDON,
    "glasses": ScotlandYardRules("glasses", 5, 2, (), "6;1;11", (), (5, 0, 0), (5, 0, 0, 0, 0), PAPER),
    "ring8": ScotlandYardRules("ring8", 3, 2, (), "2;1;4", (), (4, 2, 0), (3, 2, 0, 2, 0)),
    "ring9": ScotlandYardRules("ring9", 3, 2, (), "8;9;3", (), (4, 2, 0), (3, 2, 0, 2, 0)),
    "ring12": ScotlandYardRules("ring12", 3, 2, (3,), "10;6;7", (), (4, 2, 0), (3, 2, 0, 0, 0)),
}
# Rules of London's cuts by stations. Two equal PimBots win about as often as Mr X and as the detectives.
_CUTS: Final = {
    20: ScotlandYardRules("", 8, 2, (3, 8), "deal", (), (4, 2, 1), (3, 2, 1, 2, 1)),
    40: ScotlandYardRules("", 15, 3, (3, 8, 13, 15), "deal", (), (6, 4, 1), (4, 3, 2, 2, 1)),
    80: ScotlandYardRules("", 18, 4, (3, 8, 13, 18), "deal", (), (7, 5, 3), (4, 3, 3, 4, 2)),
    199: ScotlandYardRules(),
}
_CARDS_EACH: Final = 3  # start cards of a cut for each of Mr X and the detectives, as in London


def starting_stations(rules: ScotlandYardRules, city: CityMap) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Indices of the stations where Mr X can start and where the detectives do; none of these if dealt.

    Raises GameError where two would start at one station or the cards do not suffice.
    """
    cards = {city.index(card) for card in rules.cards or city.stations}
    if rules.start == "deal":
        if len(cards) <= rules.detectives:
            raise GameError(f"{len(cards)} start cards are too few for {rules.detectives} detectives")
        return tuple(sorted(cards)), ()
    first, *others = rules.start.split(";")
    placed = tuple(city.index(_number("start", station)) for station in others)
    hidden = cards - set(placed) if first == "hidden" else {city.index(_number("start", first))}
    if not hidden or len(hidden.union(placed)) < len(hidden) + len(placed):
        raise GameError(f"start={rules.start}: Mr X and the detectives need a station each")
    return tuple(sorted(hidden)), placed


def preset(city_name: str) -> ScotlandYardRules:
    """The rules a map is played by unless others are given: a user's own map has London's, except for the cards."""
    if cut := named_cut(city_name):
        return _cut_rules(*cut)
    return _PRESETS.get(city_name, ScotlandYardRules(city_name))


@lru_cache(maxsize=16)
def _cut_rules(count: int, around: int) -> ScotlandYardRules:
    """Of a cut of London: those of the nearest size in _CUTS, with start cards of its own.

    Start cards are London's in the cut, then one after the other the station with the most taxi rides to the nearest
    one of them, the lowest of equals.
    """
    name = cut_name(count, around)
    rules, city = _CUTS[min(_CUTS, key=lambda size: abs(size - count))], read_map(name)
    cards = [city.index(card) for card in _LONDON_CARDS if card in city.stations] or [city.index(around)]
    steps = [city.taxi_steps(index) for index in range(count)]
    while len(cards) < min(_CARDS_EACH * (1 + rules.detectives), count):
        cards.append(max(range(count), key=lambda index: min(steps[card][index] for card in cards)))
    return replace(rules, map=name, cards=tuple(sorted(city.stations[card] for card in cards)))


def read_rules(values: Mapping[str, str | None]) -> ScotlandYardRules:
    """The rules with a value for each of `PARAMETERS`, the map's preset where it is None; raises GameError."""
    rules = preset(str(values["map"]))
    for key, value in values.items():
        if value is not None and key != "map":
            rules = replace(rules, **{key: _read(key, value, getattr(rules, key))})
    if rules.start != "deal":
        placed = rules.start.count(";")
        if values["detectives"] is not None and rules.detectives != placed:
            raise GameError(f"start={rules.start} places {placed} detectives, not {rules.detectives}")
        rules = replace(rules, detectives=placed)
    for key, length in (("tickets", 3), ("x_tickets", 5)):
        if len(getattr(rules, key)) != length:
            raise GameError(f"{key} wants {length} numbers: {', '.join(TICKETS[:length])}")
    if rules.inputs not in INPUTS:
        raise GameError(f"inputs is one of {', '.join(INPUTS)}, not {rules.inputs}")
    if rules.rounds < 1 or rules.detectives < 1:
        raise GameError("scotland_yard needs at least one round and one detective")
    return rules


def _read(key: str, text: str, default: object) -> Any:
    """The value of one parameter, in the type of its default."""
    if isinstance(default, int):
        return _number(key, text)
    if isinstance(default, tuple):
        return () if text == _EMPTY.get(key) else tuple(_number(key, part) for part in text.split(";"))
    return text


def _listed(key: str, numbers: tuple[int, ...]) -> Parameter:
    """How a list is in a game string; a list of one number is that number."""
    if len(numbers) == 1:
        return numbers[0]
    return ";".join(map(str, numbers)) or _EMPTY[key]


def _number(key: str, text: str) -> int:
    if not text.strip().isdecimal() or len(text.strip()) > _LONGEST_NUMBER:
        raise GameError(f"{key} wants whole numbers, not {text!r}")
    return int(text)
