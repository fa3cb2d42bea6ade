"""Random games that are to agree with another program's: their batches, what they come to and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from soglab.study import Beside, Key, Options, Outcome, Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["agreement", "batches"]

_BATCH: Final = 250


def batches(games: Sequence[str], options: Options) -> list[Key]:
    """1,000 games of each, 10,000 with --full, in batches with seeds of their own."""
    count = 50 if options.quick else 10_000 if options.full else 1_000
    size = min(_BATCH, count)
    return [{"game": game, "seed": seed, "games": size} for seed in range(count // size) for game in games]


def agreement(games: Sequence[str], picture: str, points: list[Point]) -> Outcome:
    """Games that agreed to the end, of all played, for each game, and the differences; failed where there are any.

    points: with results agreed and moves, counts, and difference, a line or "".
    """
    beside = []
    for game in games:
        found = [p for p in points if p.key["game"] == game]
        agreed, played = sum(p.result["agreed"] for p in found), sum(p.key["games"] for p in found)
        moves = sum(p.result["moves"] for p in found)
        beside.append(Beside(game, "", f"{agreed:,} of {played:,} games agree, {moves:,} moves"))
        beside += [Beside(game, "", p.result["difference"]) for p in found if p.result["difference"]]
    failed = any(p.result["difference"] for p in points)
    return Outcome([p.row for p in points], {picture: lambda figure: _draw(figure, games, points)}, beside, failed)


def _draw(figure: Figure, games: Sequence[str], points: list[Point]) -> None:
    """How long the games were."""
    axis = figure.subplots()
    for game in games:
        lengths = [p.result["moves"] / max(p.result["agreed"], 1) for p in points if p.key["game"] == game]
        axis.plot(lengths, marker=".", label=game)
    axis.set(xlabel="batch", ylabel="moves a game", title="random games that agree with OpenSpiel")
    axis.legend(fontsize=6)
