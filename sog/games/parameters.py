"""The kinds of parameters that a game takes: what each means, its default, and the values that a game string may give.

The table of games (catalog.py) has a `GameParameter` for each parameter of each game.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sog.errors import GameError
from sog.games.strings import Parameter, Parameters

LARGEST: Final = 2**31 - 1  # of a game's whole numbers, in either direction


@dataclass(frozen=True)
class GameParameter:
    """A parameter of a game.

    meaning: what it is.  default: its value where the game string has none; None where it follows from the others.
    read: its value from the game string's; GameError, to be read after the parameter's name, for one that it refuses.
    """

    meaning: str
    default: Any
    read: Callable[[Parameter], Any]


def refuse_unknown(short: str, given: Parameters, known: Collection[str]) -> None:
    """GameError that names the known parameters where a game string has another one."""
    for key in given:
        if key not in known:
            knows = f"known: {', '.join(known)}" if known else "it takes none"
            raise GameError(f"{short} has no parameter {key}; {knows}")


def read_parameters(short: str, given: Parameters, known: Mapping[str, GameParameter]) -> dict[str, Any]:
    """The value of every known parameter of the game `short`, in their order; GameError for an unknown or wrong one."""
    refuse_unknown(short, given, known)
    values: dict[str, Any] = {}
    for key, parameter in known.items():
        try:
            values[key] = parameter.read(given[key]) if key in given else parameter.default
        except GameError as error:
            raise GameError(f"{short}: {key} {error}") from error
    return values


def whole(meaning: str, default: int | None, low: int = -LARGEST, high: int = LARGEST) -> GameParameter:
    """A whole number in [low, high]."""

    def read(value: Parameter) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise GameError(f"is a whole number such as {1 if default is None else default}, not {value}")
        if not low <= value <= high:
            raise GameError(f"lies between {low} and {high}, unlike {value}")
        return value

    return GameParameter(meaning, default, read)


def number(meaning: str, default: float | None) -> GameParameter:
    """A finite number."""

    def read(value: Parameter) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise GameError(f"is a number such as {default or 0:g}, not {value}")
        return float(value)

    return GameParameter(meaning, default, read)


def numbers(meaning: str, default: Sequence[float] | None, like: str) -> GameParameter:
    """Finite numbers, written like the example [1;2], as OpenSpiel writes them."""

    def read(value: Parameter) -> tuple[float, ...]:
        try:
            listed = tuple(float(part) for part in str(value).removeprefix("[").removesuffix("]").split(";"))
        except ValueError:
            listed = (math.nan,)
        if not all(abs(part) <= LARGEST for part in listed):
            raise GameError(f"is a list such as {like}, not {value}")
        return listed

    return GameParameter(meaning, default, read)


def wholes(meaning: str, default: Sequence[int]) -> GameParameter:
    """Whole numbers, written as those of `numbers`."""
    like = f"[{';'.join(map(str, default))}]"
    any_numbers = numbers(meaning, default, like)

    def read(value: Parameter) -> tuple[int, ...]:
        listed = any_numbers.read(value)
        if any(part != int(part) for part in listed):
            raise GameError(f"is a list of whole numbers such as {like}, not {value}")
        return tuple(int(part) for part in listed)

    return GameParameter(meaning, default, read)


def truth(meaning: str, default: bool) -> GameParameter:
    """True or False."""

    def read(value: Parameter) -> bool:
        if not isinstance(value, bool):
            raise GameError(f"is True or False, not {value}")
        return value

    return GameParameter(meaning, default, read)


def choice(meaning: str, choices: Sequence[str]) -> GameParameter:
    """One of these words, by default the first."""

    def read(value: Parameter) -> str:
        if not isinstance(value, str) or value not in choices:
            raise GameError(f"is one of {', '.join(choices)}, not {value}")
        return value

    return GameParameter(f"{meaning}: {' or '.join(choices)}", choices[0], read)


def require_inputs(game: str, inputs: str, known: Sequence[str]) -> None:
    """GameError where `inputs` is none of the words for what this game's networks see."""
    if inputs not in known:
        raise GameError(f"{game}: inputs is one of {', '.join(known)}, not {inputs}")


def text(meaning: str, default: str | None = None) -> GameParameter:
    """Any text, a number's too, which the game itself reads."""
    return GameParameter(meaning, default, str)
