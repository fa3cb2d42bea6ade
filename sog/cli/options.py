"""What numbers and paths the commands take: the bounds of every whole number, and checks of the others.

Typer checks whole numbers by `min` and `max`. Its ranges let NaN pass, so numbers with a fraction have a callback.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sog.cluster.executor import MOST_PROCESSES
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.algorithms.base import Algorithm

__all__ = [
    "LARGEST_COUNT",
    "LARGEST_SEED",
    "MOST_PROCESSES",
    "AlgorithmOption",
    "PaperOption",
    "PerUpdateOption",
    "SimulationsOption",
    "above_zero",
    "all_above_zero",
    "check_apart",
    "count",
    "not_blank",
    "plain_file",
    "positive",
    "processes",
    "searching",
    "seed_of",
    "word",
]

LARGEST_SEED: Final = 2**63 - 1
LARGEST_COUNT: Final = 10**12  # of iterations, simulations, rounds, hands
_LARGEST: Final = 1e12  # minutes, seconds, expansions per update


def above_zero(value: float | None) -> float | None:
    """A number above 0 and at most 1e12; NaN and infinity are refused."""
    if value is not None and not 0 < value <= _LARGEST:
        raise typer.BadParameter(f"must be a number above 0 and at most {_LARGEST:g}, not {value}")
    return value


def all_above_zero(values: list[float] | None) -> list[float] | None:
    """Numbers that `above_zero` takes, each of them."""
    for value in values or ():
        above_zero(value)
    return values


def not_blank(value: str | None) -> str | None:
    """A word that is not empty."""
    if value is not None and not value.strip():
        raise typer.BadParameter("must not be empty")
    return value


def own_folder(value: Path | None) -> Path | None:
    """The path of a folder to be filled; an empty text, which would be the current folder, is refused."""
    if value == Path():
        raise typer.BadParameter("must name a folder, and not the current one")
    return value


def plain_file(value: Path | None) -> Path | None:
    """The path of a file to be read; folders, devices and pipes are refused, since reading them may never end."""
    if value is not None and os.path.exists(value) and not os.path.isfile(value):
        raise typer.BadParameter(f"{value} is not a plain file")
    return value


def count(text: str, *names: str) -> Any:
    """An option: how many, from 1."""
    return typer.Option(*names, min=1, max=LARGEST_COUNT, help=text)


def processes(text: str, *names: str) -> Any:
    """An option: how many processes or threads of a machine."""
    return typer.Option(*names, min=1, max=MOST_PROCESSES, help=text)


def seed_of(text: str, *names: str) -> Any:
    """An option: a seed."""
    return typer.Option(*names, min=0, max=LARGEST_SEED, help=text)


def positive(text: str, *names: str) -> Any:
    """An option: a number above 0."""
    return typer.Option(*names, callback=above_zero, help=text)


def word(text: str, *names: str) -> Any:
    """An option: words that are not empty."""
    return typer.Option(*names, callback=not_blank, help=text)


def check_apart(first: Path | None, second: Path | None) -> None:
    """SettingError where two outputs would be the same file."""
    if first is not None and second is not None and first.resolve() == second.resolve():
        raise SettingError(f"{first} is named for two outputs; give each a file of its own")


# The algorithm string, in the commands that train, play and measure.
AlgorithmOption = Annotated[
    str | None,
    typer.Option(
        callback=not_blank,
        metavar="ALGORITHM",
        help="An algorithm with its settings, such as sog or 'rebel(solver=fp)'; `sog algorithms` lists "
        "them. By default what trained the checkpoint.",
    ),
]
# The search budget, in the commands that play and measure; engines have a clock besides.
SimulationsOption = Annotated[
    int | None,
    count("s: expansions a search, by default 400, or fewer where networks are slow.", "--simulations", "-s"),
]
PerUpdateOption = Annotated[
    float | None,
    positive(
        "c: expansions a regret update, by default 1, on a board 10, in hold'em before the turn 0.1.",
        "--per-update",
        "-c",
    ),
]
PaperOption = Annotated[
    bool,
    typer.Option("--paper", help="The papers' regret rule and search settings: short for 'sog(paper=sog)'."),
]


def searching(
    algorithm: Algorithm, simulations: int | None, per_update: float | None, paper: bool = False
) -> Algorithm:
    """The algorithm with what the options -s, -c and --paper set of it; SettingError where it has no such setting."""
    return algorithm.with_options(simulations=simulations, per_update=per_update, paper="sog" if paper else None)
