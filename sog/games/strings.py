"""Reads and writes game strings such as `liars_dice(numdice=1,dice_sides=4)`; algorithm strings look the same."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from sog.errors import GameError

Parameter: TypeAlias = str | int | float | bool
Parameters: TypeAlias = Mapping[str, Parameter]

# What is written before a game string of OpenSpiel's that is to be compiled from its histories.
OPENSPIEL: Final = "openspiel:"

_GAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INT = re.compile(r"[+-]?[0-9]{1,18}")
_LONGEST: Final = 100_000  # letters of a game string
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def number_text(value: float) -> str:
    """A number of a game string as short as it is read back the same."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def parse_game(text: str) -> tuple[str, dict[str, Parameter]]:
    """The short name and the parameters of a game string, in OpenSpiel's notation.

    A value is True or False, an integer of up to 18 digits, a number, or a string; in double quotes it is always
    a string, and commas inside quotes or brackets belong to the value. GameError where the text is malformed.
    """
    if len(text) > _LONGEST:
        raise GameError(f"a game string has at most {_LONGEST:,} letters, not {len(text):,}")
    match = _GAME.fullmatch(text)
    if match is None:
        raise GameError(f"not a game string: {text!r}; write it like liars_dice(numdice=1,dice_sides=4)")
    parameters: dict[str, Parameter] = {}
    for part in _split(match[2] or "", text):
        key, equals, value = part.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not value or not _KEY.fullmatch(key):
            raise GameError(f"not a key=value pair in the game string {text!r}: {part.strip()!r}")
        if key in parameters:
            raise GameError(f"parameter {key} occurs twice in the game string {text!r}")
        parameters[key] = _value(value, text)
    return match[1], parameters


def write_game(short: str, parameters: Parameters) -> str:
    """The game string that `parse_game` reads as these; GameError where a value cannot be written."""
    pairs = ",".join(f"{key}={_written(key, value)}" for key, value in parameters.items())
    return f"{short}({pairs})" if pairs else short


def _split(inside: str, text: str) -> list[str]:
    """The pieces between the commas that are outside quotes and brackets."""
    if not inside.strip():
        return []
    pieces, piece, depth, quoted = [], "", 0, False
    for letter in inside:
        quoted ^= letter == '"'
        if not quoted:
            depth += (letter == "(") - (letter == ")")
            if depth < 0:
                break
        if letter == "," and not quoted and depth == 0:
            pieces.append(piece)
            piece = ""
        else:
            piece += letter
    if quoted or depth != 0:
        raise GameError(f"{'quotes' if quoted else 'brackets'} do not close in the game string {text!r}")
    return [*pieces, piece]


def _value(value: str, text: str) -> Parameter:
    if value.startswith('"'):
        if len(value) < 2 or value.find('"', 1) != len(value) - 1:
            raise GameError(f"text beside the quotes in the game string {text!r}: {value}")
        return value[1:-1]
    if value in ("True", "False", "true", "false"):
        return value in ("True", "true")
    digits = value.isdecimal() and value != "0"
    if _INT.fullmatch(value) and not (digits and value.startswith("0")):
        return int(value)
    if digits:  # longer than a number is here, or with a 0 before it that a number would lose: moves as digits, say
        return value
    if not _FLOAT.fullmatch(value):
        return value
    if not math.isfinite(float(value)):
        raise GameError(f"a number in the game string {text!r} is beyond all measure: {value}")
    return float(value)


def _written(key: str, value: Parameter) -> str:
    plain = str(value)
    for form in (plain, f'"{plain}"') if isinstance(value, str) else (plain,):
        try:
            read = parse_game(f"g({key}={form})")[1]
        except GameError:
            continue
        if read == {key: value} and type(read[key]) is type(value):
            return form
    raise GameError(f"no game string can hold {key}={value!r}")
