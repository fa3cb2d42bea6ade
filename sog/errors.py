"""The project's exceptions: each message is one line that a person at the terminal can act on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Final


class SogError(Exception):
    """Base of all errors that the command line reports in one line with exit code 2."""


class GameError(SogError):
    """A game name, parameter or spot that cannot be played."""


class UnknownGame(GameError):
    """A name that no game has."""


class TooLarge(GameError):
    """A game that is sound and has too many public states to list, or a chance event with too many outcomes."""


class CheckpointError(SogError):
    """A checkpoint that is missing, truncated, of another program or of another game."""


class SettingError(SogError):
    """A setting outside its range, such as a negative number of simulations."""


@contextmanager
def needs_pytorch(feature: str) -> Iterator[None]:
    """SettingError, which names the feature that needs it, where the block imports PyTorch and it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise SettingError(f"{feature} needs PyTorch, which is not installed: pip install torch") from error


def first_line(error: Exception) -> str:
    """The first line of another program's error that says something; the error's type where none does."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


_LARGEST: Final = 2**63 - 1


def check_whole(name: str, value: object, least: int) -> None:
    """SettingError unless a setting is a whole number of at least `least` that 64 bits hold."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise SettingError(f"{name} is a whole number of at least {least}, not {value!r}")
    if int(value) > _LARGEST:
        raise SettingError(f"{name} is at most {_LARGEST:,}, not {value!r}")


def check_words(name: str, value: object) -> None:
    """SettingError unless a setting is text that says something."""
    if not (isinstance(value, str) and value):
        raise SettingError(f"{name} is a text, not {value!r}")


def check_share(name: str, value: float) -> None:
    """SettingError unless a setting is from 0 to 1."""
    if not 0.0 <= value <= 1.0:
        raise SettingError(f"{name} is a share from 0 to 1, not {value}")


def check_not_negative(name: str, value: float) -> None:
    """SettingError unless a setting is a finite number of at least 0."""
    if not 0.0 <= value < math.inf:
        raise SettingError(f"{name} must not be negative or infinite, but is {value}")
