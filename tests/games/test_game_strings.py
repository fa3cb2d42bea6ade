"""Game strings are read as OpenSpiel writes them, and what is written is read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import GameError
from sog.games.strings import Parameters, number_text, parse_game, write_game

KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
VALUES = (
    st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters='"'))
)


@pytest.mark.parametrize(
    ("text", "short", "parameters"),
    [
        ("kuhn_poker", "kuhn_poker", {}),
        ("kuhn_poker()", "kuhn_poker", {}),
        (" liars_dice( numdice = 1 , dice_sides=4 ) ", "liars_dice", {"numdice": 1, "dice_sides": 4}),
        ("g(a=True,b=false,c=-3,d=2.5,e=1e-3)", "g", {"a": True, "b": False, "c": -3, "d": 2.5, "e": 1e-3}),
        ('g(board="As,Kd",n=1)', "g", {"board": "As,Kd", "n": 1}),
        ('g(a="1")', "g", {"a": "1"}),
        ("g(blinds=50 100)", "g", {"blinds": "50 100"}),
        ("outer(game=inner(a=1,b=2),n=3)", "outer", {"game": "inner(a=1,b=2)", "n": 3}),
        ("g(a=b=c)", "g", {"a": "b=c"}),
    ],
)
def test_known_strings(text: str, short: str, parameters: Parameters) -> None:
    read = parse_game(text)
    assert read == (short, parameters)
    assert [type(value) for value in read[1].values()] == [type(value) for value in parameters.values()]


@pytest.mark.parametrize(
    "text",
    [
        *("", "1x", "g(", "g)", "g(a)", "g(a=)", "g(=1)", "g(a b=1)", "g(a=1,)", "g(a=1,a=2)"),
        *("g(a=1)b", "g(a=1)(b=2)", "g(a=(1)", 'g(a="b)', 'g(a="b"c)'),
    ],
)
def test_malformed_strings_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(GameError) as error:
        parse_game(text)
    assert "\n" not in str(error.value) and repr(text) in str(error.value)


@given(KEYS, st.dictionaries(KEYS, VALUES, max_size=4))
def test_what_is_written_is_read_back(short: str, parameters: dict[str, str | int | float | bool]) -> None:
    read = parse_game(write_game(short, parameters))
    assert read == (short, parameters)
    assert [type(value) for value in read[1].values()] == [type(value) for value in parameters.values()]


@pytest.mark.parametrize("value", ['an inch "', float("nan"), float("inf"), 10**19])
def test_what_cannot_be_written_is_refused(value: str | float) -> None:
    with pytest.raises(GameError):
        write_game("g", {"a": value})


@pytest.mark.parametrize(("value", "text"), [(2.0, "2"), (7.5, "7.5"), (1.23456789, "1.23456789"), (0.1, "0.1")])
def test_numbers_are_written_as_short_as_they_are_read_back(value: float, text: str) -> None:
    assert number_text(value) == text and float(text) == value
