"""Words that another program sent: numbers of any length read safely, texts made short enough to quote."""

from __future__ import annotations

import math
import re
from typing import Final

__all__ = ["LARGEST", "read_number", "read_whole", "shown"]

# Whole numbers beyond this are read as this: as many nodes as an endless search has, 34 years in milliseconds.
LARGEST: Final = 2**40
_WHOLE: Final = re.compile(r"-?[0-9]+")
_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
_DIGITS: Final = 300  # a float of more characters says nothing that a shorter one does not


def read_whole(word: str) -> int | None:
    """The whole number of a word, from -LARGEST to LARGEST; None where it is none."""
    if not _WHOLE.fullmatch(word):
        return None
    digits = word.lstrip("-").lstrip("0") or "0"
    size = int(digits) if len(digits) <= len(str(LARGEST)) else LARGEST
    return max(-size, -LARGEST) if word.startswith("-") else min(size, LARGEST)


def read_number(word: str) -> float | None:
    """The finite number of a word; None where it is none."""
    if len(word) > _DIGITS or not _NUMBER.fullmatch(word):
        return None
    number = float(word)
    return number if math.isfinite(number) else None


def shown(text: str, most: int = 80) -> str:
    """A text on one line, at most this many characters of it, those that cannot be printed as question marks."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text[: 4 * most].split()))
    return line if len(line) <= most else line[: most - 3] + "..."
