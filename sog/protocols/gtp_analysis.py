"""What GTP's analysing commands ask for, and moves as Leela Zero and KataGo write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sog.errors import GameError
from sog.play.player import Candidate
from sog.protocols.go_setup import read_colour, write_vertex
from sog.protocols.words import read_whole

__all__ = ["Analysis", "Row", "kata_row", "lz_row", "read_analysis"]

# A move in its place among the others, on a board of this size.
Row: TypeAlias = Callable[[int, Candidate, float, int], str]

_COLOURS = ("b", "w", "black", "white")


@dataclass(frozen=True)
class Analysis:
    """What an analysing command asks for.

    seconds: between two lines.  least, most: how many moves a line has, where there are as many.
    """

    colour: int
    seconds: float
    least: int
    most: int


def read_analysis(given: Sequence[str], colour: int) -> Analysis:
    """[colour] [hundredths of a second] and pairs of a word and a number, as Leela Zero and KataGo have them.

    colour: whose turn it is, where none is named.  Raises GameError for other words.
    """
    words = list(given)
    if words and words[0].lower() in _COLOURS:
        colour = read_colour(words.pop(0))
    if words and read_whole(words[0]) is not None:
        words.insert(0, "interval")
    numbers = {"interval": 50, "minmoves": 0, "maxmoves": 2**31 - 1}
    if any(word.lower() in ("avoid", "allow") for word in words):
        raise GameError("avoid and allow are not supported: the search looks at all moves")
    if len(words) % 2:
        raise GameError("syntax error")
    for word, text in zip(words[::2], words[1::2], strict=True):
        number = read_whole(text)
        if word.lower() not in numbers or number is None or not 0 <= number < 2**31:
            raise GameError("syntax error")
        numbers[word.lower()] = number
    return Analysis(colour, numbers["interval"] / 100.0, numbers["minmoves"], numbers["maxmoves"])


def lz_row(order: int, candidate: Candidate, value: float, size: int) -> str:
    """One move as Leela Zero writes it: chances in ten thousandths."""
    line = " ".join(write_vertex(action, size) for action in candidate.line)
    winrate, prior = round(5000 * (1 + value)), round(10_000 * _prior(candidate))
    move = write_vertex(candidate.action, size)
    return f"info move {move} visits {candidate.visits} winrate {winrate} prior {prior} order {order} pv {line}"


def kata_row(order: int, candidate: Candidate, value: float, size: int) -> str:
    """One move as KataGo writes it: shares of 1, the chance with a point, by which Sabaki tells it from Leela Zero's.

    What KataGo's network knows of points ours does not.
    """
    line = " ".join(write_vertex(action, size) for action in candidate.line)
    winrate, move = (1.0 + value) / 2.0, write_vertex(candidate.action, size)
    return (
        f"info move {move} visits {candidate.visits} utility {value:.6g} winrate {winrate:.6f} "
        f"prior {_prior(candidate):.6g} order {order} pv {line}"
    )


def _prior(candidate: Candidate) -> float:
    """The network's share of a move; the search's where there is none."""
    return candidate.share if candidate.prior is None else candidate.prior
