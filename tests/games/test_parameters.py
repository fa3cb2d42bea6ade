"""A game's parameters are read in their order, with their defaults, and what a game does not take is refused."""

from __future__ import annotations

import pytest

from sog.errors import GameError
from sog.games.catalog import GAMES
from sog.games.parameters import choice, number, numbers, read_parameters, text, truth, whole, wholes
from sog.games.strings import Parameter

KNOWN = {
    "n": whole("how many", 7, low=1, high=9),
    "m": whole("how many of the others", None),
    "x": number("how much", 0.5),
    "flag": truth("whether", False),
    "order": choice("which way", ("up", "random")),
    "word": text("what", "a"),
    "sizes": wholes("how long each is", (2, 3)),
    "values": numbers("what each is worth", None, like="[1;2]"),
}
DEFAULTS = {"n": 7, "m": None, "x": 0.5, "flag": False, "order": "up", "word": "a", "sizes": (2, 3), "values": None}


def test_what_is_not_given_has_its_default() -> None:
    assert read_parameters("g", {}, KNOWN) == DEFAULTS


def test_values_come_in_the_order_of_the_table() -> None:
    given: dict[str, Parameter] = {"values": "[1;2.5]", "sizes": "[4]", "word": 3, "order": "random", "n": 3}
    read = read_parameters("g", {**given, "flag": True, "x": 2, "m": -5}, KNOWN)
    assert list(read.values()) == [3, -5, 2.0, True, "random", "3", (4,), (1.0, 2.5)] and list(read) == list(KNOWN)
    assert type(read["x"]) is float


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("n", "two", "n is a whole number such as 7, not two"),
        ("n", True, "n is a whole number such as 7, not True"),
        ("n", 1.0, "n is a whole number such as 7, not 1.0"),
        ("n", 0, "n lies between 1 and 9, unlike 0"),
        ("n", 10, "n lies between 1 and 9, unlike 10"),
        ("m", "x", "m is a whole number such as 1, not x"),
        ("m", 2**31, "m lies between -2147483647 and 2147483647, unlike 2147483648"),
        ("x", "much", "x is a number such as 0.5, not much"),
        ("x", False, "x is a number such as 0.5, not False"),
        ("flag", 3, "flag is True or False, not 3"),
        ("order", "down", "order is one of up, random, not down"),
        ("order", 3, "order is one of up, random, not 3"),
        ("sizes", "[2;x]", "sizes is a list such as [2;3], not [2;x]"),
        ("sizes", "[2;1.5]", "sizes is a list of whole numbers such as [2;3], not [2;1.5]"),
        ("values", "[nan]", "values is a list such as [1;2], not [nan]"),
        ("values", "[1e300]", "values is a list such as [1;2], not [1e300]"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(key: str, value: Parameter, says: str) -> None:
    with pytest.raises(GameError) as error:
        read_parameters("g", {key: value}, KNOWN)
    assert str(error.value) == f"g: {says}"


def test_an_unknown_parameter_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(GameError, match="g has no parameter y; known: n, m, x, flag, order, word, sizes, values"):
        read_parameters("g", {"y": 1}, KNOWN)
    with pytest.raises(GameError, match="g has no parameter y; it takes none"):
        read_parameters("g", {"y": 1}, {})


@pytest.mark.parametrize("short", GAMES)
def test_every_parameter_of_every_game_says_what_it_is(short: str) -> None:
    for key, parameter in GAMES[short].parameters.items():
        assert len(parameter.meaning.split()) > 1, key
