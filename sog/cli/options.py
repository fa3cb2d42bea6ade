"""What numbers and paths the commands take: the bounds of every whole number, and checks of the others.

Typer checks whole numbers by `min` and `max`. Its ranges let NaN pass, so numbers with a fraction have a callback.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from sog.cluster.executor import MOST_PROCESSES
from sog.errors import SettingError

__all__ = [
    "LARGEST_COUNT",
    "LARGEST_SEED",
    "MOST_PROCESSES",
    "AlphaOption",
    "DepthOption",
    "GadgetOption",
    "HistoriesOption",
    "PaperOption",
    "PogOption",
    "RecycleOption",
    "UpdatesOption",
    "above_zero",
    "all_above_zero",
    "check_apart",
    "not_blank",
    "papers_search",
    "plain_file",
    "unit_interval",
]

LARGEST_SEED: Final = 2**63 - 1
LARGEST_COUNT: Final = 10**12  # of iterations, simulations, rounds, hands
_LARGEST: Final = 1e12  # minutes, seconds, expansions per update


def above_zero(value: float | None) -> float | None:
    """A number above 0 and not beyond all measure; NaN and infinity are refused."""
    if value is not None and not 0 < value <= _LARGEST:
        raise typer.BadParameter(f"must be a number above 0 and at most {_LARGEST:g}, not {value}")
    return value


def all_above_zero(values: list[float] | None) -> list[float] | None:
    """Numbers that `above_zero` takes, each of them."""
    for value in values or ():
        above_zero(value)
    return values


def unit_interval(value: float | None) -> float | None:
    """A number in [0, 1]; NaN is refused."""
    if value is not None and not 0 <= value <= 1:
        raise typer.BadParameter(f"must lie in [0, 1], not {value}")
    return value


def not_blank(value: str | None) -> str | None:
    """A word that is not empty."""
    if value is not None and not value.strip():
        raise typer.BadParameter("must not be empty")
    return value


def plain_file(value: Path) -> Path:
    """The path of something to be read, which is no folder, device or pipe: those may never end."""
    if os.path.exists(value) and not os.path.isfile(value):
        raise typer.BadParameter(f"{value} is not a plain file")
    return value


def check_apart(first: Path | None, second: Path | None) -> None:
    """SettingError where two outputs would be the same file."""
    if first is not None and second is not None and first.resolve() == second.resolve():
        raise SettingError(f"{first} is named for two outputs; give each a file of its own")


# How a decision is searched, in the commands that play and measure.
UpdatesOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=LARGEST_COUNT, help="Updates of one player per subgame; rebel: by default 1024, sepot: 800."
    ),
]
RecycleOption = Annotated[
    float | None,
    typer.Option(
        callback=unit_interval,
        help="rebel: evaluate leaves again only once the iteration's number has grown by this share; 0: always. Of a "
        "trained network by default as it was trained.",
    ),
]
DepthOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LARGEST_COUNT,
        help="sepot: actions of each player looked ahead, 0 for no limit; by default as many as --histories allows.",
    ),
]
HistoriesOption = Annotated[
    int | None,
    typer.Option(min=1, max=LARGEST_COUNT, help="sepot: search subgames of at most so many; by default 25,000."),
]
GadgetOption = Annotated[
    str | None,
    typer.Option(
        callback=not_blank,
        help="sepot: where the gadget's values come from: critic, or previous (the last search; the default).",
    ),
]
AlphaOption = Annotated[
    float | None,
    typer.Option(callback=unit_interval, help="sog, sepot: weight of the gadget's range in the opponent's."),
]
PaperOption = Annotated[
    bool,
    typer.Option("--paper", help="sog: the papers' regret rule and search settings."),
]
PogOption = Annotated[
    bool,
    typer.Option("--pog", help="sog: as Player of Games does: --paper, alpha 0.2, selection by the current policy."),
]


def papers_search(paper: bool, pog: bool) -> str | None:
    """What --paper and --pog choose together (Choices.paper); SettingError for both."""
    if paper and pog:
        raise SettingError("--paper and --pog are two searches: choose one")
    return "sog" if paper else "pog" if pog else None
