"""What others wrote, in a line or a file's table: values read within bounds, texts made short enough to quote."""

from __future__ import annotations

import math
import re
import shlex
import shutil
from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from sog.errors import SettingError

__all__ = [
    "LARGEST",
    "Keys",
    "command_words",
    "number",
    "read_number",
    "read_whole",
    "refuse_unknown",
    "shown",
    "switch",
    "take",
    "whole",
]

# A table of a TOML file.
Keys: TypeAlias = Mapping[str, Any]
_Default = TypeVar("_Default")

# Whole numbers beyond this are read as this: as many nodes as an endless search has, 34 years in milliseconds.
LARGEST: Final = 2**40
_WHOLE: Final = re.compile(r"-?[0-9]+")
_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
_DIGITS: Final = 300  # a float of more characters says nothing that a shorter one does not


def read_whole(word: str) -> int | None:
    """The whole number of a word, from -LARGEST to LARGEST; None for other words."""
    if not _WHOLE.fullmatch(word):
        return None
    digits = word.lstrip("-").lstrip("0") or "0"
    size = int(digits) if len(digits) <= len(str(LARGEST)) else LARGEST
    return max(-size, -LARGEST) if word.startswith("-") else min(size, LARGEST)


def read_number(word: str) -> float | None:
    """The finite number of a word; None for other words."""
    if len(word) > _DIGITS or not _NUMBER.fullmatch(word):
        return None
    number = float(word)
    return number if math.isfinite(number) else None


def shown(text: str, most: int = 80) -> str:
    """A text on one line, at most this many characters of it, those that cannot be printed as question marks."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text[: 4 * most].split()))
    return line if len(line) <= most else line[: most - 3] + "..."


def command_words(option: str, line: str) -> list[str]:
    """A program and its arguments, as a shell would take them apart; a path with spaces may be the whole line.

    option: the option or key that names it, for SettingError where there is no program or a quotation has no end.
    """
    if shutil.which(line) is not None:
        return [line]
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise SettingError(f"{option} = {shown(line)!r}: {str(error).lower()}") from error
    if not words or not words[0]:
        raise SettingError(f"{option} names no program: {shown(line)!r}")
    return words


def refuse_unknown(owner: str, table: Keys, known: Collection[str]) -> None:
    """SettingError for a key of the owner's table that is not known."""
    for key in table:
        if key not in known:
            raise SettingError(f"{owner} has no key {shown(key)}; known: {', '.join(sorted(known))}")


def take(table: Keys, key: str, kind: Any, default: Any = ...) -> Any:
    """A key's value, of this kind; SettingError where it is of another, or missing without a default."""
    if key not in table:
        if default is ...:
            raise SettingError(f"{key} is missing")
        return default
    value = table[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise SettingError(f"{key} cannot be {shown(repr(value))}{': it is a whole number' * (kind is int)}")
    return value


def whole(table: Keys, key: str, least: int, most: int, default: _Default) -> int | _Default:
    """A key's whole number within bounds."""
    value: int = take(table, key, int, default)
    return value if key not in table else int(_within(key, value, least, most))


def number(table: Keys, key: str, least: float, most: float, default: _Default) -> float | _Default:
    """A key's number within bounds."""
    value: float = take(table, key, (int, float), default)
    return value if key not in table else float(_within(key, value, least, most))


def switch(table: Keys, key: str) -> None:
    """SettingError unless the key, which is there, is true."""
    if table[key] is not True:
        raise SettingError(f"{key} can only be true, not {shown(str(table[key]))}")


def _within(key: str, value: float, least: float, most: float) -> float:
    if not least <= value <= most:  # NaN is not either
        raise SettingError(f"{key} must be from {least:,} to {most:,}, not {shown(str(value))}")
    return value
